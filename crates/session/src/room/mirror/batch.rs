//! What all mirrors of a room are told at a tick: everything that has changed since the last batch,
//! written once for all of them. The copy for a new mirror is a batch since the beginning.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::down::{Person, ToMirror, write_part, write_transaction, write_value};
use crate::room::accounting::upstream::Upstreams;
use crate::room::log::{Bounds, Cursor, Log};
use crate::room::members::news;
use crate::room::members::roster::Roster;
use crate::{ChannelNo, ParticipantId, Position, Qos};

/// What mirrors were told up to the last batch.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Mirrors have the messages of the log up to here.
    pub(super) cursor: Cursor,
    channels: BTreeMap<ChannelNo, Qos>,
    bounds: BTreeMap<ChannelNo, Bounds>,
    /// The position of each part of the snapshot.
    parts: BTreeMap<String, Position>,
    shares: BTreeMap<ChannelNo, u16>,
}

impl Told {
    /// The batch with all changes up to the end of the log. `people`: the participants whose
    /// entries have changed, and whether each has left meanwhile. `guests`: those whose transports
    /// are at mirrors. Empty if there is nothing to tell.
    pub(super) fn batch(
        &mut self,
        now: Duration,
        people: &BTreeMap<ParticipantId, bool>,
        guests: impl Iterator<Item = ParticipantId>,
        (log, roster, upstreams): (&Log, &Roster, &Upstreams),
    ) -> Vec<u8> {
        let mut out = Vec::new();
        let until = log.end();
        if log.trimmed_any() > self.cursor.log {
            for id in guests {
                let counter = log.durable_counter(id);
                ToMirror::Counter { id, counter }.write(now, &mut out);
            }
        }
        self.channels(now, log, &mut out);
        self.bounds(now, log, &mut out);
        self.parts(log, &mut out);
        for (&id, &has_left) in people {
            let entry = news::entry(id, roster);
            let person = Person { state: entry.state, user: entry.user, presence: entry.presence };
            ToMirror::Person { id, has_left, person }.write(now, &mut out);
        }
        self.messages(now, log, until, &mut out);
        for (channel, share) in upstreams.shares() {
            if self.shares.insert(channel, share) != Some(share) {
                ToMirror::Upstream { channel, share }.write(now, &mut out);
            }
        }
        if !out.is_empty() || until.log != self.cursor.log {
            ToMirror::End { durable: until.log }.write(now, &mut out);
        }
        self.cursor = until;
        out
    }

    /// True if mirrors know the channel.
    pub(super) fn knows(&self, channel: ChannelNo) -> bool {
        self.channels.contains_key(&channel)
    }

    fn channels(&mut self, now: Duration, log: &Log, out: &mut Vec<u8>) {
        for (channel, known) in log.channels() {
            if self.channels.get(&channel) != Some(&known.qos) {
                self.channels.insert(channel, known.qos);
                let (name, qos) = (known.name.as_str(), known.qos);
                ToMirror::Channel { channel, name, qos }.write(now, out);
            }
        }
    }

    /// Bounds go before messages: they say what mirrors will never be sent.
    fn bounds(&mut self, now: Duration, log: &Log, out: &mut Vec<u8>) {
        for (channel, bounds) in log.bounds() {
            let told = self.bounds.entry(channel).or_default();
            if *told != bounds {
                *told = bounds;
                ToMirror::Bounds { channel, bounds }.write(now, out);
            }
        }
    }

    fn parts(&mut self, log: &Log, out: &mut Vec<u8>) {
        let is_there = |name: &String| log.parts().any(|part| part.name == *name);
        self.parts.retain(|name, _| is_there(name));
        for part in log.parts() {
            if self.parts.get(&part.name) != Some(&part.as_of) {
                self.parts.insert(part.name.clone(), part.as_of);
                write_part(part, out);
            }
        }
    }

    /// Writes the transactions and values up to `until`, in the order in which they came.
    fn messages(&self, now: Duration, log: &Log, until: Cursor, out: &mut Vec<u8>) {
        let transactions = log.transactions_after(self.cursor.log);
        let mut transactions = transactions.take_while(|one| one.position <= until.log).peekable();
        for (order, value) in log.values_after(self.cursor.awareness) {
            while let Some(one) = transactions.next_if(|one| one.order < order) {
                write_transaction(now, one.position, one.counter, &one.message, out);
            }
            write_value(now, value.index, value.after, &value.message, out);
        }
        for one in transactions {
            write_transaction(now, one.position, one.counter, &one.message, out);
        }
    }
}
