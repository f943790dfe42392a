//! A batch of appends, in four steps: it is collected from the queue (`request.rs`), planned
//! against the rooms in memory, applied with one commit, and answered.
//!
//! The plan decides which appends are accepted, and nothing is written before it is complete. A log
//! that several servers share would be appended to between planning and applying.

use rusqlite::Connection;

use crate::api::{Append, Record};
use crate::error::{Error, NotNow};
use crate::outbox;
use crate::plan::{Plan, Planned, check_limits};
use crate::request::{Answer, Batch};
use crate::rows::{LogHeader, Result as Sql, RoomRow};
use crate::scan::seconds;
use crate::writer::Writer;

/// A batch whose appends are checked, and of which nothing is written yet.
struct PlannedBatch {
    /// The time of the commit, in milliseconds since 1970.
    time: u64,
    accepted: Vec<Accepted>,
    refused: Vec<Refused>,
    /// True if an append of a stored room was refused because the quota of all rooms is used up.
    is_full: bool,
}

struct Accepted {
    append: Append,
    /// The room after the append; `None` if the append has only events.
    room: Option<Planned>,
    answer: Answer,
}

struct Refused {
    room: String,
    error: Error,
    answer: Answer,
}

impl Writer {
    /// Stores the appends with one commit and answers them.
    pub(crate) fn append(&mut self, batch: Batch) {
        let batch = self.plan(batch);
        let outcome = self.apply(&batch);
        self.answer(batch, &outcome);
    }

    fn plan(&self, batch: Batch) -> PlannedBatch {
        let time = self.shared.now();
        let (mut accepted, mut refused, mut is_full) = (Vec::new(), Vec::new(), false);
        let mut plan = Plan::default();
        let state = self.shared.state();
        for (append, answer) in batch {
            let planned = check_limits(&append).and_then(|()| match append.has_only_events() {
                true => Ok(None),
                false => plan.add(&state, &self.shared.options, &append).map(Some),
            });
            match state.check_poison().and(planned) {
                Ok(room) => accepted.push(Accepted { append, room, answer }),
                Err(error) => {
                    let room = append.room;
                    is_full |= error == Error::NotNow(NotNow::Bytes)
                        && state.rooms.contains_key(room.as_str());
                    refused.push(Refused { room, error, answer });
                }
            }
        }
        PlannedBatch { time, accepted, refused, is_full }
    }

    /// Writes the accepted appends with one commit, and then adds them to the state in memory.
    fn apply(&mut self, batch: &PlannedBatch) -> Result<(), Error> {
        let PlannedBatch { time, accepted, .. } = batch;
        if accepted.is_empty() {
            return Ok(());
        }
        let (first_row, first_event) = {
            let state = self.shared.state();
            (state.next_row, state.outbox.map(|outbox| outbox.next))
        };
        self.transaction(|db| write(db, accepted, *time, first_row, first_event))?;
        let mut state = self.shared.state();
        for Accepted { append, room, .. } in accepted {
            if let Some(room) = room {
                room.apply(&mut state, append, seconds(*time));
                self.unsaved += append.records.iter().map(Record::cost).sum::<u64>();
            }
        }
        drop(state);
        accepted.iter().for_each(|one| self.add_to_outbox(&one.append.events, *time));
        Ok(())
    }

    fn answer(&mut self, batch: PlannedBatch, outcome: &Result<(), Error>) {
        let PlannedBatch { accepted, refused, is_full, .. } = batch;
        self.note_refusal(&accepted, outcome, is_full);
        for Accepted { append, answer, .. } in accepted {
            debug_assert!(
                outcome.is_err() || self.is_stored(&append),
                "an append is confirmed once its commit has ended and the index has its records"
            );
            answer.send(outcome.clone());
        }
        for Refused { room, error, answer } in refused {
            if error == Error::NotNow(NotNow::Room) {
                let now = self.shared.now();
                self.shared.state().give_up_history(&room, now);
            }
            answer.send(Err(error));
        }
    }

    /// Remembers whether appends of stored rooms are accepted.
    fn note_refusal(&self, accepted: &[Accepted], outcome: &Result<(), Error>, is_full: bool) {
        let mut state = self.shared.state();
        if accepted.iter().any(|one| one.room.is_some()) {
            state.refused = match outcome {
                Err(Error::NotNow(why)) => Some(*why),
                _ => None,
            };
        }
        if is_full {
            state.refused = Some(NotNow::Bytes);
        }
    }

    fn is_stored(&self, append: &Append) -> bool {
        let state = self.shared.state();
        let head = state.rooms.get(append.room.as_str()).map_or(0, |room| room.head);
        let last = append.records.last().map_or(0, |record| record.position);
        self.db.is_autocommit() && state.poisoned.is_none() && head >= last
    }
}

/// Writes the rows of all appends, the first record as row `first_row`, the first event with the
/// number `first_event`.
fn write(
    db: &Connection,
    accepted: &[Accepted],
    time: u64,
    first_row: i64,
    first_event: Option<u64>,
) -> Sql<()> {
    let (mut row, mut event) = (first_row, first_event);
    for Accepted { append, room, .. } in accepted {
        if let Some(room) = room {
            write_records(db, append, room, row, seconds(time))?;
            row += append.records.len() as i64;
        }
        if let Some(event) = &mut event {
            outbox::insert(db, *event, &append.room, time, &append.events)?;
            *event += append.events.len() as u64;
        }
    }
    Ok(())
}

fn write_records(
    db: &Connection,
    append: &Append,
    room: &Planned,
    first_row: i64,
    now: u32,
) -> Sql<()> {
    if room.is_new || append.meta.is_some() || append.reserved.is_some() {
        let stored = RoomRow::find(db, room.id)?.map(|(row, _)| row.meta);
        let meta = append.meta.clone().or(stored).unwrap_or_default();
        let Planned { id, incarnation, head, reserved, .. } = *room;
        let name = append.room.clone();
        RoomRow { id, name, incarnation, reserved, head, active: now, meta }.put(db)?;
    }
    for (record, row) in append.records.iter().zip(first_row..) {
        LogHeader::of(room.id, now, record).insert(db, row, &record.bytes)?;
    }
    Ok(())
}
