//! Choosing the code of each channel: for its target, on the path as it is, within what the path carries.

use alloc::vec::Vec;
use core::time::Duration;

use super::Sender;
use super::channel::Channel;
use crate::choice::{Choice, Situation, choose};
use crate::code::Code;
use crate::loss::LossModel;
use crate::path::Path;
use crate::qos::Qos;
use crate::rate::{Demand, share};
use crate::scheme::Scheme;

/// How many standard errors of the loss rate are added to it: little is known just after a change, and to repeat too
/// little then costs more than to repeat too much.
const DOUBT: f64 = 0.4;
/// Where asking does a part, the rest is to be stronger by this: a receiver that has to ask for nearly all that it misses
/// has nothing left for the answers that fail.
const ASKING: f64 = 0.93;
/// Repeats alone are preferred to repeats and asking unless they cost more than this much more.
const LATE_ASKING: f64 = 1.2;
const NEVER: Duration = Duration::from_secs(3600);
/// What a report takes that asks for a message.
const ASK_BYTES: f64 = 10.0;
/// Messages per second that a channel that conflates is left at least.
const SLOWEST: f64 = 1.0;
/// The most packets that end a cluster of values that supersede each other.
const CLOSES: u8 = 6;

impl Sender {
    /// Chooses anew for every channel. `loss_back` is the share of packets lost on the way back.
    pub(crate) fn decide(
        &mut self,
        now: Duration,
        path: &Path,
        loss_back: f64,
        mut tell: impl FnMut(u32, Qos, Option<f64>),
    ) {
        if !matches!(self.scheme, Scheme::Adaptive) {
            return;
        }
        let headers = self.headers as f64;
        let loss = self.loss.doubted(DOUBT);
        let price = Price { repeat: self.repeat_price, ratio: self.ratio };
        let mut demands = Vec::with_capacity(self.channels.len());
        for channel in &mut self.channels {
            let situation = situation(channel, &loss, path, loss_back, headers, price);
            let (choice, closes) = superseding(channel, &situation);
            channel.closes = closes;
            if let Some(choice) = choice {
                channel.choice = Some(choice);
                demands.push(demand(channel, headers, price, choice.cost));
                continue;
            }
            let mut choice = choose(&situation);
            if choice.misses > situation.target {
                // Out of reach with all caution; perhaps not without.
                choice = choose(&Situation {
                    target: channel.qos.target,
                    loss: &self.loss,
                    ..situation
                });
            } else if choice.code.ask > 0 {
                let target = situation.target * ASKING;
                choice = choose(&Situation { target, ..situation });
                if !choice.code.repeats.is_empty() || choice.code.share > 0.0 {
                    // After a repeat that failed, in a burst perhaps, little time is left to ask.
                    let alone = choose(&Situation { ask_delay: NEVER, ..situation });
                    if alone.misses <= situation.target && alone.cost < choice.cost * LATE_ASKING {
                        choice = alone;
                    }
                }
            }
            channel.choice = Some(choice);
            demands.push(demand(channel, headers, price, choice.cost));
        }
        let shares = share(&demands, self.budget.rate(now));
        for ((channel, share), demand) in self.channels.iter_mut().zip(shares).zip(&demands) {
            let Some(mut choice) = channel.choice.take() else {
                continue;
            };
            channel.slowed = (share.rate < demand.rate)
                .then(|| Duration::from_secs_f64(share.rate.max(SLOWEST).recip()));
            if share.redundancy < demand.redundancy {
                let mut situation = situation(channel, &loss, path, loss_back, headers, price);
                while choice.cost > share.redundancy && situation.target < 1.0 {
                    situation.target = (situation.target * 1.3).max(0.01);
                    choice = choose(&situation);
                }
                choice.possible = choice.possible.max(choice.misses);
            }
            channel.code = choice.code;
            let told = channel.judge(now, choice.possible);
            if told.is_some() != channel.told.is_some() {
                tell(channel.id, channel.qos, told);
            }
            channel.told = told;
        }
    }
}

/// What a channel needs where a newer value meets an older one that is missing, if that suffices: no repeats, but for the
/// last value of a cluster, which nothing supersedes. Also how often that one goes again.
fn superseding(channel: &Channel, situation: &Situation<'_>) -> (Option<Choice>, u8) {
    if !channel.conflates() {
        return (None, 1);
    }
    let (rate, target) = (situation.loss.rate, situation.target);
    let left = situation.deadline.saturating_sub(situation.one_way + situation.jitter);
    let newer = (left.as_secs_f64() / situation.interval.as_secs_f64()) as usize;
    // A repeat one interval later may still be in the burst that the last one was lost in.
    let again = situation.loss.again[0];
    let mut lost = rate;
    let mut closes = 0;
    while lost > target && closes < CLOSES {
        lost *= again;
        closes += 1;
    }
    let misses = rate * libm::pow(again, newer.min(8) as f64);
    let cost =
        f64::from(closes) * (situation.packet_bytes + situation.repeat_bytes) / situation.cluster;
    let code = Code { close: closes > 0, ..Code::PLAIN };
    let choice = Choice { code, misses, cost, possible: misses };
    ((misses <= target).then_some(choice), closes.max(1))
}

/// What messages cost.
#[derive(Clone, Copy)]
struct Price {
    repeat: Option<f64>,
    ratio: f64,
}

fn demand(channel: &Channel, headers: f64, price: Price, redundancy: f64) -> Demand {
    Demand {
        message: channel.bytes * price.ratio + headers,
        rate: channel.cadence.interval().as_secs_f64().recip(),
        rate_min: channel.qos.rate_min,
        redundancy,
        priority: channel.qos.priority,
        conflated: channel.conflates(),
    }
}

fn situation<'a>(
    channel: &Channel,
    loss: &'a LossModel,
    path: &Path,
    loss_back: f64,
    headers: f64,
    price: Price,
) -> Situation<'a> {
    let interval = channel.cadence.interval();
    Situation {
        loss,
        loss_back,
        one_way: path.one_way(),
        round_trip: path.round_trip(),
        jitter: path.jitter(),
        deadline: channel.left(),
        interval,
        cluster: channel.cadence.cluster(),
        target: channel.aim(loss.rate),
        repeat_bytes: price.repeat.unwrap_or(channel.bytes * price.ratio),
        packet_bytes: headers,
        ask_bytes: headers + ASK_BYTES,
        ask_delay: interval,
    }
}
