//! The changes of one shard that wait for its log.

use std::collections::VecDeque;

use groupwire_cluster::BatchId;
use groupwire_store::{Change, Done, Error, Replica, write_changes};

/// The most changes of a batch. More would delay the first of them.
const MOST_CHANGES: usize = 1024;

/// The approximate most bytes of a batch, unless a single change has more.
const MOST_BYTES: u64 = 256 << 10;

/// The changes of a shard that this server has: those that wait, and the batch that is in the log
/// or on its way there. A batch is checked against the local store, so the one before has to be
/// applied first.
#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<(Change, Done)>,
    batch: Option<Batch>,
}

/// A batch that was proposed.
pub(super) struct Batch {
    id: BatchId,
    pub(super) changes: Vec<Change>,
    pub(super) answers: Vec<Done>,
}

/// A batch that may be proposed.
pub(super) struct Checked {
    pub(super) payload: Vec<u8>,
    changes: Vec<Change>,
    answers: Vec<Done>,
}

impl Checked {
    /// Answers the changes of the batch with an error.
    pub(super) fn refuse(self, error: &Error) {
        self.answers.into_iter().for_each(|done| done(Err(error.clone())));
    }
}

impl Queue {
    pub(super) fn push(&mut self, change: Change, done: Done) {
        self.waiting.push_back((change, done));
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.batch.is_none()
    }

    /// Takes the changes for the next batch, if none is on its way. Changes that the store refuses
    /// are answered.
    pub(super) fn next(&mut self, replica: &dyn Replica) -> Option<Checked> {
        while self.batch.is_none() && !self.waiting.is_empty() {
            let (changes, answers): (Vec<Change>, Vec<Done>) = self.take().into_iter().unzip();
            let outcomes = replica.check(&changes);
            let (mut accepted, mut waiting) = (Vec::new(), Vec::new());
            for ((change, done), outcome) in changes.into_iter().zip(answers).zip(outcomes) {
                match outcome {
                    Ok(()) => {
                        accepted.push(change);
                        waiting.push(done);
                    }
                    Err(error) => done(Err(error)),
                }
            }
            if accepted.is_empty() {
                continue;
            }
            let payload = write_changes(&accepted);
            return Some(Checked { payload, changes: accepted, answers: waiting });
        }
        None
    }

    fn take(&mut self) -> Vec<(Change, Done)> {
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while let Some((change, _)) = self.waiting.front() {
            let size = change.size();
            if taken.len() == MOST_CHANGES || (bytes + size > MOST_BYTES && !taken.is_empty()) {
                break;
            }
            bytes += size;
            taken.extend(self.waiting.pop_front());
        }
        taken
    }

    /// The batch was proposed under this number.
    pub(super) fn proposed(&mut self, id: BatchId, checked: Checked) {
        debug_assert!(self.batch.is_none(), "one batch of a shard is on its way");
        let Checked { changes, answers, .. } = checked;
        self.batch = Some(Batch { id, changes, answers });
    }

    /// Returns the changes of a batch that was not proposed to the front of the queue.
    pub(super) fn put_back(&mut self, checked: Checked) {
        let Checked { changes, answers, .. } = checked;
        changes.into_iter().zip(answers).rev().for_each(|one| self.waiting.push_front(one));
    }

    /// The batch of this number, which is in the log.
    pub(super) fn stored(&mut self, id: BatchId) -> Option<Batch> {
        self.batch.take_if(|batch| batch.id == id)
    }

    /// Answers everything that waits: another server has the shard, or may have it.
    pub(super) fn give_up(&mut self) {
        for (_, done) in self.waiting.drain(..) {
            done(Err(Error::Moved));
        }
    }

    /// Answers the batch, too, which another server's claim has kept out of the log, or of which
    /// that is not known.
    pub(super) fn give_up_batch(&mut self) {
        self.give_up();
        for done in self.batch.take().map(|batch| batch.answers).unwrap_or_default() {
            done(Err(Error::Moved));
        }
    }
}
