//! Datagrams for many receivers (wire W70 to W75): awareness is coded once for all receivers that
//! have the same channels and need the same number of repeats.
//!
//! A fan-out group has a set of channels, a number of repeats (its step in [`LADDER`]), and members
//! that all have either short or long round trips. The room advances the epoch of the group's
//! compression model when all members have acknowledged the packets before it. A member that does
//! not keep up is removed from the group and gets datagrams of its own.

mod compose;
mod loss;
mod place;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

pub(in crate::room) use loss::{LADDER, Loss};
pub(in crate::room) use place::GroupMembership;

use crate::events::event;
use crate::limits::RECORD_OVERHEAD_IN_DATAGRAMS;
use crate::link::Link;
use crate::room::feed::carry::Feed;
use crate::room::log::Cursor;
use crate::room::subscriptions::SubscriptionSet;
use crate::trace::Carrier;
use crate::wire::frame::{self, Frame};
use crate::wire::payload::GroupEncoder;
use crate::{GroupId, Order, ParticipantId};
use compose::Round;

/// The most bytes of a group's frame in a datagram. QUIC and WebTransport leave at least 1,160
/// bytes on every path.
pub(in crate::room) const MAX_PAYLOAD: usize = 1000;

/// The size of datagrams that a transport must permit for its participant to be in a group: private
/// frames fit beside the group's frame.
pub(in crate::room) const LEAST_DATAGRAM: usize = MAX_PAYLOAD + MAX_PRIVATE;

/// Bytes reserved for frames to one receiver in the same datagram.
const MAX_PRIVATE: usize = 150;

/// The largest message that is sent in a group's datagrams: bytes of content and key.
pub(in crate::room) const MAX_SIZE: usize = MAX_PAYLOAD - RECORD_OVERHEAD_IN_DATAGRAMS;

/// The number of packets that are kept to be sent again: acknowledgements of a receiver can name
/// this many.
const KEPT: usize = 127;

/// The most participants that are served without a group at a time because they did not keep up,
/// lose too much, or are about to enter a group: each costs as much work as a group. If more are
/// late, the cause is the server or a path that they share, and serving them alone would make it
/// worse.
pub(in crate::room) const MOST_ALONE: usize = 16;

/// A group whose packet numbers reach this is closed, long before the 32-bit numbers run out (at a
/// thousand packets per second, after weeks).
const LAST_NUMBER: u32 = 1 << 31;

/// The groups of a room.
#[derive(Default)]
pub(in crate::room) struct Groups {
    pub(in crate::room) list: Vec<Group>,
    last: GroupId,
    /// Awareness up to this order may be sent.
    pub(in crate::room) until: Order,
    /// Participants that are served alone for a while.
    pub(in crate::room) alone: usize,
}

/// The properties in which all members of a group agree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::room) struct GroupKey {
    pub(in crate::room) channels: SubscriptionSet,
    /// The number of times that the group repeats each message: an index into [`LADDER`].
    pub(in crate::room) step: u8,
    /// True for receivers with long round trips. They have groups of their own, as the model of a
    /// group advances only as fast as its slowest member acknowledges.
    pub(in crate::room) is_far: bool,
}

impl GroupKey {
    /// True if the two keys are equal except for the step.
    pub(in crate::room) fn is_like(&self, other: &GroupKey) -> bool {
        (&self.channels, self.is_far) == (&other.channels, other.is_far)
    }
}

/// A fan-out group: receivers of the same datagrams.
pub(in crate::room) struct Group {
    pub(in crate::room) id: GroupId,
    pub(in crate::room) key: GroupKey,
    pub(in crate::room) members: Vec<ParticipantId>,
    /// True if receivers wait to enter the group, and get new messages only from the group's
    /// packets ([`GroupMembership::waits`]). Packets are then made even if the group has no
    /// members.
    pub(in crate::room) is_awaited: bool,
    feed: Feed,
    pub(in crate::room) encoder: GroupEncoder,
    pub(in crate::room) kept: VecDeque<Kept>,
    /// The newest packet; 0 before the first.
    pub(in crate::room) newest: u32,
    /// Values that are to be repeated, the oldest first.
    rounds: VecDeque<Round>,
    /// A snapshot of the model and the number of the last packet before it, for receivers that
    /// enter the group.
    model: Option<(u32, Arc<[u8]>)>,
}

/// A packet that was sent.
pub(in crate::room) struct Kept {
    pub(in crate::room) number: u32,
    pub(in crate::room) sent: Duration,
    /// The SHARED_DATAGRAM frame of the packet.
    frame: Arc<[u8]>,
}

impl Groups {
    pub(in crate::room) fn get(&self, id: GroupId) -> Option<&Group> {
        self.list.iter().find(|group| group.id == id)
    }

    pub(in crate::room) fn get_mut(&mut self, id: GroupId) -> Option<&mut Group> {
        self.list.iter_mut().find(|group| group.id == id)
    }

    /// Opens a group for messages that come from now on.
    pub(in crate::room) fn open(&mut self, key: GroupKey) -> &mut Group {
        self.last = self.last.next();
        let (group, cursor) = (self.last, Cursor::default().with_awareness(self.until));
        event!(DEBUG, "group opened", %group);
        self.list.push(Group {
            id: group,
            key,
            members: Vec::new(),
            is_awaited: false,
            feed: Feed::at(cursor),
            encoder: GroupEncoder::new(),
            kept: VecDeque::new(),
            newest: 0,
            rounds: VecDeque::new(),
            model: None,
        });
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    /// Closes the groups for which `is_used` returns false, and those whose packet numbers are used
    /// up ([`LAST_NUMBER`]).
    pub(in crate::room) fn close_others(&mut self, is_used: impl Fn(GroupId) -> bool) {
        self.list.retain(|group| {
            let (is_kept, group) = (is_used(group.id) && group.newest < LAST_NUMBER, group.id);
            if !is_kept {
                event!(DEBUG, "group closed", %group);
            }
            is_kept
        });
    }

    /// Lets the groups send awareness up to this order.
    pub(in crate::room) fn release(&mut self, until: Order) {
        self.list.iter_mut().for_each(|group| group.feed.until.awareness = until);
        self.until = until;
    }

    /// Counts one more participant that is served without a group for a while. Returns false, and
    /// does not count it, if there are [`MOST_ALONE`] already.
    pub(in crate::room) fn admit(&mut self) -> bool {
        let is_admitted = self.alone < MOST_ALONE;
        self.alone += usize::from(is_admitted);
        is_admitted
    }

    /// The time of the next repeat in any group.
    pub(in crate::room) fn next_round(&self) -> Option<Duration> {
        self.list.iter().filter_map(Group::next_round).min()
    }

    /// The log must keep messages after this order, as some of them are still to be repeated.
    pub(in crate::room) fn needs_after(&self) -> Order {
        let needs = self.list.iter().filter_map(|group| group.rounds.front());
        needs.map(Round::after).min().unwrap_or(Order(u64::MAX))
    }

    /// Bytes that the groups take, about.
    pub(in crate::room) fn memory(&self) -> usize {
        let of = |group: &Group| {
            let kept: usize = group.kept.iter().map(|kept| kept.frame.len()).sum();
            kept + group.encoder.coder.memory()
        };
        self.list.iter().map(of).sum()
    }
}

impl Group {
    /// The packets after `number` that are still kept.
    pub(in crate::room) fn kept_after(&self, number: u32) -> impl Iterator<Item = &Kept> {
        let from = self.kept.partition_point(|kept| kept.number <= number);
        self.kept.range(from..)
    }

    /// The number of the newest kept packet that was sent at least this long ago; 0 if there is
    /// none.
    pub(in crate::room) fn older_than(&self, now: Duration, age: Duration) -> u32 {
        let older = self.kept.partition_point(|kept| kept.sent + age <= now);
        let last = older.checked_sub(1).and_then(|last| self.kept.get(last));
        last.map_or(0, |kept| kept.number)
    }

    /// The model as it is now.
    pub(in crate::room) fn model(&mut self) -> Arc<[u8]> {
        if let Some((number, model)) = &self.model
            && *number == self.newest
        {
            return Arc::clone(model);
        }
        let mut model = Vec::new();
        self.encoder.coder.snapshot(&mut model);
        let model: Arc<[u8]> = model.into();
        self.model = Some((self.newest, Arc::clone(&model)));
        model
    }
}

/// Queues a packet again, over the stream (W74). The frame says how long ago the packet was first
/// sent, so that the receiver adds this to the ages of its messages.
pub(in crate::room) fn send_again(now: Duration, link: &mut Link, group: GroupId, kept: &Kept) {
    let mut header = Vec::new();
    frame::shared_datagram(group, &mut header);
    let rest = kept.frame.get(header.len()..).unwrap_or_default();
    let waited = now.saturating_sub(kept.sent).as_millis();
    let waited = u32::try_from(waited).unwrap_or(u32::MAX);
    link.queue(&Frame::SharedAgain { group, waited, rest });
}

/// W75: queues the frame that tells a receiver that it is no longer in the group.
pub(in crate::room) fn send_leave(link: &mut Link, group: GroupId) {
    link.queue(&Frame::Leave { carrier: Carrier::Datagrams, group, rest: &[] });
}
