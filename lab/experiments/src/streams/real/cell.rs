//! The rows of the paper's Tables 2 and 3: a network, and the load on it and on both ends.

use std::env;
use std::fmt;
use std::io::{self, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use super::super::paper::Times;
use super::super::row::{Part, compare_times, row};
use super::super::{ALL, Options};
use super::load::Load;
use super::network::{Busy, Network};
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
/// The most dummy processes of a quick experiment.
const QUICK_DUMMIES: usize = 20;

/// The load of a processor (paper, section 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Busyness {
    Idle,
    Medium,
    Heavy,
    VeryHeavy,
}

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Cell {
    /// The traffic on the fast network; `None`: the slow network.
    pub(in super::super) fast: Option<Busy>,
    pub(in super::super) server: Busyness,
    pub(in super::super) client: Busyness,
    /// The times that the paper measured.
    pub(in super::super) paper: Times,
}

impl Busyness {
    /// The number of dummy processes, as in the paper.
    fn dummies(self, core: Core) -> usize {
        match (self, core) {
            (Busyness::Idle, _) => 0,
            (Busyness::Medium, Core::Client) => 4,
            (Busyness::Medium, Core::Server) | (Busyness::Heavy, Core::Client) => 8,
            (Busyness::Heavy, Core::Server) => 20,
            (Busyness::VeryHeavy, _) => 180,
        }
    }
}

impl fmt::Display for Busyness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Busyness::Idle => "idle",
            Busyness::Medium => "medium",
            Busyness::Heavy => "heavy",
            Busyness::VeryHeavy => "veryheavy",
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let network = match self.fast {
            None => "slow",
            Some(Busy::Idle) => "fast",
            Some(Busy::Medium) => "fast-medium",
            Some(Busy::Heavy) => "fast-heavy",
        };
        write!(f, "{network}/{}/{}", self.server, self.client)
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
        let network = match self.fast {
            Some(busy) => Network::fast(namespace, busy)?,
            None => Network::slow(namespace)?,
        };
        let look = options.common.quick_or(QUICK_LOOK, LOOK);
        let mbit = bandwidth(network.connect()?, look)?;
        let (server, _servers) = load(Core::Server, self.server, options)?;
        let (client, _clients) = load(Core::Client, self.client, options)?;
        let all: usize = files.benchmark.iter().map(|sample| sample.bytes.len()).sum();
        let affordable = mbit * 1e6 / 8.0 * options.seconds / all.max(1) as f64;
        let share = options.share.unwrap_or(affordable).clamp(0.0, 1.0);
        let conditions = Conditions { mbit, server, client, share };

        let parts: Vec<&[u8]> = files.benchmark.iter().map(|sample| part(sample, share)).collect();
        let limit = Duration::from_secs_f64(options.limit());
        let transfer = Transfer { files: &parts, is_endless: false, limit };
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
        let whole = row(ALL, all).with("paper_seconds", self.paper.of(&policy.name));
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
        for ((sample, part), time) in files.benchmark.iter().zip(parts).zip(&arrived.times) {
            let seconds = (*time - before).as_secs_f64();
            before = *time;
            rows.push(row(sample.name, part.len()).with("seconds", seconds));
        }
        rows
    }
}

/// The first `share` of a file.
fn part(sample: &Sample, share: f64) -> &[u8] {
    &sample.bytes[..(sample.bytes.len() as f64 * share).ceil() as usize]
}

/// Starts dummy processes on a core, and measures the share of the core that they leave.
fn load(core: Core, busyness: Busyness, options: &Options) -> io::Result<(f64, Load)> {
    let most = options.common.quick_or(QUICK_DUMMIES, usize::MAX);
    let idle = Speed::idle(core)?;
    let load = Load::start(&env::current_exe()?, core, busyness.dummies(core).min(most))?;
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
