//! The laws of docs/laws.md in random whole sessions in simulated time: participants join, leave,
//! move between transports and stall; datagrams are lost, repeated, late and damaged; streams break
//! and a few lie; servers restart.
//!
//! `SIMULATIONS=5000 cargo test --test laws` plays more of them, `SEED=7` that one, with all that
//! is said; a failure names its seed.
//!
//! The packets of the first thousand seeds are recorded (`packets.txt`): a change that is not meant
//! to alter the wire must leave them as they are. `RECORD=1 cargo test --release --test laws`
//! records them anew.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod app;
mod messages;
mod mirrors;
mod model;
mod packets;
mod quotas;
#[path = "../all/support/random.rs"]
mod random;
#[path = "../all/support/secrets.rs"]
mod secrets;
mod story;
mod verdict;
mod world;

use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use packets::Recording;
use story::{Outcome, play};

/// As many as take some seconds; `make soak` plays a hundred thousand.
const SESSIONS: u64 = 500;

/// The sessions in which clients begin plain; further ones are played with `FIRST_SEED=2000
/// SIMULATIONS=5000`.
const PLAIN_SESSIONS: u64 = 100;

/// The sessions with quotas; further ones are played with `FIRST_SEED=1000001 SIMULATIONS=5000`.
const QUOTA_SESSIONS: u64 = 40;

/// The sessions in large rooms; further ones are played with `FIRST_SEED=2000001 SIMULATIONS=5000`.
const LARGE_SESSIONS: u64 = 60;

/// The sessions with direct transactions; further ones are played with `FIRST_SEED=3000001
/// SIMULATIONS=5000`.
const DIRECT_SESSIONS: u64 = 100;

/// The sessions with mirrors; further ones are played with `FIRST_SEED=4000001 SIMULATIONS=5000`.
const MIRROR_SESSIONS: u64 = 100;

/// W114 to W116: a direct transaction comes only to its receiver, once, at its place, and its
/// sender gets the receipt.
#[test]
fn the_laws_hold_for_what_is_for_one_participant() {
    let direct = count_sessions(story::DIRECT_SEEDS, DIRECT_SESSIONS, |one| one.whispers > 10);
    println!("in {direct} of {DIRECT_SESSIONS} sessions more than ten came to one participant");
    assert!(direct > DIRECT_SESSIONS / 2, "{direct} sessions");
}

/// Law 7, W103 to W105: in a large room each person knows the participants that it has to know.
#[test]
fn the_laws_hold_in_large_rooms() {
    let large = count_sessions(story::LARGE_SEEDS, LARGE_SESSIONS, |one| one.counted > 0);
    println!("in {large} of {LARGE_SESSIONS} sessions the room was large");
    assert!(large > LARGE_SESSIONS / 2, "{large} sessions");
}

/// W99: no transaction is lost by a quota, and participants within their quota are not slowed down.
#[test]
fn the_laws_hold_with_quotas() {
    let limited = count_sessions(story::QUOTA_SEEDS, QUOTA_SESSIONS, |one| one.limited > 0);
    println!("in {limited} of {QUOTA_SESSIONS} sessions somebody was slowed down");
    assert!(limited > QUOTA_SESSIONS / 5, "{limited} sessions");
}

/// With mirrors of the room at one to three further servers, whose connections to the room break,
/// and clients that come back at any server: all laws as without.
#[test]
fn the_laws_hold_with_mirrors() {
    let played = count_sessions(story::MIRROR_SEEDS, MIRROR_SESSIONS, |one| one.delivered > 100);
    println!("in {played} of {MIRROR_SESSIONS} sessions more than 100 messages came");
    assert!(played > MIRROR_SESSIONS / 3, "{played} sessions");
}

#[test]
fn the_laws_hold_for_clients_that_begin_plain() {
    let departures = count_sessions(story::SEEDS, PLAIN_SESSIONS, |one| one.departures > 0);
    // W113: every second of these sessions has a channel that records departures.
    println!("in {departures} of {PLAIN_SESSIONS} sessions it is said that somebody left");
    assert!(departures >= PLAIN_SESSIONS / 10, "{departures} sessions");
}

#[test]
fn the_laws_hold_in_random_sessions() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    if let Some(seed) = number("SEED") {
        println!("{:?}", play(seed, true));
        return;
    }
    let first = number("FIRST_SEED").unwrap_or(1);
    let is_recording = number("RECORD").is_some();
    let count = if is_recording { story::SEEDS } else { SESSIONS };
    let end = first + number("SIMULATIONS").unwrap_or(count);
    let recording = Recording::open();
    let next = AtomicU64::new(first);
    let failed = Mutex::new(Vec::new());
    let shared = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |count| count.get()) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        break;
                    }
                    match catch_unwind(|| repeats(seed)) {
                        Ok(outcome) => {
                            shared.fetch_add(u64::from(outcome.shared > 0), Ordering::Relaxed);
                            recording.played(seed, outcome.packets);
                        }
                        Err(_) => {
                            eprintln!("SEED={seed}: a law is broken");
                            failed.lock().unwrap().push(seed);
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} sessions break a law, of the seeds {failed:?}", failed.len());
    if is_recording {
        recording.save();
    } else {
        recording.judge();
    }
    // The laws of fan-out groups are tested only if enough sessions have groups.
    let shared = shared.into_inner();
    println!("{shared} of {} sessions have fan-out groups", end - first);
    assert!(shared >= (end - first) / 20, "{shared} sessions have fan-out groups");
}

/// Plays the sessions of the seeds after `seeds`. Returns the number of outcomes for which `shows`
/// is true.
fn count_sessions(seeds: u64, sessions: u64, shows: impl Fn(&Outcome) -> bool) -> u64 {
    let play = |seed: &u64| {
        let outcome = catch_unwind(|| repeats(*seed));
        shows(&outcome.unwrap_or_else(|_| panic!("SEED={seed}: a law is broken")))
    };
    (seeds + 1..=seeds + sessions).filter(play).count() as u64
}

/// Law 4: the same inputs give the same outputs. Every tenth session is played again.
fn repeats(seed: u64) -> Outcome {
    let outcome: Outcome = play(seed, false);
    if seed.is_multiple_of(10) {
        assert_eq!(play(seed, false), outcome, "law 4: it does not repeat");
    }
    outcome
}
