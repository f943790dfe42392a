//! How much a participant has received of the room's state from before it joined, and the parts of
//! the snapshot that it downloads and uploads.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::room::feed::shared_stream::Member;
use crate::room::log::{Cursor, Part, Starts};
use crate::wire::snapshot::Assembly;
use crate::{ChannelNo, Counter, Order, Position};

/// How long the room waits for a chunk of a part of the snapshot before it asks another
/// participant.
pub(in crate::room) const SNAPSHOT_PATIENCE: Duration = Duration::from_secs(5);

/// The stage of a participant that receives what was in the room before it joined.
#[derive(Debug)]
pub(in crate::room) enum Stage {
    /// It is being sent the late-joiner state.
    Joining(Box<Joining>),
    /// Transactions that it lacks are no longer in memory: it is being sent parts of the snapshot.
    CatchingUp(VecDeque<Download>),
    /// It is sent new messages at each tick: over a private stream (`None`) or as a member of a
    /// shared stream.
    Live(Option<Member>),
}

impl Stage {
    /// Messages up to this order are late-joiner state; 0 once the join is complete.
    pub(super) fn state_until(&self) -> Order {
        match self {
            Stage::Joining(joining) => joining.until.awareness,
            _ => Order(0),
        }
    }
}

/// A join that is not complete.
#[derive(Debug)]
pub(in crate::room) struct Joining {
    /// Messages up to here are late-joiner state: they were in the room when the participant
    /// joined.
    pub(in crate::room) until: Cursor,
    /// Channels that were opened after the first packet: each is sent a SYNCED frame of its own
    /// once the join is complete.
    pub(in crate::room) late: BTreeSet<ChannelNo>,
    pub(in crate::room) downloads: VecDeque<Download>,
}

/// A part of the snapshot on its way to a participant.
#[derive(Debug)]
pub(in crate::room) struct Download {
    pub(in crate::room) part: Arc<Part>,
    /// The part's number on this transport.
    pub(in crate::room) number: u32,
    pub(in crate::room) offset: usize,
}

/// A part of the snapshot that a participant can make.
#[derive(Debug)]
pub(in crate::room) struct Offer {
    pub(in crate::room) name: String,
    /// The channels whose transactions the part stands for, in the order of their numbers.
    pub(in crate::room) channels: Vec<ChannelNo>,
}

/// The transactions that a participant lacks, and from where in the log it needs others.
#[derive(Debug, Default)]
pub(in crate::room) struct Missing {
    /// Channels that were opened late and whose older messages are to be sent: the participant has
    /// their transactions up to these positions (W18).
    pub(in crate::room) unfilled: BTreeMap<ChannelNo, Position>,
    /// Channels of which the participant needs transactions only from a position beyond its place
    /// in the log.
    pub(in crate::room) starts: Starts,
    /// While the participant catches up: the position up to which some transactions are not sent to
    /// it, and the counter of its own last one up to there.
    pub(in crate::room) reach: Option<(Position, Counter)>,
    /// The number of the last part of the snapshot that the participant was sent.
    pub(in crate::room) parts_sent: u32,
}

/// The parts of the snapshot that a participant can make, and the state of asking it for them.
#[derive(Debug, Default)]
pub(in crate::room) struct Upload {
    /// The parts that the participant can make, by its own numbers (W95).
    pub(in crate::room) offers: BTreeMap<u32, Offer>,
    /// The numbers of the parts that the participant was asked for on this transport. An answer may
    /// still come after the room kept another participant's part.
    pub(in crate::room) asked: BTreeSet<u32>,
    /// The part that is awaited, and the least position that it has to cover.
    pub(in crate::room) awaited: Option<(u32, Position)>,
    pub(in crate::room) arriving: Option<Assembly>,
    /// Bytes of the awaited part that may still come without counting against a quota.
    pub(in crate::room) free: usize,
}

impl Upload {
    /// Stops waiting for an answer.
    pub(in crate::room) fn forget(&mut self) {
        (self.awaited, self.arriving) = (None, None);
    }
}
