//! Puts events into the outbox, reads them, and drops them: the handle's and the writer's part.

use crate::api::{Append, OutboxEvent, OutboxLimits, OutboxState};
use crate::error::{Error, reading};
use crate::outbox::{self, Drops};
use crate::request::{Done, Request};
use crate::shard::{Shard, Shards};
use crate::store::Store;
use crate::stores::{Outbox, RoomLog};
use crate::writer::Writer;

/// Events of a shard are dropped for newer ones of other shards while they are at most this much
/// younger than the oldest event of the others, in milliseconds.
const DROPPED_TOGETHER: u64 = 60_000;

impl Outbox for Store {
    fn put_events(&self, room: &str, events: Vec<Vec<u8>>, done: Done) {
        self.append(Append { room: room.to_owned(), events, ..Append::default() }, done);
    }

    fn events(
        &self,
        last: u64,
        max_events: usize,
        max_bytes: usize,
    ) -> Result<Vec<OutboxEvent>, Error> {
        let Some(OutboxState { told, .. }) = self.outbox() else { return Ok(Vec::new()) };
        let rows = (told.cast_signed(), i64::try_from(last).unwrap_or(i64::MAX));
        self.shared()
            .with_reader(|db| outbox::read(db, rows, 0, max_events, max_bytes).map_err(reading))
    }

    fn events_told(&self, number: u64, done: Done) {
        let call = move |writer: &mut Writer| writer.events_told(number);
        self.send(done, |answer| Request::Call(Box::new(call), answer));
    }

    fn outbox(&self) -> Option<OutboxState> {
        self.shared().state().outbox
    }
}

impl Writer {
    fn events_told(&mut self, number: u64) -> Result<(), Error> {
        let Some(outbox) = self.shared.state().outbox else { return Ok(()) };
        if number <= outbox.told || number >= outbox.next {
            return Ok(());
        }
        let mut told = outbox;
        self.transaction(|db| {
            told = outbox::acknowledge(db, outbox, number)?;
            Ok(())
        })?;
        self.note_outbox(told);
        Ok(())
    }

    /// True if events are older, or more, than the limits permit.
    pub(crate) fn outbox_is_over(&self) -> bool {
        let Some(limits) = self.shared.options.outbox else { return false };
        let Some(outbox) = self.shared.state().outbox else { return false };
        outbox.bytes > limits.max_bytes || outbox.oldest.is_some_and(|time| time < self.due(limits))
    }

    /// Drops the oldest events, as far as the limits demand it. A cache drops those of the shard
    /// that has the oldest one.
    pub(crate) fn drop_events(&mut self) -> Result<(), Error> {
        let (Some(limits), Some(outbox)) = (self.shared.options.outbox, self.shared.state().outbox)
        else {
            return Ok(());
        };
        let (max_bytes, due) = (limits.max_bytes, self.due(limits));
        let Some((mut shard, until)) = self.oldest_shard() else {
            let drops = Drops { rows: outbox::ALL, max_bytes, due, until: u64::MAX };
            let mut rest = outbox;
            self.transaction(|db| {
                rest = outbox::drop_oldest(db, outbox, &drops)?;
                Ok(())
            })?;
            self.note_outbox(rest);
            return Ok(());
        };
        let others = outbox.bytes.saturating_sub(shard.outbox.bytes);
        let rows = outbox::rows_of(shard.cursor.shard);
        let drops = Drops { rows, max_bytes: max_bytes.saturating_sub(others), due, until };
        self.transaction(|db| {
            shard.outbox = outbox::drop_oldest(db, shard.outbox, &drops)?;
            Ok(())
        })?;
        self.note_shards([(shard.cursor.shard, shard)].into());
        Ok(())
    }

    /// The shard that has the oldest event, and the time up to which its events may be dropped for
    /// those of other shards.
    fn oldest_shard(&self) -> Option<(Shard, u64)> {
        let state = self.shared.state();
        let mut shards: Vec<_> = state.shards.values().collect();
        shards.retain(|shard| shard.outbox.oldest.is_some());
        shards.sort_by_key(|shard| shard.outbox.oldest);
        let next = shards.get(1).and_then(|shard| shard.outbox.oldest);
        let until = next.map_or(u64::MAX, |time| time + DROPPED_TOGETHER);
        shards.first().map(|&shard| (shard.clone(), until))
    }

    /// Replaces the shards that a commit changed.
    pub(crate) fn note_shards(&mut self, shards: Shards) {
        if !self.shared.options.is_cache {
            return;
        }
        let sum = {
            let mut state = self.shared.state();
            state.shards.extend(shards);
            let Some(before) = state.outbox else { return };
            state.shards.values().fold(before.without_events(), |sum, shard| sum.and(&shard.outbox))
        };
        self.note_outbox(sum);
    }

    /// Counts the events that remain after those of a room were erased.
    pub(crate) fn measure_outbox(&mut self) {
        let Some(before) = self.shared.state().outbox else { return };
        match outbox::measure(&self.db, before) {
            Ok(rest) => {
                let dropped = before.dropped + before.waiting.saturating_sub(rest.waiting);
                self.note_outbox(OutboxState { dropped, ..rest });
            }
            Err(error) => drop(self.poison(&error)),
        }
    }

    /// Adds the events that were committed.
    pub(crate) fn add_to_outbox(&self, events: &[Vec<u8>], time: u64) {
        if let Some(outbox) = &mut self.shared.state().outbox {
            outbox.next += events.len() as u64;
            outbox.add(events, time);
            outbox.check();
        }
    }

    fn note_outbox(&mut self, outbox: OutboxState) {
        outbox.check();
        let before = self.shared.state().outbox.replace(outbox);
        let erased = before.map_or(0, |before| before.bytes.saturating_sub(outbox.bytes));
        self.unsaved += erased;
        if erased > 0 {
            self.sweep.compaction.note_deletion(erased);
        }
    }

    /// Events that were stored before this time are too old.
    fn due(&self, limits: OutboxLimits) -> u64 {
        let age = u64::try_from(limits.max_age.as_millis()).unwrap_or(u64::MAX);
        self.shared.now().saturating_sub(age)
    }
}
