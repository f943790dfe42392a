//! Reading the log: records that follow are applied.

use alloc::vec::Vec;
use core::time::Duration;

use super::append::backoff;
use super::{Env, Role, Shard};
use crate::cursor::Cursor;
use crate::limits::READ_BYTES;
use crate::output::{Answer, BatchId, Damage, Entry, Output, Refused, Request, RequestId};
use crate::record::{BlobRef, Body, Record, RecordError, crc_of};

/// Attempts to get a blob that the engine says it does not have: a stale replica may lack it.
const BLOB_ATTEMPTS: u32 = 8;

/// Answers that have to agree before a log is believed to be shorter than it was.
const SHORT_ANSWERS: u32 = 3;

/// Reads after a hint until it is believed that there is nothing new.
pub(super) const EAGER_READS: u32 = 4;

/// A request that is made again and again.
#[derive(Debug)]
pub(super) struct Poll {
    pub(super) request: Option<RequestId>,
    pub(super) due: Duration,
    /// A hint came since the request, whose answer may be older.
    pub(super) is_hinted: bool,
    /// Reads that find nothing and are soon repeated, because a hint came: the replica that answers
    /// may be behind the one that gave the hint.
    pub(super) eager: u32,
    /// The sequence behind which was read.
    after: u64,
    failures: u32,
}

/// A log that seems to end before the cursor.
#[derive(Debug)]
pub(super) struct Short {
    since: Duration,
    answers: u32,
}

/// A blob without which reading cannot go on.
#[derive(Debug)]
pub(super) struct Fetch {
    pub(super) blob: BlobRef,
    pub(super) use_for: Use,
    /// The record's sequence.
    pub(super) sequence: u64,
    pub(super) request: Option<RequestId>,
    pub(super) due: Duration,
    attempts: u32,
    misses: u32,
}

/// The purpose of a fetched blob.
#[derive(Debug)]
pub(super) enum Use {
    /// The payload of a record with this CRC.
    Payload(Record, u32),
    /// A base that ends at this cursor.
    Base(Cursor),
}

impl Poll {
    pub(super) fn new(due: Duration) -> Self {
        Self { request: None, due, is_hinted: false, eager: 0, after: 0, failures: 0 }
    }

    pub(super) fn timeout(&self) -> Duration {
        if self.request.is_some() { Duration::MAX } else { self.due }
    }
}

impl Shard {
    /// Asks for new entries, and now and then for the end of the log.
    pub(super) fn poll_log(&mut self, env: &mut Env<'_>) {
        let (now, shard) = (env.at(), self.no);
        if self.read.request.is_none() && now >= self.read.due && self.fetch.is_none() {
            self.read.after = self.position();
            let request = Request::Read { shard, after: self.read.after, max_bytes: READ_BYTES };
            self.read.request = Some(env.ask(shard, request));
        }
        let is_seeking = matches!(self.role, Role::Seeking(_));
        if self.last.request.is_none() && now >= self.last.due {
            let pauses = if self.short.is_some() || is_seeking { 1 } else { 3 };
            self.last.due = now + pauses * env.config.timing.poll;
            if !is_seeking {
                self.last.request = Some(env.ask(shard, Request::Last { shard }));
            }
        }
    }

    pub(super) fn read_answered(&mut self, answer: Answer, at: Duration, env: &mut Env<'_>) {
        self.read.request = None;
        let timing = &env.config.timing;
        let Answer::Entries(entries) = answer else {
            self.read.failures += 1;
            let pause = backoff(self.read.failures, timing.retry, timing.poll);
            self.read.due = env.now.monotonic + pause;
            return;
        };
        self.read.failures = 0;
        self.read.due = env.now.monotonic;
        // Entries are missing if the position went back since the request.
        let mut is_new = self.read.after > self.position();
        for entry in entries {
            if entry.sequence <= self.position() {
                continue;
            }
            is_new = true;
            if self.fetch.is_some() || self.is_full() || self.read.after > self.position() {
                break;
            }
            self.entry(entry, at, env);
        }
        self.caught_up = !is_new;
        if !is_new && !matches!(self.role, Role::Seeking(_)) {
            (self.was_caught_up, self.is_copy) = (true, false);
        }
        if matches!(self.role, Role::Owner { .. } | Role::Claimed { .. }) {
            self.proven = self.proven.max(at);
        }
        let is_hinted = core::mem::take(&mut self.read.is_hinted);
        self.read.eager = if is_new { 0 } else { self.read.eager.saturating_sub(1) };
        if self.caught_up && !is_hinted || self.is_full() {
            let is_eager = self.read.eager > 0 && !self.is_full();
            let timing = &env.config.timing;
            self.read.due = env.at() + if is_eager { timing.retry } else { timing.poll };
        }
    }

    fn entry(&mut self, entry: Entry, at: Duration, env: &mut Env<'_>) {
        if self.append.as_ref().is_some_and(|append| append.bytes == entry.bytes) {
            return self.stored(entry.sequence, at, env);
        }
        let record = Record::parse(&entry.bytes);
        let owner = match &record {
            Ok(Record { body: Body::Claim { owner, .. }, .. }) => Some(&owner.node),
            _ => None,
        };
        self.fenced(owner, env);
        if let Err(RecordError::Newer(version)) = record {
            let refused = Refused::Newer { shard: self.no, version };
            return env.out.put(Output::Refused(refused));
        }
        let crc = crc_of(&entry.bytes);
        match record {
            Ok(record) if entry.sequence != self.missing && self.follows(&record) => {
                self.role = Role::Following;
                self.follow(record, entry.sequence, crc, env);
            }
            record if matches!(self.role, Role::Seeking(_)) => {
                self.look_at(record, entry.sequence, crc, env);
            }
            Ok(_) => self.begin_seek(Damage::Broken, self.cursor.sequence, env),
            Err(error) => self.begin_seek(error.into(), self.cursor.sequence, env),
        }
    }

    /// True if the record continues the chain.
    fn follows(&self, record: &Record) -> bool {
        let is_next = match record.body {
            Body::Claim { mends: false, .. } => record.epoch == self.cursor.epoch + 1,
            Body::Claim { mends: true, .. } => record.epoch > self.cursor.epoch,
            _ => record.epoch == self.cursor.epoch && self.cursor.owner.is_some(),
        };
        is_next
            && record.shard == self.no
            && record.number == self.cursor.number + 1
            && record.previous == self.cursor.crc
    }

    fn follow(&mut self, record: Record, sequence: u64, crc: u32, env: &mut Env<'_>) {
        if let Body::Blob(blob) = &record.body {
            let blob = blob.clone();
            self.fetch(blob, Use::Payload(record, crc), sequence, env);
        } else {
            self.accept(record, sequence, crc, None, None, env);
        }
    }

    /// Moves the cursor behind a record, and has its payload applied.
    pub(super) fn accept(
        &mut self,
        record: Record,
        sequence: u64,
        crc: u32,
        blob: Option<Vec<u8>>,
        own: Option<BatchId>,
        env: &mut Env<'_>,
    ) {
        let shard = self.no;
        self.cursor.sequence = sequence;
        self.cursor.number = record.number;
        self.cursor.epoch = record.epoch;
        self.cursor.crc = crc;
        self.moved = env.at();
        self.short = None;
        let mut payload = Vec::new();
        match record.body {
            Body::Claim { owner, .. } => {
                (self.heir, self.ownerless) = (None, None);
                self.set_owner(Some(owner), env);
            }
            Body::Release { to } => {
                self.heir = Some((to, env.at()));
                self.set_owner(None, env);
            }
            Body::Changes(changes) => payload = changes,
            Body::Blob(_) => payload = blob.expect("the blob was fetched or is the own one"),
            Body::Base { cursor, .. } => self.cursor.base = cursor.place(),
        }
        let (cursor, time, bytes) = (self.cursor.clone(), record.time, payload.len());
        self.put_unapplied(Output::Apply { shard, cursor, time, payload, own }, bytes, env);
    }

    /// The driver learns where to send clients.
    pub(super) fn set_owner(&mut self, owner: Option<crate::owner::Owner>, env: &mut Env<'_>) {
        self.cursor.owner.clone_from(&owner);
        if !owner.as_ref().is_some_and(|owner| owner.is_same(env.me)) {
            env.out.put(Output::Moved { shard: self.no, owner });
        }
    }

    pub(super) fn fetch(&mut self, blob: BlobRef, use_for: Use, sequence: u64, env: &Env<'_>) {
        let (due, attempts, misses) = (env.at(), 0, 0);
        self.fetch = Some(Fetch { blob, use_for, sequence, request: None, due, attempts, misses });
    }

    pub(super) fn push_fetch(&mut self, env: &mut Env<'_>) {
        if let Some(fetch) = &mut self.fetch
            && fetch.request.is_none()
            && env.now.monotonic >= fetch.due
        {
            let name = fetch.blob.name.clone();
            fetch.request = Some(env.ask(self.no, Request::GetBlob { name }));
        }
    }

    pub(super) fn fetch_answered(&mut self, answer: Answer, env: &mut Env<'_>) {
        let timing = &env.config.timing;
        let Some(mut fetch) = self.fetch.take() else { return };
        fetch.request = None;
        fetch.attempts += 1;
        fetch.due = env.now.monotonic + backoff(fetch.attempts, timing.retry, timing.poll);
        if let Answer::Blob(blob) = answer {
            if let Some(bytes) = blob.filter(|bytes| fetch.blob.is_of(bytes)) {
                return self.fetched(fetch, bytes, env);
            }
            fetch.misses += 1;
        }
        if fetch.misses < BLOB_ATTEMPTS {
            self.fetch = Some(fetch);
        } else {
            self.hint(env.now.monotonic);
            self.missed(fetch, env);
        }
    }

    fn fetched(&mut self, fetch: Fetch, bytes: Vec<u8>, env: &mut Env<'_>) {
        self.hint(env.at());
        match fetch.use_for {
            Use::Payload(record, crc) => {
                self.accept(record, fetch.sequence, crc, Some(bytes), None, env);
            }
            Use::Base(cursor) => self.load(cursor, Some(bytes), fetch.sequence, env),
        }
    }

    pub(super) fn last_answered(&mut self, answer: &Answer, at: Duration, env: &mut Env<'_>) {
        self.last.request = None;
        if let Answer::Last(last) = answer {
            self.note_last(*last, at, env);
        }
    }

    /// A log that has ended before the cursor for long, by several answers, has lost its tail.
    pub(super) fn note_last(&mut self, last: u64, asked: Duration, env: &mut Env<'_>) {
        if last >= self.cursor.sequence {
            self.short = None;
            return;
        }
        // An answer from before the cursor moved says nothing.
        if asked <= self.moved || matches!(self.role, Role::Seeking(_)) {
            return;
        }
        let short = self.short.get_or_insert(Short { since: env.now.monotonic, answers: 0 });
        short.answers += 1;
        let lasted = env.now.monotonic.saturating_sub(short.since);
        if short.answers >= SHORT_ANSWERS && lasted >= env.config.timing.cut_off {
            self.short = None;
            self.fenced(None, env);
            self.fetch = None;
            self.begin_seek(Damage::LostTail, last, env);
        }
    }
}
