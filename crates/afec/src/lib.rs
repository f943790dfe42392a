//! Adaptive forward error correction: keeps streams of small messages over datagrams inside their loss targets and
//! deadlines, at the least redundancy.
//!
//! A channel says what it needs ([`Qos`]): the share of messages that may miss, the deadline after which a message is
//! worth nothing, whether order matters. An [`Endpoint`] at each end of a path does the rest: it learns how the path
//! loses packets and chooses for each channel how often, and when, to send a message again, or to wait until the other
//! end asks for it. While nothing is lost, nothing is sent twice. What no redundancy can meet it tells at once
//! ([`Notice`]).
//!
//! # How to drive it
//!
//! There is no socket, thread or clock inside: the same calls give the same packets. Hand in what comes, send what it
//! makes, come back when it says so. `now` is the time since any moment, never less than before.
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
//! let (mut packet, mut heard) = (Vec::new(), 0);
//! for nth in 0..300_u64 {
//!     let now = Duration::from_millis(nth * 33);
//!     here.send(now, POINTER, Submission::new(format!("pointer {nth} 20").as_bytes()))?;
//!     // Every fifth packet is lost on its way, and the way takes 20 ms.
//!     let later = now + Duration::from_millis(20);
//!     while here.transmit(now, &mut packet).is_some() {
//!         if nth % 5 != 0 {
//!             there.receive(later, &packet, |message| heard += message.payload.len().min(1))?;
//!         }
//!     }
//!     there.expire(later, |_| heard += 1);
//!     while there.transmit(later, &mut packet).is_some() {
//!         here.receive(later, &packet, |_| {})?;
//!     }
//! }
//! let (sent, _code) = here.sent(POINTER).ok_or("it is open")?;
//! assert!(heard > 270 && sent.repeats > 0, "{heard} of 300");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/udp.rs` does the same with sockets.
//!
//! # Its parts, useful alone
//!
//! - [`loss`]: a few bytes that say how a path loses packets, and what learns them.
//! - [`choice`]: the cheapest [`code`] that holds a target on such a path.
//! - [`rate`]: how much a path carries, and who gets it.
//! - [`playout`]: when to show what came, so that it moves as it was moved.
//! - [`stats`]: figures for people.
//!
//! # Laws
//!
//! - No clock, randomness, I/O or thread; only `core` and `alloc`.
//! - Nothing that comes from the network panics, grows without bound or takes long (see [`Endpoint`], "Bad input").
//! - A message comes out at most once, and none after its deadline as far as the receiver can tell.
//! - Who may write packets is the transport's business: nothing here is authenticated.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod choice;
pub mod code;
mod endpoint;
pub mod loss;
mod path;
pub mod playout;
mod qos;
pub mod rate;
mod receiver;
mod scheme;
mod sender;
pub mod stats;
mod wire;
mod within;

pub use endpoint::{Came, Config, Endpoint, Front, Notice, Planned};
pub use qos::{Order, Qos};
pub use receiver::Delivery;
pub use scheme::{Afec2012, Scheme};
pub use sender::{CHANNELS, Made, SendError, Submission, Submitted};
pub use wire::PacketError;
