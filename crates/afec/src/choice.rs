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
//! measured anew, packets lying closer. Sets that share messages are each reckoned with as if all were sent so. Losses come in bursts that are independent of each other and lose all packets.

mod hull;
pub(crate) mod losses;
mod model;
mod sets;

use alloc::vec::Vec;
use core::time::Duration;

use self::hull::{Hull, Point};
use self::model::{Model, Outcome, Sending};
use crate::code::{Code, Repeats};
use crate::loss::LossModel;

/// The most packets that an answer goes in, in codes that are chosen.
const ANSWERS: u8 = 3;
/// What a message is worth, in packets, where no code meets the target: a code that pays more for each message that it
/// saves is absurd. One repeat of each message on a path that loses 3 % pays 20 packets of its own for each.
pub(crate) const WORTH: f64 = 20.0;
/// Up to so many times the target, the least misses count as nearly meeting it: expectations are not that exact.
pub(crate) const NEAR: f64 = 2.0;
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
    /// The least misses that any code reaches, at whatever price. Above the target, the application is to be told. Where
    /// the target is held, less may be possible: codes that must cost more are not looked at.
    pub possible: f64,
}

/// The cheapest code that is expected to hold the target.
///
/// If none does, the code that is best when a message that misses costs as much as twenty packets: of the codes that
/// are cheapest for their misses, the one with the fewest at which the last step still saved a message for each twenty
/// packets' worth of bytes. But if the target is nearly held, the one with the fewest misses.
pub fn choose(situation: &Situation) -> Choice {
    let model = Model::new(situation);
    let mut search = Search::new(situation, &model);
    search.weigh(Repeats::NONE);
    if search.costs_more_than(0.0) {
        sets::riding(&model).skip(1).for_each(|repeats| search.weigh(repeats));
        search.share();
        // The least that packets of their own cost: for as few messages as could do if none of them missed.
        let packet = situation.packet_bytes + situation.repeat_bytes;
        let share = (1.0 - situation.target / situation.loss.rate).max(0.0);
        if search.costs_more_than(share * packet) {
            sets::with_extras(&model).for_each(|repeats| search.weigh(repeats));
            search.share();
        }
    }
    let near = search.possible <= situation.target * NEAR;
    let fallback = if near { search.nearest } else { search.fallback };
    Choice { possible: search.possible, ..search.best.unwrap_or(fallback) }
}

/// What to expect of a code, for whoever has one already. [`Choice::possible`] says no more than [`Choice::misses`]. Of
/// more than eight repeats only the first eight are reckoned with.
pub fn expect(situation: &Situation, code: Code) -> Choice {
    Model::new(situation).expect(code)
}

/// The best of what was weighed so far.
struct Search<'a> {
    situation: &'a Situation<'a>,
    model: &'a Model<'a>,
    /// Without and with closing, by how many packets an answer has.
    hulls: [[Hull; ANSWERS as usize + 1]; 2],
    /// The cheapest that holds the target.
    best: Option<Choice>,
    /// The best if none does: at any price where one nearly does, else at a sensible one.
    nearest: Choice,
    fallback: Choice,
    possible: f64,
}

impl<'a> Search<'a> {
    fn new(situation: &'a Situation<'a>, model: &'a Model<'a>) -> Self {
        let hulls = [const { [const { Hull::new() }; ANSWERS as usize + 1] }; 2];
        let fallback = model.expect(Code::PLAIN);
        Search {
            situation,
            model,
            hulls,
            best: None,
            nearest: fallback,
            fallback,
            possible: fallback.misses,
        }
    }

    /// All messages sent with one set of repeats.
    fn weigh(&mut self, repeats: Repeats) {
        let target = self.situation.target;
        let worth = WORTH * (self.situation.packet_bytes + self.situation.repeat_bytes);
        let worse = |choice: &Choice| choice.cost + worth * choice.misses;
        let sendings = self.model.sendings(&repeats);
        for ask in 0..=self.model.answers(&sendings[0]) {
            let asking = self.model.asking(&sendings[0], ask);
            for close in self.model.closings() {
                let sending = &sendings[usize::from(close)];
                let code = Code { repeats, other: repeats, share: 0.0, ask, close };
                let choice = |to: f64| {
                    let Outcome { misses, cost } = self.model.outcome(sending, &asking, to);
                    Choice { code, misses, cost, possible: misses }
                };
                let (most, exact) = (choice(0.0), choice(target));
                let point = Point { misses: most.misses, cost: most.cost, repeats };
                self.hulls[usize::from(close)][usize::from(ask)].add(point);
                self.possible = self.possible.min(most.misses);
                if most.misses < self.nearest.misses {
                    self.nearest = most;
                }
                if worse(&most) < worse(&self.fallback) {
                    self.fallback = most;
                }
                self.keep_cheaper(exact);
            }
        }
    }

    /// Messages shared between two of the sets that were weighed.
    fn share(&mut self) {
        for close in [false, true] {
            for ask in 0..=ANSWERS {
                let hull = &self.hulls[usize::from(close)][usize::from(ask)];
                if let Some((stronger, weaker)) = hull.around(self.situation.target) {
                    let shared = self.model.mixed(weaker.repeats, stronger.repeats, ask, close);
                    self.keep_cheaper(shared);
                }
            }
        }
    }

    /// Whether what was found costs more than that, or nothing was found.
    fn costs_more_than(&self, bytes: f64) -> bool {
        self.best.is_none_or(|best| best.cost > bytes)
    }

    fn keep_cheaper(&mut self, choice: Choice) {
        let holds = choice.misses <= self.situation.target + ROUNDING;
        if holds && self.best.is_none_or(|best| choice.cost < best.cost) {
            self.best = Some(choice);
        }
    }
}

/// Static codes to try one after the other, cheapest first, in search of the best one in hindsight.
///
/// They are those sets of repeats that [`choose`] weighs, and two of them shared in steps of one eighth, with and
/// without asking and closing, that may be the cheapest to hold the target if the model is off by up to 30 % of the
/// misses: the first that holds it is the best. If none may hold it, those with the least misses. The first is always
/// [`Code::PLAIN`].
pub fn family(situation: &Situation) -> Vec<Code> {
    let model = Model::new(situation);
    let sets: Vec<(Repeats, [Sending; 2])> = sets::riding(&model)
        .chain(sets::with_extras(&model))
        .map(|repeats| (repeats, model.sendings(&repeats)))
        .collect();
    let mut all = Vec::new();
    for (repeats, sending) in &sets {
        for (other, stronger) in &sets {
            let steps = match other.len() {
                _ if repeats == other => 0..1,
                longer if longer == repeats.len() + 1 || (repeats.is_empty() && longer > 0) => 1..8,
                _ => continue,
            };
            for share in steps.map(|eighths| f64::from(eighths) / 8.0) {
                for close in model.closings() {
                    let at = usize::from(close);
                    let shared = sending[at].shared(&stronger[at], share);
                    for ask in 0..=model.answers(&shared) {
                        let asking = model.asking(&shared, ask);
                        let outcome = model.outcome(&shared, &asking, situation.target);
                        let code = Code { repeats: *repeats, other: *other, share, ask, close };
                        all.push((outcome, code));
                    }
                }
            }
        }
    }
    all.sort_by(|a, b| a.0.cost.total_cmp(&b.0.cost));
    keep_likely(&mut all, situation.target);
    let codes = all.into_iter().map(|(_, code)| code).filter(|code| *code != Code::PLAIN);
    core::iter::once(Code::PLAIN).chain(codes).collect()
}

/// Of codes, cheapest first, those that may be the cheapest to hold the target.
fn keep_likely(all: &mut Vec<(Outcome, Code)>, target: f64) {
    let least = all.iter().fold(1.0, |least: f64, (outcome, _)| least.min(outcome.misses));
    let may_miss = (target + ROUNDING).max(least) / (1.0 - DOUBT);
    all.retain(|(outcome, _)| outcome.misses <= may_miss);
    let surely = |(outcome, _): &(Outcome, Code)| outcome.misses * (1.0 + DOUBT) <= target;
    if let Some(enough) = all.iter().position(surely) {
        all.truncate(enough + 1);
    }
    // Those that the fewest others beat at both misses and cost.
    let mut misses: Vec<f64> = Vec::new();
    let mut beaten = Vec::new();
    for (outcome, code) in all.iter() {
        let better = misses.partition_point(|misses| *misses <= outcome.misses);
        misses.insert(better, outcome.misses);
        beaten.push((better, *outcome, *code));
    }
    beaten.sort_by_key(|(better, ..)| *better);
    beaten.truncate(FAMILY);
    *all = beaten.into_iter().map(|(_, outcome, code)| (outcome, code)).collect();
    all.sort_by(|a, b| a.0.cost.total_cmp(&b.0.cost));
}
