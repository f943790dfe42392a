//! Choosing the code of each channel: for its target, on the path as it is, within what the path carries.

use alloc::vec::Vec;
use core::time::Duration;

use super::Sender;
use super::channel::Channel;
use crate::choice::losses::Losses;
use crate::choice::{Choice, NEAR, Situation, WORTH, choose};
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
/// The most often that a value goes again at which a key rests, and the share of the target that may miss it: nothing meets it
/// for long.
const RESTS: u8 = 6;
const AT_REST: f64 = 0.5;
/// What goes again on the first of two hops goes sooner than at the last moment, by this share of what it leaves to the
/// second: what comes at the last moment there is often too late here.
const EARLY: (u32, u32) = (3, 16);

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
        let losses = Losses::new(&loss);
        let is_narrow = self.budget.rate(now).is_some();
        let price = Price { repeat: self.repeat_price, ratio: self.ratio, is_narrow };
        let mut demands = Vec::with_capacity(self.channels.len());
        for channel in &mut self.channels {
            let situation = situation(channel, &loss, path, loss_back, headers, price);
            let choice = best(channel, &situation, &losses, &self.loss);
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
                    choice = match channel.conflates() {
                        true => superseding(channel, &situation, &losses, 0.0),
                        false => choose(&situation),
                    };
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

/// The cheapest that holds a channel's target. `losses` are the situation's, `loss` is what is believed of the path without
/// caution.
fn best(
    channel: &mut Channel,
    situation: &Situation<'_>,
    losses: &Losses,
    loss: &LossModel,
) -> Choice {
    if channel.conflates() {
        return superseding(channel, situation, losses, channel.qos.rate_min);
    }
    let choice = choose(situation);
    if choice.misses > situation.target {
        // Out of reach with all caution; perhaps not without.
        return choose(&Situation { target: channel.qos.target, loss, ..*situation });
    }
    if choice.code.ask == 0 {
        return choice;
    }
    let target = situation.target * ASKING;
    let choice = choose(&Situation { target, ..*situation });
    if choice.code.repeats.is_empty() && choice.code.share == 0.0 {
        return choice;
    }
    // After a repeat that failed, in a burst perhaps, little time is left to ask.
    let alone = choose(&Situation { ask_delay: NEVER, ..*situation });
    let is_better = alone.misses <= situation.target && alone.cost < choice.cost * LATE_ASKING;
    if is_better { alone } else { choice }
}

/// What a channel needs where a newer value meets an older one that is missing: see [`values`](super::values). `rate_min`: so
/// many values a second are to arrive all the same.
fn superseding(
    channel: &mut Channel,
    situation: &Situation<'_>,
    losses: &Losses,
    rate_min: f64,
) -> Choice {
    let values = &mut channel.values;
    let need = values.need(losses, situation.target, WORTH.recip(), NEAR);
    values.sendings = need.sendings;
    values.beside = values.beside_for(losses, rate_min);
    values.early = channel.qos.ahead * EARLY.0 / EARLY.1;
    values.rests = rests(losses, situation.target * AT_REST);
    let rests = f64::from(values.rests) / situation.cluster;
    let again = situation.repeat_bytes + values.alone() * situation.packet_bytes;
    let cost = (values.again() + rests) * again + values.beside * situation.repeat_bytes;
    Choice { code: Code::PLAIN, misses: need.misses, cost, possible: need.possible }
}

/// How often the value at which a key rests goes again, as nothing supersedes it.
fn rests(losses: &Losses, target: f64) -> u8 {
    // A repeat one interval later may still be in the burst that the last one was lost in.
    let is_lost = |times: &u8| losses.rate * losses.run(usize::from(*times)) > target;
    (0..RESTS).find(|times| !is_lost(times)).unwrap_or(RESTS)
}

/// What messages cost.
#[derive(Clone, Copy)]
struct Price {
    repeat: Option<f64>,
    ratio: f64,
    /// Whether the path is known to carry so much and no more.
    is_narrow: bool,
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
        target: channel.aim(loss.rate, price.is_narrow),
        repeat_bytes: price.repeat.unwrap_or(channel.bytes * price.ratio),
        packet_bytes: headers,
        ask_bytes: headers + ASK_BYTES,
        ask_delay: interval,
    }
}
