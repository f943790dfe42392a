//! The probability that several packets of a path are all lost. A burst is a run of losses with one
//! cause; a lag is the distance of two packets, counted in packets.
//!
//! A receiver can only measure pairs of packets. For more packets, losses are assumed to come in
//! independent bursts, each of which loses all packets while it lasts. The length of bursts follows
//! from the pairs: the probability that both packets are lost exceeds that of two independent
//! losses, and the excess is the probability that one burst lost both. For Gilbert-Elliott losses
//! this is exact. Unlike a Markov chain it also describes bursts of limited length, and long
//! outages together with single losses.

use crate::loss::{LAGS, LossModel};

/// The most repeats of a message that the model considers. Further repeats are ignored;
/// [`choose`](super::choose) never weighs as many.
pub(super) const REPEATS: usize = 8;
/// The longest run of losses, in packets, that the model considers: twice the measured lags.
const LONGEST_RUN: usize = 2 * LAGS;

/// The losses of a path.
pub(crate) struct Losses {
    /// The share of packets that are lost.
    pub(crate) rate: f64,
    /// `same_burst[d]`: the probability that the burst which lost packet i also loses packet i + d.
    same_burst: [f64; LONGEST_RUN + 1],
    /// `run[n]`: the probability that the next n packets are all lost, given that a packet was
    /// lost.
    pub(super) run: [f64; LONGEST_RUN + 1],
    /// The mean number of packets that are lost in a row, counted from any lost packet on.
    pub(super) run_length: f64,
}

impl Losses {
    /// The losses of a path on which every packet is lost.
    pub(super) const TOTAL: Losses = Losses {
        rate: 1.0,
        same_burst: [1.0; LONGEST_RUN + 1],
        run: [1.0; LONGEST_RUN + 1],
        run_length: (LONGEST_RUN + 1) as f64,
    };

    pub(crate) fn new(model: &LossModel) -> Self {
        let rate = probability(model.rate);
        if rate == 1.0 {
            return Losses::TOTAL;
        }
        let mut same_burst = [1.0; LONGEST_RUN + 1];
        for (same, again) in same_burst[1..].iter_mut().zip(model.again) {
            *same = probability((probability(again) - rate) / (1.0 - rate));
        }
        // Beyond the measured lags, bursts are assumed to have no memory.
        for lag in LAGS + 1..=LONGEST_RUN {
            same_burst[lag] = same_burst[LAGS] * same_burst[lag - LAGS];
        }
        let run = runs(&same_burst, rate);
        Losses { rate, same_burst, run, run_length: run.iter().sum() }
    }

    /// The probability that the next n packets are all lost, given that a packet was lost.
    pub(crate) fn run(&self, n: usize) -> f64 {
        self.run[n.min(LONGEST_RUN)]
    }

    /// The probability that a packet and the next `repeats` packets are all lost.
    pub(crate) fn all_lost(&self, repeats: usize) -> f64 {
        self.rate * self.run(repeats)
    }

    /// The least number of repeats, each in the packet after the one before, with which the share
    /// of lost messages is at most `target`. It is `most` if no smaller number is enough.
    pub(crate) fn repeats_for(&self, target: f64, most: u8) -> u8 {
        let is_enough = |repeats: &u8| self.all_lost(usize::from(*repeats)) <= target;
        (0..most).find(is_enough).unwrap_or(most)
    }

    fn same_burst(&self, lag: usize) -> f64 {
        self.same_burst[lag.min(LONGEST_RUN)]
    }
}

impl LossModel {
    /// The least number of repeats, each in the packet after the one before, with which the share
    /// of lost messages is at most `target`. It is `most` if no smaller number is enough.
    pub fn repeats_for(&self, target: f64, most: u8) -> u8 {
        Losses::new(self).repeats_for(target, most)
    }
}

/// For each number of packets: the probability that this many next packets are all lost, given that
/// a packet was lost.
fn runs(same_burst: &[f64; LONGEST_RUN + 1], rate: f64) -> [f64; LONGEST_RUN + 1] {
    // A burst that loses a packet has lost all packets before it. Measured numbers, which chance
    // has changed, may say otherwise.
    let mut lasts = *same_burst;
    for after in 1..lasts.len() {
        lasts[after] = lasts[after].min(lasts[after - 1]);
    }
    let mut run = [1.0; LONGEST_RUN + 1];
    for n in 1..run.len() {
        // Either the burst loses all n packets, or it ends before one of them, and another burst
        // begins there.
        let others = (0..n).map(|after| (lasts[after] - lasts[after + 1]) * run[n - after - 1]);
        run[n] = lasts[n] + rate * others.sum::<f64>();
    }
    run
}

/// Computes the probability that several packets are all lost. The packets are added one by one.
#[derive(Clone, Copy)]
pub(super) struct AllLost<'a> {
    losses: &'a Losses,
    /// The lag of each packet behind the first one.
    lags: [usize; REPEATS + 2],
    /// For each packet: the probability that all packets up to this one are lost, and that this one
    /// is the first of them in its burst.
    begins: [f64; REPEATS + 2],
    /// The number of packets, the first one included.
    len: usize,
}

impl<'a> AllLost<'a> {
    /// Begins with the first packet.
    pub(super) fn new(losses: &'a Losses) -> Self {
        let mut all =
            AllLost { losses, lags: [0; REPEATS + 2], begins: [0.0; REPEATS + 2], len: 1 };
        all.begins[0] = losses.rate;
        all
    }

    /// Adds the packet that is `lag` packets after the first one. Packets must be added in
    /// ascending order.
    pub(super) fn add(&mut self, lag: usize) {
        let last = self.lags[self.len - 1];
        let lag = lag.max(last);
        let ended: f64 = self
            .bursts()
            .map(|(begin, began)| {
                let until = |lag: usize| self.losses.same_burst(lag - began);
                begin * (until(last) - until(lag)).max(0.0)
            })
            .sum();
        self.lags[self.len] = lag;
        self.begins[self.len] = ended * self.losses.rate;
        self.len += 1;
    }

    /// The probability that all packets added so far are lost.
    pub(super) fn probability(&self) -> f64 {
        let last = self.lags[self.len - 1];
        self.bursts().map(|(begin, began)| begin * self.losses.same_burst(last - began)).sum()
    }

    fn bursts(&self) -> impl Iterator<Item = (f64, usize)> {
        self.begins[..self.len].iter().copied().zip(self.lags[..self.len].iter().copied())
    }
}

/// Limits a number that a peer sent to the range of a probability; NaN becomes 0.
pub(super) fn probability(told: f64) -> f64 {
    if told > 0.0 { told.min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_markov_chain_are_exact() {
        let model = LossModel::chain(0.1, 0.6);
        let losses = Losses::new(&model);
        for n in 1..LAGS {
            let exact = libm::pow(0.6, n as f64);
            assert!((losses.run(n) - exact).abs() < 1e-12, "{n}: {} {exact}", losses.run(n));
        }
    }

    #[test]
    fn a_little_chance_in_what_was_measured_makes_no_long_runs() {
        let mut model = LossModel::chain(0.2, 0.2);
        // More often at lags 2 and 4 than at the lags before.
        model.again[..4].copy_from_slice(&[0.21, 0.22, 0.21, 0.22]);
        let losses = Losses::new(&model);
        for (n, independent) in [(2, 0.04), (3, 0.008), (4, 0.0016)] {
            let run = losses.run(n);
            assert!((independent..independent + 0.02).contains(&run), "{n}: {run}");
        }
    }

    #[test]
    fn outages_beside_single_losses_make_long_runs() {
        // A tenth of the losses belongs to outages that are longer than all lags.
        let mut model = LossModel::chain(0.1, 0.1);
        model.again.fill(0.19);
        let losses = Losses::new(&model);
        // All later packets are lost in the outage, or a single loss follows the first one.
        let mut run = 1.0;
        for n in 1..=LAGS {
            run = 0.1 + 0.9 * 0.1 * run;
            assert!((losses.run(n) - run).abs() < 1e-12, "{n}: {} {run}", losses.run(n));
        }
    }
}
