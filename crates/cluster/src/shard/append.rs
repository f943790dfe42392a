//! Appends: at most one is undecided, and it is the same until it is decided.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::{Env, Role, Shard};
use crate::limits::MAX_INLINE;
use crate::nodes::Plan;
use crate::output::{Answer, BatchId, Output, Request, RequestId};
use crate::owner::NodeName;
use crate::record::{BlobRef, Body, Record};

/// A record that is being appended.
#[derive(Debug)]
pub(super) struct Append {
    /// The record, the same at each attempt.
    pub(super) bytes: Vec<u8>,
    /// The last sequence of the log, the same at each attempt.
    pub(super) expected: u64,
    /// A blob that has to be stored before the record.
    pub(super) blob: Option<Blob>,
    pub(super) batch: Option<BatchId>,
    /// A claim counts only when it is read.
    is_claim: bool,
    /// The attempt without an answer.
    pub(super) request: Option<RequestId>,
    /// When the next attempt is due.
    pub(super) due: Duration,
    attempts: u32,
}

/// A payload or a base that is too large for a record.
#[derive(Debug)]
pub(super) struct Blob {
    name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) is_stored: bool,
}

impl Shard {
    /// Begins the append that the role asks for, if any.
    pub(super) fn begin_append(&mut self, plan: &Plan, may_release: bool, env: &mut Env<'_>) {
        match self.role {
            Role::Following if self.should_claim(plan, env) => {
                self.role = Role::Claiming;
                self.begin_claim(plan, env);
            }
            Role::Claiming => self.begin_claim(plan, env),
            Role::Owner { .. } => self.begin_as_owner(plan, may_release, env),
            _ => {}
        }
    }

    fn begin_claim(&mut self, plan: &Plan, env: &mut Env<'_>) {
        let mends = self.should_mend(plan, env);
        if mends {
            self.mended = Some(env.at());
        }
        let body = Body::Claim { owner: env.me.clone(), mends };
        self.begin(body, self.cursor.epoch + 1, env);
    }

    fn begin_as_owner(&mut self, plan: &Plan, may_release: bool, env: &mut Env<'_>) {
        // Nodes that see each other's beats at other times would hand a new shard to and fro.
        let has_settled = env.at().saturating_sub(self.held_since) >= env.config.timing.settle;
        let releasing = may_release && plan.move_to.is_some() && (plan.drains || has_settled);
        self.role = Role::Owner { releasing };
        if let Some((cursor, state)) = self.base.take() {
            let blob = BlobRef::new(self.blob_name(cursor.number, &state), &state);
            self.begin_blob(blob.clone(), state, Body::Base { blob, cursor }, env);
        } else if let Some((batch, payload)) = self.waiting.pop_front() {
            self.waiting_bytes -= payload.len();
            self.begin_changes(batch, payload, env);
        } else if let Some(to) = plan.move_to.clone().filter(|_| releasing)
            && self.unapplied.is_empty()
        {
            // The node is silent before the next owner can speak.
            self.role = Role::Releasing;
            self.lose(Some(&to), env);
            self.begin(Body::Release { to }, self.cursor.epoch, env);
        }
    }

    fn begin_changes(&mut self, batch: BatchId, payload: Vec<u8>, env: &mut Env<'_>) {
        if payload.len() > MAX_INLINE {
            let blob = BlobRef::new(self.blob_name(self.cursor.number + 1, &payload), &payload);
            self.begin_blob(blob.clone(), payload, Body::Blob(blob), env);
        } else {
            self.begin(Body::Changes(payload), self.cursor.epoch, env);
        }
        if let Some(append) = &mut self.append {
            append.batch = Some(batch);
        }
    }

    fn begin_blob(&mut self, blob: BlobRef, bytes: Vec<u8>, body: Body, env: &mut Env<'_>) {
        self.begin(body, self.cursor.epoch, env);
        if let Some(append) = &mut self.append {
            append.blob = Some(Blob { name: blob.name, bytes, is_stored: false });
        }
    }

    /// A name that no other blob has: processes that lost a race wrote others under this number.
    fn blob_name(&self, number: u64, bytes: &[u8]) -> String {
        let (shard, epoch, crc) = (self.no, self.cursor.epoch, crate::crc::crc32c(bytes));
        format!("{shard:04}/{number:020}/{epoch}-{crc:08x}")
    }

    /// Begins to append a record at the end of what was read.
    pub(super) fn begin(&mut self, body: Body, epoch: u64, env: &mut Env<'_>) {
        let is_claim = matches!(body, Body::Claim { .. });
        let record = Record {
            shard: self.no,
            epoch,
            number: self.cursor.number + 1,
            time: env.now.wall,
            previous: self.cursor.crc,
            body,
        };
        self.append = Some(Append {
            bytes: record.to_bytes(),
            expected: self.position(),
            blob: None,
            batch: None,
            is_claim,
            request: None,
            due: env.at(),
            attempts: 0,
        });
    }

    /// Makes the next attempt when it is due.
    pub(super) fn push_append(&mut self, env: &mut Env<'_>) {
        let Some(append) = &mut self.append else { return };
        if append.request.is_some() || env.now.monotonic < append.due {
            return;
        }
        let request = match &append.blob {
            Some(blob) if !blob.is_stored => {
                Request::PutBlob { name: blob.name.clone(), bytes: blob.bytes.clone() }
            }
            _ => {
                let bytes = append.bytes.clone();
                Request::Append { shard: self.no, expected: append.expected, bytes }
            }
        };
        append.request = Some(env.ask(self.no, request));
    }

    pub(super) fn append_answered(&mut self, answer: Answer, at: Duration, env: &mut Env<'_>) {
        let timing = &env.config.timing;
        let Some(append) = &mut self.append else { return };
        append.request = None;
        append.attempts += 1;
        append.due = env.now.monotonic + backoff(append.attempts, timing.retry, timing.poll);
        match answer {
            Answer::Done => {
                if let Some(blob) = &mut append.blob {
                    (blob.is_stored, append.due) = (true, env.now.monotonic);
                }
            }
            Answer::Stored(sequence) if !append.is_claim && sequence > append.expected => {
                self.stored(sequence, at, env);
            }
            // The record at the place of this one decides. A log without one, in spite of the
            // answer, is a stale one, or takes the record at the next attempt.
            Answer::Stored(_) => self.hint(env.now.monotonic),
            Answer::Fenced(last) => {
                self.hint(env.now.monotonic);
                if let Some(last) = last {
                    self.note_last(last, at, env);
                }
            }
            _ => {}
        }
    }

    /// The undecided record is in the log.
    pub(super) fn stored(&mut self, sequence: u64, at: Duration, env: &mut Env<'_>) {
        let Some(append) = self.append.take() else { return };
        let record = Record::parse(&append.bytes).expect("this node wrote it");
        self.proven = self.proven.max(at);
        let payload = append.blob.map(|blob| blob.bytes);
        match record.body {
            Body::Claim { mends, .. } => self.role = Role::Claimed { mended: mends },
            Body::Release { .. } => self.role = Role::Following,
            _ => {}
        }
        let trim = matches!(record.body, Body::Base { .. }).then_some(self.cursor.base);
        let crc = crate::record::crc_of(&append.bytes);
        self.accept(record, sequence, crc, payload, append.batch, env);
        if let Some(base) = trim.filter(|base| base.sequence > 0) {
            let before = base.sequence + 1;
            env.ask(self.no, Request::Trim { shard: self.no, before });
            env.out.put(Output::Trimmed { shard: self.no, number: base.number });
        }
    }

    /// Another record is in the log where the undecided one should be, which will never be there.
    pub(super) fn fenced(&mut self, owner: Option<&NodeName>, env: &mut Env<'_>) {
        self.append = None;
        self.step_down(owner, env);
    }
}

/// The pause after some attempts: it doubles up to `most`.
pub(super) fn backoff(attempts: u32, first: Duration, most: Duration) -> Duration {
    (first * (1 << attempts.saturating_sub(1).min(10))).min(most)
}
