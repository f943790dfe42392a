//! The thread that writes: all appends that wait go into one commit, and then all of them are answered.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::Instant;

use rusqlite::Connection;

use crate::api::{Append, OVERHEAD};
use crate::error::{Error, Kind, NotNow, kind};
use crate::index::Entry;
use crate::outbox;
use crate::plan::{Plan, Planned, check_limits};
use crate::request::{Answer, Request};
use crate::room::Room;
use crate::rows::{LogHeader, Result as Sql, RoomRow};
use crate::saving::Saving;
use crate::scan::seconds;
use crate::state::Shared;
use crate::sweep::Sweep;
use crate::vfs;

/// Appends of one commit, at most, and their bytes. More would delay the first of them.
const BATCH: usize = 1024;
const BATCH_BYTES: usize = 4 << 20;
/// The bytes that a commit writes beside its rows, about: the last page of the log and a page of rooms.
const COMMIT: u64 = 8192;

pub(crate) struct Writer {
    pub(crate) db: Connection,
    pub(crate) shared: Arc<Shared>,
    pub(crate) saving: VecDeque<Saving>,
    pub(crate) sweep: Sweep,
    /// About the bytes in the write-ahead log since the last checkpoint.
    pub(crate) unsaved: u64,
    /// When the last commit of appends began; `None` if the next one need not wait for more appends.
    last_append: Option<Instant>,
}

impl Writer {
    pub(crate) fn new(db: Connection, shared: Arc<Shared>) -> Self {
        let mut sweep = Sweep::default();
        // The process before may have ended in the middle of a deletion.
        sweep.erase_soon();
        Self { db, shared, saving: VecDeque::new(), sweep, unsaved: 0, last_append: None }
    }

    /// Serves requests until one of them says stop, or there are no handles any more.
    pub(crate) fn run(mut self, requests: &Receiver<Request>) {
        vfs::time_syncs(Arc::clone(&self.shared.sync_times));
        let mut next = None;
        loop {
            let has_work = self.has_work();
            let request = match next.take() {
                Some(request) => Ok(request),
                None if has_work => requests.try_recv().map_err(|error| match error {
                    TryRecvError::Empty => RecvTimeoutError::Timeout,
                    TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
                }),
                None => requests.recv_timeout(self.patience()),
            };
            match request {
                Ok(Request::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(Request::Append(append, answer)) => {
                    // Other work between commits must not be delayed by waiting for more appends.
                    if !has_work {
                        self.gather();
                    }
                    let (batch, other) = collect(append, answer, requests);
                    // After a full batch more appends are waiting already, so the next one is not gathered.
                    self.last_append = (batch.len() < BATCH).then(Instant::now);
                    self.append(batch);
                    next = other;
                }
                Ok(other) => self.handle(other),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.step();
        }
        self.finish();
    }

    /// Waits until `Options::gather` has passed since the last commit of appends.
    fn gather(&self) {
        if let Some(last) = self.last_append {
            thread::sleep(self.shared.options.gather.saturating_sub(last.elapsed()));
        }
    }

    fn handle(&mut self, request: Request) {
        if let Err(error) = self.shared.state().check_poison() {
            request.refuse(error);
            return;
        }
        match request {
            Request::SavePart(save, answer) => self.begin_saving(save, answer),
            Request::BeginAgain(room, incarnation, answer) => {
                let outcome = self.begin_again(&room, incarnation);
                answer.send(outcome);
            }
            Request::Delete(room, answer) => {
                let outcome = self.delete(&room);
                answer.send(outcome);
            }
            Request::Trim(answer) => {
                self.trim();
                answer.send(Ok(()));
            }
            Request::Erase(answer) => self.sweep.erasing.push(answer),
            Request::Call(call, answer) => {
                let outcome = call(self);
                answer.send(outcome);
            }
            Request::Append(append, answer) => self.append(vec![(append, answer)]),
            Request::Stop => {}
        }
    }

    /// Stores the appends in one commit and answers them.
    fn append(&mut self, batch: Vec<(Append, Answer)>) {
        let time = self.shared.now();
        let now = seconds(time);
        let mut plan = Plan::default();
        let mut refused = Vec::new();
        let mut staged = Vec::new();
        let (mut next_row, mut next_event) = {
            let state = self.shared.state();
            for (append, answer) in batch {
                let planned = check_limits(&append).and_then(|()| match append.has_only_events() {
                    true => Ok(None),
                    false => plan.add(&state, &self.shared.options, &append).map(Some),
                });
                match state.check_poison().and(planned) {
                    Ok(room) => staged.push((append, room, answer)),
                    Err(error) => refused.push((append.room, answer, error)),
                }
            }
            (state.next_row, state.outbox.map(|outbox| outbox.next))
        };
        let first_row = next_row;
        let outcome = if staged.is_empty() {
            Ok(())
        } else {
            self.transaction(|db| {
                for (append, room, _) in &staged {
                    if let Some(room) = room {
                        insert(db, append, room, next_row, now)?;
                        next_row += append.records.len() as i64;
                    }
                    if let Some(next_event) = &mut next_event {
                        outbox::insert(db, *next_event, &append.room, time, &append.events)?;
                        *next_event += append.events.len() as u64;
                    }
                }
                Ok(())
            })
        };
        self.note_refusal(&staged, &outcome, &refused);
        if outcome.is_ok() {
            let committed =
                staged.iter().filter_map(|(append, room, _)| Some((append, room.as_ref()?)));
            self.index(committed, first_row, now);
            for (append, ..) in &staged {
                self.add_to_outbox(&append.events, time);
            }
        }
        for (_, _, answer) in staged {
            answer.send(outcome.clone());
        }
        for (room, answer, error) in refused {
            if error == Error::NotNow(NotNow::Room) {
                self.give_up_history(&room);
            }
            answer.send(Err(error));
        }
    }

    // Remembers whether appends of rooms that exist are taken.
    fn note_refusal(
        &self,
        staged: &[(Append, Option<Planned>, Answer)],
        outcome: &Result<(), Error>,
        refused: &[(String, Answer, Error)],
    ) {
        let mut state = self.shared.state();
        if staged.iter().any(|(_, room, _)| room.is_some()) {
            state.refused = match outcome {
                Err(Error::NotNow(why)) => Some(*why),
                _ => None,
            };
        }
        let is_full = |(room, _, error): &(String, Answer, Error)| {
            *error == Error::NotNow(NotNow::Bytes) && state.rooms.contains_key(room.as_str())
        };
        if refused.iter().any(is_full) {
            state.refused = Some(NotNow::Bytes);
        }
    }

    // Adds what was committed to the state in memory.
    fn index<'a>(
        &mut self,
        committed: impl Iterator<Item = (&'a Append, &'a Planned)>,
        first_row: i64,
        now: u32,
    ) {
        let mut state = self.shared.state();
        let mut row = first_row;
        for (append, planned) in committed {
            if planned.is_new && !state.rooms.contains_key(append.room.as_str()) {
                let room = Room::new(planned.id, planned.incarnation, &append.room);
                state.insert(append.room.as_str().into(), room);
                state.next_room = state.next_room.max(planned.id + 1);
            }
            state.change(&append.room, |room| {
                room.reserved = planned.reserved;
                if let Some(meta) = &append.meta {
                    room.set_meta_size(meta.len());
                }
                for record in &append.records {
                    let size = record.bytes.len() as u32;
                    let (position, channel) = (record.position, record.channel);
                    room.push(Entry { row, position, channel, size }, now);
                    self.unsaved += u64::from(size) + OVERHEAD;
                    row += 1;
                }
            });
        }
        state.next_row = row;
    }

    /// Carries out `write` in one transaction. If it fails for lack of space nothing is stored; if it fails otherwise the
    /// store is poisoned, because it is unknown what is on the disk.
    pub(crate) fn transaction(
        &mut self,
        write: impl FnOnce(&Connection) -> Sql<()>,
    ) -> Result<(), Error> {
        self.shared.state().check_poison()?;
        let start = Instant::now();
        let outcome = self
            .db
            .execute_batch("BEGIN IMMEDIATE")
            .and_then(|()| write(&self.db))
            .and_then(|()| self.db.execute_batch("COMMIT"));
        self.unsaved += COMMIT;
        self.count_syncs();
        match outcome {
            Ok(()) => {
                self.shared.commit_times.add(start.elapsed());
                self.shared.state().commits += 1;
                Ok(())
            }
            Err(error) if kind(&error) == Kind::Full && self.roll_back() => {
                Err(Error::NotNow(NotNow::Disk))
            }
            Err(error) => Err(self.poison(&error)),
        }
    }

    /// Copies the number of syncs of this thread to where the handles read it.
    pub(crate) fn count_syncs(&self) {
        self.shared.state().syncs = vfs::syncs();
    }

    fn roll_back(&self) -> bool {
        self.db.is_autocommit() || self.db.execute_batch("ROLLBACK").is_ok()
    }

    /// From now on every request is answered with *poisoned*.
    pub(crate) fn poison(&mut self, error: &rusqlite::Error) -> Error {
        let reason = error.to_string();
        self.shared.state().poisoned.get_or_insert_with(|| reason.clone());
        let error = Error::Poisoned(reason);
        for saving in self.saving.drain(..) {
            saving.answer.send(Err(error.clone()));
        }
        for answer in self.sweep.erasing.drain(..) {
            answer.send(Err(error.clone()));
        }
        error
    }

    fn finish(mut self) {
        self.shared.close_readers();
        if self.shared.state().check_poison().is_ok() {
            // A folder of a server that ended in order has an empty write-ahead log. If this fails, the next start reads it.
            let _ = self.checkpoint("TRUNCATE");
        }
    }
}

// Writes the rows of one append.
fn insert(db: &Connection, append: &Append, room: &Planned, first_row: i64, now: u32) -> Sql<()> {
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

// Takes the appends that wait, up to the first request of another kind, which is returned.
fn collect(
    append: Append,
    answer: Answer,
    requests: &Receiver<Request>,
) -> (Vec<(Append, Answer)>, Option<Request>) {
    let mut bytes = size(&append);
    let mut batch = vec![(append, answer)];
    while batch.len() < BATCH && bytes < BATCH_BYTES {
        match requests.try_recv() {
            Ok(Request::Append(append, answer)) => {
                bytes += size(&append);
                batch.push((append, answer));
            }
            Ok(other) => return (batch, Some(other)),
            Err(_) => break,
        }
    }
    (batch, None)
}

fn size(append: &Append) -> usize {
    let records = append.records.iter().map(|record| record.bytes.len());
    records.chain(append.events.iter().map(Vec::len)).sum()
}
