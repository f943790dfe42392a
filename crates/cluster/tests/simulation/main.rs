//! Clusters in simulated time, from seeds: several nodes, a model of the engine, clients, and
//! faults of all of them. The checker knows only what clients saw and what is in the logs.
//!
//! `SIMULATIONS=100000 cargo test --package groupwire-cluster --test simulation` plays more of
//! them, `SEED=7` that one.

mod check;
mod engine;
mod faults;
mod named;
mod node;
mod world;

use world::World;

/// Simulations of a usual run, which take some seconds.
const SIMULATIONS: u64 = 500;

#[test]
fn clusters_keep_their_promises() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (first, count) = match number("SEED") {
        Some(seed) => (seed, 1),
        None => (number("FIRST_SEED").unwrap_or(0), number("SIMULATIONS").unwrap_or(SIMULATIONS)),
    };
    let mut totals = [0; 6];
    for seed in first..first + count {
        let played = std::panic::catch_unwind(|| World::new(seed).play());
        match played {
            Ok(counts) => totals.iter_mut().zip(counts).for_each(|(total, count)| *total += count),
            Err(cause) => {
                eprintln!("seed {seed}; {} seeds were right before", seed - first);
                std::panic::resume_unwind(cause);
            }
        }
    }
    let [events, confirmed, owned, cut_off, harmed, loaded] = totals;
    println!(
        "{count} seeds: {events} events, {confirmed} payloads confirmed, {owned} times owned, \
         {cut_off} times cut off, {harmed} logs harmed, {loaded} bases loaded"
    );
}
