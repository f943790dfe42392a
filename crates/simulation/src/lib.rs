//! Groupwire rooms in simulated time: many participants, their server and bad networks in one
//! process. The clients and the server's room run the real code; sockets, clocks and chance are
//! simulated, so that a run of minutes takes milliseconds, and repeats exactly from its seed.
//!
//! ```
//! use std::time::Duration;
//!
//! use groupwire_client::{Event, Options, Qos, SendOptions};
//! use groupwire_simulation::{Conditions, Direction, Join, Simulation, SimulationOptions};
//!
//! let simulation = Simulation::new(SimulationOptions { seed: 7, ..Default::default() });
//! let both = Direction { loss: Some(0.1), ..Direction::default() };
//! let bad = || Join { conditions: Conditions { both, ..Default::default() }, ..Join::default() };
//! let (ada, _, ada_is) = simulation.join(bad(), Options::new("demo")).unwrap();
//! let (bo, mut events, _) = simulation.join(bad(), Options::new("demo")).unwrap();
//! let chat = ada.channel("chat", Qos::transaction()).unwrap();
//! let heard = bo.channel("chat", Qos::transaction()).unwrap();
//!
//! simulation.partition(ada_is, Some(Duration::from_secs(2)));
//! chat.send("hello", SendOptions::default()).unwrap();
//! let quiet = Duration::from_secs(3);
//! simulation.block_on(simulation.settle(&[&ada, &bo], quiet)).unwrap().unwrap();
//!
//! let mut batch = std::collections::VecDeque::new();
//! events.take_batch(&mut batch);
//! let is_hello = |event: &Event| match event {
//!     Event::Message(message) => message.channel == heard.id() && *message.bytes == *b"hello",
//!     _ => false,
//! };
//! assert!(batch.iter().any(is_hello));
//! ```
//!
//! The network loses, delays and reorders what each participant sends and receives
//! ([`Conditions`]); [`Simulation::partition`], [`Simulation::break_connection`] and
//! [`Simulation::restart_server`] do the rest.
//!
//! The feature `clients` is on by default. Without it only [`room`] is there: the server's room
//! with a store in memory, which `crates/wasm-room` makes available to the testing kit for
//! TypeScript.

#[cfg(feature = "clients")]
mod clients;
pub mod room;

#[cfg(feature = "clients")]
pub use clients::{
    Advanced, Conditions, Direction, Identify, Identity, Join, Member, Restart, Settings,
    Simulation, SimulationOptions, Stuck,
};

#[cfg(all(doctest, feature = "clients"))]
#[doc = include_str!("../README.md")]
struct Readme;
