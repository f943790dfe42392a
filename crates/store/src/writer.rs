//! The thread that writes. `batch.rs` has the way of appends to their answers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::Instant;

use rusqlite::Connection;

use crate::error::{Error, Kind, NotNow, kind};
use crate::request::{MOST_TASKS, Request, collect};
use crate::rows::Result as Sql;
use crate::saving::Saving;
use crate::state::Shared;
use crate::sweep::Sweep;
use crate::vfs;

/// The approximate bytes that a commit writes beside its rows: the last page of the log and a page
/// of rooms.
const COMMIT: u64 = 8192;

pub(crate) struct Writer {
    pub(crate) db: Connection,
    pub(crate) shared: Arc<Shared>,
    pub(crate) saving: VecDeque<Saving>,
    pub(crate) sweep: Sweep,
    /// The approximate bytes in the write-ahead log since the last checkpoint.
    pub(crate) unsaved: u64,
    /// When the last commit of appends began; `None` if the next one need not wait for more
    /// appends.
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
                Ok(Request::Apply(task, answer)) => {
                    // Other work between commits must not be delayed by waiting for more appends.
                    if !has_work {
                        self.gather();
                    }
                    let (batch, other) = collect(task, answer, requests);
                    let is_full = batch.len() == MOST_TASKS;
                    // After a full batch more appends are waiting already, so the next one is not
                    // gathered.
                    self.last_append = (!is_full).then(Instant::now);
                    self.carry_out(batch);
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
            Request::Apply(task, answer) => self.carry_out(vec![(task, answer)]),
            Request::Stop => {}
        }
    }

    /// Carries out `write` in one transaction. If it fails for lack of space nothing is stored; if
    /// it fails otherwise the store is poisoned, because it is unknown what is on the disk.
    pub(crate) fn transaction(
        &mut self,
        write: impl FnOnce(&Connection) -> Sql<()>,
    ) -> Result<(), Error> {
        self.shared.state().check_poison()?;
        debug_assert!(self.db.is_autocommit(), "one transaction ends before the next one begins");
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
                debug_assert!(self.db.is_autocommit(), "after COMMIT the transaction has ended");
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
        self.shared.state().check_sums();
        if self.shared.state().check_poison().is_ok() {
            // A folder of a server that ended in order has an empty write-ahead log. If this fails,
            // the next start reads it.
            let _ = self.checkpoint("TRUNCATE");
        }
    }
}
