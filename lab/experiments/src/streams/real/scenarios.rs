//! The paper's scenarios (section 5.2.3, Figure 4) over real links, whose loads change while a
//! stream flows.

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::super::row::{Part, compare_gains, compare_times, row};
use super::super::{ALL, Options};
use super::cell::part;
use super::load::Load;
use super::network::Network;
use super::phase::Phase;
use super::policy::{Policy, Way};
use super::processor::{Core, hurry};
use super::transfer::{Outcome, Transfer};
use crate::emulator::Namespace;
use crate::streams::Files;
use crate::{Error, Result, Row};

/// A scenario: all files are sent in each phase. On one network a stream flows through all phases.
/// Another network has another address, and so another stream.
#[derive(Debug, Clone)]
pub(in super::super) struct Changing {
    pub(in super::super) name: &'static str,
    pub(in super::super) phases: Vec<Phase>,
}

impl fmt::Display for Changing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The part of each file that is sent in a phase.
struct Portion<'a> {
    phase: Phase,
    share: f64,
    files: Vec<&'a [u8]>,
}

/// The outcome of all phases.
#[derive(Debug, Default, PartialEq)]
struct Sum {
    /// The time of each phase in seconds, for whole files; `None` if nothing arrived.
    phases: Vec<Option<f64>>,
    bytes: u64,
    wire: u64,
    is_stopped: bool,
    is_wrong: bool,
}

impl Changing {
    /// Runs every policy. `began` gets the name of each.
    pub(in super::super) fn run(
        &self,
        namespace: &Namespace,
        options: &Options,
        (files, policies): (&Files, &[Policy]),
        mut began: impl FnMut(&Policy),
    ) -> Result<Vec<Row>> {
        let all = files.benchmark.iter().map(|sample| sample.bytes.len()).sum();
        let portion = |phase: &Phase| {
            let share = options.share_of(all, phase.mbit());
            let files = files.benchmark.iter().map(|sample| part(sample, share)).collect();
            Portion { phase: *phase, share, files }
        };
        let portions: Vec<Portion<'_>> = self.phases.iter().map(portion).collect();
        let mut rows = Vec::new();
        for policy in policies {
            began(policy);
            // The program zstd does not tell when a file is complete.
            if matches!(policy.way, Way::Zstd(_)) {
                continue;
            }
            let sum = through(namespace, options, policy, &portions);
            let row = row((Part::Scenarios, &options.common), self, ALL, &policy.name)
                .with("trained", policy.trained());
            rows.push(match sum {
                Ok(sum) => filled(row, &sum),
                Err(why) => row.failed(Some(why)),
            });
        }
        compare_times(&mut rows);
        compare_gains(&mut rows);
        Ok(rows)
    }
}

fn filled(row: Row, sum: &Sum) -> Row {
    let seconds: Option<f64> = sum.phases.iter().copied().sum();
    row.with("seconds", seconds)
        .with("phases", &sum.phases)
        .with("bytes_in", sum.bytes)
        .with("bytes_wire", sum.wire)
        .with("stopped", sum.is_stopped)
        .failed(sum.is_wrong.then_some("other bytes came than were sent"))
}

/// Sends the files through all phases, with a new stream for each other network, and after a phase
/// that was stopped.
fn through(
    namespace: &Namespace,
    options: &Options,
    policy: &Policy,
    portions: &[Portion<'_>],
) -> Result<Sum> {
    let mut sum = Sum::default();
    let mut left = portions;
    while let Some(first) = left.first() {
        let is_same = |one: &&Portion<'_>| one.phase.fast.is_some() == first.phase.fast.is_some();
        let (now, _) = left.split_at(left.iter().take_while(is_same).count());
        let outcome = stretch(namespace, options, policy, now)?;
        let phases = sum.add(&outcome, now, options.limit());
        left = &left[phases..];
    }
    Ok(sum)
}

/// One stream over one network, whose load changes with each phase.
fn stretch(
    namespace: &Namespace,
    options: &Options,
    policy: &Policy,
    portions: &[Portion<'_>],
) -> Result<Outcome> {
    let network = portions[0].phase.network(namespace)?;
    let sockets = network.connect()?;
    let mut loads = portions
        .iter()
        .map(|portion| {
            let Phase { server, client, .. } = portion.phase;
            let prepare = |core, busyness: super::Busyness| {
                Load::prepare(core, busyness.dummies(core, options))
            };
            Ok([prepare(Core::Server, server)?, prepare(Core::Client, client)?])
        })
        .collect::<io::Result<Vec<_>>>()?;
    loads[0].iter_mut().try_for_each(Load::begin)?;
    let files: Vec<&[u8]> = portions.iter().flat_map(|one| one.files.iter().copied()).collect();
    let (ended, phases) = channel();
    let phase_ended = |phase| {
        // The thread that changes the loads ends with the last phase, before this channel.
        let _ = ended.send(ControlFlow::Continue(phase));
    };
    let transfer = Transfer {
        phase: portions[0].files.len(),
        phase_ended: &phase_ended,
        ..Transfer::once(&files, Duration::from_secs_f64(options.limit()))
    };
    thread::scope(|scope| {
        let network = &network;
        let changes = scope.spawn(move || follow(&phases, network, &mut loads, portions));
        let outcome = transfer.run(policy, sockets);
        // The thread ends by itself after the last phase, and by this in all other cases.
        let _ = ended.send(ControlFlow::Break(()));
        let panicked = |_| Err(io::Error::other("what changes the loads panicked").into());
        changes.join().unwrap_or_else(panicked)?;
        outcome.map_err(Error::from)
    })
}

/// Changes the load of the network and of both processors when a phase has ended.
fn follow(
    phases: &Receiver<ControlFlow<(), usize>>,
    network: &Network,
    loads: &mut Vec<[Load; 2]>,
    portions: &[Portion<'_>],
) -> Result<()> {
    // Without the right to raise the priority, changes come a little late.
    let _ = hurry();
    while let Ok(ControlFlow::Continue(ended)) = phases.recv() {
        let Some(portion) = portions.get(ended) else { break };
        // The first loads are those of the phase that has ended.
        drop(loads.remove(0));
        if let Some(busy) = portion.phase.fast {
            network.change(busy)?;
        }
        loads[0].iter_mut().try_for_each(Load::begin)?;
    }
    Ok(())
}

impl Sum {
    /// Adds the outcome of a stream through these phases. Returns how many of them it settled: all,
    /// or those up to the one in which it was stopped, whose time is extrapolated.
    fn add(&mut self, outcome: &Outcome, portions: &[Portion<'_>], limit: f64) -> usize {
        let arrived = &outcome.arrived;
        self.bytes += arrived.bytes;
        self.wire += outcome.wire;
        self.is_wrong |= arrived.is_wrong;
        let (mut before, mut files, mut bytes) = (Duration::ZERO, 0, 0);
        for (at, Portion { share, files: sent, .. }) in portions.iter().enumerate() {
            files += sent.len();
            let size: usize = sent.iter().map(|file| file.len()).sum();
            let Some(end) = arrived.times.get(files - 1) else {
                let came = arrived.bytes.saturating_sub(bytes) as f64;
                let seconds = (came > 0.0).then(|| limit * size as f64 / came / share);
                self.phases.push(seconds);
                self.is_stopped = true;
                return at + 1;
            };
            self.phases.push(Some((*end - before).as_secs_f64() / share));
            before = *end;
            bytes += size as u64;
        }
        portions.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::paper;
    use crate::streams::real::witness::Arrived;

    fn outcome(seconds: &[u64], bytes: u64) -> Outcome {
        let times = seconds.iter().map(|seconds| Duration::from_secs(*seconds)).collect();
        Outcome::new(Arrived { times, bytes, ..Arrived::default() }, 7)
    }

    /// Two phases of two files of 10 bytes each, of which halves and whole files are sent.
    fn portions() -> Vec<Portion<'static>> {
        let phases = &paper::scenarios()[2].1;
        let portion = |(phase, share): (&Phase, f64)| {
            let files = vec![&b"0123456789"[..(10.0 * share) as usize]; 2];
            Portion { phase: *phase, share, files }
        };
        phases.iter().zip([0.5, 1.0]).map(portion).collect()
    }

    #[test]
    fn times_are_those_of_whole_files() {
        let mut sum = Sum::default();
        assert_eq!(sum.add(&outcome(&[1, 3, 6, 10], 30), &portions(), 60.0), 2);
        assert_eq!((sum.phases, sum.is_stopped), (vec![Some(6.0), Some(7.0)], false));
        assert_eq!((sum.bytes, sum.wire), (30, 7));
    }

    #[test]
    fn a_phase_that_was_stopped_is_extrapolated_and_the_next_one_follows() {
        let mut sum = Sum::default();
        assert_eq!(sum.add(&outcome(&[1, 3, 6], 25), &portions(), 60.0), 2);
        // 15 of 20 bytes came in 60 s.
        assert_eq!((&sum.phases, sum.is_stopped), (&vec![Some(6.0), Some(80.0)], true));
        let mut first = Sum::default();
        assert_eq!(first.add(&outcome(&[1], 5), &portions(), 60.0), 1);
        assert_eq!(first.phases, [Some(240.0)]);
        assert_eq!(first.add(&outcome(&[], 0), &portions()[1..], 60.0), 1);
        assert_eq!(first.phases, [Some(240.0), None]);
    }
}
