//! Which code holds a miss target at the least expected price.
//!
//! The choice is a pure function of what is known of the path. It weighs repeats on packets that go anyway, repeats in
//! packets of their own, asking for what is missing, and packets that close a cluster, and shares messages between two
//! sets of repeats so that the target is met exactly, not by the next stronger code.
//!
//! # What the sender and the receiver do, as it is priced
//!
//! - **Repeats** ([`Code::repeats`], [`Code::other`]) are sent whether or not they are needed. A message with
//!   [`Repeat::Extra`](crate::code::Repeat::Extra) goes again, alone, in a packet of its own.
//! - **Closing** ([`Code::close`]): after the last packet of a cluster goes one more. It repeats the last message and
//!   every other one whose [`Repeat::Ride`](crate::code::Repeat::Ride)s have not all found a packet, each once. It goes
//!   when the first ride of the last message is due (one interval after it if it has none), or earlier if the oldest of
//!   those messages would be late. One packet costs less than one for each due time, and nearly all of what the tail
//!   lacks is the first more copy.
//! - **Asking** ([`Code::ask`]): a receiver waits for the last repeat of a message that it misses, then asks for it,
//!   unless the target permits to lose this one: it keeps an account (a leaky bucket) of how many it may. Messages noticed
//!   together are asked for in one packet. The sender answers with `ask` copies, each in one of the next packets that go
//!   anyway or, if that would be late, in a packet of its own at once. The receiver asks again one round trip, one
//!   interval and the jitter later, while the answer can still be in time.
//!
//! # What is neglected
//!
//! Lags are counted in packets, extra ones too, as the losses of [`LossModel::again`] are. Where losses depend on time
//! and not on packets, the model of a sender that begins to send extra packets flatters them until its losses are
//! measured anew, packets lying closer. Losses are taken for Markovian between copies, bounded by what pairs of copies
//! show; a path with two kinds of losses (single ones and long outages) loses more copies together than that.

mod hull;
mod model;
mod sets;

use alloc::vec::Vec;
use core::time::Duration;

use self::hull::{Hull, Point};
use self::model::{Model, Sending};
use crate::code::{Code, Repeats};
use crate::loss::LossModel;

/// The most packets that an answer goes in, in codes that are chosen.
const ANSWERS: u8 = 3;
/// What a message is worth, in packets, where no code meets the target: a code that pays more for each message that it
/// saves is absurd. One repeat of each message on a path that loses 3 % pays 20 packets of its own for each.
const WORTH: f64 = 20.0;
/// Targets are met if they are missed by no more than this, for rounding.
const ROUNDING: f64 = 1e-9;
/// How far the model may be off, as a share of what it expects, for [`family`] to hold the best code.
const DOUBT: f64 = 0.3;
/// The most codes in a [`family`].
const FAMILY: usize = 400;

/// What is known of a path and what a channel needs of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Situation<'a> {
    /// The losses of the path to the receiver.
    pub loss: &'a LossModel,
    /// The share of feedback packets that are lost. If unknown, the same as [`LossModel::rate`].
    pub loss_back: f64,
    /// The delay of the path to the receiver, its queue included.
    pub one_way: Duration,
    /// There and back.
    pub round_trip: Duration,
    /// Repeats and answers are to arrive this long before the deadline.
    pub jitter: Duration,
    /// What remains of the deadline when a message is first sent.
    pub deadline: Duration,
    /// Between packets that go anyway, while a cluster of messages lasts.
    pub interval: Duration,
    /// The mean number of messages in a cluster.
    pub cluster: f64,
    /// The share of messages that may miss.
    pub target: f64,
    /// The price of one more message in a packet that goes anyway.
    pub repeat_bytes: f64,
    /// The price of the headers of one more packet.
    pub packet_bytes: f64,
    /// The price of asking once, for any number of messages: a feedback packet, or less if packets go back anyway.
    pub ask_bytes: f64,
    /// From when a lost packet would have come to when the receiver has asked for it: until the next one shows the gap
    /// (about an interval), and what feedback waits.
    pub ask_delay: Duration,
}

/// A code and what to expect of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// What to do.
    pub code: Code,
    /// The share of messages that is expected to miss with it.
    pub misses: f64,
    /// The bytes that it is expected to cost, for each message, beyond sending each once. Both ways.
    pub cost: f64,
    /// The least misses that any code reaches, at whatever price. Above the target, the application is to be told.
    pub possible: f64,
}

/// The cheapest code that is expected to hold the target.
///
/// If none does, the code that is best when a message that misses costs as much as twenty packets: of the codes that
/// are cheapest for their misses, the one with the fewest at which the last step still saved a message for each twenty
/// packets' worth of bytes.
pub fn choose(situation: &Situation) -> Choice {
    let model = Model::new(situation);
    let worth = WORTH * (situation.packet_bytes + situation.repeat_bytes);
    let mut best: Option<Choice> = None;
    let mut fallback = model.expect(Code::PLAIN);
    for close in model.closings() {
        let mut hulls = [const { Hull::new() }; ANSWERS as usize + 1];
        for repeats in sets::fitting(&model) {
            let sending = model.sending(&repeats, close);
            for ask in 0..=model.answers(&sending) {
                let code = Code { repeats, other: repeats, share: 0.0, ask, close };
                let most = model.outcome(&sending, ask, 0.0);
                hulls[usize::from(ask)].add(Point {
                    misses: most.misses,
                    cost: most.cost,
                    repeats,
                });
                fallback.possible = fallback.possible.min(most.misses);
                if most.cost + worth * most.misses < fallback.cost + worth * fallback.misses {
                    fallback = Choice { code, misses: most.misses, cost: most.cost, ..fallback };
                }
                let exact = model.outcome(&sending, ask, situation.target);
                let choice = Choice { code, misses: exact.misses, cost: exact.cost, possible: 0.0 };
                keep_cheaper(&mut best, choice, situation.target);
            }
        }
        for (ask, hull) in (0..).zip(&hulls) {
            if let Some((stronger, weaker)) = hull.around(situation.target) {
                let choice = model.mixed(weaker.repeats, stronger.repeats, ask, close);
                keep_cheaper(&mut best, choice, situation.target);
            }
        }
    }
    Choice { possible: fallback.possible, ..best.unwrap_or(fallback) }
}

/// Static codes to try one after the other, cheapest first, in search of the best one in hindsight.
///
/// They are those sets of repeats that [`choose`] weighs, and two of them shared in steps of one eighth, with and
/// without asking and closing, that may be the cheapest to hold the target if the model is off by up to 30 % of the
/// misses: the first that holds it is the best. If none may hold it, those with the least misses. The first is always
/// [`Code::PLAIN`].
pub fn family(situation: &Situation) -> Vec<Code> {
    let model = Model::new(situation);
    let mut all = Vec::new();
    for close in model.closings() {
        let sets: Vec<(Repeats, Sending)> = sets::fitting(&model)
            .map(|repeats| (repeats, model.sending(&repeats, close)))
            .collect();
        for (repeats, sending) in &sets {
            for (other, stronger) in &sets {
                let steps = match other.len() {
                    _ if repeats == other => 0..1,
                    longer if longer == repeats.len() + 1 || (repeats.is_empty() && longer > 0) => {
                        1..8
                    }
                    _ => continue,
                };
                for share in steps.map(|eighths| f64::from(eighths) / 8.0) {
                    let shared = sending.shared(stronger, share);
                    for ask in 0..=model.answers(&shared) {
                        let outcome = model.outcome(&shared, ask, situation.target);
                        let code = Code { repeats: *repeats, other: *other, share, ask, close };
                        all.push((outcome, code));
                    }
                }
            }
        }
    }
    all.sort_by(|a, b| a.0.cost.total_cmp(&b.0.cost));
    let may = |misses: f64| misses * (1.0 - DOUBT) <= situation.target + ROUNDING;
    if all.iter().any(|(outcome, _)| may(outcome.misses)) {
        all.retain(|(outcome, _)| may(outcome.misses));
    } else {
        let least = all.iter().fold(1.0, |least: f64, (outcome, _)| least.min(outcome.misses));
        all.retain(|(outcome, _)| outcome.misses * (1.0 - DOUBT) <= least);
    }
    let surely = |misses: f64| misses * (1.0 + DOUBT) <= situation.target;
    if let Some(enough) = all.iter().position(|(outcome, _)| surely(outcome.misses)) {
        all.truncate(enough + 1);
    }
    let codes = all.into_iter().map(|(_, code)| code).filter(|code| *code != Code::PLAIN);
    core::iter::once(Code::PLAIN).chain(codes).collect()
}

fn keep_cheaper(best: &mut Option<Choice>, choice: Choice, target: f64) {
    if choice.misses <= target + ROUNDING && best.is_none_or(|best| choice.cost < best.cost) {
        *best = Some(choice);
    }
}
