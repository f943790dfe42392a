//! Learns a path's losses and notices when they change.

use super::tally::Counts;
use super::{LAGS, LossModel};

/// A change is expected once in so many packets.
const CHANGES: f32 = 1.0 / 5_000.0;
/// A new path is believed to have lost none of so many packets before,
const CLEAN: u16 = 200;
/// unless nothing is known of it, which is as likely as this.
const UNKNOWN: f32 = 0.02;
/// What is older than this many packets is forgotten, once there is a belief that begins later: five minutes of
/// telepointers.
const MEMORY: u16 = 8192;
/// How many beliefs are held at most.
const BELIEFS: usize = 48;
/// Beliefs younger than this, in packets, are all held.
const YOUNG: u16 = 16;
/// Of two older ones that differ less than by this factor in age, the likelier is held.
const APART: f32 = 1.35;
/// No belief becomes less likely than this, so that what held before a long disturbance is soon believed again.
const LEAST: f32 = 1e-12;
/// Beliefs less likely than this do not matter to the model.
const NEGLIGIBLE: f32 = 1e-3;

/// Learns how a path loses packets.
#[derive(Debug, Clone)]
pub struct LossEstimator {
    counts: Counts,
    /// When the losses may have changed last, oldest first.
    starts: [Counts; BELIEFS],
    /// How likely each is.
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

    /// Takes note of the next packet: whether it was lost.
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

    fn age(&self, at: usize) -> u16 {
        self.counts.packets().wrapping_sub(self.starts[at].packets())
    }

    /// Makes room.
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

    /// Drops a belief; a neighbour takes its place.
    fn merge(&mut self, dropped: usize, into: usize) {
        self.likely[into] += self.likely[dropped];
        self.starts.copy_within(dropped + 1..self.held, dropped);
        self.likely.copy_within(dropped + 1..self.held, dropped);
        self.held -= 1;
    }

    /// How many packets ago the losses changed last, as is most likely.
    pub fn since_change(&self) -> u16 {
        let mut sum = 0.0;
        for at in 0..self.held {
            sum += self.likely[at];
            if sum > 0.5 {
                return self.age(at);
            }
        }
        0
    }

    /// What is believed now.
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
