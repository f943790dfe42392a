//! What one receiver is told of the other participants: their changes, the complete list, their
//! number, a page of them, and the senders of messages that it does not know (wire W34, W103 to
//! W105).

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::limits::{MAX_PRESENCE, MAX_USER};
use crate::link::Link;
use crate::room::members::news::{self, News, PRESENCE_PER_PACKET};
use crate::room::members::roster::Roster;
use crate::wire::frame::Frame;
use crate::{Order, ParticipantId, PresenceState};

/// The most bytes of a participant in PARTICIPANTS without its number, its state and the two
/// lengths.
const LARGEST_ENTRY: usize = MAX_PRESENCE + MAX_USER;

/// The most bytes of the frame around the entry of a sender: tag, length and `complete`.
const INTRODUCTION: usize = 5;

/// The most participants in a page (W105).
const PAGE: usize = 256;

/// See the [module](self).
#[derive(Debug, Default)]
pub(in crate::room) struct ParticipantsFeed {
    /// Participants whose changes (joined, left, presence) the receiver has not been sent yet.
    changed: BTreeSet<ParticipantId>,
    /// The frames of the last tick about participants, if the receiver has not been sent them and
    /// needs no other frames about participants.
    news: Option<Arc<News>>,
    /// True if the next list of participants is complete: it replaces the list that the receiver
    /// has.
    is_list_complete: bool,
    /// True if the receiver has to be sent the number of participants.
    owes_count: bool,
    /// In a large room, the participants that this receiver was told of alone: in its complete
    /// list, and as the senders of messages from before its join (wire W104).
    told: BTreeSet<ParticipantId>,
    /// The receiver may not know the senders of messages up to this order; 0 if it knows all.
    told_from: Order,
    /// The receiver wants a page of the participants after this one (wire W105).
    pub(in crate::room) page_wanted: Option<ParticipantId>,
    /// False if it was sent a page since the last housekeeping.
    pub(in crate::room) may_page: bool,
}

impl ParticipantsFeed {
    /// The feed of a newcomer, whose first list has the participants in `listed`. `known_from`: in
    /// a large room, the order after which it knows the senders of messages.
    pub(in crate::room) fn new(listed: BTreeSet<ParticipantId>, known_from: Option<Order>) -> Self {
        ParticipantsFeed {
            told: if known_from.is_some() { listed.clone() } else { BTreeSet::new() },
            told_from: known_from.unwrap_or(Order(0)),
            changed: listed,
            is_list_complete: true,
            may_page: true,
            ..ParticipantsFeed::default()
        }
    }

    /// Queues the changes of other participants and, with `counts`, the number of participants.
    /// `news`: the same frames, coded once for all participants, if they fit a packet. `is_ready`:
    /// the receiver's transport is ready, and no control frames wait. `id`: the receiver.
    pub(in crate::room) fn tell_of(
        &mut self,
        id: ParticipantId,
        (changed, counts): (&BTreeSet<ParticipantId>, bool),
        news: Option<&Arc<News>>,
        is_ready: bool,
    ) {
        if let Some(before) = self.news.take() {
            self.changed.extend(&before.changed);
            self.owes_count |= before.counts;
        }
        // The frames for all are sent at once and do not wait behind older changes. They cannot be
        // used if they contain this participant.
        let takes_all = is_ready
            && self.changed.is_empty()
            && !self.is_list_complete
            && !self.owes_count
            && !changed.contains(&id);
        match news.filter(|_| takes_all) {
            Some(news) => self.news = Some(Arc::clone(news)),
            None => {
                self.changed.extend(changed.iter().filter(|&&other| other != id));
                self.owes_count |= counts;
            }
        }
    }

    /// Queues the complete list of participants, because the room is no longer large (wire W103).
    pub(in crate::room) fn tell_of_all(&mut self, others: BTreeSet<ParticipantId>) {
        (self.changed, self.news) = (others, None);
        (self.is_list_complete, self.owes_count) = (true, true);
        (self.told, self.told_from) = (BTreeSet::new(), Order(0));
    }

    /// True if there is something to send.
    pub(in crate::room) fn has_any(&self) -> bool {
        self.has_changes()
            || self.news.is_some()
            || self.is_list_complete
            || self.owes_count
            || (self.may_page && self.page_wanted.is_some())
    }

    /// True if changes wait. Payloads wait for them, because they may be from these participants.
    pub(in crate::room) fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    /// True if the receiver was sent the list of participants and all changes of it.
    pub(in crate::room) fn has_list(&self) -> bool {
        !self.is_list_complete && !self.has_changes() && self.news.is_none()
    }

    /// Forgets which participants the receiver was told of alone, at the end of its join: few older
    /// messages follow then, and naming a sender twice does no harm.
    pub(in crate::room) fn end_join(&mut self) {
        self.told = BTreeSet::new();
    }

    /// Adds a PARTICIPANTS frame with changes of the other participants, if there are any.
    pub(in crate::room) fn add_changes(
        &mut self,
        packet: &mut Vec<u8>,
        link: &mut Link,
        roster: &Roster,
    ) {
        if let Some(news) = self.news.take() {
            if packet.len() + news.frames.len() <= link.max_packet() {
                packet.extend_from_slice(&news.frames);
                if let Some(coders) = link.coders.as_mut() {
                    news.left.iter().for_each(|&id| coders.encoder.numbering.forget(id));
                }
                return;
            }
            self.changed.extend(&news.changed);
            self.owes_count |= news.counts;
        }
        if roster.is_large() && core::mem::take(&mut self.owes_count) {
            roster.count_frame().write(packet);
        }
        if self.changed.is_empty() && !self.is_list_complete && !self.owes_count {
            return;
        }
        let mut list = Vec::new();
        let mut size = 0;
        let remaining = link.remaining(packet).saturating_sub(LARGEST_ENTRY + 64);
        while size < PRESENCE_PER_PACKET.min(remaining)
            && let Some(id) = self.changed.pop_first()
        {
            let entry = news::entry(id, roster);
            size += news::size(&entry);
            list.push(entry);
        }
        if let Some(coders) = link.coders.as_mut() {
            let left = list.iter().filter(|entry| entry.state == PresenceState::Left);
            left.for_each(|entry| coders.encoder.numbering.forget(entry.id));
        }
        Frame::Participants { complete: self.is_list_complete, list }.write(packet);
        self.is_list_complete = false;
        if self.changed.is_empty() && core::mem::take(&mut self.owes_count) {
            // The room is no longer large, and the list is whole (W103).
            roster.count_frame().write(packet);
        }
    }

    /// Adds the page of participants that the receiver `id` asked for (W105), if the packet has
    /// place for it.
    pub(in crate::room) fn add_page(
        &mut self,
        id: ParticipantId,
        packet: &mut Vec<u8>,
        link: &Link,
        roster: &Roster,
    ) {
        let remaining = link.remaining(packet).saturating_sub(LARGEST_ENTRY + 64);
        if !self.may_page || remaining == 0 {
            return;
        }
        let Some(after) = self.page_wanted.take() else { return };
        self.may_page = false;
        let mut others = roster.after(after).filter(|&other| other != id).peekable();
        let (mut list, mut size) = (Vec::new(), 0);
        while list.len() < PAGE
            && size < PRESENCE_PER_PACKET.min(remaining)
            && let Some(other) = others.next()
        {
            let entry = news::entry(other, roster);
            size += news::size(&entry);
            list.push(entry);
        }
        Frame::Page { after, last: others.peek().is_none(), list }.write(packet);
    }
}

/// The senders that PARTICIPANTS names to the receiver before the payload with their messages (wire
/// W104).
pub(in crate::room) struct Introductions<'a> {
    pub(in crate::room) roster: &'a Roster,
    pub(in crate::room) participants: &'a mut ParticipantsFeed,
    /// The senders that are named before this payload.
    pub(in crate::room) list: Vec<ParticipantId>,
}

impl Introductions<'_> {
    /// The bytes for naming the sender of a message with this order; `None` if the receiver knows
    /// it, or it has left.
    pub(super) fn needs(&self, sender: ParticipantId, order: Order) -> Option<usize> {
        let ParticipantsFeed { told, told_from, .. } = &*self.participants;
        let is_known = order > *told_from || told.contains(&sender);
        let is_here = !is_known && self.roster.get(sender).is_some();
        is_here.then(|| news::size(&news::entry(sender, self.roster)) + INTRODUCTION)
    }

    /// Notes that this sender is named before the payload.
    pub(super) fn add(&mut self, sender: ParticipantId) {
        self.participants.told.insert(sender);
        self.list.push(sender);
    }
}

/// Inserts a PARTICIPANTS frame with these senders before the payload, which begins at `at` (W104).
/// Returns its length.
pub(in crate::room) fn introduce(
    roster: &mut Roster,
    senders: Vec<ParticipantId>,
    packet: &mut Vec<u8>,
    at: usize,
) -> usize {
    let list = senders.iter().map(|&id| news::entry(id, roster)).collect();
    let mut frame = Vec::new();
    Frame::Participants { complete: false, list }.write(&mut frame);
    senders.iter().for_each(|&id| roster.was_named(id));
    let length = frame.len();
    packet.splice(at..at, frame);
    length
}
