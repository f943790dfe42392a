//! Hands changes of a durable room to its store, and keeps account of what is durable (wire W92).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::room::log::{Log, Part, Reset};
use crate::room::storage::stored::{RESERVED_AT_ONCE, Write};
use crate::{ChannelNo, ParticipantId, Position};

/// See the [module](self).
#[derive(Debug, Default)]
pub(in crate::room) struct Storing {
    /// The transactions up to here were handed to the store.
    handed: Position,
    /// The channels that the stored facts contain.
    channels: BTreeSet<ChannelNo>,
    /// The facts have to be stored again.
    is_changed: bool,
    /// The greatest number of a participant that the store was asked to reserve; 0 before the room
    /// is stored.
    asked: ParticipantId,
    /// The greatest number that is durably reserved.
    reserved: ParticipantId,
    /// The position of the newest part of each name that was handed to the store.
    parts: BTreeMap<String, Position>,
    /// Resets of channels that are not handed to the store yet.
    resets: Vec<Reset>,
}

impl Storing {
    /// The account of a room that was restored from a store.
    pub(in crate::room) fn restored(log: &Log, reserved: ParticipantId) -> Self {
        Storing {
            handed: log.head(),
            channels: log.channels().map(|(channel, _)| channel).collect(),
            is_changed: false,
            asked: reserved,
            reserved,
            parts: log.parts().map(|part| (part.name.clone(), part.as_of)).collect(),
            resets: Vec::new(),
        }
    }

    /// True if the next new participant may get this number. A number that was given out and not
    /// reserved could be given out again after a crash. A room that is not stored yet begins with a
    /// new incarnation after a crash, so there its numbers are free until the first write is on its
    /// way.
    pub(in crate::room) fn permits(&self, participant: ParticipantId) -> bool {
        let is_stored = self.asked > ParticipantId(0);
        let limit = if self.reserved > ParticipantId(0) { self.reserved } else { self.asked };
        !is_stored || participant <= limit
    }

    /// Notes that a channel's QoS changed.
    pub(in crate::room) fn changed(&mut self, channel: ChannelNo) {
        self.is_changed |= self.channels.contains(&channel);
    }

    /// Notes that channels were reset. The store drops the parts of these names with all that they
    /// stand for.
    pub(in crate::room) fn reset(&mut self, resets: Vec<Reset>) {
        self.resets.extend(resets);
    }

    /// The store reserved participant numbers up to `reserved`, and made transactions up to
    /// `position` durable. Returns that position, but at most the last one that was handed to the
    /// store.
    pub(in crate::room) fn on_durable(
        &mut self,
        position: Position,
        reserved: ParticipantId,
    ) -> Position {
        self.reserved = self.reserved.max(reserved.min(self.asked));
        position.min(self.handed)
    }

    /// The change that has to be stored next; `None` if there is nothing to store.
    pub(in crate::room) fn next(
        &mut self,
        log: &mut Log,
        wall: Duration,
        now: Duration,
    ) -> Option<Write> {
        let handed = |name: &str| self.parts.get(name).copied().unwrap_or_default();
        let parts = log.parts().filter(|part| part.as_of > handed(&part.name));
        let parts: Vec<Arc<Part>> = parts.cloned().collect();
        let is_stored = self.asked > ParticipantId(0);
        // Joining and opening store nothing, so a room is stored with its first transaction.
        let has_others = self.is_changed || !parts.is_empty() || !self.resets.is_empty();
        if log.head() == self.handed && !(is_stored && has_others) {
            return self.reserve(log);
        }
        let mut write = self.reserve(log).unwrap_or_default();
        for transaction in log.transactions_after(self.handed) {
            self.is_changed |= self.channels.insert(transaction.message.channel);
            write.transactions.push(log.stored(transaction, wall));
        }
        self.handed = log.head();
        for reset in self.resets.drain(..) {
            write.parts.push(Log::stored_reset(&reset));
            // A part of this name that is made from now on is newer, whatever its position.
            self.parts.remove(&reset.part);
            self.is_changed = true;
        }
        for part in parts {
            write.parts.push(Log::stored_part(&part));
            self.channels.extend(&part.channels);
            self.parts.insert(part.name.clone(), part.as_of);
            // The store deletes transactions that the part covers, so the facts have to contain
            // their counters.
            self.is_changed = true;
        }
        if core::mem::take(&mut self.is_changed) {
            write.facts = Some(log.facts(&self.channels, wall, now));
        }
        (!write.is_empty()).then_some(write)
    }

    /// Reserves a further block of participant numbers if half of the last one is used, or if the
    /// room is about to be stored for the first time.
    fn reserve(&mut self, log: &Log) -> Option<Write> {
        let is_stored = self.asked > ParticipantId(0);
        let is_due = match is_stored {
            true => log.last_participant().get() + RESERVED_AT_ONCE / 2 > self.asked.get(),
            false => log.head() > self.handed,
        };
        is_due.then(|| {
            self.asked = ParticipantId(log.last_participant().get() + RESERVED_AT_ONCE);
            Write { reserved: Some(self.asked), ..Write::default() }
        })
    }
}
