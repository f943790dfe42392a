//! The promises about payloads, checked by what clients saw and by the logs.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_cluster::{Body, Record};

use super::{Payload, Payloads, payload};
use crate::engine::{Engine, Log};
use crate::world::World;

/// At the end, when all nodes had time to read everything.
pub(super) fn end(world: &World<Payloads>, until: Duration) {
    let reported = &world.checker.reported;
    for (index, log) in world.engine.logs.iter().enumerate() {
        let states = world.nodes.iter().filter(|node| !node.is_double).map(|node| {
            let process = node.process.as_ref().expect("all nodes run");
            (&node.name, &process.service.state[index])
        });
        let states: Vec<_> = states.collect();
        let (_, first) = states[0];
        for (name, state) in &states {
            assert_eq!(state.applied, first.applied, "{name} applied other payloads of {index}");
            assert_eq!(state.cursor, first.cursor, "{name} stands elsewhere in {index}");
        }
        ascend(&first.applied);
        if log.harmed.is_none() {
            let stored = stored(log, &world.engine);
            assert_eq!(first.applied, stored, "what nodes applied is not the log {index}");
            assert_eq!(reported[index], None, "damage without a reason in {index}");
        }
        let may_lose = log.harmed.is_some() && reported[index].is_some();
        let confirmed = &world.service.confirmed[index];
        find_confirmed(index, may_lose, confirmed, &first.applied);
        progress(index, confirmed, until);
    }
}

fn find_confirmed(
    index: usize,
    may_lose: bool,
    confirmed: &[(Payload, Duration)],
    applied: &[Payload],
) {
    let mut counts = BTreeMap::new();
    applied.iter().for_each(|payload| *counts.entry(payload).or_insert(0) += 1);
    for (payload, at) in confirmed {
        let count = counts.get(payload).copied().unwrap_or(0);
        assert!(
            count == 1 || count == 0 && may_lose,
            "{payload:?} of {index}, confirmed at {at:?}, is there {count} times"
        );
    }
}

/// Clients of each shard had a payload confirmed in the last seconds.
fn progress(index: usize, confirmed: &[(Payload, Duration)], until: Duration) {
    let last = confirmed.last().map_or(Duration::ZERO, |(_, at)| *at);
    assert!(until.saturating_sub(last) < Duration::from_secs(5), "{index}: nothing since {last:?}");
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
