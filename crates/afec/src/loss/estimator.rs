//! Learns a path's losses and notices when they change.

use super::tally::Counts;
use super::{LAGS, LossModel};

/// A change is expected once in so many packets.
const CHANGES: f64 = 1.0 / 10_000.0;
/// A new path is believed to have lost none of so many packets.
const CLEAN: u16 = 100;
/// What is older than this many packets is forgotten, once there is a belief that begins later: five minutes of
/// telepointers.
const MEMORY: u16 = 8192;
/// How many beliefs are held at most.
const BELIEFS: usize = 40;
/// Beliefs younger than this, in packets, are all held.
const YOUNG: u16 = 16;
/// Of two older ones that differ less than by this factor in age, the likelier is held.
const APART: f64 = 1.35;
/// No belief becomes less likely than this, so that what held before a long disturbance is soon believed again.
const LEAST: f64 = 1e-12;
/// Beliefs less likely than this do not matter to the model.
const NEGLIGIBLE: f64 = 1e-4;

/// Learns how a path loses packets.
#[derive(Debug, Clone)]
pub struct LossEstimator {
    counts: Counts,
    /// When the losses may have changed last, oldest first.
    starts: [Counts; BELIEFS],
    /// How likely each is.
    likely: [f64; BELIEFS],
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
        starts[0] = counts.after_clean(CLEAN);
        let mut likely = [0.0; BELIEFS];
        likely[0] = 1.0;
        LossEstimator { counts, starts, likely, held: 1 }
    }

    /// Takes note of the next packet: whether it was lost.
    pub fn push(&mut self, lost: bool) {
        if self.held == BELIEFS {
            self.drop_at(0);
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
        for likely in &mut self.likely[..self.held] {
            *likely = (*likely / total).max(LEAST);
        }
        self.counts.push(lost);
        self.thin();
    }

    fn age(&self, at: usize) -> u16 {
        self.counts.packets_since(&self.starts[at])
    }

    fn thin(&mut self) {
        while self.held > 1 && (self.age(1) > MEMORY || self.age(0) > 4 * MEMORY) {
            self.drop_at(0);
        }
        let mut at = self.held - 1;
        while at > 0 {
            let (older, younger) = (self.age(at - 1), self.age(at));
            if younger >= YOUNG && f64::from(older) < APART * f64::from(younger) {
                self.drop_at(if self.likely[at - 1] < self.likely[at] { at - 1 } else { at });
            }
            at -= 1;
        }
    }

    /// Drops a belief; its neighbour takes over.
    fn drop_at(&mut self, at: usize) {
        let neighbour = if at == 0 { 1 } else { at - 1 };
        self.likely[neighbour] += self.likely[at];
        self.starts.copy_within(at + 1..self.held, at);
        self.likely.copy_within(at + 1..self.held, at);
        self.held -= 1;
    }

    /// What is believed now.
    pub fn model(&self) -> LossModel {
        let mut total = 0.0;
        let mut rate = 0.0;
        let mut square = 0.0;
        let mut variance = 0.0;
        let mut again = [0.0; LAGS];
        for (start, likely) in self.starts[..self.held].iter().zip(self.likely) {
            if likely < NEGLIGIBLE {
                continue;
            }
            let chain = self.counts.chain(start);
            total += likely;
            rate += likely * chain.rate;
            square += likely * chain.rate * chain.rate;
            let packets = f64::from(self.counts.packets_since(start)) + 3.0;
            variance += likely * chain.variance() / packets;
            for (sum, again) in again.iter_mut().zip(self.counts.again(start, &chain)) {
                *sum += likely * chain.rate * again;
            }
        }
        again.iter_mut().for_each(|again| *again /= rate);
        rate /= total;
        variance = variance / total + (square / total - rate * rate).max(0.0);
        let chain = super::tally::Chain { rate, tie: ((again[0] - rate) / (1.0 - rate)).max(0.0) };
        LossModel { rate, again, weight: chain.variance() / variance }
    }
}
