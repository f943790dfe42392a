//! The estimator of a path's losses, which also notices when the losses change. The target of a
//! channel is the share of its messages that may be lost or late.
//!
//! It is Bayesian online changepoint detection (Adams and MacKay, 2007). A *belief* is the
//! assumption, with a probability, that all losses since a certain packet have had one
//! distribution. Each belief predicts the next packet from the counts since its start, as a
//! two-state Markov chain: bursts are no surprise on a path with bursts. Beliefs that predict well
//! become more probable. With each packet a new belief begins, without counts. The model is the
//! mean over the beliefs; after a change the new beliefs take over as fast as the evidence permits,
//! without a threshold.
//!
//! Young beliefs are all kept, older ones are kept ever sparser: beliefs that began at nearly the
//! same time predict nearly the same.

use super::tally::Counts;
use super::{LAGS, LossModel};

/// The probability of a change at each packet. Tuned on `examples/loss.rs`: at 1/10,000 it takes
/// about 10 packets more to notice the end of losses in bursts; at 1/1,000 chance is taken for a
/// change four times as often on paths that do not change.
const CHANGES: f32 = 1.0 / 5_000.0;
/// The first belief about a new path starts as if this many packets had arrived without a loss. See
/// [`UNKNOWN`].
const CLEAN: u16 = 60;
/// The probability of the second belief about a new path, which starts without counts. With both
/// beliefs the first estimated rate is below the lowest target, 1 %, because most paths lose
/// nothing, and yet a loss of 20 % is noticed within 15 packets. Tuned on `examples/loss.rs`: 300
/// packets after the start, the rate of paths with a few outages in a hundred packets is
/// underestimated by a quarter (with 200 instead of 60 packets in [`CLEAN`], by more than a third).
const UNKNOWN: f32 = 0.05;
/// When all places for beliefs are taken, only the youngest one of the beliefs older than this many
/// packets is kept, and none that is older than four times as many. It is more than four minutes of
/// a telepointer (the pointer of another user) at 30 packets per second. Chosen by judgement; not
/// tuned.
const MEMORY: u16 = 8192;
/// The most beliefs. The number keeps the state under 2 KB.
const BELIEFS: usize = 48;
/// Beliefs that are younger than this, in packets, are all kept: a change to 20 % loss is noticed
/// within about as many packets.
const YOUNG: u16 = 16;
/// Of two older beliefs whose ages differ by less than this factor, only the more probable one is
/// kept. About 24 beliefs then span [`MEMORY`].
const APART: f32 = 1.35;
/// The least probability of a belief, so that no belief is excluded for good.
const LEAST: f32 = 1e-12;
/// Beliefs with a lower probability are left out of the model.
const NEGLIGIBLE: f32 = 1e-3;

/// Estimates how a path loses packets. It allocates nothing and takes 1.8 KB.
#[derive(Debug, Clone)]
pub struct LossEstimator {
    /// The counts of all packets.
    counts: Counts,
    /// The counts at the start of each belief, the oldest belief first.
    starts: [Counts; BELIEFS],
    /// The probability of each belief. The sum is about 1.
    likely: [f32; BELIEFS],
    /// The number of beliefs.
    held: usize,
}

impl Default for LossEstimator {
    fn default() -> Self {
        LossEstimator::new()
    }
}

impl LossEstimator {
    /// An estimator for an unknown path, which is assumed to lose nothing.
    pub fn new() -> Self {
        let counts = Counts::default();
        let mut starts = [Counts::default(); BELIEFS];
        starts[0] = counts.less_clean(CLEAN);
        let mut likely = [0.0; BELIEFS];
        likely[..2].copy_from_slice(&[1.0 - UNKNOWN, UNKNOWN]);
        LossEstimator { counts, starts, likely, held: 2 }
    }

    /// Counts the next packet in the order of packet numbers: whether it was lost. After about
    /// 10,000 losses in a row further losses change little, so that a caller may leave them out.
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

    /// The number of packets since the start of the belief with index `at`.
    fn age(&self, at: usize) -> u16 {
        self.counts.packets().wrapping_sub(self.starts[at].packets())
    }

    /// Removes beliefs to make room for new ones. [`push`](LossEstimator::push) calls this so often
    /// that differences of counts fit into 16 bits.
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

    /// Removes the belief `dropped` and adds its probability to the belief `into`.
    fn merge(&mut self, dropped: usize, into: usize) {
        self.likely[into] += self.likely[dropped];
        self.starts.copy_within(dropped + 1..self.held, dropped);
        self.likely.copy_within(dropped + 1..self.held, dropped);
        self.held -= 1;
    }

    /// The present model. To compute it takes longer than a push: about 0.4 µs (measured by
    /// `lab/benches/afec/endpoint.rs`).
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
