//! The promises, checked by what clients saw and by the logs.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_cluster::{Body, Record};

use super::engine::{Engine, Log};
use super::node::{Node, Payload, payload};

/// How long an owner may speak that has lost its shard without knowing: the time after which an
/// owner without an answer is silent, and the age of a stale read.
const STALE: Duration = Duration::from_millis(5_000 + 1_500 + 100);

/// What clients saw.
#[derive(Default)]
pub(crate) struct Checker {
    /// Payloads that were confirmed, per shard in the order of confirmation.
    pub(crate) confirmed: Vec<Vec<(Payload, Duration)>>,
    /// The highest number of each client that was confirmed.
    highest: Vec<BTreeMap<u8, u64>>,
    /// The process that confirmed in an epoch of a shard.
    epochs: BTreeMap<(u16, u64), u64>,
    /// Damage and mending that nodes reported, per shard, and when last.
    pub(crate) reported: Vec<Option<Duration>>,
}

impl Checker {
    pub(crate) fn new(shards: u16) -> Self {
        let shards = usize::from(shards);
        Self {
            confirmed: vec![Vec::new(); shards],
            highest: vec![BTreeMap::new(); shards],
            reported: vec![None; shards],
            ..Self::default()
        }
    }

    pub(crate) fn confirm(&mut self, shard: u16, payload: Payload, now: Duration) {
        self.confirmed[usize::from(shard)].push((payload, now));
        self.highest[usize::from(shard)].insert(payload.0, payload.1);
    }

    /// A process confirms what it appended itself.
    pub(crate) fn confirm_own(&mut self, log: &Log, shard: u16, epoch: u64, incarnation: u64) {
        let owner = *self.epochs.entry((shard, epoch)).or_insert(incarnation);
        if log.harmed.is_none() {
            assert_eq!(owner, incarnation, "two owners confirm in epoch {epoch} of shard {shard}");
        }
    }

    /// A process speaks as the owner of a shard.
    pub(crate) fn speaks(&self, log: &Log, node: &Node, shard: u16, now: Duration) {
        let process = node.process.as_ref().expect("it speaks");
        let index = usize::from(shard);
        let epoch = process.owned[index].expect("it says that it owns the shard");
        let is_proven = process.told[index] >= process.resumes;
        assert!(is_proven, "{} went on after a pause without a proof", node.name);
        if log.harmed.is_some() {
            return;
        }
        let own =
            log.claims.iter().position(|(of, by, _)| (*of, *by) == (epoch, process.incarnation));
        let own = own.unwrap_or_else(|| panic!("{} owns shard {shard} without a claim", node.name));
        if let Some((_, _, at)) = log.claims.get(own + 1) {
            let age = now.saturating_sub(*at);
            assert!(age <= STALE, "{} lost shard {shard} {age:?} ago and speaks", node.name);
        } else {
            for (client, number) in &self.highest[index] {
                let has = process.state[index].has((*client, *number));
                assert!(has, "the owner of shard {shard} lacks {number} of client {client}");
            }
        }
    }

    /// At the end, when all nodes had time to read everything.
    pub(crate) fn end(&self, engine: &Engine, nodes: &[Node], until: Duration) {
        for (index, log) in engine.logs.iter().enumerate() {
            let states = nodes.iter().filter(|node| !node.is_double).map(|node| {
                let process = node.process.as_ref().expect("all nodes run");
                (&node.name, &process.state[index])
            });
            let states: Vec<_> = states.collect();
            let (_, first) = states[0];
            for (name, state) in &states {
                assert_eq!(
                    state.applied, first.applied,
                    "{name} applied other payloads of {index}"
                );
                assert_eq!(state.cursor, first.cursor, "{name} stands elsewhere in {index}");
            }
            ascend(&first.applied);
            if log.harmed.is_none() {
                let stored = stored(log, engine);
                assert_eq!(first.applied, stored, "what nodes applied is not the log {index}");
                assert_eq!(self.reported[index], None, "damage without a reason in {index}");
            }
            self.find_confirmed(index, log, &first.applied);
            self.progress(index, until);
        }
    }

    fn find_confirmed(&self, index: usize, log: &Log, applied: &[Payload]) {
        let mut counts = BTreeMap::new();
        applied.iter().for_each(|payload| *counts.entry(payload).or_insert(0) += 1);
        for (payload, at) in &self.confirmed[index] {
            let count = counts.get(payload).copied().unwrap_or(0);
            let is_told = log.harmed.is_some() && self.reported[index].is_some();
            let is_right = count == 1 || count == 0 && is_told;
            assert!(
                is_right,
                "{payload:?} of {index}, confirmed at {at:?}, is there {count} times"
            );
        }
    }

    /// Clients of each shard had a payload confirmed in the last seconds.
    fn progress(&self, index: usize, until: Duration) {
        let last = self.confirmed[index].last().map_or(Duration::ZERO, |(_, at)| *at);
        assert!(
            until.saturating_sub(last) < Duration::from_secs(5),
            "{index}: nothing since {last:?}"
        );
    }
}

/// The numbers of each client ascend.
fn ascend(applied: &[Payload]) {
    let mut last = BTreeMap::new();
    for (client, number) in applied {
        let before = last.insert(client, number);
        assert!(before < Some(number), "{number} of client {client} comes after {before:?}");
    }
}

/// The payloads of a log of which nothing was lost.
fn stored(log: &Log, engine: &Engine) -> Vec<Payload> {
    let (mut applied, mut number, mut crc) = (Vec::new(), 0, 0);
    for stored in log.trimmed.iter().chain(&log.entries) {
        let bytes = &stored.entry.bytes;
        let record = Record::parse(bytes).expect("nothing was damaged");
        assert_eq!((record.number, record.previous), (number + 1, crc), "the chain is broken");
        number = record.number;
        crc = u32::from_le_bytes(*bytes.last_chunk().expect("a checksum"));
        match record.body {
            Body::Changes(changes) => applied.push(payload(&changes)),
            Body::Blob(blob) => applied.push(payload(&engine.blobs[&blob.name])),
            _ => {}
        }
    }
    applied
}
