//! Clusters in simulated time, from seeds: several nodes, a model of the engine, clients, and
//! faults of all of them. The checks know only what clients saw and what is in the logs.
//!
//! There are two kinds of world, which differ in what the nodes serve ([`service::Service`]):
//! `payloads` stores opaque bytes, and `rooms` serves rooms of `groupwire-session` to its clients
//! from stores of `groupwire-store`.
//!
//! `SIMULATIONS=100000 cargo test --package groupwire-cluster --test simulation rooms` plays more
//! of them, `SEED=7` that one, with a trace.

mod check;
mod engine;
mod faults;
mod node;
mod payloads;
mod rooms;
mod service;
mod until;
mod world;

use payloads::Payloads;
use rooms::Rooms;
use service::Service;
use world::{Counts, World};

#[test]
fn clusters_keep_their_promises() {
    play("payloads", 500, Payloads::default);
}

#[test]
fn rooms_of_clusters_keep_their_promises() {
    play("transactions", 400, Rooms::default);
}

/// Plays worlds of the seeds that the environment names, or of this many: some seconds.
fn play<S: Service>(what: &str, usual: u64, service: fn() -> S) {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (first, count) = match number("SEED") {
        Some(seed) => (seed, 1),
        None => (number("FIRST_SEED").unwrap_or(0), number("SIMULATIONS").unwrap_or(usual)),
    };
    let mut totals = Counts::default();
    for seed in first..first + count {
        match std::panic::catch_unwind(|| World::new(service(), seed).play()) {
            Ok(counts) => totals += counts,
            Err(cause) => {
                eprintln!("seed {seed}; {} seeds were right before", seed - first);
                std::panic::resume_unwind(cause);
            }
        }
    }
    let Counts { events, confirmed, owned, cut_off, harmed, loaded, mended, gaps } = totals;
    println!(
        "{count} seeds: {events} events, {confirmed} {what} confirmed, {owned} times owned, \
         {cut_off} times cut off, {harmed} logs harmed, {mended} times mended, \
         {loaded} bases loaded, {gaps} gaps"
    );
}
