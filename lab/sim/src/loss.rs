//! Which packets a link loses.
//!
//! A channel of the experiments is named for its loss:
//!
//! | channel | what is lost | overall |
//! | --- | --- | --- |
//! | `rand0` `rand1` `rand5` `rand10` `rand20` | each packet independently with that probability in percent | 0, 1, 5, 10, 20 % |
//! | `pb5@4` | bursts as in the AFEC paper, section 4: on each packet outside a burst one starts with probability 4 %; its length is 1 to 5 packets, each as likely | 11.1 % (the paper says 10 %) |
//! | `pb5@8` | the same: 8 %, 1 to 5 packets | 20.7 % (20 %) |
//! | `pb10@2` | the same: 2 %, 1 to 10 packets | 10.1 % (10 %) |
//! | `pb10@4` | the same: 4 %, 1 to 10 packets | 18.6 % (20 %) |
//! | `ge5b3` | Gilbert-Elliott with a state that loses nothing and one that loses everything: 5 % of packets in bursts of mean length 3 | 5 % |
//! | `ge10b3` `ge20b5` | the same: 10 % in bursts of 3, 20 % in bursts of 5 | 10, 20 % |
//! | `out80` | everything sent in an outage of 80 ms, at a random time in each period of 2 s | 4 % of the time |
//! | `out200` | everything sent in an outage of 200 ms, at a random time in each period of 3 s | 6.7 % of the time |
//! | `step0-20` | nothing until a time that the experiment sets, then 20 % at random | 0, then 20 % |
//! | `step20-0` | the same the other way round | 20 %, then 0 |
//!
//! What the paper calls the overall loss is the probability of a burst times its mean length. A
//! burst cannot start within another, so with start probability p and mean length m the share lost
//! is m / (m + (1 - p) / p). The next burst may follow at once; packets lost in a row are therefore
//! a little more than m: m / (1 - p).
//!
//! Bursts are counted in packets, not in time, as in the paper: a sender of more packets meets more
//! bursts, which are shorter in time. TCP sends one packet per timeout within a burst and doubles
//! the timeout each time, so a burst of ten can take it minutes. The times of outages do not depend
//! on what is sent.

mod name;

use std::time::Duration;

use oorandom::Rand64;

use crate::random::derive;

pub use name::UnknownLoss;

/// How a link loses packets, written as its channel's name: see the [table](self).
///
/// ```
/// use groupwire_sim::{Loss, LossProcess};
/// use std::time::Duration;
///
/// let loss: Loss = "pb5@4".parse()?;
/// assert_eq!(loss, Loss::Bursts { start_percent: 4.0, longest: 5 });
/// assert_eq!(loss.to_string(), "pb5@4");
///
/// let mut process = LossProcess::new(&loss, 1);
/// let lost = (0..1000).filter(|n| process.lost(Duration::from_millis(33 * n))).count();
/// assert!((50..200).contains(&lost));
/// # Ok::<(), groupwire_sim::loss::UnknownLoss>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Loss {
    /// `randN`: each packet is lost independently of the others.
    Random {
        /// The probability in percent.
        percent: f64,
    },
    /// `pbM@P`: the bursts of the AFEC paper's section 4.
    Bursts {
        /// The probability in percent that a burst starts on a packet.
        start_percent: f64,
        /// Packets of the longest burst. All lengths from 1 to this are equally likely.
        longest: u32,
    },
    /// `geNbL`: Gilbert-Elliott with a state that loses nothing and one that loses everything.
    GilbertElliott {
        /// The share of packets lost, in percent.
        percent: f64,
        /// The mean number of packets lost in a row.
        mean_burst: f64,
    },
    /// `outL/E` in ms: one outage in each period. `out80` is `out80/2000`, `out200` is
    /// `out200/3000`.
    Outages {
        /// The length of an outage.
        length: Duration,
        /// The length of a period, which contains one outage at a random time.
        every: Duration,
    },
    /// `stepA-B`: one loss before a time and another after it. A and B are percents lost at random,
    /// or names as in `step0-pb5@8`. The time is not part of the name: it is a minute until
    /// [`Loss::with_step_at`] sets it.
    Step {
        /// When the loss changes.
        at: Duration,
        /// The loss until then.
        before: Box<Loss>,
        /// The loss from then on.
        after: Box<Loss>,
    },
}

impl Loss {
    /// The channels of the experiments, by name.
    pub const CHANNELS: [&str; 16] = [
        "rand0", "rand1", "rand5", "rand10", "rand20", "pb5@4", "pb5@8", "pb10@2", "pb10@4",
        "ge5b3", "ge10b3", "ge20b5", "out80", "out200", "step0-20", "step20-0",
    ];

    /// No loss.
    pub const NONE: Self = Self::Random { percent: 0.0 };

    /// The same loss with another time of its step, if it has one.
    #[must_use]
    pub fn with_step_at(self, time: Duration) -> Self {
        match self {
            Self::Step { before, after, .. } => Self::Step { at: time, before, after },
            other => other,
        }
    }

    /// The share of packets that is lost in the long run, from 0 to 1: for a step, that of the side
    /// in force at `now`; for outages, the share of time.
    pub fn rate(&self, now: Duration) -> f64 {
        match self {
            Self::Random { percent } | Self::GilbertElliott { percent, .. } => percent / 100.0,
            Self::Bursts { start_percent, .. } if *start_percent <= 0.0 => 0.0,
            Self::Bursts { start_percent, longest } => {
                let mean = (f64::from(*longest) + 1.0) / 2.0;
                let start = start_percent / 100.0;
                mean / (mean + (1.0 - start) / start)
            }
            Self::Outages { length, every } => length.as_secs_f64() / every.as_secs_f64(),
            Self::Step { at, before, after } => {
                if now < *at {
                    before.rate(now)
                } else {
                    after.rate(now)
                }
            }
        }
    }
}

/// Decides for each packet of a link whether it is lost.
#[derive(Debug, Clone)]
pub struct LossProcess {
    state: State,
    random: Rand64,
}

#[derive(Debug, Clone)]
enum State {
    Random { probability: f64 },
    Bursts { start: f64, longest: u32, left: u32 },
    GilbertElliott { enter: f64, leave: f64, bad: bool },
    Outages(Outages),
    Step { at: Duration, before: Box<LossProcess>, after: Box<LossProcess> },
}

impl LossProcess {
    /// Starts a loss process. The same seed loses the same packets, also on different links.
    pub fn new(loss: &Loss, seed: u64) -> Self {
        let mut random = Rand64::new(seed.into());
        let state = match *loss {
            Loss::Random { percent } => State::Random { probability: percent / 100.0 },
            Loss::Bursts { start_percent, longest } => {
                State::Bursts { start: start_percent / 100.0, longest: longest.max(1), left: 0 }
            }
            Loss::GilbertElliott { percent, mean_burst } => {
                let share = percent / 100.0;
                let leave = 1.0 / mean_burst;
                // In equilibrium the bad state is entered as often as it is left: (1 - share) *
                // enter = share * leave.
                let enter = leave * share / (1.0 - share);
                // The first packet meets the equilibrium, as if the link had always existed.
                State::GilbertElliott { enter, leave, bad: random.rand_float() < share }
            }
            Loss::Outages { length, every } => State::Outages(Outages::new(length, every, seed)),
            Loss::Step { at, ref before, ref after } => State::Step {
                at,
                before: Box::new(LossProcess::new(before, derive(seed, 0))),
                after: Box::new(LossProcess::new(after, derive(seed, 1))),
            },
        };
        LossProcess { state, random }
    }

    /// Whether the packet sent at `now` is lost. Must be called once for each packet, in the order
    /// of sending.
    pub fn lost(&mut self, now: Duration) -> bool {
        let random = &mut self.random;
        match &mut self.state {
            State::Random { probability } => random.rand_float() < *probability,
            State::Bursts { start, longest, left } => {
                if *left == 0 && random.rand_float() < *start {
                    *left = 1 + random.rand_range(0..u64::from(*longest)) as u32;
                }
                let lost = *left > 0;
                *left = left.saturating_sub(1);
                lost
            }
            State::GilbertElliott { enter, leave, bad } => {
                let lost = *bad;
                let changes = if lost { *leave } else { *enter };
                *bad ^= random.rand_float() < changes;
                lost
            }
            State::Outages(outages) => outages.cover(micros(now)),
            State::Step { at, before, after } => {
                if now < *at {
                    before.lost(now)
                } else {
                    after.lost(now)
                }
            }
        }
    }
}

/// Outages, one in each period. Times are in microseconds.
#[derive(Debug, Clone)]
struct Outages {
    seed: u64,
    length: u64,
    every: u64,
    /// The number of the period of the last query.
    period: u64,
    /// Where the outage of that period starts.
    start: u64,
}

impl Outages {
    fn new(length: Duration, every: Duration, seed: u64) -> Self {
        let every = micros(every).max(1);
        let length = micros(length).min(every);
        let mut outages = Outages { seed, length, every, period: 0, start: 0 };
        outages.place(0);
        outages
    }

    /// Whether there is an outage at time `now`.
    fn cover(&mut self, now: u64) -> bool {
        let period = now / self.every;
        if period != self.period {
            self.place(period);
        }
        (self.start..self.start + self.length).contains(&now)
    }

    /// Places the outage of a period within that period, so that outages do not overlap. The place
    /// depends only on the seed and the period, not on the packets.
    fn place(&mut self, period: u64) {
        let mut random = Rand64::new(derive(self.seed, period).into());
        let room = self.every - self.length;
        self.period = period;
        self.start = period * self.every + random.rand_range(0..room + 1);
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Whether each packet is lost, for packets sent every 10 ms.
    fn lost(loss: &Loss, seed: u64, packets: u32) -> Vec<bool> {
        let mut process = LossProcess::new(loss, seed);
        (0..packets).map(|n| process.lost(10 * MS * n)).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
    }

    /// The lengths of runs of lost packets.
    fn runs(lost: &[bool]) -> Vec<usize> {
        lost.split(|lost| !lost).map(<[bool]>::len).filter(|length| *length > 0).collect()
    }

    fn mean(numbers: &[usize]) -> f64 {
        numbers.iter().sum::<usize>() as f64 / numbers.len() as f64
    }

    fn parse(name: &str) -> Loss {
        name.parse().unwrap()
    }

    #[test]
    fn each_channel_loses_its_share() {
        let shares = [
            ("rand0", 0.0),
            ("rand1", 0.01),
            ("rand5", 0.05),
            ("rand10", 0.1),
            ("rand20", 0.2),
            ("pb5@4", 3.0 / 27.0),
            ("pb5@8", 3.0 / 14.5),
            ("pb10@2", 5.5 / 54.5),
            ("pb10@4", 5.5 / 29.5),
            ("ge5b3", 0.05),
            ("ge10b3", 0.1),
            ("ge20b5", 0.2),
            ("out80", 0.04),
            ("out200", 0.2 / 3.0),
        ];
        for (name, expected) in shares {
            let loss = parse(name);
            let measured = share(&lost(&loss, 1, 400_000));
            // 400,000 packets in bursts of 10 are 40,000 draws: three deviations are under 4 % of a
            // share of 10 %.
            assert!((measured - expected).abs() <= 0.04 * expected, "{name}: {measured}");
            assert!((loss.rate(Duration::ZERO) - expected).abs() < 1e-9, "{name}");
        }
    }

    #[test]
    fn bursts_are_as_long_as_asked() {
        let expected = [("rand10", 1.0 / 0.9), ("ge10b3", 3.0), ("ge20b5", 5.0)];
        let paper = [("pb5@4", 3.0 / 0.96), ("pb10@4", 5.5 / 0.96)];
        for (name, expected) in expected.into_iter().chain(paper) {
            let runs = runs(&lost(&parse(name), 2, 400_000));
            let measured = mean(&runs);
            assert!((measured - expected).abs() < 0.03 * expected, "{name}: {measured}");
        }
    }

    #[test]
    fn the_papers_bursts_are_evenly_1_to_5_long() {
        // Bursts begin so rarely that hardly any follows another one at once.
        let runs = runs(&lost(&Loss::Bursts { start_percent: 0.2, longest: 5 }, 3, 4_000_000));
        for length in 1..=5 {
            let part = runs.iter().filter(|run| **run == length).count() as f64 / runs.len() as f64;
            assert!((part - 0.2).abs() < 0.02, "{length}: {part}");
        }
    }

    #[test]
    fn gilbert_elliotts_bursts_are_geometric() {
        let runs = runs(&lost(&parse("ge10b3"), 4, 400_000));
        let over = |length| runs.iter().filter(|run| **run > length).count() as f64;
        assert!((over(1) / runs.len() as f64 - 2.0 / 3.0).abs() < 0.02);
        assert!((over(4) / over(3) - 2.0 / 3.0).abs() < 0.03);
    }

    #[test]
    fn each_period_has_one_outage_of_its_length_somewhere() {
        for (name, every, length) in [("out80", 2000, 80), ("out200", 3000, 200)] {
            let mut process = LossProcess::new(&parse(name), 5);
            let mut starts = Vec::new();
            for period in 0..500 {
                let lost: Vec<_> = (period * every..(period + 1) * every)
                    .filter(|n| process.lost(MS * *n))
                    .collect();
                assert!(lost.len().abs_diff(length) <= 1, "{name}: {}", lost.len());
                assert_eq!((lost[lost.len() - 1] - lost[0]) as usize, lost.len() - 1, "{name}");
                starts.push(f64::from(lost[0] % every) / f64::from(every));
            }
            let middle = starts.iter().sum::<f64>() / starts.len() as f64;
            let expected = (1.0 - length as f64 / f64::from(every)) / 2.0;
            assert!((middle - expected).abs() < 0.04, "{name}: {middle}");
        }
    }

    #[test]
    fn outages_do_not_depend_on_what_is_sent() {
        let loss = parse("out200");
        let mut often = LossProcess::new(&loss, 6);
        let mut seldom = LossProcess::new(&loss, 6);
        for n in 0..60_000 {
            let lost = often.lost(MS * n);
            assert!(n % 7001 != 0 || seldom.lost(MS * n) == lost);
        }
    }

    #[test]
    fn a_step_is_where_it_was_set() {
        let loss = parse("step0-20").with_step_at(Duration::from_secs(100));
        let lost = lost(&loss, 7, 200_000);
        assert_eq!(share(&lost[..10_000]), 0.0);
        assert!((share(&lost[10_000..]) - 0.2).abs() < 0.01);
        assert_eq!((loss.rate(99_999 * MS), loss.rate(100_000 * MS)), (0.0, 0.2));
    }

    #[test]
    fn a_seed_repeats_and_another_does_not() {
        for name in Loss::CHANNELS.into_iter().filter(|name| *name != "rand0") {
            let loss = parse(name);
            assert_eq!(lost(&loss, 8, 50_000), lost(&loss, 8, 50_000), "{name}");
            assert_ne!(lost(&loss, 8, 50_000), lost(&loss, 9, 50_000), "{name}");
        }
    }
}
