//! Chooses the redundancy of each channel: what its target needs on the path as it is, within the
//! path's rate. The target is the share of messages that may miss (not arrive by their deadline). A
//! code is the plan by which messages are repeated.
//!
//! On a conflated channel only the newest value of each key matters; a settled value is one that no
//! newer value of its key follows. A leg is a path that is one part of a longer way. "The paper" is
//! the AFEC paper of 2012.

use alloc::vec::Vec;
use core::time::Duration;

use super::Sender;
use super::channel::Channel;
use crate::choice::losses::Losses;
use crate::choice::{Choice, NEAR, Situation, WORTH, choose};
use crate::code::Code;
use crate::ids::ChannelId;
use crate::loss::LossModel;
use crate::path::Path;
use crate::qos::Qos;
use crate::rate::{Demand, share};
use crate::scheme::Scheme;

/// The number of standard errors that are added to the loss rate. Just after a change little is
/// known about the path, and then too few repeats cost more than too many. Tuned on `groupwire-lab
/// afec --part steps`.
const DOUBT: f64 = 0.4;
/// The factor by which the target is multiplied for a code with requests: a receiver that must
/// request nearly every missing message has no reserve for answers that are lost. Tuned on
/// `groupwire-lab afec --part grid`.
const WITH_REQUESTS: f64 = 0.93;
/// Repeats alone are preferred to repeats with requests, unless they cost more than this many times
/// as much: after a repeat that was lost, perhaps in a burst of losses, little time is left for a
/// request. Tuned on losses in bursts at 50 ms round trip and 250 ms deadline (`groupwire-lab afec
/// --part grid`).
const PREFER_REPEATS: f64 = 1.2;
/// A delay of requests with which the choice leaves requests out: it is longer than the longest
/// deadline.
const NO_REQUESTS: Duration = Duration::from_secs(3600);
/// The bytes of a report that requests one message, without headers. By the wire format it is about
/// 10.
const REQUEST_BYTES: f64 = 10.0;
/// The time without a message after which a channel gets no share of the path's rate, until it
/// sends again. It is longer than the pauses of a person who draws. Chosen by judgement; not tuned.
const IDLE: Duration = Duration::from_secs(2);
/// The least messages per second of a conflated channel on a path with a rate limit. Chosen by
/// judgement; not tuned.
const SLOWEST: f64 = 1.0;
/// The most repeats of a settled value. Chosen by judgement; not tuned.
const SETTLED_REPEATS: u8 = 6;
/// The share of settled values that may miss, as a part of the target: if such a value misses,
/// users see an outdated value for long. Chosen by judgement; not tuned.
const SETTLED_TARGET: f64 = 0.5;
/// On the first of two legs a value is repeated earlier than at the last moment, by this fraction
/// of [`Qos::ahead`]: a value that arrives at the last moment on this leg is often too late on the
/// second leg. Tuned on Table 1 of the paper over two legs that lose 20 % (`groupwire-lab contract
/// --setup table1`).
const LEAD: (u32, u32) = (3, 16);

impl Sender {
    /// Chooses the redundancy of every channel. `loss_back` is the share of packets that are lost
    /// in the other direction. Calls `notify` for each channel whose target went out of reach (with
    /// the expected share of misses) or came back into reach.
    pub(crate) fn decide(
        &mut self,
        now: Duration,
        path: &Path,
        loss_back: f64,
        mut notify: impl FnMut(ChannelId, Qos, Option<f64>),
    ) {
        if !matches!(self.scheme, Scheme::Adaptive) {
            return;
        }
        let headers = self.headers as f64;
        let believed = self.loss.beyond_chance();
        let loss = believed.doubted(DOUBT);
        let losses = Losses::new(&loss);
        let is_narrow = self.is_narrow(now);
        let price = Price { repeat: self.repeat_price, ratio: self.ratio, is_narrow };
        let mut choices = Vec::with_capacity(self.channels.len());
        let mut demands = Vec::with_capacity(self.channels.len());
        for channel in &mut self.channels {
            let situation = situation(channel, &loss, path, loss_back, headers, price);
            let choice = best(channel, &situation, &losses, &believed);
            choices.push(choice);
            demands.push(demand(channel, now, headers, price, choice.cost));
        }
        let shares = share(&demands, self.budget.rate(now));
        let granted = choices.into_iter().zip(shares.iter().zip(&demands));
        for (channel, (mut choice, (share, demand))) in self.channels.iter_mut().zip(granted) {
            channel.slowed = (share.rate < demand.rate)
                .then(|| Duration::from_secs_f64(share.rate.max(SLOWEST).recip()));
            if share.redundancy < demand.redundancy {
                let mut situation = situation(channel, &loss, path, loss_back, headers, price);
                // The path's rate leaves less for redundancy than the choice costs, so the target
                // is raised until a choice is cheap enough.
                while choice.cost > share.redundancy && situation.target < 1.0 {
                    situation.target = (situation.target * 1.3).max(0.01);
                    choice = cheapest(channel, &situation, &losses, 0.0);
                }
                choice.possible = choice.possible.max(choice.misses);
            }
            channel.code = choice.code;
            // No repeat helps if the path alone takes longer than the deadline.
            let is_too_far = path.is_longer_than(channel.qos.deadline);
            let told = channel.outlook(now, if is_too_far { 1.0 } else { choice.possible });
            if told.is_some() != channel.told.is_some() {
                notify(channel.id, channel.qos, told);
            }
            channel.told = told;
        }
    }
}

/// The cheapest choice that holds a channel's target. `situation` has a loss rate with [`DOUBT`]
/// standard errors added; `loss` is the model without them.
fn best(
    channel: &mut Channel,
    situation: &Situation<'_>,
    losses: &Losses,
    loss: &LossModel,
) -> Choice {
    let choice = cheapest(channel, situation, losses, channel.qos.rate_min);
    if channel.conflates() {
        return choice;
    }
    if choice.misses > situation.target {
        // With the added errors the target is out of reach; without them it may be in reach.
        return choose(&Situation { target: channel.qos.target, loss, ..*situation });
    }
    if choice.code.answers == 0 || situation.requests_all {
        return choice;
    }
    let target = situation.target * WITH_REQUESTS;
    let choice = choose(&Situation { target, ..*situation });
    if choice.code.repeats.is_empty() && choice.code.share == 0.0 {
        return choice;
    }
    let alone = choose(&Situation { ask_delay: NO_REQUESTS, ..*situation });
    let is_better = alone.misses <= situation.target && alone.cost < choice.cost * PREFER_REPEATS;
    if is_better { alone } else { choice }
}

/// The cheapest choice for a situation: of a plan for values on a conflated channel, otherwise of a
/// code. `rate_min` is the number of values per second and key that must arrive on a conflated
/// channel.
fn cheapest(
    channel: &mut Channel,
    situation: &Situation<'_>,
    losses: &Losses,
    rate_min: f64,
) -> Choice {
    match channel.conflates() {
        true => choose_conflated(channel, situation, losses, rate_min),
        false => choose(situation),
    }
}

/// The choice for a conflated channel, where a newer value makes up for a lost older one (see
/// [`values`](super::values)). At least `rate_min` values per second and key must arrive.
fn choose_conflated(
    channel: &mut Channel,
    situation: &Situation<'_>,
    losses: &Losses,
    rate_min: f64,
) -> Choice {
    // An aim below the target does not make the target harder to reach.
    let near = NEAR * channel.qos.target.max(situation.target);
    let values = &mut channel.values;
    let need = values.need(losses, situation.target, WORTH.recip(), near);
    values.sendings = need.sendings;
    values.resend_with_next = values.resend_with_next_for(losses, rate_min);
    values.lead = channel.qos.ahead * LEAD.0 / LEAD.1;
    values.settled_repeats = losses.repeats_for(situation.target * SETTLED_TARGET, SETTLED_REPEATS);
    let settled = f64::from(values.settled_repeats) / situation.cluster;
    let repeat = situation.repeat_bytes + values.dedicated_share() * situation.packet_bytes;
    let cost =
        (values.repeats() + settled) * repeat + values.resend_with_next * situation.repeat_bytes;
    Choice { code: Code::PLAIN, misses: need.misses, cost, possible: need.possible }
}

/// What determines the cost of messages on the path.
#[derive(Clone, Copy)]
struct Price {
    /// See [`Config::repeat_price`](crate::Config::repeat_price).
    repeat: Option<f64>,
    /// The compression ratio of messages.
    ratio: f64,
    /// Whether the path has a rate limit, or had one lately.
    is_narrow: bool,
}

/// The rate that a channel needs, and how far the channel can be slowed down. A channel that sends
/// nothing needs nothing: otherwise it would take the rate from those that do send.
fn demand(channel: &Channel, now: Duration, headers: f64, price: Price, redundancy: f64) -> Demand {
    let is_used = channel.cadence.last().is_some_and(|last| now <= last + IDLE);
    let rate = if is_used { channel.cadence.interval().as_secs_f64().recip() } else { 0.0 };
    Demand {
        message: channel.bytes * price.ratio + headers,
        rate,
        rate_min: channel.qos.rate_min,
        redundancy,
        priority: channel.qos.priority,
        conflated: channel.conflates(),
    }
}

/// What [`choose`] must know about a channel and its path.
fn situation<'a>(
    channel: &Channel,
    loss: &'a LossModel,
    path: &Path,
    loss_back: f64,
    headers: f64,
    price: Price,
) -> Situation<'a> {
    let interval = channel.cadence.interval();
    // A repeat of a dense message takes as many bytes as the message.
    let price = match channel.qos.dense {
        true => Price { repeat: None, ratio: 1.0, ..price },
        false => price,
    };
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
        ask_bytes: headers + REQUEST_BYTES,
        ask_delay: interval,
        request_copies: channel.qos.request_copies(loss.rate),
        requests_all: channel.qos.dense,
    }
}
