//! A batch of appends and of records of shared logs, in four steps: it is collected from the queue
//! (`request.rs`), planned against the rooms in memory, applied with one commit, and answered.
//!
//! The plan decides what is accepted, and nothing is written before it is complete. A log that
//! several servers share is appended to before this: its changes were planned by `check`, and here
//! they have no quotas.

use std::vec::IntoIter;

use crate::change::Change;
use crate::error::Error;
use crate::plan::{Plan, Planned};
use crate::request::{Answer, Batch, Task};
use crate::shard::Shards;
use crate::state::Numbers;
use crate::writer::Writer;

/// A batch that is checked, and of which nothing is written yet.
struct PlannedBatch {
    accepted: Vec<Accepted>,
    refused: Vec<Refused>,
    /// The shards as they are after the batch.
    shards: Shards,
    /// The next number of each kind after the batch.
    next: Numbers,
}

struct Accepted {
    task: Task,
    /// The plan of each change; empty if the record was applied before.
    planned: Vec<Planned>,
    /// The time of the changes, in milliseconds since 1970.
    time: u64,
    answer: Answer,
}

struct Refused {
    task: Task,
    error: Error,
    answer: Answer,
}

impl Writer {
    /// Carries out the tasks and answers them, with one commit unless a record contradicts the
    /// store.
    pub(crate) fn carry_out(&mut self, batch: Batch) {
        let mut batch = batch.into_iter();
        while !batch.as_slice().is_empty() {
            let planned = self.plan(&mut batch);
            let outcome = self.apply(&planned);
            self.answer(planned, &outcome);
        }
    }

    /// Plans tasks up to the first record that contradicts the store.
    fn plan(&self, batch: &mut IntoIter<(Task, Answer)>) -> PlannedBatch {
        let now = self.shared.now();
        let (mut accepted, mut refused) = (Vec::new(), Vec::new());
        let state = self.shared.state();
        let mut plan = Plan::new(&state);
        for (task, answer) in batch {
            let time = task.logged.as_ref().map_or(now, |logged| logged.time);
            match state.check_poison().and_then(|()| self.plan_task(&mut plan, &task)) {
                Ok(planned) => accepted.push(Accepted { task, planned, time, answer }),
                Err(error) => {
                    let is_contradiction = matches!(error, Error::Contradiction { .. });
                    refused.push(Refused { task, error, answer });
                    if is_contradiction {
                        break;
                    }
                }
            }
        }
        PlannedBatch { accepted, refused, shards: plan.shards, next: plan.next }
    }

    fn plan_task(&self, plan: &mut Plan<'_>, task: &Task) -> Result<Vec<Planned>, Error> {
        match &task.logged {
            Some(logged) => {
                self.check_cache().and_then(|()| plan.add_logged(logged, &task.changes))
            }
            None => {
                let quotas = Some(&self.shared.options);
                task.changes.iter().map(|change| plan.add(quotas, change)).collect()
            }
        }
    }

    /// Writes the accepted changes with one commit, and then adds them to the state in memory.
    fn apply(&mut self, batch: &PlannedBatch) -> Result<(), Error> {
        if batch.changes().next().is_none() && batch.shards.is_empty() {
            return Ok(());
        }
        let mut shards = batch.shards.clone();
        let erases_events = batch.changes().any(|(change, ..)| change.erases_events());
        self.transaction(|db| {
            for (change, planned, time) in batch.changes() {
                planned.write(db, change, time)?;
            }
            for shard in shards.values_mut() {
                if erases_events {
                    shard.count_events(db)?;
                }
                shard.put(db)?;
            }
            Ok(())
        })?;
        let history = self.shared.options.history_ms();
        let mut state = self.shared.state();
        state.take_numbers(&batch.next);
        for (change, planned, time) in batch.changes() {
            planned.apply(&mut state, change, time, history);
            self.unsaved += change.size();
            if matches!(change, Change::Delete { .. } | Change::Put(_)) {
                self.sweep.erase_soon();
            }
        }
        drop(state);
        for Accepted { task, time, .. } in &batch.accepted {
            if task.logged.is_none() {
                task.changes.iter().for_each(|change| self.add_to_outbox(change.events(), *time));
            }
        }
        self.note_shards(shards);
        Ok(())
    }

    fn answer(&mut self, batch: PlannedBatch, outcome: &Result<(), Error>) {
        let PlannedBatch { accepted, refused, .. } = batch;
        if accepted.iter().flat_map(|one| &one.planned).any(|planned| planned.room.is_some()) {
            self.shared.state().refused = match outcome {
                Err(Error::NotNow(why)) => Some(*why),
                _ => None,
            };
        }
        for Accepted { task, planned, answer, .. } in accepted {
            debug_assert!(
                outcome.is_err() || planned.iter().all(|_| self.is_stored(&task)),
                "a change is confirmed once its commit has ended and the index has its records"
            );
            answer.send(outcome.clone());
        }
        for Refused { task, error, answer } in refused {
            let now = self.shared.now();
            let mut state = self.shared.state();
            match &task.logged {
                Some(logged) => state.stop(logged.cursor.shard, &error),
                None => {
                    task.changes.iter().for_each(|c| state.note_refusal(c.room(), &error, now));
                }
            }
            drop(state);
            answer.send(Err(error));
        }
    }

    fn is_stored(&self, task: &Task) -> bool {
        let state = self.shared.state();
        let is_last = |change: &Change| match change {
            Change::Append(append) => append.records.last().is_none_or(|last| {
                let room = state.rooms.get(append.room.as_str());
                room.is_some_and(|room| room.head >= last.position)
            }),
            _ => true,
        };
        // A record of a shared log may delete the room in the end.
        self.db.is_autocommit()
            && state.poisoned.is_none()
            && (task.logged.is_some() || task.changes.iter().all(is_last))
    }
}

impl PlannedBatch {
    /// The accepted changes, each with its plan and its time.
    fn changes(&self) -> impl Iterator<Item = (&Change, &Planned, u64)> {
        self.accepted.iter().flat_map(|Accepted { task, planned, time, .. }| {
            task.changes.iter().zip(planned).map(|(change, planned)| (change, planned, *time))
        })
    }
}
