//! A model of the engine: fenced logs whose answers are late, lost or stale, and that may lose
//! their tails.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_cluster::{Answer, Body, Entry, ListedBeat, MAX_PAYLOAD, Record, Request};

/// A log, and what the checker has to know of it.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) entries: Vec<Stored>,
    /// Entries that were trimmed from the front.
    pub(crate) trimmed: Vec<Stored>,
    sequence: u64,
    /// The bytes that each process asked to append at a sequence: it may ask for no others.
    asked: BTreeMap<(u64, u64), Vec<u8>>,
    /// The tail was lost or an entry damaged at this time.
    pub(crate) harmed: Option<Duration>,
    /// The claims that landed: epoch, incarnation, time.
    pub(crate) claims: Vec<(u64, u64, Duration)>,
}

pub(crate) struct Stored {
    pub(crate) entry: Entry,
    at: Duration,
}

#[derive(Default)]
pub(crate) struct Engine {
    pub(crate) logs: Vec<Log>,
    pub(crate) blobs: BTreeMap<String, Vec<u8>>,
    beats: BTreeMap<String, (u64, Vec<u8>)>,
    revision: u64,
}

impl Engine {
    pub(crate) fn new(shards: u16) -> Self {
        Self { logs: (0..shards).map(|_| Log::default()).collect(), ..Self::default() }
    }

    /// Carries out a request of the process `incarnation`. `lag` is the age of what a read sees.
    pub(crate) fn execute(
        &mut self,
        node: &str,
        incarnation: u64,
        request: Request,
        now: Duration,
        lag: Duration,
    ) -> Answer {
        let seen = now.saturating_sub(lag);
        match request {
            Request::Append { shard, expected, bytes } => {
                self.logs[usize::from(shard)].append(incarnation, expected, bytes, now, lag)
            }
            Request::Read { shard, after, max_bytes } => {
                let log = &self.logs[usize::from(shard)];
                let (mut entries, mut bytes) = (Vec::new(), 0);
                let first = log.entries.partition_point(|stored| stored.entry.sequence <= after);
                for stored in log.entries[first..].iter().take_while(|stored| stored.at <= seen) {
                    // Some 20 records at a time, so that catching up takes several reads.
                    if bytes >= max_bytes || entries.len() >= 20 {
                        break;
                    }
                    bytes += stored.entry.bytes.len();
                    entries.push(stored.entry.clone());
                }
                Answer::Entries(entries)
            }
            Request::Last { shard } => Answer::Last(self.logs[usize::from(shard)].last(seen)),
            Request::Trim { shard, before } => {
                let log = &mut self.logs[usize::from(shard)];
                let is_old = |stored: &Stored| stored.entry.sequence < before;
                let count = log.entries.iter().take_while(|stored| is_old(stored)).count();
                log.trimmed.extend(log.entries.drain(..count));
                Answer::Done
            }
            Request::PutBlob { bytes, .. } if bytes.len() > MAX_PAYLOAD => Answer::Failed,
            Request::PutBlob { name, bytes } => {
                self.blobs.insert(name, bytes);
                Answer::Done
            }
            Request::GetBlob { name } => Answer::Blob(self.blobs.get(&name).cloned()),
            Request::Beat { bytes } => {
                self.revision += 1;
                self.beats.insert(node.into(), (self.revision, bytes));
                Answer::Done
            }
            Request::Nodes => {
                let listed = self.beats.iter().map(|(node, (revision, bytes))| ListedBeat {
                    node: node.clone(),
                    revision: *revision,
                    bytes: bytes.clone(),
                });
                Answer::Nodes(listed.collect())
            }
        }
    }
}

impl Log {
    fn append(
        &mut self,
        incarnation: u64,
        expected: u64,
        bytes: Vec<u8>,
        now: Duration,
        lag: Duration,
    ) -> Answer {
        if self.harmed.is_none() {
            let before = self.asked.entry((incarnation, expected)).or_insert_with(|| bytes.clone());
            assert_eq!(*before, bytes, "a process appends two records at sequence {expected}");
        }
        if expected != self.sequence {
            let last = (lag == Duration::ZERO).then_some(self.sequence);
            return Answer::Fenced(last);
        }
        let record = Record::parse(&bytes).expect("nodes write records");
        if let Body::Claim { owner, .. } = &record.body {
            self.claims.push((record.epoch, owner.incarnation, now));
        }
        self.put(bytes, now);
        Answer::Stored(self.sequence)
    }

    /// Appends an entry, whatever it is.
    pub(crate) fn put(&mut self, bytes: Vec<u8>, now: Duration) {
        // Sequences of an engine with many logs in a stream are not dense.
        self.sequence += 1 + bytes.len() as u64 % 3;
        let entry = Entry { sequence: self.sequence, bytes };
        self.entries.push(Stored { entry, at: now });
    }

    pub(crate) fn last(&self, seen: Duration) -> u64 {
        let last = self.entries.iter().rev().find(|stored| stored.at <= seen);
        last.map_or(0, |stored| stored.entry.sequence)
    }

    /// All servers of the engine lose power, and what came since `since` was not synced.
    pub(crate) fn lose_tail(&mut self, since: Duration, now: Duration) {
        let kept = self.entries.iter().take_while(|stored| stored.at < since).count();
        if kept < self.entries.len() {
            self.entries.truncate(kept);
            self.sequence = self.last(Duration::MAX);
            self.harmed = Some(now);
            self.claims.retain(|(_, _, at)| *at < since);
        }
    }

    /// A bit of an entry flips on the disk.
    pub(crate) fn damage(&mut self, index: usize, now: Duration) {
        if let Some(stored) = self.entries.get_mut(index) {
            let middle = stored.entry.bytes.len() / 2;
            stored.entry.bytes[middle] ^= 4;
            self.harmed = Some(now);
        }
    }
}
