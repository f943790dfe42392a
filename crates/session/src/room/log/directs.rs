//! Direct transactions (wire W114). The log has only their places in the order. Their contents wait
//! here until the receiver has them or cannot get them, so that neither trimming nor a part of the
//! snapshot removes them.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::mem::take;

use super::message::Message;
use crate::receipt::Receipt;
use crate::{ChannelNo, Counter, Order, ParticipantId, Position};

/// The most direct transactions that wait for one receiver.
const MAX_WAITING: usize = 256;

/// The most memory of waiting direct transactions, for one receiver and for the room.
const MAX_WAITING_BYTES: usize = 1 << 20;
const MAX_BYTES: usize = 4 << 20;

/// The most receipts that are kept for a sender, to be sent again on its next transport.
const MAX_RECEIPTS: usize = 1024;

/// The most senders whose receipts are kept. Beyond it, the receipts of the earliest participants
/// are dropped.
const MAX_SENDERS: usize = 4096;

/// A direct transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::room) struct Direct {
    pub(in crate::room) message: Message,
    pub(in crate::room) counter: Counter,
    pub(in crate::room) position: Position,
    pub(in crate::room) order: Order,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(in crate::room) struct Directs {
    /// The waiting direct transactions of each receiver, in the order of their positions.
    waiting: BTreeMap<ParticipantId, VecDeque<Direct>>,
    bytes: usize,
    /// The new direct transactions: their positions, each with the sender and with the receiver.
    fresh: VecDeque<(Position, ParticipantId)>,
    /// The position of each sender's last direct transaction.
    sent: BTreeMap<ParticipantId, Position>,
    /// For each sender, the receipts of its last direct transactions.
    receipts: BTreeMap<ParticipantId, VecDeque<(Counter, Receipt)>>,
    /// The receipts that were not sent to their senders yet.
    untold: Vec<(ParticipantId, Counter, Receipt)>,
    /// True in a mirror, which makes no receipts: it reports deliveries of direct transactions to
    /// its room.
    pub(super) is_copy: bool,
    /// In a mirror: deliveries that the room was not told of yet.
    settled: Vec<(ParticipantId, Position, Receipt)>,
}

impl Directs {
    /// Adds a direct transaction that has got a place in the log. `is_known`: the room has had a
    /// participant `to`.
    pub(super) fn put(&mut self, to: ParticipantId, direct: Direct, is_known: bool) {
        let (sender, counter) = (direct.message.sender, direct.counter);
        self.sent.insert(sender, direct.position);
        self.fresh.push_back((direct.position, sender));
        if !is_known {
            return self.note(sender, counter, Receipt::Gone);
        }
        let waiting = self.waiting.get(&to);
        let (count, bytes) = waiting.map_or((0, 0), |all| (all.len(), memory(all)));
        let cost = direct.message.cost();
        if count >= MAX_WAITING || bytes + cost > MAX_WAITING_BYTES || self.bytes + cost > MAX_BYTES
        {
            return self.note(sender, counter, Receipt::Full);
        }
        self.fresh.push_back((direct.position, to));
        self.insert(to, direct);
    }

    /// Adds a direct transaction of a stored log.
    pub(super) fn restore(&mut self, to: ParticipantId, direct: Direct) {
        let sent = self.sent.entry(direct.message.sender).or_default();
        *sent = direct.position.max(*sent);
        self.insert(to, direct);
    }

    fn insert(&mut self, to: ParticipantId, direct: Direct) {
        let waiting = self.waiting.entry(to).or_default();
        // A store's direct transactions are not in order: those that a part of the snapshot covers
        // come first.
        if let Err(at) = waiting.binary_search_by_key(&direct.position, |one| one.position) {
            self.bytes += direct.message.cost();
            waiting.insert(at, direct);
        }
    }

    /// The senders and the receivers of new direct transactions up to this position, which may be
    /// delivered now.
    pub(in crate::room) fn take_fresh(&mut self, until: Position) -> BTreeSet<ParticipantId> {
        let count = self.fresh.partition_point(|(position, _)| *position <= until);
        self.fresh.drain(..count).map(|(_, participant)| participant).collect()
    }

    /// The receivers with waiting direct transactions.
    pub(in crate::room) fn receivers(&self) -> impl Iterator<Item = ParticipantId> {
        self.waiting.keys().copied()
    }

    /// The direct transactions that wait for this receiver after this position, in order.
    pub(in crate::room) fn waiting(
        &self,
        to: ParticipantId,
        after: Position,
    ) -> impl Iterator<Item = &Direct> {
        let waiting = self.waiting.get(&to).into_iter().flatten();
        waiting.skip_while(move |one| one.position <= after)
    }

    /// The direct transaction at this position that waits for this receiver.
    pub(super) fn get(&self, to: ParticipantId, position: Position) -> Option<&Direct> {
        let waiting = self.waiting.get(&to)?;
        let at = waiting.binary_search_by_key(&position, |one| one.position).ok()?;
        waiting.get(at)
    }

    /// All waiting direct transactions, with their receivers.
    pub(super) fn all(&self) -> impl Iterator<Item = (ParticipantId, &Direct)> {
        self.waiting.iter().flat_map(|(&to, waiting)| waiting.iter().map(move |one| (to, one)))
    }

    /// The position of the last direct transaction from or to this participant; 0 without any.
    pub(in crate::room) fn last_of(&self, participant: ParticipantId) -> Position {
        let sent = self.sent.get(&participant).copied().unwrap_or_default();
        let waiting = self.waiting.get(&participant).and_then(VecDeque::back);
        sent.max(waiting.map_or(Position(0), |last| last.position))
    }

    /// The receiver has its direct transactions up to this position.
    pub(in crate::room) fn received(&mut self, to: ParticipantId, position: Position) {
        self.settle(to, Receipt::Delivered, |one| one.position <= position);
    }

    /// The direct transactions that wait for this receiver up to this position cannot be delivered.
    pub(in crate::room) fn give_up(
        &mut self,
        to: ParticipantId,
        until: Position,
        receipt: Receipt,
    ) {
        self.settle(to, receipt, |one| one.position <= until);
    }

    /// The direct transactions for this receiver on channels that it does not receive cannot be
    /// delivered.
    pub(in crate::room) fn give_up_closed(
        &mut self,
        to: ParticipantId,
        until: Position,
        receives: impl Fn(ChannelNo) -> bool,
    ) {
        let is_closed = |one: &Direct| one.position <= until && !receives(one.message.channel);
        self.settle(to, Receipt::NotOpen, is_closed);
    }

    /// A channel was reset up to this position: its direct transactions up to there are not
    /// delivered any more.
    pub(super) fn reset(&mut self, channel: ChannelNo, as_of: Position) {
        let receivers: BTreeSet<_> = self.receivers().collect();
        for to in receivers {
            let is_reset = |one: &Direct| one.message.channel == channel && one.position <= as_of;
            self.settle(to, Receipt::Gone, is_reset);
        }
    }

    fn settle(&mut self, to: ParticipantId, receipt: Receipt, is_it: impl Fn(&Direct) -> bool) {
        let Some(waiting) = self.waiting.remove(&to) else { return };
        let (settled, waiting): (VecDeque<_>, VecDeque<_>) = waiting.into_iter().partition(is_it);
        if !waiting.is_empty() {
            self.waiting.insert(to, waiting);
        }
        for Direct { message, counter, position, .. } in settled {
            self.bytes -= message.cost();
            match self.is_copy {
                true => self.settled.push((to, position, receipt)),
                false => self.note(message.sender, counter, receipt),
            }
        }
    }

    /// A mirror delivered the direct transaction at this position, or could not.
    pub(in crate::room) fn settle_at(
        &mut self,
        to: ParticipantId,
        position: Position,
        receipt: Receipt,
    ) {
        self.settle(to, receipt, |one| one.position == position);
    }

    /// In a mirror: the receipts of direct transactions since the last call.
    pub(in crate::room) fn take_settled(&mut self) -> Vec<(ParticipantId, Position, Receipt)> {
        take(&mut self.settled)
    }

    /// In a mirror: a direct transaction has this place in the room's order.
    pub(super) fn copy_place(
        &mut self,
        sender: ParticipantId,
        to: ParticipantId,
        position: Position,
    ) {
        self.sent.insert(sender, position);
        if self.sent.len() > MAX_SENDERS {
            self.sent.pop_first();
        }
        self.fresh.extend([(position, sender), (position, to)]);
        self.fresh.make_contiguous().sort_unstable();
    }

    /// In a mirror: keeps a direct transaction for a participant there. It comes before its place,
    /// which the room may have dropped meanwhile.
    pub(super) fn copy(&mut self, to: ParticipantId, direct: Direct) {
        self.fresh.push_back((direct.position, to));
        self.fresh.make_contiguous().sort_unstable();
        self.insert(to, direct);
    }

    /// In a mirror: the receiver is elsewhere from now on.
    pub(super) fn forget(&mut self, to: ParticipantId) {
        let waiting = self.waiting.remove(&to);
        self.bytes -= waiting.map_or(0, |waiting| memory(&waiting));
    }

    pub(super) fn note(&mut self, sender: ParticipantId, counter: Counter, receipt: Receipt) {
        let receipts = self.receipts.entry(sender).or_default();
        if receipts.len() >= MAX_RECEIPTS {
            receipts.pop_front();
        }
        receipts.push_back((counter, receipt));
        self.untold.push((sender, counter, receipt));
    }

    /// The receipts that were not sent yet, with the senders to send them to.
    pub(in crate::room) fn take_untold(&mut self) -> Vec<(ParticipantId, Counter, Receipt)> {
        take(&mut self.untold)
    }

    /// The receipts of this sender's last direct transactions.
    pub(in crate::room) fn receipts(
        &self,
        sender: ParticipantId,
    ) -> impl Iterator<Item = (Counter, Receipt)> {
        self.receipts.get(&sender).into_iter().flatten().copied()
    }

    /// A participant has left: its waiting direct transactions cannot be delivered. `remembers`:
    /// true for participants whose sessions can still be resumed.
    pub(super) fn leave(
        &mut self,
        participant: ParticipantId,
        remembers: impl Fn(ParticipantId) -> bool,
    ) {
        self.settle(participant, Receipt::Gone, |_| true);
        self.receipts.retain(|&sender, _| remembers(sender));
        self.sent.retain(|&sender, _| remembers(sender));
        while self.receipts.len() > MAX_SENDERS {
            self.receipts.pop_first();
        }
        while self.sent.len() > MAX_SENDERS {
            self.sent.pop_first();
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.bytes + self.receipts.values().map(|all| all.len() * 8).sum::<usize>()
    }
}

fn memory(waiting: &VecDeque<Direct>) -> usize {
    waiting.iter().map(|one| one.message.cost()).sum()
}
