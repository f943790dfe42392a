//! A link that opens or closes a hundredfold while a stream flows.

use std::fmt;
use std::io;
use std::thread;
use std::time::Duration;

use super::super::Options;
use super::super::row::{Part, compare_rates, row};
use super::policy::Policy;
use super::transfer::{Outcome, Transfer};
use super::witness::STEP;
use crate::emulator::{Cable, Namespace};
use crate::streams::Files;
use crate::{Result, Row};

/// The rate of the narrow link, in Mbit/s: that of the paper's slow one. The wide link is a hundred
/// times as wide.
const NARROW: f64 = 1.7;
const WIDE: f64 = 170.0;
/// The time before the step, and after it.
const BEFORE: Duration = Duration::from_secs(5);
const AFTER: Duration = Duration::from_secs(10);
/// The time after the step that a policy has to adapt.
const GRACE: Duration = Duration::from_secs(2);
/// The factor by which the times of a quick experiment are shorter.
const QUICK: u32 = 50;
/// The bytes of one file before bytes of the next.
const PIECE: usize = 256 << 10;
/// The name of files that are sent in turns.
const MIXED: &str = "mixed";

/// The direction of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Step {
    Up,
    Down,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Up => "step-up",
            Step::Down => "step-down",
        })
    }
}

impl Step {
    /// The two steps.
    pub(in super::super) const ALL: [Step; 2] = [Step::Up, Step::Down];

    /// The rates before and after the step, in Mbit/s.
    fn rates(self) -> [f64; 2] {
        match self {
            Step::Up => [NARROW, WIDE],
            Step::Down => [WIDE, NARROW],
        }
    }

    /// Runs every policy. `began` gets the name of each.
    pub(in super::super) fn run(
        self,
        namespace: &Namespace,
        options: &Options,
        (files, policies): (&Files, &[Policy]),
        mut began: impl FnMut(&Policy),
    ) -> Result<Vec<Row>> {
        let scale = options.common.quick_or(QUICK, 1);
        let times = [BEFORE / scale, AFTER / scale, GRACE / scale];
        let mixed = mix(files);
        let mixed: Vec<&[u8]> = mixed.iter().map(|piece| &**piece).collect();
        let mut rows = Vec::new();
        for policy in policies {
            began(policy);
            let outcome = self.flow(namespace, &mixed, times, policy);
            rows.push(self.row(options, times, policy, outcome));
        }
        compare_rates(&mut rows);
        Ok(rows)
    }

    fn flow(
        self,
        namespace: &Namespace,
        mixed: &[&[u8]],
        [before, after, _]: [Duration; 3],
        policy: &Policy,
    ) -> Result<Outcome> {
        let [first, then] = self.rates();
        let cable = Cable::start(namespace, first, false)?;
        let sockets = cable.connect()?;
        let transfer = Transfer { is_endless: true, ..Transfer::once(mixed, before + after) };
        thread::scope(|scope| {
            let step = scope.spawn(|| {
                thread::sleep(before);
                cable.change(then)
            });
            let outcome = transfer.run(policy, sockets);
            let panicked = |_| Err(io::Error::other("what changes the link panicked").into());
            step.join().unwrap_or_else(panicked)?;
            Ok(outcome?)
        })
    }

    fn row(
        self,
        options: &Options,
        [before, after, grace]: [Duration; 3],
        policy: &Policy,
        outcome: Result<Outcome>,
    ) -> Row {
        let row = row((Part::Steps, &options.common), self, MIXED, &policy.name)
            .with("network_mbit", self.rates()[1])
            .with("server_cpu_left", 1.0)
            .with("client_cpu_left", 1.0);
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(why) => return row.failed(Some(why)),
        };
        let arrived = outcome.arrived;
        let bin = |time: Duration| (time.as_millis() / STEP.as_millis()) as usize;
        let (from, to) = (bin(before + grace), bin(before + after));
        let bytes: u64 = arrived.series.iter().take(to).skip(from).sum();
        let seconds = (to - from) as f64 * STEP.as_secs_f64();
        row.with("bytes_in", arrived.bytes)
            .with("bytes_wire", outcome.wire)
            .with("seconds", (before + after).as_secs_f64())
            .with("rate_after", bytes as f64 / 1e6 / seconds)
            .with("series", arrived.series)
            .failed(arrived.is_wrong.then_some("other bytes came than were sent"))
    }
}

/// Mixes files in turns of some bytes each, so that the stream is about the same at all times.
fn mix(files: &Files) -> Vec<&[u8]> {
    let shortest = files.benchmark.iter().map(|sample| sample.bytes.len() / PIECE).min();
    let turn = |turn: usize| {
        files.benchmark.iter().map(move |sample| &sample.bytes[turn * PIECE..(turn + 1) * PIECE])
    };
    (0..shortest.unwrap_or(0)).flat_map(turn).collect()
}
