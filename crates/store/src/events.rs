//! Puts events into the outbox, reads them, and drops them: the handle's and the writer's part.

use crate::api::{Append, OVERHEAD, OutboxEvent, OutboxLimits, OutboxState};
use crate::error::{Error, reading};
use crate::outbox;
use crate::request::{Done, Request};
use crate::store::Store;
use crate::stores::{Outbox, RoomLog};
use crate::writer::Writer;

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
        let last = i64::try_from(last).unwrap_or(i64::MAX);
        self.shared()
            .with_reader(|db| outbox::read(db, told, last, max_events, max_bytes).map_err(reading))
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

    /// Drops the oldest events, as far as the limits demand it.
    pub(crate) fn drop_events(&mut self) -> Result<(), Error> {
        let (Some(limits), Some(outbox)) = (self.shared.options.outbox, self.shared.state().outbox)
        else {
            return Ok(());
        };
        let due = self.due(limits);
        let mut rest = outbox;
        self.transaction(|db| {
            rest = outbox::drop_oldest(db, outbox, limits.max_bytes, due)?;
            Ok(())
        })?;
        self.note_outbox(rest);
        Ok(())
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
    pub(crate) fn add_to_outbox(&mut self, events: &[Vec<u8>], time: u64) {
        let mut state = self.shared.state();
        let Some(outbox) = &mut state.outbox else { return };
        for event in events {
            let size = event.len() as u64 + OVERHEAD;
            outbox.next += 1;
            outbox.waiting += 1;
            outbox.bytes += size;
            outbox.oldest.get_or_insert(time);
            self.unsaved += size;
        }
        outbox.check();
    }

    fn note_outbox(&mut self, outbox: OutboxState) {
        outbox.check();
        let before = self.shared.state().outbox.replace(outbox);
        let erased = before.map_or(0, |before| before.bytes.saturating_sub(outbox.bytes));
        self.unsaved += erased;
        self.sweep.compaction.note_deletion(erased);
    }

    /// Events that were stored before this time are too old.
    fn due(&self, limits: OutboxLimits) -> u64 {
        let age = u64::try_from(limits.max_age.as_millis()).unwrap_or(u64::MAX);
        self.shared.now().saturating_sub(age)
    }
}
