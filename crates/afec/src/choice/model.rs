//! What is expected of a code: the plan by which a sender repeats the messages of a channel. The
//! target is the share of messages that may miss; a lag is the distance of two packets, counted in
//! packets.
//!
//! A message misses if it does not arrive by its deadline. A repeat goes in a later packet with new
//! messages (a piggyback) or in a dedicated packet. A cluster is the messages between two pauses; a
//! tail flush is one more packet at its end. A receiver can also request missing messages, and the
//! sender answers with copies.

use core::time::Duration;

use super::losses::{AllLost, Losses, REPEATS, probability};
use super::{ANSWERS, Choice, Situation};
use crate::code::{Code, LAST_PIGGYBACK, MAX_DEDICATED, Repeat, Repeats};
use crate::whole::{ceil, floor};

/// The most requests for one message in the model: more than a receiver makes within any deadline
/// in use.
const REQUESTS: u32 = 8;

/// A situation in the units of the model: probabilities, packets, and intervals between packets.
pub(super) struct Model<'a> {
    situation: &'a Situation<'a>,
    /// The interval between two packets with new messages, in seconds. It is the unit of time in
    /// this file.
    interval: f64,
    /// How long after its message a repeat may be sent if it is to be in time, in intervals.
    pub(super) slack: f64,
    /// The time from when the last repeat should have arrived to when the answer to the first
    /// request arrives, in intervals.
    first_answer: f64,
    /// The time between two requests for a message, in intervals.
    ask_again: f64,
    losses: Losses,
    /// The share of messages that are lost together with all later packets of their cluster, so
    /// that the receiver sees no gap. The first index is 1 with a tail flush and 0 without, the
    /// second is the number of packets in an interval.
    silent: [[f64; MAX_DEDICATED + 2]; 2],
    /// `onward[n]`: the share of messages that at least n other messages follow in their cluster.
    /// The lengths of clusters are assumed to have a geometric distribution.
    onward: [f64; LAST_PIGGYBACK as usize + 2],
}

/// The effect of a set of repeats if nothing is requested.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sending {
    /// The share of messages that miss.
    misses: f64,
    /// The share of messages that are lost together with all later packets of their cluster, so
    /// that the receiver sees no gap and requests nothing.
    silent: f64,
    /// The bytes per message that the repeats add.
    cost: f64,
    /// When the last repeat is sent: how many intervals after the message.
    last: f64,
}

/// The expected share of messages that miss, and the expected bytes per message in addition to
/// those of sending each message once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) misses: f64,
    pub(super) cost: f64,
}

/// The effect of requests for one missing message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asking {
    /// The probability that the message arrives in time thanks to a request.
    success: f64,
    /// The mean number of requests.
    asks: f64,
    /// The mean number of copies in answers.
    answers: f64,
    /// The mean number of these copies that need a dedicated packet.
    packets: f64,
}

impl<'a> Model<'a> {
    pub(super) fn new(situation: &'a Situation<'a>) -> Self {
        let interval = situation.interval.max(Duration::from_millis(1)).as_secs_f64();
        let intervals = |duration: Duration| duration.as_secs_f64() / interval;
        let in_time = situation.one_way <= situation.deadline;
        let ends = 1.0 / situation.cluster.max(1.0);
        let mut onward = [1.0; LAST_PIGGYBACK as usize + 2];
        for n in 1..onward.len() {
            onward[n] = onward[n - 1] * (1.0 - ends);
        }
        let losses = if in_time { Losses::new(situation.loss) } else { Losses::TOTAL };
        let silent = |flush: bool| {
            core::array::from_fn(|packets| silent(&losses, ends, packets, usize::from(flush)))
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

    /// A number of intervals as a duration, rounded down to whole µs.
    pub(super) fn after(&self, intervals: f64) -> Duration {
        Duration::from_micros((intervals * self.interval * 1e6) as u64)
    }

    /// The values of [`Code::tail_flush`] to weigh: `true` only if a packet that is sent one
    /// interval after the last message of a cluster is in time.
    pub(super) fn flushes(&self) -> impl Iterator<Item = bool> + use<> {
        [false, true].into_iter().take(if self.slack >= 1.0 { 2 } else { 1 })
    }

    /// The mixture of two sets of repeats that exactly holds the target. `weak` alone misses more
    /// than the target.
    pub(super) fn mixed(
        &self,
        weaker: Repeats,
        stronger: Repeats,
        answers: u8,
        tail_flush: bool,
    ) -> Choice {
        let target = self.situation.target;
        let [weak, strong] =
            [weaker, stronger].map(|repeats| self.sendings(&repeats)[usize::from(tail_flush)]);
        // A receiver does not know which set a message has, so it waits for the later one of the
        // two last repeats before it requests the message.
        let last = weak.last.max(strong.last);
        let least = |sending: Sending| {
            let sending = Sending { last, ..sending };
            self.outcome(&sending, &self.asking(&sending, answers), 0.0).misses
        };
        let (most, least) = (least(weak), least(strong));
        let share = if least < target { (most - target) / (most - least) } else { 1.0 };
        let code = match share {
            1.0 => Code { repeats: stronger, other: stronger, share: 0.0, answers, tail_flush },
            _ => Code { repeats: weaker, other: stronger, share, answers, tail_flush },
        };
        self.expect(code)
    }

    /// What is expected of a code. [`Choice::possible`] is the same as [`Choice::misses`].
    pub(super) fn expect(&self, code: Code) -> Choice {
        let [repeats, other] = [code.repeats, code.other]
            .map(|repeats| self.sendings(&repeats)[usize::from(code.tail_flush)]);
        let sending = repeats.shared(&other, code.share);
        let asking = self.asking(&sending, code.answers);
        let permitted = self.situation.permitted();
        let Outcome { misses, cost } = self.outcome(&sending, &asking, permitted);
        Choice { code, misses, cost, possible: misses }
    }

    /// The effect of a set of repeats if nothing is requested: first without, then with a tail
    /// flush.
    pub(super) fn sendings(&self, repeats: &Repeats) -> [Sending; 2] {
        let Situation { repeat_bytes, packet_bytes, .. } = *self.situation;
        let copies = Copies::new(repeats, self.interval);
        let density = copies.density;
        let mut sendings = [false, true].map(|flush| Sending {
            misses: 0.0,
            silent: self.silent[usize::from(flush)][density],
            cost: (density - 1) as f64 * packet_bytes,
            last: copies.last(),
        });
        sendings[1].cost += (1.0 - self.onward[1]) * packet_bytes;
        // First come the last messages of a cluster, by the number of messages that follow, then
        // all others.
        let tail = copies.farthest_piggyback.max(1);
        let mut early = AllLost::new(&self.losses);
        let mut early_sent = 0;
        let mut later = copies.as_slice();
        for behind in 0..=tail {
            while let Some((copy, rest)) =
                later.split_first().filter(|(copy, _)| copy.piggyback <= behind)
            {
                early_sent += 1;
                if copy.at <= self.slack {
                    early.add(copy.lag);
                }
                later = rest;
            }
            let mut all = early;
            let mut sent = early_sent;
            for dedicated in later.iter().filter(|copy| copy.piggyback == 0) {
                sent += 1;
                if dedicated.at <= self.slack {
                    all.add(dedicated.lag);
                }
            }
            let in_tail = behind < tail;
            let share = self.onward[behind] - if in_tail { self.onward[behind + 1] } else { 0.0 };
            for (sending, flush) in sendings.iter_mut().zip([false, true]) {
                if flush && in_tail {
                    all.add((behind + 1) * density);
                    sent += 1;
                }
                sending.misses += share * all.probability();
                sending.cost += share * f64::from(sent) * repeat_bytes;
            }
        }
        sendings
    }

    /// The most answers to a request that are to be weighed: 0 if no answer would be in time.
    pub(super) fn answers(&self, sending: &Sending) -> u8 {
        if sending.last + self.first_answer <= self.slack { ANSWERS } else { 0 }
    }

    /// The misses and the cost if the receiver also requests messages, except for the share
    /// `permitted` of all messages, which it lets miss.
    pub(super) fn outcome(&self, sending: &Sending, asking: &Asking, permitted: f64) -> Outcome {
        if asking.success == 0.0 || sending.misses <= permitted {
            return Outcome { misses: sending.misses, cost: sending.cost };
        }
        let noticed = (sending.misses - sending.silent).max(0.0);
        let misses = permitted.max(sending.misses - noticed * asking.success);
        let asked = match sending.misses - misses {
            0.0 => 0.0,
            recovered => recovered / (noticed * asking.success),
        };
        let Situation { ask_bytes, packet_bytes, repeat_bytes, .. } = *self.situation;
        // The messages of one run of losses are requested together and answered together.
        let together = (asked * self.losses.run_length).max(1.0);
        let packets = (asking.asks * ask_bytes + asking.packets * packet_bytes) / together;
        let price = packets + asking.answers * repeat_bytes;
        Outcome { misses, cost: sending.cost + asked * noticed * price }
    }

    /// The effect of requests for a message that is lost together with its repeats. If `answers` is
    /// 0, requests have no effect.
    pub(super) fn asking(&self, sending: &Sending, answers: u8) -> Asking {
        let mut all = Asking::default();
        if answers == 0 {
            return all;
        }
        let count = f64::from(answers);
        let copies = self.situation.request_copies;
        let loss_back = probability(self.situation.loss_back);
        let request = 1.0 - (0..copies).fold(1.0, |lost, _| lost * loss_back);
        let answer = 1.0 - self.losses.rate * self.losses.run(usize::from(answers) - 1);
        // The gap is noticed when a later packet arrives, perhaps not the next one. All packets
        // until the last repeat are assumed to be lost with the message, mostly in one burst.
        let waited = ceil(sending.last) as usize;
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
                all.asks += missing * f64::from(copies);
                all.answers += missing * request * count;
                all.packets += missing * request * (count - floor(slack)).max(0.0);
                all.success += missing * request * answer;
                missing *= 1.0 - request * answer;
                slack -= self.ask_again;
            }
        }
        all
    }
}

/// The share of messages that are lost together with all later packets of their cluster. `ends` is
/// the share of messages that end their cluster, `packets` the number of packets in an interval,
/// `flushed` the number of intervals by which a tail flush makes a cluster longer.
fn silent(losses: &Losses, ends: f64, packets: usize, flushed: usize) -> f64 {
    let after = |behind: usize| (behind + flushed) * packets + packets.saturating_sub(1);
    let mut share = ends * losses.rate;
    let mut all = 0.0;
    for run in (0..losses.run.len()).map_while(|behind| losses.run.get(after(behind))) {
        all += share * run;
        share *= 1.0 - ends;
    }
    all
}

impl Sending {
    /// The effect if a share of the messages is sent with the set `other`. The receiver does not
    /// know which set a message has, so it always waits for the later one of the two last repeats.
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

/// The repeats of a message in the order in which they are sent.
struct Copies {
    copies: [Copy; REPEATS],
    len: usize,
    /// The number of packets in an interval: the one with new messages, and the dedicated ones.
    density: usize,
    /// The lag of the farthest piggyback, in packets with new messages.
    farthest_piggyback: usize,
}

#[derive(Clone, Copy, Default)]
struct Copy {
    /// When the copy is sent: how many intervals after the message.
    at: f64,
    /// How many packets after the packet of the message the copy is sent, counting all packets.
    lag: usize,
    /// The same number counting only packets with new messages; 0 if the copy has a dedicated
    /// packet.
    piggyback: usize,
}

impl Copies {
    fn new(repeats: &Repeats, interval: f64) -> Self {
        let dedicated = || {
            repeats.iter().filter_map(|repeat| match repeat {
                Repeat::Dedicated(after) => Some(after.as_secs_f64() / interval),
                Repeat::Piggyback(_) => None,
            })
        };
        let density = 1 + dedicated().count();
        let mut all =
            Copies { copies: [Copy::default(); REPEATS], len: 0, density, farthest_piggyback: 0 };
        for repeat in repeats.iter() {
            let copy = match repeat {
                Repeat::Piggyback(lag) => {
                    let piggyback = usize::from(lag);
                    all.farthest_piggyback = all.farthest_piggyback.max(piggyback);
                    Copy { at: piggyback as f64, lag: piggyback * density, piggyback }
                }
                Repeat::Dedicated(after) => {
                    let at = after.as_secs_f64() / interval;
                    // The number of dedicated packets, for any message, that are sent after this
                    // message and no later than the copy.
                    let others = dedicated().map(|other| floor(at - other) + ceil(other));
                    let lag = floor(at) + others.sum::<f64>();
                    Copy { at, lag: lag as usize, piggyback: 0 }
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
