//! The choice of the code (the plan by which a sender repeats the messages of a channel) that holds
//! a loss target at the least expected cost.
//!
//! The target is the share of messages that may miss: never arrive, or arrive after their deadline.
//! A cluster is the messages between two pauses. The choice is a pure function of what is known
//! about the path to the receiver. It weighs repeats in later packets (piggybacks), repeats in
//! packets of their own (dedicated packets), requests for missing messages, and one more packet at
//! the end of a cluster (the tail flush). It splits the messages between two sets of repeats, so
//! that the target is met exactly, and not by the next stronger code.
//!
//! # What the sender and the receiver do, and what it costs
//!
//! - **Repeats** ([`Code::repeats`], [`Code::other`]) are sent whether or not they are needed:
//!   piggybacks ([`Repeat::Piggyback`](crate::code::Repeat::Piggyback)) in later packets with new
//!   messages, the others ([`Repeat::Dedicated`](crate::code::Repeat::Dedicated)) in dedicated
//!   packets.
//! - **Tail flush** ([`Code::tail_flush`]): one more packet after the last packet of a cluster. It
//!   repeats the last message, and every other message that still waits for a packet to carry its
//!   piggybacks, each once. It is sent when the first piggyback of the last message is due (one
//!   interval after the message if it has none), or earlier if the oldest of these messages would
//!   be late. One packet costs less than one packet for each piggyback, and the first further copy
//!   of a message brings nearly all of the gain.
//! - **Requests** ([`Code::answers`]): a receiver waits for the last repeat of a missing message
//!   and then requests the message, unless its error budget (a leaky bucket) permits to miss it and
//!   the channel is not [dense](crate::Qos::dense). On a dense channel it makes each request twice
//!   where packets are lost.
//!   Messages whose loss is noticed at the same time are requested in one packet. The sender
//!   answers with `answers` copies, each as a piggyback, or in a dedicated packet at once if a
//!   piggyback would be late. The receiver repeats the request after one round trip, one interval
//!   and the jitter, as long as an answer can still be in time.
//!
//! # Simplifications
//!
//! - Lags are counted in packets, dedicated ones included, as in [`LossModel::again`]. Where losses
//!   depend on time and not on packets, the gain of dedicated packets is overestimated until
//!   dedicated packets are sent and their losses measured.
//! - Each of two sets of repeats is priced as if all messages were sent with it.
//! - Losses are taken to come in bursts that are independent of each other and lose all packets
//!   while they last.

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
use crate::sort::sort_by_key;

/// The largest [`Code::answers`] that [`choose`] chooses. Chosen by judgement; not tuned.
const ANSWERS: u8 = 3;
/// The most packets that a code may cost for each message that the code saves, where no code meets
/// the target. On a path that loses 5 %, one dedicated packet for each message costs this much.
/// Chosen by judgement; not tuned.
pub(crate) const WORTH: f64 = 20.0;
/// The same number where the receiver requests all that is missing ([`Situation::requests_all`]),
/// as of sound, where a missing frame spoils the ones that follow. Tuned on `groupwire-lab voice`
/// with 10 % loss in bursts of four packets.
const WORTH_OF_SOUND: f64 = 60.0;
/// The target counts as nearly met if the least possible share of misses is below this many times
/// the target: the model is no more exact than that. Tuned on those settings of `groupwire-lab afec
/// --part grid` in which the target is nearly out of reach.
pub(crate) const NEAR: f64 = 2.0;
/// A target also counts as met if the expected share of misses exceeds it by no more than this,
/// which is a rounding error.
const ROUNDING: f64 = 1e-9;
/// The error of the expected misses, as a share of them, up to which [`family`] still contains the
/// best code. It is twice the error that `tests/all/choice` allows.
const DOUBT: f64 = 0.3;
/// The most codes in a [`family`], each of which is tried in a simulation. Chosen by judgement; not
/// tuned.
const FAMILY: usize = 400;

/// What is known about a path, and what a channel needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Situation<'a> {
    /// The losses of the path to the receiver.
    pub loss: &'a LossModel,
    /// The share of packets that are lost in the other direction. If unknown, this is the same as
    /// [`LossModel::rate`].
    pub loss_back: f64,
    /// The delay of the path to the receiver, including the time in queues.
    pub one_way: Duration,
    /// The round trip of the path.
    pub round_trip: Duration,
    /// The margin before the deadline: repeats and answers are to arrive this much earlier.
    pub jitter: Duration,
    /// The time that is left to the deadline when a message is first sent.
    pub deadline: Duration,
    /// The interval between packets with new messages during a cluster.
    pub interval: Duration,
    /// The mean number of messages in a cluster, which is the messages between two pauses.
    pub cluster: f64,
    /// The share of messages that may miss.
    pub target: f64,
    /// The bytes of a piggyback.
    pub repeat_bytes: f64,
    /// The bytes of headers of a dedicated packet.
    pub packet_bytes: f64,
    /// The bytes of a request for any number of messages: those of a packet, or fewer if packets go
    /// in that direction anyway.
    pub ask_bytes: f64,
    /// The time from when a lost packet should have arrived to when the receiver requests its
    /// messages: until the next packet shows the gap (about an interval), and then until the report
    /// with the request is sent.
    pub ask_delay: Duration,
    /// The packets that make a request.
    pub request_copies: u8,
    /// True if the receiver also requests the messages that the target permits to miss, and
    /// whether or not the code has answers.
    pub requests_all: bool,
}

impl Situation<'_> {
    /// The share of messages that may miss without a request.
    fn permitted(&self) -> f64 {
        if self.requests_all { 0.0 } else { self.target }
    }
}

/// A code and what is expected of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The code.
    pub code: Code,
    /// The share of messages that is expected to miss with the code.
    pub misses: f64,
    /// The expected bytes per message beyond sending each message once, in both directions.
    pub cost: f64,
    /// The least share of misses that any of the weighed codes reaches, at whatever cost. If it is
    /// above the target, no code holds the target, and the application should get a notice. If it
    /// is not, codes that are not weighed, since they cost more, may reach even less.
    pub possible: f64,
}

/// Chooses the cheapest code that is expected to hold the target.
///
/// If no code holds the target: chooses the code with the fewest misses if the target is nearly
/// met, otherwise the code that is cheapest when each missed message costs as much as twenty
/// dedicated packets.
pub fn choose(situation: &Situation) -> Choice {
    let model = Model::new(situation);
    let mut search = Search::new(situation, &model);
    search.weigh(Repeats::NONE);
    if search.costs_more_than(0.0) {
        sets::piggybacked(&model).skip(1).for_each(|repeats| search.weigh(repeats));
        search.share();
        // A lower bound for the cost of dedicated packets. It assumes that no message with a
        // dedicated packet misses, so that the fewest messages need one.
        let packet = situation.packet_bytes + situation.repeat_bytes;
        let share = (1.0 - situation.target / situation.loss.rate).max(0.0);
        if search.costs_more_than(share * packet) {
            sets::with_dedicated(&model).for_each(|repeats| search.weigh(repeats));
            search.share();
        }
    }
    let near = search.possible <= situation.target * NEAR;
    let fallback = if near { search.nearest } else { search.fallback };
    Choice { possible: search.possible, ..search.best.unwrap_or(fallback) }
}

/// What is expected of a given code. [`Choice::possible`] is the same as [`Choice::misses`]. Of
/// more than eight repeats only the first eight count.
pub fn expect(situation: &Situation, code: Code) -> Choice {
    Model::new(situation).expect(code)
}

/// The best codes of those weighed so far.
struct Search<'a> {
    situation: &'a Situation<'a>,
    model: &'a Model<'a>,
    /// The hulls of the weighed sets of repeats. The first index is 1 for codes with a tail flush,
    /// the second is [`Code::answers`].
    hulls: [[Hull; ANSWERS as usize + 1]; 2],
    /// The cheapest of these codes that holds the target.
    best: Option<Choice>,
    /// The one of these codes with the fewest misses.
    nearest: Choice,
    /// The cheapest of these codes if a missed message costs [`WORTH`] packets.
    fallback: Choice,
    /// The least share of misses of all codes weighed so far.
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

    /// Weighs the codes that send all messages with the set `repeats`: with and without tail flush,
    /// and with any number of answers.
    fn weigh(&mut self, repeats: Repeats) {
        let permitted = self.situation.permitted();
        let worth = if self.situation.requests_all { WORTH_OF_SOUND } else { WORTH }
            * (self.situation.packet_bytes + self.situation.repeat_bytes);
        let price = |choice: &Choice| choice.cost + worth * choice.misses;
        let sendings = self.model.sendings(&repeats);
        let most = self.model.answers(&sendings[0]);
        let least = if self.situation.requests_all { most.min(1) } else { 0 };
        for answers in least..=most {
            let asking = self.model.asking(&sendings[0], answers);
            for tail_flush in self.model.flushes() {
                let sending = &sendings[usize::from(tail_flush)];
                let code = Code { repeats, other: repeats, share: 0.0, answers, tail_flush };
                let choice = |to: f64| {
                    let Outcome { misses, cost } = self.model.outcome(sending, &asking, to);
                    Choice { code, misses, cost, possible: misses }
                };
                let (most, exact) = (choice(0.0), choice(permitted));
                let point = Point { misses: most.misses, cost: most.cost, repeats };
                self.hulls[usize::from(tail_flush)][usize::from(answers)].add(point);
                self.possible = self.possible.min(most.misses);
                if most.misses < self.nearest.misses {
                    self.nearest = most;
                }
                if price(&most) < price(&self.fallback) {
                    self.fallback = most;
                }
                self.keep_cheaper(exact);
            }
        }
    }

    /// Weighs the mixtures of two of the weighed sets that hold the target exactly.
    fn share(&mut self) {
        for tail_flush in [false, true] {
            for answers in 0..=ANSWERS {
                let hull = &self.hulls[usize::from(tail_flush)][usize::from(answers)];
                if let Some((stronger, weaker)) = hull.around(self.situation.target) {
                    let shared =
                        self.model.mixed(weaker.repeats, stronger.repeats, answers, tail_flush);
                    self.keep_cheaper(shared);
                }
            }
        }
    }

    /// Whether the best code costs more than `bytes` bytes per message, or no code holds the target
    /// yet.
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

/// Codes to try one after the other, cheapest first, in search of the code that is best in
/// hindsight on a path that does not change.
///
/// The codes use the sets of repeats that [`choose`] weighs, and mixtures of two of these sets in
/// steps of one eighth, with and without requests and tail flush. A code is left out if it cannot
/// be the cheapest one that holds the target even when its expected misses are wrong by 30 %. The
/// first code that holds the target in a trial is the best one. If no code can hold the target, the
/// codes with the fewest expected misses are returned. The first code is always [`Code::PLAIN`].
pub fn family(situation: &Situation) -> Vec<Code> {
    let model = Model::new(situation);
    let sets: Vec<(Repeats, [Sending; 2])> = sets::piggybacked(&model)
        .chain(sets::with_dedicated(&model))
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
                for tail_flush in model.flushes() {
                    let at = usize::from(tail_flush);
                    let shared = sending[at].shared(&stronger[at], share);
                    for answers in 0..=model.answers(&shared) {
                        let asking = model.asking(&shared, answers);
                        let outcome = model.outcome(&shared, &asking, situation.permitted());
                        let code =
                            Code { repeats: *repeats, other: *other, share, answers, tail_flush };
                        all.push((outcome, code));
                    }
                }
            }
        }
    }
    sort_by_key(&mut all, cost);
    keep_likely(&mut all, situation.target);
    let codes = all.into_iter().map(|(_, code)| code).filter(|code| *code != Code::PLAIN);
    core::iter::once(Code::PLAIN).chain(codes).collect()
}

/// The cost of a code as a number for sorting: positive floating-point numbers are in the order of
/// their bits.
fn cost((outcome, _): &(Outcome, Code)) -> u64 {
    debug_assert!(outcome.cost >= 0.0, "a cost is never below zero");
    outcome.cost.to_bits()
}

/// Keeps the codes that may be the cheapest ones to hold the target, at most [`FAMILY`]. The codes
/// are sorted by cost, cheapest first.
fn keep_likely(all: &mut Vec<(Outcome, Code)>, target: f64) {
    let least = all.iter().fold(1.0, |least: f64, (outcome, _)| least.min(outcome.misses));
    let may_miss = (target + ROUNDING).max(least) / (1.0 - DOUBT);
    all.retain(|(outcome, _)| outcome.misses <= may_miss);
    let surely = |(outcome, _): &(Outcome, Code)| outcome.misses * (1.0 + DOUBT) <= target;
    if let Some(enough) = all.iter().position(surely) {
        all.truncate(enough + 1);
    }
    // Keeps the codes for which the fewest cheaper codes have no more misses.
    let mut misses: Vec<f64> = Vec::new();
    let mut beaten = Vec::new();
    for (outcome, code) in all.iter() {
        let better = misses.partition_point(|misses| *misses <= outcome.misses);
        misses.insert(better, outcome.misses);
        beaten.push((better, *outcome, *code));
    }
    sort_by_key(&mut beaten, |(better, ..)| *better as u64);
    beaten.truncate(FAMILY);
    *all = beaten.into_iter().map(|(_, outcome, code)| (outcome, code)).collect();
    sort_by_key(all, cost);
}
