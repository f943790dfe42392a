//! Which server of a cluster owns which rooms, decided by claims in replicated logs, as a state
//! machine without I/O.
//!
//! Rooms are spread over *shards*, and each shard has a log in an outside *engine* (NATS JetStream,
//! PostgreSQL) that appends a record only if the log's last sequence is the expected one. A node
//! owns a shard from its claim in the log until the next claim or a release. The owner appends the
//! changes of its rooms, and confirms them when the engine has acknowledged them; all other nodes
//! apply the same records, and one of them takes over when the owner dies.
//!
//! # Driving interface
//!
//! [`Cluster`] is one node. Call it with what happened: [`Cluster::answered`],
//! [`Cluster::propose`], [`Cluster::applied`], [`Cluster::hint`], [`Cluster::drain`] or
//! [`Cluster::handle_timeout`]. Then carry out what [`Cluster::poll`] returns, in order,
//! until it returns `None`, and call `handle_timeout` at [`Cluster::poll_timeout`] at the latest.
//! Before the driver says anything as the owner of a shard after it waited for something, it calls
//! `handle_timeout` and carries the outputs out: the process may have been paused meanwhile.
//!
//! ```
//! use groupwire_cluster::{
//!     Answer, Cluster, Config, Cursor, NodeName, Now, Output, Request, Timing,
//! };
//!
//! let config = Config {
//!     node: NodeName::new("one").ok_or("a name")?,
//!     address: b"one.example:4433".to_vec(),
//!     incarnation: 0x5eed,
//!     shards: 1,
//!     timing: Timing::default(),
//! };
//! let mut cluster = Cluster::new(config, vec![Cursor::default()], Now::default())?;
//! let mut asked = Vec::new();
//! while let Some(output) = cluster.poll() {
//!     if let Output::Ask(id, request) = output {
//!         asked.push((id, request));
//!     }
//! }
//! // The engine comes here.
//! for (id, request) in asked {
//!     let answer = match request {
//!         Request::Read { .. } => Answer::Entries(Vec::new()),
//!         Request::Last { .. } => Answer::Last(0),
//!         Request::Nodes => Answer::Nodes(Vec::new()),
//!         _ => Answer::Failed,
//!     };
//!     cluster.answered(id, answer, Now::default());
//! }
//! assert!(cluster.poll_timeout().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//!
//! - A batch that [`Output::Apply`] calls `own` is in the log exactly once, in the order of
//!   proposals. One that got no answer may be in the log, too: applications repeat it under its own
//!   number, and the new owner knows from what it applied whether it came.
//! - All nodes apply the same records in the same order. [`Output::Owned`] comes after everything
//!   before the claim is applied.
//! - At most one process appends in an epoch. An owner that lost its shard without knowing speaks
//!   as owner for at most [`Timing::cut_off`] and the age of a stale read, and confirms nothing.
//! - A log that does not continue is never served silently: [`Output::Damaged`], then a base of
//!   another node, or a claim that is called mended. A node that has applied what the log lost
//!   keeps that until an owner has mended the log for it, also one that owns the shard already
//!   because it had not read so far.
//! - Memory is bounded: one append in flight per shard, limited queues ([`ProposeError::NotNow`]),
//!   and a limited number of records that the driver has not applied.
//!
//! None of that depends on clocks. [`Timing`] decides how soon a dead owner is replaced. The
//! monotonic clock has to go on while a machine sleeps, or an owner that slept may speak until its
//! next append is refused.
//!
//! # The parts
//!
//! [`Record`] is the format of the log, [`Cursor`] a position in it. `shard` has the state machine
//! of a shard, `nodes` says which nodes live and which of them should own a shard.

#![no_std]

extern crate alloc;

mod beat;
mod bytes;
mod cluster;
mod config;
mod crc;
mod cursor;
mod limits;
mod nodes;
mod outbox;
mod output;
mod owner;
mod record;
mod shard;

pub use cluster::{Cluster, ConfigError};
pub use config::{Config, Now, Timing};
pub use crc::crc32c;
pub use cursor::{Cursor, CursorError, Place};
pub use limits::{
    MAX_ADDRESS, MAX_INLINE, MAX_NAME, MAX_PAYLOAD, MAX_QUEUED, MAX_QUEUED_BYTES, MAX_RECORD,
    MAX_SHARDS,
};
pub use output::{
    Answer, BatchId, Damage, Entry, ListedBeat, Output, ProposeError, Refused, Request, RequestId,
};
pub use owner::{NodeName, Owner};
pub use record::{BlobRef, Body, Record, RecordError, VERSION};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
