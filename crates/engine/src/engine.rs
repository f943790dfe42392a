//! The interface of all engines.

use async_trait::async_trait;
use bytes::Bytes;
use thiserror::Error;
use tokio::sync::mpsc;

use crate::deployment::Deployment;

/// Bytes that an entry may have. A message of NATS has at most 1 MiB with its headers.
pub const MAX_ENTRY: usize = (1 << 20) - (4 << 10);
/// Bytes that a blob may have: it is held in memory as a whole.
pub const MAX_BLOB: usize = 64 << 20;
/// Bytes that a beat may have. Each node reads the beats of all nodes each second.
pub const MAX_BEAT: usize = 16 << 10;

/// A deployment in an outside service.
///
/// Logs have numbers: `0..shards` are those of the shards, `shards` is the control log. Sequences
/// grow within a log, and there may be gaps between them. 0 stands before the first entry.
///
/// A call uses connections that the engine keeps, and makes again when they are lost. It ends after
/// [`Options::patience`](crate::Options::patience), or later if it moves many bytes. What is read
/// may come from a replica that is behind.
#[async_trait]
pub trait Engine: Send + Sync {
    /// The record of the deployment.
    fn deployment(&self) -> &Deployment;

    /// Appends an entry if the last one of the log has the sequence `expected`. An entry has at
    /// most [`MAX_ENTRY`] bytes; a longer one is `Unknown` and never stored.
    async fn append(&self, log: u16, expected: u64, bytes: Bytes) -> Appended;

    /// Entries after a sequence, oldest first: as many as fit into `max_bytes`, and at least one if
    /// there is one.
    ///
    /// An empty answer does not mean that there are none. Between two entries of an answer none is
    /// left out.
    async fn read(&self, log: u16, after: u64, max_bytes: usize)
    -> Result<Vec<Entry>, Unavailable>;

    /// The sequence of the last entry, or 0.
    async fn last(&self, log: u16) -> Result<u64, Unavailable>;

    /// The sequence of the oldest entry that was not trimmed, or 0.
    async fn first(&self, log: u16) -> Result<u64, Unavailable>;

    /// Removes the entries before a sequence. The last entry always stays.
    async fn trim(&self, log: u16, before: u64) -> Result<(), Unavailable>;

    /// Stores a blob of at most [`MAX_BLOB`] bytes. A name stands for one content for ever: it is
    /// right to store the same bytes again, but not others.
    ///
    /// Names of blobs and nodes have at most 128 ASCII letters, digits, `-`, `_`, and points
    /// inside.
    async fn put_blob(&self, name: &str, bytes: Bytes) -> Result<(), Unavailable>;

    /// The bytes of a blob; `None` if there is none, or if it was not stored to the end.
    async fn get_blob(&self, name: &str) -> Result<Option<Bytes>, Unavailable>;

    /// The names of blobs that begin with `prefix` and a point, in no order: all, or as many as the
    /// service lists at once.
    async fn blobs(&self, prefix: &str) -> Result<Vec<String>, Unavailable>;

    /// Deletes a blob, whether or not it was stored completely.
    async fn delete_blob(&self, name: &str) -> Result<(), Unavailable>;

    /// Replaces this node's beat, which has at most [`MAX_BEAT`] bytes.
    async fn beat(&self, node: &str, bytes: Bytes) -> Result<(), Unavailable>;

    /// The last beat of each node, by name. Nodes that were silent for a day are left out.
    async fn nodes(&self) -> Result<Vec<Beat>, Unavailable>;

    /// Numbers of logs that have new entries. Hints can be lost, repeated or late.
    async fn hints(&self) -> Result<Hints, Unavailable>;

    /// Which servers keep the logs, and whether each syncs before it acknowledges.
    async fn durability(&self) -> Result<Durability, Unavailable>;
}

/// The result of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Appended {
    /// The entry is stored at this sequence.
    Stored(u64),
    /// The log does not end at the expected sequence. The number is the last one, if the service
    /// said it. The entry is stored if the first one after the expected sequence has its bytes: an
    /// earlier append that was `Unknown` did that, or the service received this one twice.
    Fenced(Option<u64>),
    /// It is not known whether the entry is stored. The same append again decides it.
    Unknown(String),
}

/// An entry of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the log.
    pub sequence: u64,
    /// The bytes that were appended.
    pub bytes: Bytes,
}

/// The last beat of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beat {
    /// The node's name.
    pub node: String,
    /// A number that differs from that of the node's beat before.
    pub revision: u64,
    /// What the node said.
    pub bytes: Bytes,
}

/// Receives the numbers of logs that have new entries.
pub type Hints = mpsc::Receiver<u16>;

/// How the service keeps entries that it acknowledges, as far as it says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Durability {
    /// The servers that keep the logs.
    pub servers: Vec<ServerSync>,
    /// On how many servers an entry is when it is acknowledged.
    pub copies: u16,
    /// Where `copies` comes from, in words for an operator.
    pub replication: String,
}

/// Whether one server syncs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSync {
    /// The server's name.
    pub name: String,
    /// The version of its program; empty if it is not known.
    pub version: String,
    /// Whether it syncs.
    pub syncs: Syncs,
}

/// Whether a server syncs what it acknowledges to its disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Syncs {
    /// Before each acknowledgement.
    Always,
    /// Later: a power cut of all servers loses acknowledged entries. The text says what to set.
    Lazily(String),
    /// The others say that the server is down.
    Offline,
    /// The server did not say it; the text says why.
    Unknown(String),
}

/// The service did not carry a request out, or did not say so. It is safe to ask again.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the engine is not available: {0}")]
pub struct Unavailable(pub String);
