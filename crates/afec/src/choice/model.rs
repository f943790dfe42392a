//! What to expect of a code.

use core::time::Duration;

use super::losses::{AllLost, Losses, REPEATS, probability};
use super::{ANSWERS, Choice, Situation};
use crate::code::{Code, EXTRAS, LAST_RIDE, Repeat, Repeats};

/// How often one message is asked for at most, in the model.
const REQUESTS: u32 = 8;

/// A situation in the units of the model: probabilities, intervals and packets.
pub(super) struct Model<'a> {
    situation: &'a Situation<'a>,
    /// In seconds.
    interval: f64,
    /// How long after its message a repeat may be sent, in intervals.
    pub(super) slack: f64,
    /// From when a repeat would have come to when an answer to the first request comes, in intervals.
    first_answer: f64,
    /// From one request for a message to the next, in intervals.
    ask_again: f64,
    losses: Losses,
    /// The share of messages that are lost with all packets after them: without and with closing, by how many packets go
    /// in an interval.
    silent: [[f64; EXTRAS + 2]; 2],
    /// The share of messages that have at least n others after them in their cluster, whose lengths are geometric.
    onward: [f64; LAST_RIDE as usize + 2],
}

/// What sending with a set of repeats does, before the receiver asks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sending {
    misses: f64,
    /// The share of messages that is lost without a packet after them to show it.
    silent: f64,
    cost: f64,
    /// The last repeat, in intervals after the message.
    last: f64,
}

/// Expected misses and bytes per message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) misses: f64,
    pub(super) cost: f64,
}

/// What asking for a message does.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asking {
    /// The probability that it comes in time.
    success: f64,
    /// How often it is asked for.
    asks: f64,
    /// In how many packets it is sent.
    answers: f64,
    /// How many of these would not go anyway.
    packets: f64,
}

impl<'a> Model<'a> {
    pub(super) fn new(situation: &'a Situation<'a>) -> Self {
        let interval = situation.interval.max(Duration::from_millis(1)).as_secs_f64();
        let intervals = |duration: Duration| duration.as_secs_f64() / interval;
        let in_time = situation.one_way <= situation.deadline;
        let ends = 1.0 / situation.cluster.max(1.0);
        let mut onward = [1.0; LAST_RIDE as usize + 2];
        for n in 1..onward.len() {
            onward[n] = onward[n - 1] * (1.0 - ends);
        }
        let losses = if in_time { Losses::new(situation.loss) } else { Losses::TOTAL };
        let silent = |close: bool| {
            core::array::from_fn(|packets| silent(&losses, ends, packets, usize::from(close)))
        };
        Model {
            silent: [silent(false), silent(true)],
            situation,
            interval,
            slack: intervals(situation.deadline)
                - intervals(situation.one_way.saturating_add(situation.jitter)),
            first_answer: intervals(situation.ask_delay.saturating_add(situation.round_trip)),
            ask_again: 1.0 + intervals(situation.round_trip.saturating_add(situation.jitter)),
            losses,
            onward,
        }
    }

    /// So many intervals, rounded down to what a repeat can say.
    pub(super) fn after(&self, intervals: f64) -> Duration {
        Duration::from_micros((intervals * self.interval * 1e6) as u64)
    }

    /// Whether to close clusters: only if a packet that does, one interval after the last, is in time.
    pub(super) fn closings(&self) -> impl Iterator<Item = bool> + use<> {
        [false, true].into_iter().take(if self.slack >= 1.0 { 2 } else { 1 })
    }

    /// What two sets of repeats do, shared so that all together hold the target. The first misses more than that.
    pub(super) fn mixed(&self, weaker: Repeats, stronger: Repeats, ask: u8, close: bool) -> Choice {
        let target = self.situation.target;
        let [weak, strong] =
            [weaker, stronger].map(|repeats| self.sendings(&repeats)[usize::from(close)]);
        // Whether asking fits depends on the later of the two, which both wait for.
        let last = weak.last.max(strong.last);
        let least = |sending: Sending| {
            let sending = Sending { last, ..sending };
            self.outcome(&sending, &self.asking(&sending, ask), 0.0).misses
        };
        let (most, least) = (least(weak), least(strong));
        let share = if least < target { (most - target) / (most - least) } else { 1.0 };
        let code = match share {
            1.0 => Code { repeats: stronger, other: stronger, share: 0.0, ask, close },
            _ => Code { repeats: weaker, other: stronger, share, ask, close },
        };
        self.expect(code)
    }

    /// What to expect of a code; it is left open what would be possible with others.
    pub(super) fn expect(&self, code: Code) -> Choice {
        let [repeats, other] = [code.repeats, code.other]
            .map(|repeats| self.sendings(&repeats)[usize::from(code.close)]);
        let sending = repeats.shared(&other, code.share);
        let asking = self.asking(&sending, code.ask);
        let Outcome { misses, cost } = self.outcome(&sending, &asking, self.situation.target);
        Choice { code, misses, cost, possible: misses }
    }

    /// What repeats do, before the receiver asks: without closing clusters, and with it.
    pub(super) fn sendings(&self, repeats: &Repeats) -> [Sending; 2] {
        let Situation { repeat_bytes, packet_bytes, .. } = *self.situation;
        let copies = Copies::new(repeats, self.interval);
        let density = copies.density;
        let mut sendings = [false, true].map(|close| Sending {
            misses: 0.0,
            silent: self.silent[usize::from(close)][density],
            cost: (density - 1) as f64 * packet_bytes,
            last: copies.last(),
        });
        sendings[1].cost += (1.0 - self.onward[1]) * packet_bytes;
        // The last messages of a cluster, by how many follow, and then all others.
        let tail = copies.longest_ride.max(1);
        let mut early = AllLost::new(&self.losses);
        let mut early_sent = 0;
        let mut later = copies.as_slice();
        for behind in 0..=tail {
            while let Some((copy, rest)) =
                later.split_first().filter(|(copy, _)| copy.ride <= behind)
            {
                early_sent += 1;
                if copy.at <= self.slack {
                    early.add(copy.lag);
                }
                later = rest;
            }
            let mut all = early;
            let mut sent = early_sent;
            for extra in later.iter().filter(|copy| copy.ride == 0) {
                sent += 1;
                if extra.at <= self.slack {
                    all.add(extra.lag);
                }
            }
            let in_tail = behind < tail;
            let share = self.onward[behind] - if in_tail { self.onward[behind + 1] } else { 0.0 };
            for (sending, close) in sendings.iter_mut().zip([false, true]) {
                if close && in_tail {
                    all.add((behind + 1) * density);
                    sent += 1;
                }
                sending.misses += share * all.probability();
                sending.cost += share * f64::from(sent) * repeat_bytes;
            }
        }
        sendings
    }

    /// In how many packets an answer may be sent. None if none is in time.
    pub(super) fn answers(&self, sending: &Sending) -> u8 {
        if sending.last + self.first_answer <= self.slack { ANSWERS } else { 0 }
    }

    /// What becomes of a way of sending when the receiver asks for what `target` does not permit to lose.
    pub(super) fn outcome(&self, sending: &Sending, asking: &Asking, target: f64) -> Outcome {
        if asking.success == 0.0 || sending.misses <= target {
            return Outcome { misses: sending.misses, cost: sending.cost };
        }
        let noticed = (sending.misses - sending.silent).max(0.0);
        let misses = target.max(sending.misses - noticed * asking.success);
        let asked = match sending.misses - misses {
            0.0 => 0.0,
            recovered => recovered / (noticed * asking.success),
        };
        let Situation { ask_bytes, packet_bytes, repeat_bytes, .. } = *self.situation;
        // Those of one run of losses are asked for and answered together.
        let together = (asked * self.losses.run_length).max(1.0);
        let packets = (asking.asks * ask_bytes + asking.packets * packet_bytes) / together;
        let price = packets + asking.answers * repeat_bytes;
        Outcome { misses, cost: sending.cost + asked * noticed * price }
    }

    /// What asking for a message that is lost with its repeats does. Nothing if the answer has no packets.
    pub(super) fn asking(&self, sending: &Sending, ask: u8) -> Asking {
        let mut all = Asking::default();
        if ask == 0 {
            return all;
        }
        let answers = f64::from(ask);
        let request = 1.0 - probability(self.situation.loss_back);
        let answer = 1.0 - self.losses.rate * self.losses.run(usize::from(ask) - 1);
        // The gap is noticed when a packet comes: perhaps not the next one. All packets until the last repeat are taken
        // to be lost with it, mostly to one burst.
        let waited = libm::ceil(sending.last) as usize;
        let lost = self.losses.run(waited);
        for noticed in 0..self.losses.run.len() - 1 {
            let run = |n: usize| if lost > 0.0 { self.losses.run(waited + n) / lost } else { 0.0 };
            let mut slack = self.slack - sending.last - self.first_answer - noticed as f64;
            if slack < 0.0 {
                break;
            }
            let mut missing = if noticed == 0 { 1.0 } else { run(noticed) } - run(noticed + 1);
            for _ in 0..REQUESTS {
                if slack < 0.0 {
                    break;
                }
                all.asks += missing;
                all.answers += missing * request * answers;
                all.packets += missing * request * (answers - libm::floor(slack)).max(0.0);
                all.success += missing * request * answer;
                missing *= 1.0 - request * answer;
                slack -= self.ask_again;
            }
        }
        all
    }
}

/// The share of messages that are lost with all packets after them, when a share of messages ends its cluster, so many
/// packets go in an interval, and so many intervals are added to a cluster to close it.
fn silent(losses: &Losses, ends: f64, packets: usize, closing: usize) -> f64 {
    let after = |behind: usize| (behind + closing) * packets + packets.saturating_sub(1);
    let mut share = ends * losses.rate;
    let mut all = 0.0;
    for run in (0..losses.run.len()).map_while(|behind| losses.run.get(after(behind))) {
        all += share * run;
        share *= 1.0 - ends;
    }
    all
}

impl Sending {
    /// When a share of the messages is sent in another way. The receiver, which does not know which, waits for both.
    pub(super) fn shared(&self, other: &Sending, share: f64) -> Sending {
        let between = |a: f64, b: f64| a + share * (b - a);
        Sending {
            misses: between(self.misses, other.misses),
            silent: between(self.silent, other.silent),
            cost: between(self.cost, other.cost),
            last: if share > 0.0 { self.last.max(other.last) } else { self.last },
        }
    }
}

/// The repeats of a message in the order they are sent.
struct Copies {
    copies: [Copy; REPEATS],
    len: usize,
    /// How many packets are sent in an interval.
    density: usize,
    longest_ride: usize,
}

#[derive(Clone, Copy, Default)]
struct Copy {
    /// In intervals after the message.
    at: f64,
    /// In packets after the message.
    lag: usize,
    /// In packets that go anyway; 0 for a packet of its own.
    ride: usize,
}

impl Copies {
    fn new(repeats: &Repeats, interval: f64) -> Self {
        let extras = || {
            repeats.iter().filter_map(|repeat| match repeat {
                Repeat::Extra(after) => Some(after.as_secs_f64() / interval),
                Repeat::Ride(_) => None,
            })
        };
        let density = 1 + extras().count();
        let mut all =
            Copies { copies: [Copy::default(); REPEATS], len: 0, density, longest_ride: 0 };
        for repeat in repeats.iter() {
            let copy = match repeat {
                Repeat::Ride(ride) => {
                    let ride = usize::from(ride);
                    all.longest_ride = all.longest_ride.max(ride);
                    Copy { at: ride as f64, lag: ride * density, ride }
                }
                Repeat::Extra(after) => {
                    let at = after.as_secs_f64() / interval;
                    // Of every message, those extra packets that are sent after this one and no later than that.
                    let others = extras().map(|other| libm::floor(at - other) + libm::ceil(other));
                    let lag = libm::floor(at) + others.sum::<f64>();
                    Copy { at, lag: lag as usize, ride: 0 }
                }
            };
            all.insert(copy);
        }
        all
    }

    fn insert(&mut self, copy: Copy) {
        if self.len == REPEATS {
            return;
        }
        let mut at = self.len;
        while at > 0 && self.copies[at - 1].at > copy.at {
            self.copies[at] = self.copies[at - 1];
            at -= 1;
        }
        self.copies[at] = copy;
        self.len += 1;
    }

    fn as_slice(&self) -> &[Copy] {
        &self.copies[..self.len]
    }

    fn last(&self) -> f64 {
        self.as_slice().last().map_or(0.0, |copy| copy.at)
    }
}
