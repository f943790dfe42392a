//! Learns a path's losses and notices when they change.
//!
//! This is Bayesian online changepoint detection (Adams and MacKay, 2007). A *belief* is a packet since which the
//! losses have been of one kind, and how likely that is. Each belief foretells the next packet by what was counted
//! since its start, as a two-state Markov chain: so bursts are no surprise on a path that has bursts. Those that
//! foretell well become likelier. With each packet a new belief begins, which knows nothing. The model is the mean over
//! the beliefs; after a change the new ones take over as fast as the evidence permits, without a threshold.
//!
//! Beliefs are kept dense where they are young and ever sparser with age, as what began at nearly the same time
//! foretells nearly the same.

use super::tally::Counts;
use super::{LAGS, LossModel};

/// How likely a change is at each packet. Measured (`examples/loss.rs`): at 1/10,000 the end of loss is noticed some 10
/// packets later in bursts; at 1/1,000 chance is taken for change on steady paths four times as often.
const CHANGES: f32 = 1.0 / 5_000.0;
/// A new path is believed to have lost none of so many packets before,
const CLEAN: u16 = 60;
/// unless nothing is known of it, which is as likely as this. Together they begin with a rate under the least target,
/// 1 %, as most paths lose nothing, and yet 20 % are noticed in 15 packets. Paths with a few outages in a hundred
/// packets pay for it: 300 packets after the beginning their rate is underestimated by a quarter (with 200 clean
/// packets, by more than a third).
const UNKNOWN: f32 = 0.05;
/// What is older than this many packets is forgotten once there is a belief that begins later: five minutes of
/// telepointers.
const MEMORY: u16 = 8192;
/// How many beliefs are held at most, so that the state is under 2 KB.
const BELIEFS: usize = 48;
/// Beliefs younger than this, in packets, are all held: about as many packets as show a step to 20 %.
const YOUNG: u16 = 16;
/// Of two older ones that differ less than by this factor in age, the likelier is held. So about 24 span [`MEMORY`].
const APART: f32 = 1.35;
/// No belief becomes less likely than this, so that none is ruled out for good.
const LEAST: f32 = 1e-12;
/// Beliefs less likely than this do not matter to the model.
const NEGLIGIBLE: f32 = 1e-3;

/// Learns how a path loses packets. Allocates nothing; 1.8 KB.
#[derive(Debug, Clone)]
pub struct LossEstimator {
    counts: Counts,
    /// The counts at which each belief begins, oldest first.
    starts: [Counts; BELIEFS],
    /// How likely each is. The sum is about 1.
    likely: [f32; BELIEFS],
    held: usize,
}

impl Default for LossEstimator {
    fn default() -> Self {
        LossEstimator::new()
    }
}

impl LossEstimator {
    /// Begins with the belief that nothing is lost.
    pub fn new() -> Self {
        let counts = Counts::default();
        let mut starts = [Counts::default(); BELIEFS];
        starts[0] = counts.less_clean(CLEAN);
        let mut likely = [0.0; BELIEFS];
        likely[..2].copy_from_slice(&[1.0 - UNKNOWN, UNKNOWN]);
        LossEstimator { counts, starts, likely, held: 2 }
    }

    /// Takes note of the next packet by number: whether it was lost. After some 10,000 lost in a row more of them
    /// change little, so a caller may stop there.
    pub fn push(&mut self, lost: bool) {
        if self.held == BELIEFS {
            self.thin();
        }
        self.starts[self.held] = self.counts;
        self.likely[self.held] = CHANGES;
        self.held += 1;
        let mut total = 0.0;
        for (start, likely) in self.starts[..self.held].iter().zip(&mut self.likely) {
            let next_lost = self.counts.next_lost(start);
            *likely *= if lost { next_lost } else { 1.0 - next_lost };
            total += *likely;
        }
        let scale = 1.0 / total;
        for likely in &mut self.likely[..self.held] {
            *likely = (*likely * scale).max(LEAST);
        }
        self.counts.push(lost);
    }

    /// How many packets ago a belief begins.
    fn age(&self, at: usize) -> u16 {
        self.counts.packets().wrapping_sub(self.starts[at].packets())
    }

    /// Makes room for new beliefs, and forgets. Called often enough that counts never differ by more than 16 bits hold.
    fn thin(&mut self) {
        while self.age(1) > MEMORY || self.age(0) > 4 * MEMORY {
            self.merge(0, 1);
        }
        let mut at = self.held - 1;
        while at > 0 {
            let (older, younger) = (self.age(at - 1), self.age(at));
            if younger >= YOUNG && f32::from(older) < APART * f32::from(younger) {
                if self.likely[at - 1] < self.likely[at] {
                    self.merge(at - 1, at);
                } else {
                    self.merge(at, at - 1);
                }
            }
            at -= 1;
        }
        if self.held == BELIEFS {
            self.merge(0, 1);
        }
    }

    /// Drops a belief; a neighbour becomes likelier by as much.
    fn merge(&mut self, dropped: usize, into: usize) {
        self.likely[into] += self.likely[dropped];
        self.starts.copy_within(dropped + 1..self.held, dropped);
        self.likely.copy_within(dropped + 1..self.held, dropped);
        self.held -= 1;
    }

    /// What is believed now. Takes longer than a push, some 0.4 µs.
    pub fn model(&self) -> LossModel {
        let mut total = 0.0;
        let mut rate = 0.0;
        let mut weight = 0.0;
        let mut again = [0.0; LAGS];
        for (at, (start, likely)) in self.starts[..self.held].iter().zip(self.likely).enumerate() {
            if likely < NEGLIGIBLE {
                continue;
            }
            let lost = likely * self.counts.rate(start);
            total += likely;
            rate += lost;
            weight += likely * libm::log2f(f32::from(self.age(at)) + 1.0);
            for (sum, again) in again.iter_mut().zip(self.counts.again(start)) {
                *sum += lost * again;
            }
        }
        LossModel {
            rate: f64::from(rate / total),
            again: again.map(|again| f64::from(again / rate)),
            weight: f64::from(libm::exp2f(weight / total)),
        }
    }
}
