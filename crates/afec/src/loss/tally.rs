//! How many packets of a stretch were lost, and how their losses hang together.

use super::LAGS;

/// What is believed of a path of which nothing was seen, in packets: of those after one that came, so many of so many
/// were lost. Few, so that some ten packets outweigh it. Less than one loss, because most paths lose nothing.
const STARTS: f64 = 0.3;
const STARTS_OF: f64 = 3.0;
/// The same of packets after a lost one.
const GOES_ON: f64 = 0.6;
const GOES_ON_OF: f64 = 3.0;
/// The weight of the two-state chain that a stretch resembles most against pairs that were counted, in losses.
const CHAIN_WEIGHT: f64 = 10.0;

/// Running counts since any time. They wrap around: only the difference of two means something, if it is less than
/// 65,536 packets.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    packets: u16,
    lost: u16,
    /// `pairs[d - 1]`: lost packets that came d after a lost one.
    pairs: [u16; LAGS],
    /// Which of the last packets were lost, the very last one lowest.
    recent: u16,
}

impl Counts {
    pub(super) fn push(&mut self, lost: bool) {
        self.packets = self.packets.wrapping_add(1);
        if lost {
            self.lost = self.lost.wrapping_add(1);
            for (lag, pairs) in self.pairs.iter_mut().enumerate() {
                *pairs = pairs.wrapping_add(self.recent >> lag & 1);
            }
        }
        self.recent = self.recent << 1 | u16::from(lost);
    }

    /// These counts had there been so many more packets before, none of them lost.
    pub(super) fn after_clean(self, packets: u16) -> Self {
        Counts { packets: self.packets.wrapping_sub(packets), ..self }
    }

    pub(super) fn packets_since(&self, start: &Counts) -> u16 {
        self.packets.wrapping_sub(start.packets)
    }

    /// The probability that the next packet is lost if all since `start` were of a kind.
    pub(super) fn next_lost(&self, start: &Counts) -> f64 {
        if self.recent & 1 == 0 { self.starts(start) } else { self.goes_on(start) }
    }

    /// The probability that a packet is lost after one that came.
    fn starts(&self, start: &Counts) -> f64 {
        let lost = self.lost.wrapping_sub(start.lost);
        let starts = f64::from(lost) - f64::from(self.pairs[0].wrapping_sub(start.pairs[0]));
        let of = f64::from(self.packets_since(start)) - f64::from(self.lost_before(start, 1));
        (starts + STARTS) / (of + STARTS_OF)
    }

    /// The probability that a packet is lost after a lost one.
    fn goes_on(&self, start: &Counts) -> f64 {
        let pairs = f64::from(self.pairs[0].wrapping_sub(start.pairs[0]));
        (pairs + GOES_ON) / (f64::from(self.lost_before(start, 1)) + GOES_ON_OF)
    }

    /// How many packets since `start` came so many after a lost one.
    fn lost_before(&self, start: &Counts, lag: usize) -> u16 {
        let last = |counts: &Counts| (counts.recent & ((1 << lag) - 1)).count_ones() as u16;
        self.lost.wrapping_sub(start.lost).wrapping_sub(last(self)).wrapping_add(last(start))
    }

    /// What follows from all since `start`, if all were of a kind.
    pub(super) fn chain(&self, start: &Counts) -> Chain {
        let starts = self.starts(start);
        let goes_on = self.goes_on(start);
        let rate = starts / (starts + 1.0 - goes_on);
        Chain { rate, tie: (goes_on - starts).max(0.0) }
    }

    /// `again` since `start`: pairs as counted, and as in the chain where there are few.
    pub(super) fn again(&self, start: &Counts, chain: &Chain) -> [f64; LAGS] {
        let mut tie = 1.0;
        let mut again = [0.0; LAGS];
        for (lag, again) in (1..).zip(&mut again) {
            tie *= chain.tie;
            let expected = chain.rate + (1.0 - chain.rate) * tie;
            let pairs = f64::from(self.pairs[lag - 1].wrapping_sub(start.pairs[lag - 1]));
            let of = f64::from(self.lost_before(start, lag));
            *again = (pairs + CHAIN_WEIGHT * expected) / (of + CHAIN_WEIGHT);
        }
        again
    }
}

/// A two-state Markov chain (simple Gilbert model): the next packet's loss depends on this one's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain {
    pub(super) rate: f64,
    /// How much the loss of a packet says of the next one's: 0 for nothing, 1 for all.
    pub(super) tie: f64,
}

impl Chain {
    /// The variance of the share of packets lost, times the number of packets.
    pub(super) fn variance(&self) -> f64 {
        self.rate * (1.0 - self.rate) * (1.0 + self.tie) / (1.0 - self.tie)
    }
}
