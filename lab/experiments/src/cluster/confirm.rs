//! How long a transaction takes until it is confirmed, which is when the engine has acknowledged
//! it: of clients that are connected to the owner of their rooms, and of others.

use std::collections::BTreeMap;

use super::deployment::Deployment;
use super::transactions::Transactions;
use super::usage::Watched;
use super::{Engine, Part, Plan, row};
use crate::durable::bare;
use crate::durable::people::{Pace, Seat};
use crate::durable::row::with_verdict;
use crate::{Result, Update};

/// The sizes of the measurement.
const ROOMS: [usize; 2] = [1, 20];
/// The clients of a room, all of which write.
const PEOPLE: usize = 4;
/// Transactions per second of a room.
const RATE: f64 = 20.0;
/// Syncs of the bare program.
const SYNCS: usize = 400;
const QUICK_SYNCS: usize = 100;
/// The most that a confirmation should take at the 99th percentile, beyond the tick.
const GOAL_MS: f64 = 50.0;

/// Measures each number of rooms on each path, and emits a row for each.
pub(super) fn measure(
    engine: &Engine,
    plan: &Plan<'_>,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let deployment = Deployment::start(plan, engine, &[])?;
    let syncs = plan.options.common.quick_or(QUICK_SYNCS, SYNCS);
    for rooms in ROOMS {
        for (path, port) in [("owner", deployment.port(0)), ("relay", deployment.port(1))] {
            emit(Update::begun(format!("{engine}, confirm, {rooms} rooms, {path}")));
            // Rooms are stored, so that each run has its own.
            let names = deployment.rooms_of(0, rooms, &format!("{path} {rooms}"))?;
            let fdatasync = bare::fdatasync(deployment.folder.path(), syncs)?;
            let common = plan.options.common;
            let played = Transactions {
                seats: seats(&names, port),
                bytes: plan.options.bytes,
                seed: common.seed,
            };
            let written = played.play(&Watched::Cluster(&deployment), plan.times)?;
            let goal = plan.options.tick as f64 + GOAL_MS;
            let row = row::row(Part::Confirm, engine, plan)
                .with("path", path)
                .with("rooms", rooms)
                .with("people", PEOPLE)
                .with("rate", RATE * rooms as f64)
                .with("bytes", plan.options.bytes)
                .with("confirm_p50_ms", written.confirm.median)
                .with("confirm_p99_ms", written.confirm.p99)
                .with("fdatasync_p50_ms", fdatasync.median)
                .with("fdatasync_p99_ms", fdatasync.p99)
                .with("goals", BTreeMap::from([("confirm_p99_ms", goal)]));
            let row = row::with_figures(row, &row::of_load(&written.load));
            emit(Update::Row(with_verdict(row, &written.verdict, written.load.failure)));
        }
    }
    Ok(())
}

fn seats(rooms: &[String], port: u16) -> Vec<Seat> {
    let pace = Pace::Every(std::time::Duration::from_secs_f64(PEOPLE as f64 / RATE));
    let seat = |number: usize| Seat {
        room: rooms[number / PEOPLE].clone(),
        port,
        number: number as u32,
        pace,
    };
    (0..rooms.len() * PEOPLE).map(seat).collect()
}
