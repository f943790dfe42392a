//! One room of very many people who are connected to all servers, in which one sends.

use super::awareness::Awareness;
use super::deployment::{Deployment, SERVERS};
use super::usage::{Times, Watched};
use super::{Engine, Part, Plan, row};
use crate::server::file_limit;
use crate::{Result, Update};

const OWNER: usize = 0;
/// Messages per second.
const RATE: u32 = 1;
/// Files that this process and the servers open beside connections.
const OTHER_FILES: u64 = 500;
const MIB: f64 = 1024.0 * 1024.0;

/// Measures each number of people on a cluster of its own, and emits a row for each.
pub(super) fn measure(
    engine: &Engine,
    plan: &Plan<'_>,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    for &people in &plan.large {
        emit(Update::begun(format!("{engine}, large, {people} people")));
        let what = || format!("{engine}, large, {people} people");
        if file_limit().is_some_and(|limit| people as u64 + OTHER_FILES > limit) {
            let needed = people as u64 + OTHER_FILES;
            let why = format!("it needs {needed} open files: allow them with ulimit -n");
            emit(Update::Skipped { what: what(), why });
            continue;
        }
        if let Err(why) = one(people, engine, plan, emit) {
            emit(Update::Skipped { what: what(), why: why.to_string() });
        }
    }
    Ok(())
}

fn one(
    people: usize,
    engine: &Engine,
    plan: &Plan<'_>,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let limit = format!("--max-people={}", people + 10);
    let connections = format!("--max-connections={}", people + 100);
    let options = [&*limit, &*connections, "--max-join-lag=0"];
    let deployment = Deployment::start(plan, engine, &options)?;
    let room = deployment.rooms_of(OWNER, 1, "large")?.remove(0);
    let awareness = Awareness {
        room: &room,
        ports: (0..people).map(|number| deployment.port(number % SERVERS)).collect(),
        senders: 1,
        rate: RATE,
        seed: plan.options.common.seed,
    };
    let mut memory = [None; SERVERS];
    let mut look = || {
        for (memory, member) in memory.iter_mut().zip(&deployment.members) {
            *memory = member.server().ok().and_then(|server| server.memory());
        }
    };
    // A message per second needs some seconds.
    let times = Times { measured: plan.times.measured.max(plan.least_large), ..plan.times };
    let delivered = awareness.play(&Watched::Cluster(&deployment), times, &mut look)?;
    let load = delivered.load;
    let mib = |server: usize| memory[server].map(|bytes| bytes as f64 / MIB);
    let row = row::row(Part::Large, engine, plan)
        .with("path", "any")
        .with("rooms", 1)
        .with("people", people)
        .with("senders", 1)
        .with("rate", RATE)
        .with("owner_cpu", load.busy.servers[OWNER])
        .with("calm_cpu", load.calm.servers[OWNER])
        .with("edge_cpu", load.busy.servers[1])
        .with("rss_mb", mib(OWNER))
        .with("edge_rss_mb", mib(1))
        .with("join_s", delivered.joining)
        .with("p50_ms", delivered.latency.median)
        .with("p99_ms", delivered.latency.p99);
    let row = row::with_figures(row, &row::of_load(&load)).failed(load.failure);
    emit(Update::Row(row));
    Ok(())
}
