//! The Groupwire client in a form that other languages can wrap.
//!
//! It consists of plain records and enums without lifetimes, generics or callbacks, and of one
//! object, [`Room`]. No function waits: what takes time happens on a thread in the background, and
//! its outcome is an [`Event`], which the program takes by [`Room::poll`] when it suits it. The C
//! library (`crates/c`), the Python package (`python/`) and the library for Kotlin and Swift
//! (`uniffi/`) are thin layers over this crate.
//!
//! ```no_run
//! use groupwire_ffi::{ChannelOptions, Event, Options, Qos, Room, SendOptions};
//!
//! # fn example() -> Result<(), groupwire_ffi::Error> {
//! let room = Room::connect("ws://127.0.0.1:8080", Options::new("demo"))?;
//! let chat = room.channel("chat", Qos::transaction(), &ChannelOptions::default())?;
//! room.send(chat, b"hello", &SendOptions { text: true, ..SendOptions::default() })?;
//! loop {
//!     while let Some(event) = room.poll()? {
//!         if let Event::Message(message) = event {
//!             println!("{}: {} bytes", message.sender, message.bytes.len());
//!         }
//!     }
//!     // Draw a frame.
//!     # break;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Threads and processes
//!
//! All functions may be called from any thread. One thread, `groupwire`, serves all rooms of a
//! process; it starts with the first room. A process that was made by `fork` has no such thread, so
//! the rooms of its parent fail there with [`Code::Forked`] and are left alone, also when they are
//! dropped; new rooms start a thread of their own.
//!
//! # A program that does not poll
//!
//! Events wait in memory up to 4 MiB ([`groupwire_client::MAX_UNREAD_BYTES`]). Then the client
//! reads no more from the network until the program polls, and messages wait in the server.
//!
//! # Shared data
//!
//! [`Room::shared`] opens maps, lists, counters, locks and turns that are the same for all
//! participants (docs/shared.md). What happens to them comes from the same queue:
//! [`Event::SharedChanged`]. Reducers and schemas are functions of the program, so they are not
//! here; a set whose name others use for a reducer makes no snapshots.
//!
//! ```no_run
//! use groupwire_ffi::{Event, Json, Options, Room, SharedOptions};
//!
//! # fn example() -> Result<(), groupwire_ffi::Error> {
//! let room = Room::connect("ws://127.0.0.1:8080", Options::new("demo"))?;
//! let data = room.shared(&SharedOptions::default())?;
//! room.map_set(data, "shapes", "a", Json::object([("x", 1.into())]))?;
//! while let Some(event) = room.poll()? {
//!     if let Event::SharedChanged { .. } = event {
//!         println!("{}", room.map_entries(data, "shapes")?);
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod contract;
mod convert;
mod error;
mod event;
mod options;
mod participants;
mod queue;
mod ready;
mod room;
mod runtime;
mod shared;
mod stats;

pub use contract::{Contract, ContractState, Tally};
pub use error::{Code, Error, Fault};
pub use event::{
    Change, Durability, Event, GapReason, Message, Outcome, Participant, Presence, SharedChange,
    SharedKind, SharedLoss, Status,
};
pub use groupwire_client::Readiness;
pub use groupwire_client::data::Json;
pub use options::{
    ChannelOptions, Kind, Memory, Options, Overflow, Qos, Recipient, SendOptions, Sent,
};
pub use room::Room;
pub use shared::{SharedOptions, SharedState, json};
pub use stats::{ChannelStats, Stats, Traffic};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
