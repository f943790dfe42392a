//! How many packets of a stretch were lost, and how their losses hang together.

use super::LAGS;
use crate::within::Within;

/// What is believed of a path of which nothing was seen, in packets: of those after one that came, so many of so many
/// were lost. Few, so that some ten packets outweigh it. Much less than one loss, because most paths lose nothing.
const STARTS: f32 = 0.2;
const STARTS_OF: f32 = 3.0;
/// The same of packets after a lost one.
const GOES_ON: f32 = 0.5;
const GOES_ON_OF: f32 = 1.5;
/// The weight of the chain that a stretch resembles most against pairs that were counted, in losses.
const CHAIN_WEIGHT: f32 = 10.0;

/// Running counts since any time. They wrap around: only the difference of two means something, if it is less than
/// 65,536 packets.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    /// Packets that came, and packets that were lost, after one that came.
    after_came: [u16; 2],
    /// The same after a lost one.
    after_lost: [u16; 2],
    /// `farther[d - 2]`: lost packets that came d after a lost one.
    farther: [u16; LAGS - 1],
    /// Which of the last packets were lost, the very last one lowest.
    recent: u16,
}

impl Counts {
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

    /// These counts as if so many packets had come meanwhile.
    pub(super) fn less_clean(mut self, packets: u16) -> Self {
        self.after_came[0] = self.after_came[0].wrapping_sub(packets);
        self
    }

    fn last_lost(&self) -> bool {
        self.recent & 1 == 1
    }

    pub(super) fn packets(&self) -> u16 {
        let [after_came, after_lost] = [self.after_came, self.after_lost];
        let sum = after_came[0].wrapping_add(after_came[1]);
        sum.wrapping_add(after_lost[0]).wrapping_add(after_lost[1])
    }

    /// The probability that the next packet is lost if all since `start` were of a kind.
    pub(super) fn next_lost(&self, start: &Counts) -> f32 {
        if self.last_lost() { self.goes_on(start) } else { self.starts(start) }
    }

    /// The probability that a packet is lost after one that came.
    fn starts(&self, start: &Counts) -> f32 {
        let [came, lost] = since(self.after_came, start.after_came);
        (lost + STARTS) / (came + lost + STARTS_OF)
    }

    /// The probability that a packet is lost after a lost one.
    fn goes_on(&self, start: &Counts) -> f32 {
        let [came, lost] = since(self.after_lost, start.after_lost);
        (lost + GOES_ON) / (came + lost + GOES_ON_OF)
    }

    /// The share of packets lost since `start`. As counted and not as the chain has it, whose few bursts would have to
    /// tell their mean length first.
    pub(super) fn rate(&self, start: &Counts) -> f32 {
        let [came, lost] = since(self.after_came, start.after_came);
        let [ended, went_on] = since(self.after_lost, start.after_lost);
        (lost + went_on + STARTS) / (came + lost + ended + went_on + STARTS_OF)
    }

    /// [`again`](super::LossModel::again) since `start`: pairs as counted or, where there are few, as expected of a
    /// two-state Markov chain (the simple Gilbert model). The chain alone has far too long a tail for many bursts.
    pub(super) fn again(&self, start: &Counts) -> [f32; LAGS] {
        let rate = self.rate(start);
        let goes_on = self.goes_on(start);
        // What the loss of a packet says of the next one: 0 for nothing, 1 for all.
        let tie = (goes_on - self.starts(start)).within(0.0, 1.0);
        let mut power = tie;
        let mut again = [goes_on; LAGS];
        let [ended, went_on] = since(self.after_lost, start.after_lost);
        let mut of = ended + went_on;
        for lag in 2..=LAGS {
            power *= tie;
            let expected = rate + (1.0 - rate) * power;
            // Of the packets so many places after a lost one, not all are the same as with one place less.
            let lost = |counts: &Counts| f32::from(counts.recent >> (lag - 1) & 1);
            of += lost(start) - lost(self);
            let [pairs] = since([self.farther[lag - 2]], [start.farther[lag - 2]]);
            again[lag - 1] = (pairs + CHAIN_WEIGHT * expected) / (of + CHAIN_WEIGHT);
        }
        again
    }
}

/// How far running counts have come.
fn since<const N: usize>(now: [u16; N], start: [u16; N]) -> [f32; N] {
    core::array::from_fn(|at| f32::from(now[at].wrapping_sub(start[at])))
}
