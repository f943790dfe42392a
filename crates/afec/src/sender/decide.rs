//! Choosing the code of each channel: for its target, on the path as it is, within what the path carries.

use alloc::vec::Vec;
use core::time::Duration;

use super::Sender;
use super::channel::Channel;
use crate::choice::{Situation, choose};
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
/// What a report takes that asks for a message.
const ASK_BYTES: f64 = 10.0;
/// Messages per second that a channel that conflates is left at least.
const SLOWEST: f64 = 1.0;

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
        let mut demands = Vec::with_capacity(self.channels.len());
        for channel in &mut self.channels {
            let situation = situation(channel, &loss, path, loss_back, headers, self.repeat_price);
            let mut choice = choose(&situation);
            if choice.misses > situation.target {
                // Out of reach with all caution; perhaps not without.
                choice = choose(&Situation {
                    target: channel.qos.target,
                    loss: &self.loss,
                    ..situation
                });
            } else if choice.code.ask > 0 {
                choice = choose(&Situation { target: situation.target * ASKING, ..situation });
            }
            channel.choice = Some(choice);
            demands.push(Demand {
                message: channel.bytes + headers,
                rate: channel.cadence.interval().as_secs_f64().recip(),
                rate_min: channel.qos.rate_min,
                redundancy: choice.cost,
                priority: channel.qos.priority,
                conflated: channel.conflates(),
            });
        }
        let shares = share(&demands, self.budget.rate(now));
        for ((channel, share), demand) in self.channels.iter_mut().zip(shares).zip(&demands) {
            let Some(mut choice) = channel.choice.take() else {
                continue;
            };
            channel.slowed = (share.rate < demand.rate)
                .then(|| Duration::from_secs_f64(share.rate.max(SLOWEST).recip()));
            if share.redundancy < demand.redundancy {
                let mut situation =
                    situation(channel, &loss, path, loss_back, headers, self.repeat_price);
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

fn situation<'a>(
    channel: &Channel,
    loss: &'a LossModel,
    path: &Path,
    loss_back: f64,
    headers: f64,
    repeat_price: Option<f64>,
) -> Situation<'a> {
    let interval = channel.cadence.interval();
    Situation {
        loss,
        loss_back,
        one_way: path.one_way(),
        round_trip: path.round_trip(),
        jitter: path.jitter(),
        deadline: channel.qos.deadline,
        interval,
        cluster: channel.cadence.cluster(),
        target: channel.aim(loss.rate),
        repeat_bytes: repeat_price.unwrap_or(channel.bytes),
        packet_bytes: headers,
        ask_bytes: headers + ASK_BYTES,
        ask_delay: interval,
    }
}
