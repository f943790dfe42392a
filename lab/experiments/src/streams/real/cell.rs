//! The rows of the paper's Tables 2 and 3: a network, and the load on it and on both ends.

use std::fmt;
use std::io::{self, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use super::super::paper::Times;
use super::super::row::{Part, compare_times, row};
use super::super::{ALL, Options};
use super::load::Load;
use super::phase::{Busyness, Phase};
use super::policy::Policy;
use super::processor::{Core, Speed};
use super::transfer::{Outcome, Transfer};
use crate::emulator::Namespace;
use crate::streams::files::{Files, Sample};
use crate::{Result, Row};

/// The duration of the stream that measures the bandwidth that a network leaves, and the part of it
/// that does not count, while TCP finds its rate.
const LOOK: Duration = Duration::from_secs(3);
const QUICK_LOOK: Duration = Duration::from_millis(120);
/// The duration of the measurement of a processor: some turns of 180 other processes and itself.
const TURNS: Duration = Duration::from_secs(2);
const QUICK_TURNS: Duration = Duration::from_millis(30);

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Cell {
    pub(in super::super) phase: Phase,
    /// The times that the paper measured, if it prints any.
    pub(in super::super) paper: Option<Times>,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phase.fmt(f)
    }
}

/// The measured bandwidth, and the measured shares of the processors that are left.
struct Conditions {
    mbit: f64,
    server: f64,
    client: f64,
    share: f64,
}

impl Cell {
    /// Runs every policy. `began` gets the name of each.
    pub(in super::super) fn run(
        &self,
        namespace: &Namespace,
        options: &Options,
        (files, policies): (&Files, &[Policy]),
        mut began: impl FnMut(&Policy),
    ) -> Result<Vec<Row>> {
        let network = self.phase.network(namespace)?;
        let look = options.common.quick_or(QUICK_LOOK, LOOK);
        let mbit = bandwidth(network.connect()?, look)?;
        let (server, _servers) = load(Core::Server, self.phase.server, options)?;
        let (client, _clients) = load(Core::Client, self.phase.client, options)?;
        let all: usize = files.benchmark.iter().map(|sample| sample.bytes.len()).sum();
        let share = options.share_of(all, mbit);
        let conditions = Conditions { mbit, server, client, share };

        let parts: Vec<&[u8]> = files.benchmark.iter().map(|sample| part(sample, share)).collect();
        let limit = Duration::from_secs_f64(options.limit());
        let transfer = Transfer::once(&parts, limit);
        let mut rows = Vec::new();
        for policy in policies {
            began(policy);
            let outcome = transfer.run(policy, network.connect()?);
            rows.extend(self.rows(options, &conditions, (files, &parts), policy, outcome));
        }
        // Rows are sorted by file, which all policies have in the same order.
        rows.sort_by(|one: &Row, other| one.text("file").cmp(other.text("file")));
        rows.chunk_by_mut(|one, other| one.text("file") == other.text("file"))
            .for_each(compare_times);
        Ok(rows)
    }

    /// A row of all files together, and one of each file.
    fn rows(
        &self,
        options: &Options,
        conditions: &Conditions,
        (files, parts): (&Files, &[&[u8]]),
        policy: &Policy,
        outcome: io::Result<Outcome>,
    ) -> Vec<Row> {
        let row = |file: &str, bytes: usize| {
            row((Part::Real, &options.common), self, file, &policy.name)
                .with("network_mbit", conditions.mbit)
                .with("server_cpu_left", conditions.server)
                .with("client_cpu_left", conditions.client)
                .with("bytes_in", bytes)
                .with("share", conditions.share)
        };
        let all = parts.iter().map(|part| part.len()).sum();
        let paper = self.paper.map(|paper| paper.last_columns(&policy.name)).unwrap_or_default();
        let whole = row(ALL, all)
            .with("paper_seconds", self.paper.and_then(|paper| paper.of(&policy.name)))
            .with("paper_over_best", paper.over_best)
            .with("paper_gain_over_worst", paper.gain_over_worst)
            .with("paper_gain_over_worst_without_bzip2", paper.gain_without_bzip2)
            .with("trained", policy.trained());
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(why) => return vec![whole.failed(Some(why))],
        };
        let arrived = &outcome.arrived;
        let is_complete = arrived.times.len() == parts.len();
        let seconds = arrived.last.as_secs_f64();
        let seconds = match (is_complete, arrived.bytes) {
            (true, _) => Some(seconds),
            (false, 0) => None,
            (false, bytes) => Some(options.limit() * all as f64 / bytes as f64),
        };
        let whole = whole
            .with("seconds", seconds)
            .with("bytes_wire", outcome.wire)
            .with("stopped", !is_complete)
            .failed(arrived.is_wrong.then_some("other bytes came than were sent"));
        let mut rows = vec![whole];
        let mut before = Duration::ZERO;
        for (at, (sample, part)) in files.benchmark.iter().zip(parts).enumerate() {
            // Files that had not arrived when the transfer was stopped have no time.
            let time = arrived.times.get(at);
            let seconds = time.map(|time| (*time - before).as_secs_f64());
            before = time.copied().unwrap_or(before);
            let row = row(sample.name, part.len()).with("stopped", time.is_none());
            rows.push(row.with("seconds", seconds));
        }
        rows
    }
}

/// The first `share` of a file.
pub(super) fn part(sample: &Sample, share: f64) -> &[u8] {
    &sample.bytes[..(sample.bytes.len() as f64 * share).ceil() as usize]
}

/// Starts dummy processes on a core, and measures the share of the core that they leave.
fn load(core: Core, busyness: Busyness, options: &Options) -> io::Result<(f64, Load)> {
    let idle = Speed::idle(core)?;
    let load = Load::start(core, busyness.dummies(core, options))?;
    let turns = options.common.quick_or(QUICK_TURNS, TURNS);
    let left =
        if busyness == Busyness::Idle { 1.0 } else { Speed::of(core, turns)?.share_of(idle) };
    Ok((left, load))
}

/// The rate of a plain TCP stream, in Mbit/s, in the second half of a time.
fn bandwidth(
    [mut server, mut client]: [std::net::TcpStream; 2],
    time: Duration,
) -> io::Result<f64> {
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(move || {
            let bytes = vec![0; 64 << 10];
            // Writing fails when the receiver has closed the connection because it has measured
            // enough.
            while start.elapsed() < time && server.write_all(&bytes).is_ok() {}
        });
        let (mut bytes, mut count, mut from) = (vec![0; 64 << 10], 0, None);
        while start.elapsed() < time {
            let came = client.read(&mut bytes)?;
            match from {
                Some(_) => count += came,
                None if start.elapsed() > time / 2 => from = Some(Instant::now()),
                None => {}
            }
        }
        let seconds = from.map_or(0.0, |from| from.elapsed().as_secs_f64());
        Ok(if seconds > 0.0 { count as f64 * 8e-6 / seconds } else { 0.0 })
    })
}
