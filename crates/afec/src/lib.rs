//! Adaptive forward error correction: keeps streams of small messages over datagrams inside their
//! loss targets and deadlines, at the least redundancy.
//!
//! The QoS of a channel ([`Qos`]) is the share of messages that may miss (never arrive, or arrive
//! late), the deadline after which a message is worth nothing, and whether newer messages replace
//! older ones. An [`Endpoint`] at each end of a path estimates how the path loses packets, and
//! chooses for each channel how often and when a message is repeated, and whether the receiver
//! requests missing messages. While nothing is lost, nothing is repeated. If no redundancy meets a
//! target, the application gets a [`Notice`] at once.
//!
//! # Driving interface
//!
//! There is no socket, thread or clock inside: the same calls give the same packets. The caller
//! passes in the packets that arrived, sends the packets that come out, and calls again at the time
//! that [`Endpoint::timeout`] returns. `now` is the time since any moment and never decreases.
//!
//! ```
//! use core::time::Duration;
//! use groupwire_afec::{Config, Endpoint, Qos, Submission};
//!
//! const POINTER: u32 = 1;
//! let pointer = Qos { target: 0.05, deadline: Duration::from_millis(150), ..Qos::new() };
//! let mut ends = [Endpoint::new(Config::default()), Endpoint::new(Config::default())];
//! for end in &mut ends {
//!     end.open(POINTER, pointer)?;
//! }
//! let [here, there] = &mut ends;
//! let (mut packet, mut delivered) = (Vec::new(), 0);
//! for nth in 0..300_u64 {
//!     let now = Duration::from_millis(nth * 33);
//!     here.send(now, POINTER, Submission::new(format!("pointer {nth} 20").as_bytes()))?;
//!     // The path loses every fifth packet and has a delay of 20 ms.
//!     let later = now + Duration::from_millis(20);
//!     while here.transmit(now, &mut packet).is_some() {
//!         if nth % 5 != 0 {
//!             there.receive(later, &packet, |message| delivered += message.payload.len().min(1))?;
//!         }
//!     }
//!     there.expire(later);
//!     while there.transmit(later, &mut packet).is_some() {
//!         here.receive(later, &packet, |_| {})?;
//!     }
//! }
//! let (sent, _code) = here.sent(POINTER).ok_or("the channel is open")?;
//! assert!(delivered > 270 && sent.repeats > 0, "{delivered} of 300");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/udp.rs` does the same with sockets.
//!
//! # Parts that are useful alone
//!
//! - [`loss`]: a model of how a path loses packets, in six bytes, and its estimator.
//! - [`choice`]: the cheapest [`code`] that holds a target on such a path.
//! - [`rate`]: an estimator of the rate that a path carries, and the shares of channels.
//! - [`stats`]: statistics for people to read.
//!
//! # Laws
//!
//! - No clock, randomness, I/O or thread; only `core` and `alloc`.
//! - No packet from the network makes an endpoint panic, grow without limit or take long (see
//!   [`Endpoint`], "Bad input").
//! - A message is delivered at most once, and not if the receiver estimates that its deadline has
//!   passed.
//! - Packets are not authenticated: that is the task of the transport.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod choice;
pub mod code;
mod endpoint;
mod ids;
pub mod loss;
mod path;
mod qos;
pub mod rate;
mod receiver;
mod scheme;
mod sender;
mod sort;
pub mod stats;
mod whole;
mod wire;
mod within;

pub use endpoint::{Arrival, Config, Endpoint, Notice, Planned, ShortHeader};
pub use ids::ChannelId;
pub use qos::{Order, Qos};
pub use receiver::Delivery;
pub use scheme::Scheme;
pub use sender::{CHANNELS, PacketSummary, SendError, Submission, Submitted};
pub use wire::PacketError;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
