//! Loss that begins or ends: how long schemes take to adapt.

use std::sync::Arc;
use std::time::Duration;

use super::cell::Cell;
use super::contender::Contender;
use super::end::Scheme;
use super::pair::Setup;
use super::row::{Part, row};
use super::run::Log;
use super::{Input, Options};
use crate::Row;
use crate::sim::input::{INTERVAL, Update};

/// Messages before the step: enough for the window of the paper's controller. The step is in the
/// next cluster.
const BEFORE: usize = 1500;
/// Messages after the step: 50 s of motion.
const AFTER: usize = 1500;
/// Messages of a bin: half a second of motion.
const BIN: usize = 15;
/// The number of messages of the cluster before and after the step.
const AROUND: usize = 10;
/// A pause that ends a cluster.
const PAUSE: Duration = Duration::from_millis(100);
/// A bin is within the target if it exceeds it by at most this many standard errors: with 100 bins,
/// one exceeds it by chance alone in one of eight measurements.
const ERRORS: f64 = 3.0;
/// Fewer repeats per message than this count as none: they cannot be distinguished from a last
/// repeat.
const HARDLY_ANY: f64 = 0.01;

/// Seeds of each step, and in a quick experiment.
const SEEDS: u64 = 200;
const QUICK_SEEDS: u64 = 3;

/// A step on a path.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) cell: Cell,
    pub(super) contenders: Vec<Contender>,
}

impl Step {
    /// Runs all schemes, and calls `started` before each.
    pub(super) fn rows(
        &self,
        input: &Input,
        options: &Options,
        started: &mut dyn FnMut(),
    ) -> Vec<Row> {
        let seeds = options.seeds(QUICK_SEEDS, SEEDS);
        let plain = self.pooled(Contender::Udp, input, seeds, options);
        let plain_bytes = plain.log.figures(0, None).bytes_per_message;
        let rows = self.contenders.iter().map(|contender| {
            started();
            let pooled = self.pooled(*contender, input, seeds, options);
            let figures = pooled.log.figures(0, None);
            let (scheme, cell) =
                ((Part::Steps, contender.to_string()), self.stepping_at(Duration::ZERO));
            let row = row(scheme, &cell, (&pooled.log, figures), plain_bytes, &options.common);
            let (converge_s, settled) = pooled.converged(self.ends(), self.cell.target);
            row.with("converge_s", converge_s)
                .with("settled", settled)
                .with("windows", 0)
                .with("windows_met", 0.0)
                .with("told_s", None::<f64>)
                .with("told_share", 0.0)
                .with("messages", BEFORE + AFTER)
                .with("seeds", seeds)
        });
        rows.collect()
    }

    /// Whether there is no loss after the step.
    fn ends(&self) -> bool {
        self.cell.loss.rate(Duration::MAX) == 0.0
    }

    fn stepping_at(&self, at: Duration) -> Cell {
        Cell { loss: self.cell.loss.clone().with_step_at(at), ..self.cell.clone() }
    }

    /// Runs a scheme with all seeds.
    fn pooled(&self, contender: Contender, input: &Input, seeds: u64, options: &Options) -> Pooled {
        let bins = AFTER / BIN;
        let mut pooled =
            Pooled { log: Log::default(), missed: vec![Vec::new(); bins], repeats: vec![0; bins] };
        for seed in (0..seeds).map(|nth| options.common.seed.wrapping_mul(1000).wrapping_add(nth)) {
            // The step is searched for beyond BEFORE, so more updates are needed.
            let updates = input.updates(seed, BEFORE + AFTER + 1000);
            let first = within_a_cluster(&updates);
            let updates: Arc<[Update]> = updates[..(first + AFTER).min(updates.len())].into();
            let at = updates[first].at - INTERVAL / 2;
            let cell = self.stepping_at(at);
            let scheme = Scheme::PLAIN;
            let setup = Setup { scheme, price: None, input: &updates, seed, timed: false };
            pooled.add(&cell, contender.run(&cell, &setup), first);
        }
        pooled
    }
}

/// The first message after a step that has to fall into a cluster.
fn within_a_cluster(updates: &[Update]) -> usize {
    let goes_on = |first: usize| {
        let around = &updates[first - AROUND..(first + AROUND).min(updates.len())];
        around.windows(2).all(|two| two[1].at - two[0].at < PAUSE)
    };
    (BEFORE..updates.len() - AROUND).find(|first| goes_on(*first)).unwrap_or(BEFORE)
}

/// The runs of all seeds. Time after the step is counted in messages, 30 to a second: pauses do not
/// count.
struct Pooled {
    /// The messages after the step; bytes and repeats of all messages.
    log: Log,
    /// The share of messages that missed, by half second and seed.
    missed: Vec<Vec<f64>>,
    /// The number of repeated messages, by half second.
    repeats: Vec<u64>,
}

impl Pooled {
    fn add(&mut self, cell: &Cell, mut log: Log, first: usize) {
        let after = log.messages.split_off(first);
        // Costs are per message of the whole run, but the log keeps fewer messages.
        let scale = after.len() as f64 / (first + after.len()).max(1) as f64;
        for (bin, messages) in after.chunks_exact(BIN).enumerate() {
            let missed = messages.iter().filter(|(_, latency)| log.missed(*latency)).count();
            self.missed[bin].push(missed as f64 / BIN as f64);
        }
        for (at, count) in &log.repeated_at {
            let nth = after.partition_point(|(sent, _)| sent <= at);
            // Packets before the first message after the step belong to the time before.
            if let Some(bin) = nth.checked_sub(1).and_then(|nth| self.repeats.get_mut(nth / BIN)) {
                *bin += u64::from(*count);
            }
        }
        if self.log.messages.is_empty() {
            self.log = Log::new(&[], cell);
        }
        self.log.bytes += log.bytes * scale;
        self.log.repeats += (log.repeats as f64 * scale) as u64;
        self.log.packets += log.packets;
        self.log.code = log.code.or(self.log.code);
        self.log.messages.extend(after);
        if let Some(why) = log.failure {
            self.log.fail(|| why);
        }
    }

    /// The time in seconds after which the scheme has adapted, and the value from then on.
    fn converged(&self, ends: bool, target: f64) -> (Option<f64>, f64) {
        let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        let seeds = self.missed.first().map_or(0, Vec::len).max(1) as f64;
        let bins: Vec<f64> = match ends {
            true => self.repeats.iter().map(|count| *count as f64 / seeds / BIN as f64).collect(),
            false => self.missed.iter().map(|bin| mean(bin)).collect(),
        };
        let allowed = |bin: usize| match ends {
            true => HARDLY_ANY,
            false => {
                let (shares, mean) = (&self.missed[bin], bins[bin]);
                let square: f64 = shares.iter().map(|share| (share - mean).powi(2)).sum();
                target + ERRORS * square.sqrt() / seeds
            }
        };
        let last_wrong = (0..bins.len()).rev().find(|bin| bins[*bin] > allowed(*bin));
        let from = last_wrong.map_or(0, |bin| bin + 1);
        match from < bins.len() {
            true => (Some(from as f64 * BIN as f64 / 30.0), mean(&bins[from..])),
            false => (None, mean(&bins)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pooled(missed: [f64; 6], repeats: [u64; 6]) -> Pooled {
        let missed = missed.iter().map(|share| vec![*share; 4]).collect();
        Pooled { log: Log::default(), missed, repeats: repeats.to_vec() }
    }

    #[test]
    fn a_scheme_has_converged_after_the_last_half_second_that_misses_too_much() {
        let some = pooled([0.3, 0.04, 0.1, 0.05, 0.04, 0.03], [0; 6]);
        let (at, settled) = some.converged(false, 0.05);
        assert_eq!(at, Some(1.5));
        assert!((settled - 0.04).abs() < 1e-12);
        assert_eq!(some.converged(true, 0.05), (Some(0.0), 0.0));
        let never = pooled([0.3; 6], [60, 30, 0, 6, 0, 0]);
        assert_eq!(never.converged(false, 0.05).0, None);
        assert_eq!(never.converged(true, 0.05), (Some(2.0), 0.0));
    }

    #[test]
    fn the_step_is_in_a_cluster() {
        for seed in 0..20 {
            let updates = crate::sim::input::generated(seed, BEFORE + AFTER);
            let first = within_a_cluster(&updates);
            assert!((BEFORE..BEFORE + 500).contains(&first), "{first}");
            assert!(updates[first].at - updates[first - 5].at < PAUSE * 5);
        }
    }
}
