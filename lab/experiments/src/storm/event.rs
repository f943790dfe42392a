//! One event, from a fresh server to its row.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use super::bystanders::Bystanders;
use super::crowd::{self, Crowd};
use super::flood::{Flood, Kind};
use super::{Event, Plan, row};
use crate::host::{Folder, serve_limited, serve_with, status, upgrade};
use crate::server::{Server, cpu};
use crate::{Result, Row};

const MIB: f64 = 1024.0 * 1024.0;

/// Runs one event on a fresh server, and returns its row.
pub(super) fn measure(event: Event, plan: &Plan<'_>) -> Result<Row> {
    let folder = Folder::new(&plan.data)?;
    let mut serve_also = plan.options.serve.clone();
    serve_also.extend(plan.plain_port.map(|port| format!("--plain-listen=127.0.0.1:{port}")));
    let start = |port| {
        let folder = Some(folder.path());
        serve_with(&plan.program, folder, plan.options.tick, port, &serve_also)
    };
    let server = match event.is_flood() && !plan.options.unlimited {
        true => serve_limited(&plan.program, folder.path(), plan.options.tick)?,
        false => start(0)?,
    };
    let bystanders = Bystanders::join(&plan.door, server.port)?;
    let calm = Calm::observe(plan.status_port(&server), &bystanders, plan.observed);
    let row = row::row(event, plan).with("bystander_before_p99_ms", calm.p99);
    let (row, failed) = match event {
        Event::FloodTransactions => flood(row, Kind::Transactions, &server, &bystanders, plan)?,
        Event::FloodAwareness => flood(row, Kind::Awareness, &server, &bystanders, plan)?,
        Event::FloodJoins => flood(row, Kind::Joins, &server, &bystanders, plan)?,
        Event::Join => join(row, &server, &bystanders, &calm, plan)?,
        Event::Kill => back(row, server, &bystanders, plan, |server| {
            let port = server.port;
            drop(server);
            start(port)
        })?,
        Event::Drain => back(row, server, &bystanders, plan, |server| {
            let port = server.port;
            server.end();
            start(port)
        })?,
        Event::Upgrade => back(row, server, &bystanders, plan, |server| {
            upgrade(&plan.program, folder.path(), plan.options.tick, server.port)
        })?,
    };
    let failed = failed + bystanders.failures();
    let failure =
        (failed > 0).then(|| format!("{failed} people lost something or were not there in time"));
    Ok(row.with("failed", failed).failed(failure))
}

/// Figures of the time before the event.
struct Calm {
    p99: f64,
    /// The packets that the server sends per second.
    packets: f64,
    bytes: f64,
}

impl Calm {
    fn observe(port: u16, bystanders: &Bystanders, length: Duration) -> Self {
        // The first seconds are left out, because they do not show the long run.
        thread::sleep(length.min(Duration::from_secs(2)));
        let (before, from) = (Sent::by(port), Instant::now());
        thread::sleep(length);
        let (after, until) = (Sent::by(port), Instant::now());
        let seconds = (until - from).as_secs_f64();
        Calm {
            p99: bystanders.times(from, until).p99,
            packets: (after.packets - before.packets) / seconds,
            bytes: (after.bytes - before.bytes) / seconds,
        }
    }
}

/// The packets and bytes that the server has sent to all clients.
#[derive(Debug, Clone, Copy)]
struct Sent {
    packets: f64,
    bytes: f64,
}

impl Sent {
    fn by(port: u16) -> Self {
        let status = status(port).unwrap_or_default();
        let figure = |name: &str| status[name].as_f64().unwrap_or(f64::NAN);
        Sent { packets: figure("packets_out"), bytes: figure("bytes_out_after") }
    }
}

/// The times in which the server admitted participants.
#[derive(Debug, Clone, Copy)]
struct Turns {
    deferred: Option<u64>,
    held: Option<u64>,
    rate: Option<f64>,
}

impl Turns {
    fn at(port: u16) -> Self {
        let status = status(port).unwrap_or_default();
        Turns {
            deferred: status["deferred_joins"].as_u64(),
            held: status["held_joins"].as_u64(),
            rate: status["join_rate"].as_f64(),
        }
    }
}

/// Lets all participants join.
fn join(
    row: Row,
    server: &Server,
    bystanders: &Bystanders,
    calm: &Calm,
    plan: &Plan<'_>,
) -> Result<(Row, u64)> {
    let port = plan.status_port(server);
    let memory_before = megabytes(server);
    let (before, cpu, own_cpu, from) = (Sent::by(port), server.cpu(), own_cpu(), Instant::now());
    let counts = plan.counts();
    let crowd = Crowd::join(&plan.door, server.port, (plan.clients, plan.rooms), counts)?;
    let took = crowd.await_all(1).as_secs_f64();
    let until = Instant::now();
    let cpu = server.cpu().zip(cpu).map(|(after, before)| (after - before).as_secs_f64());
    let own_cpu =
        self::own_cpu().zip(own_cpu).map(|(after, before)| (after - before).as_secs_f64());
    let (after, turns) = (Sent::by(port), Turns::at(port));
    let clients = f64::from(plan.clients);
    let each = |after: f64, before: f64, rate: f64| (after - before - rate * took) / clients;
    let decodes = |number: &u32| !counts || crowd::decodes(number / plan.rooms);
    let row = with_memory(row, server, plan)
        .with("decoding", (0..plan.clients).filter(decodes).count())
        .with("seconds", took)
        .with("joins_per_s", clients / took)
        .with("packets_per_join", each(after.packets, before.packets, calm.packets))
        .with("bytes_per_join", each(after.bytes, before.bytes, calm.bytes))
        .with("server_cpu_s", cpu)
        .with("generator_cpu_s", own_cpu)
        .with("deferred", turns.deferred)
        .with("held", turns.held)
        .with("join_rate", turns.rate)
        .with("bystander_p99_ms", bystanders.times(from, until).p99);
    let (failures, remaining) = (crowd.failures() as u64, row.number("rss_after_mb"));
    drop(crowd);
    thread::sleep(plan.rest);
    let each =
        remaining.zip(memory_before).map(|(after, before)| (after - before) * 1024.0 / clients);
    let row = row
        .with("rss_before_mb", memory_before)
        .with("rss_left_mb", megabytes(server))
        .with("kb_per_client", each);
    Ok((row, failures))
}

/// Replaces the server by another one, and waits until all participants are back.
fn back(
    row: Row,
    server: Server,
    bystanders: &Bystanders,
    plan: &Plan<'_>,
    replace: impl FnOnce(Server) -> Result<Server>,
) -> Result<(Row, u64)> {
    let crowd = Crowd::join(&plan.door, server.port, (plan.clients, plan.rooms), false)?;
    crowd.await_all(1);
    // During the pause some transactions are written.
    thread::sleep(plan.observed.min(Duration::from_secs(2)));
    let from = Instant::now();
    let server = replace(server)?;
    let bystanders_back = bystanders.await_back();
    crowd.await_all(2);
    let until = Instant::now();
    let took = (until - from).as_secs_f64();
    let turns = Turns::at(plan.status_port(&server));
    let times = bystanders_back.map(|back| bystanders.times(back, until));
    let away = crowd.away();
    let seconds = |place: usize| away.get(place).map(Duration::as_secs_f64);
    let goals = BTreeMap::from([("away_max_s", 3.0), ("seconds", 15.0)]);
    // The new process has used no processor time for anything else.
    let cpu = server.cpu().map(|cpu| cpu.as_secs_f64());
    let row = with_memory(row, &server, plan)
        .with("seconds", took)
        .with("joins_per_s", f64::from(plan.clients) / took)
        .with("deferred", turns.deferred)
        .with("held", turns.held)
        .with("join_rate", turns.rate)
        .with("bystander_p99_ms", times.map(|times| times.p99))
        .with("away_p50_s", seconds(away.len() / 2))
        .with("away_max_s", seconds(away.len().saturating_sub(1)))
        .with("server_cpu_s", cpu)
        .with("goals", goals);
    Ok((row, crowd.failures() as u64))
}

/// Lets some participants flood the server for a time.
fn flood(
    row: Row,
    kind: Kind,
    server: &Server,
    bystanders: &Bystanders,
    plan: &Plan<'_>,
) -> Result<(Row, u64)> {
    let calm = row.number("bystander_before_p99_ms").unwrap_or_default();
    let flood = Flood::begin(server.port, kind, plan.options.flooders)?;
    // The pause lets flooders use up their credit, and compression learn.
    thread::sleep(plan.observed.min(Duration::from_secs(2)));
    let (done, cpu, from) = (flood.done(), server.cpu(), Instant::now());
    thread::sleep(plan.observed);
    let until = Instant::now();
    let cpu = server.cpu().zip(cpu).map(|(after, before)| (after - before).as_secs_f64());
    let seconds = (until - from).as_secs_f64();
    let flooded = (flood.done() - done) as f64 / seconds;
    let row = with_memory(row, server, plan)
        .with("seconds", seconds)
        .with("flooded_per_s", flooded)
        .with("server_cpu_s", cpu)
        .with("bystander_p99_ms", bystanders.times(from, until).p99)
        .with("goals", BTreeMap::from([("bystander_p99_ms", (calm * 1.1).max(calm + 2.0))]));
    Ok((row, 0))
}

/// The row with the memory of the server now, and after a rest.
fn with_memory(row: Row, server: &Server, plan: &Plan<'_>) -> Row {
    let now = megabytes(server);
    thread::sleep(plan.rest);
    row.with("rss_mb", now).with("rss_after_mb", megabytes(server))
}

/// Processor time of this process until now.
fn own_cpu() -> Option<Duration> {
    cpu(std::process::id())
}

fn megabytes(server: &Server) -> Option<f64> {
    server.memory().map(|bytes| bytes as f64 / MIB)
}
