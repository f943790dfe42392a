//! Checks that endpoints in simulated runs have the same outputs as when `values.rs` was recorded:
//! packets, plans, reports, requests, notices and deliveries, each with its time, and the codes
//! that `choose` picks.
//!
//! A change that must not alter behaviour leaves the recorded values as they are. A change that
//! alters behaviour records them anew: the failing test prints the new table.

mod choices;
mod coded;
mod digest;
mod path;
mod plain;
mod values;

use std::time::Duration;

use groupwire_afec::code::{Code, Repeat, Repeats};
use groupwire_afec::{Order, Qos, Scheme};
use path::Process;

const MS: Duration = Duration::from_millis(1);

const PROCESSES: [(&str, Process); 8] = [
    ("clean", Process::Clean),
    ("random 3 %", Process::Random(0.03)),
    ("random 20 %", Process::Random(0.2)),
    ("bursts", Process::Bursts(0.03, 0.75)),
    ("outages", Process::Outages),
    ("steps", Process::Steps),
    ("narrow", Process::Narrow(3600.0)),
    ("rough", Process::Rough),
];

/// The largest packet in bytes, and the delay in ms, of each path on which every scheme runs.
const PATHS: [(usize, u64); 3] = [(1200, 25), (300, 5), (110, 90)];

fn schemes() -> Vec<(&'static str, Scheme)> {
    let mixed = Code {
        repeats: Repeats::new([Repeat::Piggyback(2)]),
        other: Repeats::new([
            Repeat::Piggyback(1),
            Repeat::Piggyback(4),
            Repeat::Dedicated(MS * 12),
        ]),
        share: 0.3,
        answers: 2,
        tail_flush: true,
    };
    vec![
        ("adaptive", Scheme::Adaptive),
        ("plain", Scheme::Fixed(Code::PLAIN)),
        ("mixed", Scheme::Fixed(mixed)),
    ]
}

/// Channels with their QoS and the number of keys of each.
fn channels() -> [(u32, Qos, u32); 5] {
    let every = Qos { target: 0.02, ..Qos::new() };
    let slow = Qos { target: 0.01, deadline: MS * 400, priority: 200, ..Qos::new() };
    let pointer =
        Qos { order: Order::Newest, deadline: MS * 100, rate_min: 20.0, rate_max: 25.0, ..every };
    let hop = Qos { order: Order::Newest, ahead: MS * 40, deadline: MS * 120, ..Qos::new() };
    let tight = Qos { target: 0.001, deadline: MS * 60, priority: 10, ..every };
    [(0, every, 1), (1, slow, 1), (2, pointer, 1), (77, hop, 5), (1 << 20, tight, 1)]
}

/// The channels that send a message in a tick of 11 ms, and the message's size: clusters with
/// pauses, at different rates.
fn sends(tick: u32) -> impl Iterator<Item = (usize, u32)> {
    let every = [3, 17, 3, 2, 5];
    let pauses = [(40, 60), (300, 20), (60, 40), (30, 90), (20, 100)];
    (0..every.len()).filter_map(move |place| {
        let (lasts, pause) = pauses[place];
        let is_on = (tick / every[place]) % (lasts + pause) < lasts;
        let size = [20, 60, 24, 18, 40][place] + (tick * 7 + place as u32 * 13) % 16;
        (is_on && tick.is_multiple_of(every[place])).then_some((place, size))
    })
}

/// Compares values by name with those that were recorded.
fn compare(recorded: &[(&str, u64)], found: &[(String, u64)]) {
    let differ: Vec<&str> = found
        .iter()
        .filter(|(name, value)| !recorded.contains(&(name.as_str(), *value)))
        .map(|(name, _)| name.as_str())
        .collect();
    if differ.is_empty() && recorded.len() == found.len() {
        return;
    }
    for (name, value) in found {
        println!("    ({name:?}, {value:#018x}),");
    }
    panic!("other outputs than recorded: {differ:?}");
}

#[test]
fn endpoints_put_out_what_was_recorded() {
    let found: Vec<(String, u64)> = schemes()
        .into_iter()
        .flat_map(|(name, scheme)| PROCESSES.map(|(path, process)| (name, scheme, path, process)))
        .map(|(name, scheme, path, process)| {
            (format!("{name}, {path}"), plain::run(scheme, process).0)
        })
        .collect();
    compare(values::PLAIN, &found);
}

#[test]
fn endpoints_whose_caller_codes_the_messages_put_out_what_was_recorded() {
    let found = PROCESSES.map(|(path, process)| (path.to_owned(), coded::run(process).0));
    compare(values::CODED, &found);
}

#[test]
fn the_choice_of_codes_is_what_was_recorded() {
    compare(values::CHOICES, &choices::all());
}
