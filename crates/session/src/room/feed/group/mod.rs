//! Datagrams for many (wire W70 to W75): awareness is coded once for all receivers that are sent the same, and repeat the
//! same.
//!
//! A fan-out group has a set of channels, a step of the ladder of repeats, and members that are near or far. Its epochs are
//! the room's to choose: they advance when all members have acknowledged enough. A member that does not keep up leaves, and is
//! served alone.

mod compose;
mod loss;
mod place;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

pub(in crate::room) use loss::{LADDER, Loss};
pub(in crate::room) use place::Place;

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

/// Bytes of a group's datagram without what is private in it: QUIC and WebTransport leave 1,160 and more on every path.
pub(in crate::room) const MAX_PAYLOAD: usize = 1000;

/// Bytes that a transport's datagrams must have for a group: what is private fits in, too.
pub(in crate::room) const LEAST_DATAGRAM: usize = MAX_PAYLOAD + MAX_PRIVATE;

/// Bytes of private frames beside a payload.
const MAX_PRIVATE: usize = 150;

/// The largest message of a group's datagrams, key included.
pub(in crate::room) const MAX_SIZE: usize = MAX_PAYLOAD - RECORD_OVERHEAD_IN_DATAGRAMS;

/// Packets kept to be sent again: as many as a receiver tells apart.
const KEPT: usize = 127;

/// The most participants that are served alone at a time because they did not keep up, lose too much, or are about to enter a
/// group: each costs as much as a group does. When more are late, it is this end or a path that they have in common, and serving
/// them alone would make it worse.
pub(in crate::room) const MOST_ALONE: usize = 16;

/// A model is renewed long before its packets' numbers could run out (at a thousand a second, after weeks).
const LAST_NUMBER: u32 = 1 << 31;

/// The groups of a room.
#[derive(Default)]
pub(in crate::room) struct Groups {
    pub(in crate::room) list: Vec<Group>,
    last: GroupId,
    /// Awareness up to this order was sent.
    pub(in crate::room) until: Order,
    /// Participants that are served alone for a while.
    pub(in crate::room) alone: usize,
}

/// Whom a group is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::room) struct GroupKey {
    pub(in crate::room) channels: SubscriptionSet,
    /// The step of the ladder of repeats.
    pub(in crate::room) step: u8,
    /// The group is for receivers with long round trips: an acknowledgement that comes late makes the model old for all members.
    pub(in crate::room) is_far: bool,
}

impl GroupKey {
    /// Whether at most the step differs.
    pub(in crate::room) fn is_like(&self, other: &GroupKey) -> bool {
        (&self.channels, self.is_far) == (&other.channels, other.is_far)
    }
}

/// Receivers of the same datagrams.
pub(in crate::room) struct Group {
    pub(in crate::room) id: GroupId,
    pub(in crate::room) key: GroupKey,
    pub(in crate::room) members: Vec<ParticipantId>,
    /// Receivers that are served by nobody else wait to enter.
    pub(in crate::room) is_awaited: bool,
    feed: Feed,
    pub(in crate::room) encoder: GroupEncoder,
    pub(in crate::room) kept: VecDeque<Kept>,
    /// The newest packet; 0 before the first.
    pub(in crate::room) newest: u32,
    /// What is to be repeated.
    rounds: VecDeque<Round>,
    /// The model as of a packet, for receivers that enter now.
    model: Option<(u32, Arc<[u8]>)>,
}

/// A packet that was sent.
pub(in crate::room) struct Kept {
    pub(in crate::room) number: u32,
    pub(in crate::room) sent: Duration,
    /// The frame, as it ends a datagram.
    frame: Arc<[u8]>,
}

impl Groups {
    pub(in crate::room) fn get(&self, id: GroupId) -> Option<&Group> {
        self.list.iter().find(|group| group.id == id)
    }

    pub(in crate::room) fn get_mut(&mut self, id: GroupId) -> Option<&mut Group> {
        self.list.iter_mut().find(|group| group.id == id)
    }

    /// Opens a group that sends what comes from now on.
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

    /// Closes the groups that `is_used` does not name.
    pub(in crate::room) fn close_others(&mut self, is_used: impl Fn(GroupId) -> bool) {
        self.list.retain(|group| {
            let (is_kept, group) = (is_used(group.id) && group.newest < LAST_NUMBER, group.id);
            if !is_kept {
                event!(DEBUG, "group closed", %group);
            }
            is_kept
        });
    }

    /// From now on, awareness up to this order is sent.
    pub(in crate::room) fn release(&mut self, until: Order) {
        self.list.iter_mut().for_each(|group| group.feed.until.awareness = until);
        self.until = until;
    }

    /// Whether one more may be served alone for a while; it is counted.
    pub(in crate::room) fn admit(&mut self) -> bool {
        let is_admitted = self.alone < MOST_ALONE;
        self.alone += usize::from(is_admitted);
        is_admitted
    }

    /// When something is to be repeated next.
    pub(in crate::room) fn next_round(&self) -> Option<Duration> {
        self.list.iter().filter_map(Group::next_round).min()
    }

    /// Of the messages after this order, some are still to be repeated.
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
    /// The packets after `number` that are still there.
    pub(in crate::room) fn kept_after(&self, number: u32) -> impl Iterator<Item = &Kept> {
        let from = self.kept.partition_point(|kept| kept.number <= number);
        self.kept.range(from..)
    }

    /// The newest packet that was sent at least this long ago.
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

/// Puts a packet on the stream (W74): the messages in it are older by the time that it waited.
pub(in crate::room) fn send_again(now: Duration, link: &mut Link, group: GroupId, kept: &Kept) {
    let mut header = Vec::new();
    frame::shared_datagram(group, &mut header);
    let rest = kept.frame.get(header.len()..).unwrap_or_default();
    let waited = now.saturating_sub(kept.sent).as_millis();
    let waited = u32::try_from(waited).unwrap_or(u32::MAX);
    link.queue(&Frame::SharedAgain { group, waited, rest });
}

/// W75: tells a receiver that it is not sent the group's datagrams any more.
pub(in crate::room) fn send_leave(link: &mut Link, group: GroupId) {
    link.queue(&Frame::Leave { carrier: Carrier::Datagrams, group, rest: &[] });
}
