//! The native Groupwire client: joins a room over WebSocket, WebTransport or TCP and stays in it, through broken
//! connections, until told to leave.
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
//! By default all messages of a packet are made small together, by what they have in common. A channel may ask for something
//! else, for the link between this program and the server, both ways: a codec for each message alone, `auto` for whatever
//! gets each message there soonest, or `off`.
//!
//! ```no_run
//! # use groupwire_client::{ChannelOptions, Compress, Qos, Room};
//! # fn example(room: &Room) -> Result<(), groupwire_client::Error> {
//! let options = ChannelOptions { compress: Compress::Auto, ..ChannelOptions::default() };
//! let telemetry = room.channel_with("telemetry", Qos::awareness(), options)?;
//! // Later, and for what is sent from then on:
//! telemetry.compress("zstd-3".parse()?)?;
//! println!("{:?}", telemetry.stats());
//! # Ok(())
//! # }
//! ```
//!
//! # Contracts
//!
//! A channel's QoS is a contract, and its receivers say whether it is kept. It may change while people use it.
//!
//! ```no_run
//! # use groupwire_client::{Channel, Event, Events, Qos};
//! # async fn example(pointer: Channel, mut events: Events) -> Result<(), groupwire_client::Error> {
//! // People begin to talk: the pointer has to keep up.
//! pointer.set_qos(Qos::awareness().loss_per_mille(100).rate(20, 30))?;
//! // This one is far away: ten positions per second of each person are enough.
//! pointer.limit_rate(Some(10_000))?;
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
//! # How it works
//!
//! The protocol is [`groupwire_session::Client`], a state machine that does no I/O; here one task per room (`driver`)
//! does what it says. The machine stands behind a mutex that is never held across an await, so that
//! [`Channel::send`] answers at once and truly: accepted, conflated or not now.
//!
//! # An application that does not read
//!
//! Events wait in memory up to [`MAX_UNREAD_BYTES`]. Beyond that the transport is no longer read, nor opened again
//! should it break, until the application has taken them; what this holds back waits in the server, which conflates,
//! and after 5 s takes the participant to be away. It resumes when the application reads on. Whoever wants no events
//! drops [`Events`].

mod address;
mod costs;
mod driver;
mod error;
mod events;
mod room;
mod shared;
mod transport;
mod trust;

pub use error::{DialError, Error};
pub use events::Events;
pub use groupwire_session::client::{
    ChannelId, ChannelOptions, Config as Options, Event, GapReason, Incoming, ParticipantChange,
    Sent, Stats, Status,
};
pub use groupwire_session::codecs;
pub use groupwire_session::{
    Breach, ContractNews, ContractReport, ContractState, Histogram, Measure, Tally,
};
pub use groupwire_session::{ChannelStats, Compress, Index, ParticipantId, Position, Traffic};
pub use groupwire_session::{Error as SessionError, Fault, Kind, Overflow, PresenceState, Qos};
pub use room::{Channel, Payload, Room, SendOptions};
pub use shared::{Framing, MAX_UNREAD_BYTES};
pub use trust::Trust;
