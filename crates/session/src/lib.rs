//! The Groupwire session protocol: rooms, channels with QoS, presence, resuming after a break, late
//! joining.
//!
//! State machines without I/O, clock, threads or randomness: [`client::Client`] is a participant's
//! end, [`room::Room`] the server's. The same code runs in the server, the native client, the
//! browser and the simulator. The wire format is stated in `docs/wire`; names such as *W22* in this
//! crate are its rules.
//!
//! # The driving interface
//!
//! Every core of Groupwire is driven in the same way. Pass each input to `handle_input(now,
//! input)`, then call `poll_output(now)` and carry out its output, again and again until it returns
//! `Timeout(at)`. Then the core has no more output until the next input; at the time `at`, pass it
//! a `Timeout` input. `now` is the time since an origin of the caller's choice and never decreases.
//! The same inputs give the same outputs, so a failure found by simulation replays from its seed.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod agreed;
mod authority;
mod backoff;
pub mod client;
mod clock;
mod compress;
mod contract;
mod datagrams;
mod durability;
mod error;
mod events;
mod ids;
mod latest;
pub mod limits;
mod link;
mod map;
mod memory;
mod owner;
mod packing;
mod qos;
mod quota;
mod rate;
mod receipt;
pub mod room;
mod secrets;
mod seen;
mod stamps;
pub mod trace;
mod wire;

pub use authority::{
    AllowAll, Authority, ChangeRequest, Grant, Identity, OpenRequest, PartRequest,
};
pub use client::Client;
pub use compress::{ChannelStats, Compress, Traffic};
pub use contract::{
    Breach, ChannelQuality, ContractEvent, ContractReport, ContractState, Histogram, Measure, Tally,
};
pub use datagrams::{PathNeeds, Redundancy};
pub use durability::Durability;
pub use error::{Error, Fault, name_of};
/// How often, and when, messages in datagrams are repeated.
pub use groupwire_afec::code::{Code, Repeat, Repeats};
/// The codecs of `groupwire-codecs`, for configurations.
pub use groupwire_codecs as codecs;
/// Templates in readable form.
#[cfg(feature = "inspector")]
pub use groupwire_gmc::{Description, Piece};
pub use ids::{ChannelNo, Counter, GroupId, Index, LinkId, Order, ParticipantId, Position};
pub use limits::{Limits, Timing};
pub use memory::ModelMemory;
pub use owner::Owner;
pub use qos::{Kind, Overflow, POINTER_WHILE_TALKING, Qos, table_1};
pub use quota::{Quota, Quotas};
pub use rate::Rate;
pub use receipt::Receipt;
pub use room::Room;
pub use secrets::{Secrets, SessionName, is_same};
pub use wire::VERSION;
pub use wire::frame::{Access, PresenceState};
pub use wire::handshake::Secret;
pub use wire::opening::{Opening, goodbye, refusal};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
