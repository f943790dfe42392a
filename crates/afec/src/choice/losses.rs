//! The probability that several packets are all lost.
//!
//! Pairs of packets are what a receiver can measure. For more of them, losses are taken to come in bursts that lose all
//! packets while they last and know nothing of each other. How long bursts last is read from the pairs: two losses lie
//! in one burst as far as they are more probable than two by chance. For Gilbert-Elliott losses that is exact; unlike a
//! Markov chain it also knows bursts that are never longer than so much, and long outages beside single losses.

use crate::loss::{LAGS, LossModel};

/// The most repeats of a message that are reckoned with.
pub(super) const REPEATS: usize = 8;
/// The longest run of losses that is reckoned with, in packets: twice what is measured.
const LONGEST_RUN: usize = 2 * LAGS;

/// The losses of a path.
pub(crate) struct Losses {
    pub(crate) rate: f64,
    /// The probability that the burst that took a packet takes the one so much later too.
    same_burst: [f64; LONGEST_RUN + 1],
    /// The probability that the next n packets are all lost, given that this one was.
    pub(super) run: [f64; LONGEST_RUN + 1],
    /// How many packets are lost in a row, from any lost one on.
    pub(super) run_length: f64,
}

impl Losses {
    /// Everything is lost.
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
        // Beyond what is measured, as if bursts had no memory.
        for lag in LAGS + 1..=LONGEST_RUN {
            same_burst[lag] = same_burst[LAGS] * same_burst[lag - LAGS];
        }
        let mut losses = Losses { rate, same_burst, run: [1.0; LONGEST_RUN + 1], run_length: 1.0 };
        for n in 1..=LONGEST_RUN {
            // The next one is lost to the same burst, or another one follows at once.
            let same = losses.same_burst[n] / losses.same_burst[n - 1].max(f64::MIN_POSITIVE);
            let same = same.min(1.0);
            losses.run[n] = losses.run[n - 1] * (same + (1.0 - same) * rate);
        }
        losses.run_length = losses.run.iter().sum();
        losses
    }

    /// The probability that the next n packets are all lost, given that this one was.
    pub(crate) fn run(&self, n: usize) -> f64 {
        self.run[n.min(LONGEST_RUN)]
    }

    fn same_burst(&self, lag: usize) -> f64 {
        self.same_burst[lag.min(LONGEST_RUN)]
    }
}

/// The event that some packets are all lost, as one after the other is added.
#[derive(Clone, Copy)]
pub(super) struct AllLost<'a> {
    losses: &'a Losses,
    /// In packets after the first.
    lags: [usize; REPEATS + 2],
    /// The probability that all so far are lost, and that this one is the first of them in its burst.
    begins: [f64; REPEATS + 2],
    /// How many packets, the first included.
    len: usize,
}

impl<'a> AllLost<'a> {
    /// One packet.
    pub(super) fn new(losses: &'a Losses) -> Self {
        let mut all =
            AllLost { losses, lags: [0; REPEATS + 2], begins: [0.0; REPEATS + 2], len: 1 };
        all.begins[0] = losses.rate;
        all
    }

    /// One more packet, so many after the first. Those before are added before.
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

    pub(super) fn probability(&self) -> f64 {
        let last = self.lags[self.len - 1];
        self.bursts().map(|(begin, began)| begin * self.losses.same_burst(last - began)).sum()
    }

    fn bursts(&self) -> impl Iterator<Item = (f64, usize)> {
        self.begins[..self.len].iter().copied().zip(self.lags[..self.len].iter().copied())
    }
}

/// What is no probability, because a peer says so, is made one.
pub(super) fn probability(told: f64) -> f64 {
    if told > 0.0 { told.min(1.0) } else { 0.0 }
}
