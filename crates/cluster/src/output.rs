//! What a node asks of the engine, and what it tells its driver.

use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use crate::cursor::Cursor;
use crate::owner::{NodeName, Owner};
use crate::record::RecordError;

/// The number of a request to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// The number of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchId(pub u64);

/// A request to the engine. The driver answers each exactly once, with a time-out of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Append `bytes` if the last sequence of the shard's log is `expected`: [`Answer::Stored`],
    /// [`Answer::Fenced`] or [`Answer::Failed`].
    Append {
        /// The shard.
        shard: u16,
        /// The sequence that the log must have; 0 for an empty log.
        expected: u64,
        /// The record.
        bytes: Vec<u8>,
    },
    /// Read entries behind a sequence, oldest first: [`Answer::Entries`].
    Read {
        /// The shard.
        shard: u16,
        /// The sequence.
        after: u64,
        /// Bytes of entries that are enough.
        max_bytes: usize,
    },
    /// The last sequence of a log: [`Answer::Last`].
    Last {
        /// The shard.
        shard: u16,
    },
    /// Remove the entries with sequences below `before`: [`Answer::Done`].
    Trim {
        /// The shard.
        shard: u16,
        /// The first sequence that stays.
        before: u64,
    },
    /// Store a blob: [`Answer::Done`].
    PutBlob {
        /// The name.
        name: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Read a blob: [`Answer::Blob`].
    GetBlob {
        /// The name.
        name: String,
    },
    /// Replace this node's beat: [`Answer::Done`].
    Beat {
        /// The beat.
        bytes: Vec<u8>,
    },
    /// List the beats of all nodes: [`Answer::Nodes`].
    Nodes,
}

/// The engine's answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The record is stored at this sequence.
    Stored(u64),
    /// The log has another last sequence: this one, if the engine said so.
    Fenced(Option<u64>),
    /// The entries, possibly not all; an empty answer does not mean the end.
    Entries(Vec<Entry>),
    /// The last sequence, possibly not the newest.
    Last(u64),
    /// The blob, unless there is none.
    Blob(Option<Vec<u8>>),
    /// The beats of all nodes.
    Nodes(Vec<ListedBeat>),
    /// The engine did it.
    Done,
    /// No answer, or an error that decides nothing: an append may be stored, also later.
    Failed,
}

/// An entry of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The sequence.
    pub sequence: u64,
    /// The record.
    pub bytes: Vec<u8>,
}

/// A beat as the engine lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBeat {
    /// The node's name.
    pub node: String,
    /// A number that changes with each beat.
    pub revision: u64,
    /// The beat.
    pub bytes: Vec<u8>,
}

/// What a node tells its driver, which carries the outputs out in order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Send a request to the engine; the answer goes to [`Cluster::answered`].
    ///
    /// [`Cluster::answered`]: crate::Cluster::answered
    Ask(RequestId, Request),
    /// Apply the payload and save the cursor in one commit, then call [`Cluster::applied`], then
    /// confirm the batch `own`. An empty payload only moves the cursor.
    ///
    /// [`Cluster::applied`]: crate::Cluster::applied
    Apply {
        /// The shard.
        shard: u16,
        /// Where the log stands after the payload.
        cursor: Cursor,
        /// The owner's wall clock when it appended the payload, in milliseconds since 1970.
        time: u64,
        /// The payload.
        payload: Vec<u8>,
        /// This node's proposal, if it was one.
        own: Option<BatchId>,
    },
    /// Replace all that is applied of the shard by `state` and save the cursor, in one commit, then
    /// call [`Cluster::applied`]. Without a state the shard is empty: its log is read from its
    /// beginning.
    ///
    /// [`Cluster::applied`]: crate::Cluster::applied
    Load {
        /// The shard.
        shard: u16,
        /// Where the log stands after the state.
        cursor: Cursor,
        /// What [`Cluster::base`](crate::Cluster::base) was given.
        state: Option<Vec<u8>>,
    },
    /// This node owns the shard, and everything before its claim is applied. After
    /// [`Self::CutOff`] it owns the shard still.
    Owned {
        /// The shard.
        shard: u16,
        /// The epoch of the claim.
        epoch: u64,
        /// True if records before the claim were damaged or lost: rooms need new incarnations.
        mended: bool,
    },
    /// This node does not own the shard any more: drop its rooms and all unconfirmed proposals, and
    /// say nothing more.
    Lost {
        /// The shard.
        shard: u16,
        /// The node that owns it now or will, if known.
        owner: Option<NodeName>,
    },
    /// This node may have lost the shard: it was paused, or the log does not answer. Say nothing
    /// more as the owner until [`Self::Owned`] or [`Self::Lost`]. Proposals wait.
    CutOff {
        /// The shard.
        shard: u16,
    },
    /// Another process owns the shard, or nobody does: where to send clients.
    Moved {
        /// The shard.
        shard: u16,
        /// The process.
        owner: Option<Owner>,
    },
    /// The owner should make a base of the shard, because a node cannot go on without one.
    BaseWanted {
        /// The shard.
        shard: u16,
    },
    /// Blobs of records before this number are not needed any more. The names of blobs begin with
    /// the shard in 4 digits, a slash, the record's number in 20 digits, and a slash.
    Trimmed {
        /// The shard.
        shard: u16,
        /// The number.
        number: u64,
    },
    /// The log does not continue what this node has applied, and holds no base to go on from. The
    /// node serves the shard again after [`Self::Load`] or [`Self::Owned`]. If it had applied
    /// confirmed changes that the log lost, the shard's rooms need new incarnations.
    Damaged {
        /// The shard.
        shard: u16,
        /// Where this node's state ends.
        cursor: Cursor,
        /// The last sequence of the log that was read.
        sequence: u64,
        /// The reason.
        damage: Damage,
    },
    /// This process has to end; it says nothing more.
    Refused(Refused),
}

/// The reason why a log does not continue what a node has applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Damage {
    /// A record cannot be read.
    #[error("a record cannot be read: {0}")]
    Unreadable(#[from] RecordError),
    /// A record does not follow the one before: its number, epoch or the CRC of the one before
    /// differ.
    #[error("a record does not follow the one before: records are missing or were replaced")]
    Broken,
    /// The log ends before records that it had confirmed.
    #[error("the log ends before records that it had confirmed: the engine lost its tail")]
    LostTail,
    /// A blob that a record names is missing or differs.
    #[error("a blob that a record names is missing or damaged")]
    Blob,
}

/// The reason why a process has to end.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refused {
    /// Another process that lives has this node's name.
    #[error("another running server has the name {0}: give each server a name of its own")]
    NameTaken(NodeName),
    /// A newer version wrote a record.
    #[error("shard {shard} has records of version {version}: update this server")]
    Newer {
        /// The shard.
        shard: u16,
        /// The version.
        version: u8,
    },
}

/// The reason why a proposal is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProposeError {
    /// This node does not own the shard, or cannot be sure that it does.
    #[error("this node does not own the shard")]
    NotOwner,
    /// Too many proposals wait, or the shard is being released: try again.
    #[error("too many proposals wait, or the shard moves to another node")]
    NotNow,
    /// The payload is empty, or it or the base is above [`MAX_PAYLOAD`](crate::MAX_PAYLOAD).
    #[error("a payload is empty or too large")]
    Size,
}
