//! The native Groupwire client: joins a room over WebSocket, WebTransport or TCP, and reconnects
//! after broken connections until the application leaves.
//!
//! ```no_run
//! use groupwire_client::{Event, Options, Qos, Room, SendOptions};
//!
//! # async fn example() -> Result<(), groupwire_client::Error> {
//! let (room, mut events) = Room::connect("ws://127.0.0.1:8080", Options::new("demo"))?;
//! let chat = room.channel("chat", Qos::transaction())?;
//! room.joined().await?;
//! chat.send("hello", SendOptions::default())?;
//! while let Some(event) = events.next().await {
//!     if let Event::Message(message) = event {
//!         println!("{}: {}", message.sender, String::from_utf8_lossy(&message.bytes));
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Compression
//!
//! By default all messages of a packet are compressed together, by what they have in common. A
//! channel may choose another compression for the link between this program and the server, in both
//! directions: a codec for each message alone, `auto` for the codec that gets each message across
//! soonest, or `off`.
//!
//! ```no_run
//! # use groupwire_client::{ChannelOptions, Compress, Qos, Room};
//! # fn example(room: &Room) -> Result<(), groupwire_client::Error> {
//! let options = ChannelOptions { compress: Compress::Auto, ..ChannelOptions::default() };
//! let telemetry = room.channel_with("telemetry", Qos::awareness(), options)?;
//! // Later, for messages sent from then on:
//! telemetry.compress("zstd-3".parse()?)?;
//! println!("{:?}", telemetry.stats());
//! # Ok(())
//! # }
//! ```
//!
//! # Contracts
//!
//! A channel's QoS is a contract, and its receivers report whether it is kept. It can change while
//! the channel is in use.
//!
//! ```no_run
//! # use groupwire_client::{Channel, Event, Events, Qos, Rate};
//! # async fn example(pointer: Channel, mut events: Events) -> Result<(), groupwire_client::Error> {
//! // People begin to talk: the pointer has to keep up with their words.
//! pointer.set_qos(Qos::awareness().loss_per_mille(100).rate(20, 30))?;
//! // On a slow link, ten positions per second of each person are enough.
//! pointer.limit_rate(Some(Rate::per_second(10)))?;
//! while let Some(event) = events.next().await {
//!     if let Event::Contract(news) = event {
//!         println!("{}", news.state);
//!         news.measures.iter().for_each(|measure| println!("- {measure}"));
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Shared data
//!
//! [`Room::shared`] opens maps, lists, counters, reducers, locks and turns that are the same for
//! all participants ([`data`]).
//!
//! # How it works
//!
//! The protocol is [`groupwire_session::Client`], a state machine without I/O; one task per room
//! (`driver`) carries out its outputs. The state machine is behind a mutex that is never held
//! across an await, so that [`Channel::send`] returns at once and says whether the message was
//! accepted, replaced an older value, or was not accepted now.
//!
//! # An application that does not read
//!
//! Events wait in memory up to [`MAX_UNREAD_BYTES`]. Beyond that the client reads no more from the
//! transport, and does not reopen a broken one, until the application has read the events. Messages
//! then wait in the server, which conflates them, and after 5 s reports the participant as away.
//! The session resumes when the application reads on. An application that wants no events drops
//! [`Events`].

mod address;
mod costs;
pub mod data;
mod driver;
mod error;
mod events;
mod owner;
mod room;
mod shared;
mod timer;
mod tls;
mod transport;
mod trust;
pub mod world;

pub use error::{DialError, Error};
pub use events::{Events, Readiness};
pub use groupwire_session::client::{
    ChannelId, ChannelOptions, Config as Options, Event, GapReason, Incoming, ParticipantChange,
    Recipient, Sent, Stats, Status,
};
pub use groupwire_session::{
    Access, ChannelStats, Compress, Counter, Index, ModelMemory, ParticipantId, Position, Traffic,
};
pub use groupwire_session::{
    Breach, ContractEvent, ContractReport, ContractState, Histogram, Measure, Tally,
};
pub use groupwire_session::{
    Durability, Error as SessionError, Fault, Kind, Overflow, PresenceState, Qos, Rate, Receipt,
    name_of,
};
pub use groupwire_session::{codecs, limits};
pub use room::{Channel, Payload, Room, SendOptions};
pub use shared::{Framing, MAX_UNREAD_BYTES};
pub use trust::Trust;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/shared.md")]
struct SharedPage;
