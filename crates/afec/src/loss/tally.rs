//! Counts of lost packets, and of pairs of lost packets. A lag is the distance of two packets,
//! counted in packets.

use super::LAGS;
use crate::within::Within;

/// The prior of the probability that a packet is lost after one that arrived, as counts: [`STARTS`]
/// losses in [`STARTS_OF`] packets. These are few packets, so that ten real ones outweigh them, and
/// much less than one loss, because most paths lose nothing. Tuned on `examples/loss.rs`.
const STARTS: f32 = 0.2;
/// See [`STARTS`].
const STARTS_OF: f32 = 3.0;
/// The prior of the probability that a packet is lost after a lost one, as counts: [`GOES_ON`]
/// losses in [`GOES_ON_OF`] packets. Tuned on `examples/loss.rs`.
const GOES_ON: f32 = 0.5;
/// See [`GOES_ON`].
const GOES_ON_OF: f32 = 1.5;
/// The weight of the fitted Markov chain compared with counted pairs of losses, as a number of lost
/// packets. Tuned on `examples/loss.rs`.
const CHAIN_WEIGHT: f32 = 10.0;

/// Running counts, which wrap around. Only the difference between the counts at two times is
/// meaningful, and only if fewer than 65,536 packets lie between these times.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    /// Of the packets after one that arrived: how many arrived, and how many were lost.
    after_came: [u16; 2],
    /// Of the packets after a lost one: how many arrived, and how many were lost.
    after_lost: [u16; 2],
    /// `farther[d - 2]`: the number of lost packets for which the packet d places earlier was lost,
    /// too.
    farther: [u16; LAGS - 1],
    /// Which of the last packets were lost: one bit for each, the lowest for the last packet.
    recent: u16,
}

impl Counts {
    /// Counts the next packet.
    pub(super) fn push(&mut self, lost: bool) {
        let after = if self.last_lost() { &mut self.after_lost } else { &mut self.after_came };
        let count = &mut after[usize::from(lost)];
        *count = count.wrapping_add(1);
        if lost {
            for (lag, pairs) in (2..).zip(&mut self.farther) {
                *pairs = pairs.wrapping_add(self.recent >> (lag - 1) & 1);
            }
        }
        self.recent = self.recent << 1 | u16::from(lost);
    }

    /// The counts as they were `packets` packets earlier, if all these packets arrived.
    pub(super) fn less_clean(mut self, packets: u16) -> Self {
        self.after_came[0] = self.after_came[0].wrapping_sub(packets);
        self
    }

    fn last_lost(&self) -> bool {
        self.recent & 1 == 1
    }

    /// The number of packets counted, modulo 2^16.
    pub(super) fn packets(&self) -> u16 {
        let [after_came, after_lost] = [self.after_came, self.after_lost];
        let sum = after_came[0].wrapping_add(after_came[1]);
        sum.wrapping_add(after_lost[0]).wrapping_add(after_lost[1])
    }

    /// The probability that the next packet is lost, if the losses of all packets since `start`
    /// have one distribution.
    pub(super) fn next_lost(&self, start: &Counts) -> f32 {
        if self.last_lost() { self.goes_on(start) } else { self.starts(start) }
    }

    /// The probability that a packet is lost after one that arrived.
    fn starts(&self, start: &Counts) -> f32 {
        let [came, lost] = since(self.after_came, start.after_came);
        (lost + STARTS) / (came + lost + STARTS_OF)
    }

    /// The probability that a packet is lost after a lost one.
    fn goes_on(&self, start: &Counts) -> f32 {
        let [came, lost] = since(self.after_lost, start.after_lost);
        (lost + GOES_ON) / (came + lost + GOES_ON_OF)
    }

    /// The share of packets that were lost since `start`. It comes directly from the counts: the
    /// Markov chain would need many bursts for an estimate of their mean length.
    pub(super) fn rate(&self, start: &Counts) -> f32 {
        let [came, lost] = since(self.after_came, start.after_came);
        let [ended, went_on] = since(self.after_lost, start.after_lost);
        (lost + went_on + STARTS) / (came + lost + ended + went_on + STARTS_OF)
    }

    /// The value of [`again`](super::LossModel::again) since `start`, from the counted pairs. Where
    /// these are few, it is that of a two-state Markov chain (the simple Gilbert model). The chain
    /// alone has far too long a tail for many kinds of bursts.
    pub(super) fn again(&self, start: &Counts) -> [f32; LAGS] {
        let rate = self.rate(start);
        let goes_on = self.goes_on(start);
        // How much the loss of a packet says about the next one: 0 for independent losses, 1 if the
        // next packet is always lost.
        let tie = (goes_on - self.starts(start)).within(0.0, 1.0);
        let mut power = tie;
        let mut again = [goes_on; LAGS];
        let [ended, went_on] = since(self.after_lost, start.after_lost);
        let mut of = ended + went_on;
        for lag in 2..=LAGS {
            power *= tie;
            let expected = rate + (1.0 - rate) * power;
            // The packets at this lag after a lost packet are nearly those at the previous lag: one
            // leaves, one enters.
            let lost = |counts: &Counts| f32::from(counts.recent >> (lag - 1) & 1);
            of += lost(start) - lost(self);
            let [pairs] = since([self.farther[lag - 2]], [start.farther[lag - 2]]);
            again[lag - 1] = (pairs + CHAIN_WEIGHT * expected) / (of + CHAIN_WEIGHT);
        }
        again
    }
}

/// The differences of running counts.
fn since<const N: usize>(now: [u16; N], start: [u16; N]) -> [f32; N] {
    core::array::from_fn(|at| f32::from(now[at].wrapping_sub(start[at])))
}
