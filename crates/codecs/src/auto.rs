//! Chooses a codec for each message. The LMC paper leaves this choice to future work.
//!
//! The expected time of a message is the time to pack it, the time of its packed bytes on the link,
//! and the time to unpack it. The fixed time of a packet is the same for all choices. [`Auto`]
//! computes the expected time for every candidate and takes the smallest. It knows
//!
//! - the times to pack and unpack, by size, from [`Costs`], corrected by times measured among real
//!   messages ([`Auto::took`], [`Auto::unpacked`]), where caches are colder than in a benchmark;
//! - the time of a byte on the [`Link`];
//! - the ratios of earlier messages, by candidate and size class (powers of two).
//!
//! For a candidate that was never tried the ratio 1/4 is assumed. So every candidate that could be
//! best is tried at once, the cheapest first, and a candidate that could not be best on this link
//! is never tried. Later the others are tried again at growing intervals ([`Pick::also`]), because
//! content changes. These trials take at most 0.5 % of the messages' time. A trial packs the same
//! message as the choice did, so that an unusual message affects both ratios alike.
//!
//! While the link's rate is unknown, some messages are sent by another choice, because the rate is
//! learned from packets of different sizes. If no compression is the best choice, the other one is
//! the cheapest choice that shrinks messages, within 60 µs in total at the beginning and within the
//! 0.5 % later. If no choice could pay even on the slowest link that the measured times allow, the
//! rate does not matter and no message is spent on it.
//!
//! A choice is kept for up to eight messages of about the same size. No compression is preferred to
//! a choice that is better by less than a hundredth of a packet's time.
//!
//! Three messages show an abrupt change of content, as from text to pictures; then the ratios of
//! their size class are forgotten. The time lost against the best fixed choice for the new content
//! falls below 2 %
//!
//! - 20 messages after text became noise;
//! - 100, 150 and 300 messages after noise became text, at 10, 100 and 1000 Mbit/s: the smaller the
//!   gain, the rarer the trials;
//! - 100 messages after the link became a hundred times slower, 200 after it became a hundred times
//!   faster.
//!
//! `tests/all/auto` measures these figures in simulated time.

mod candidate;
mod cost;
mod estimate;
mod fit;
mod link;
mod measure;
mod reference;
mod slowdown;

use alloc::vec::Vec;
use core::time::Duration;

use self::candidate::{CLASSES, Candidate, Message, Surprise};
use crate::Choice;

pub use cost::{Cost, Costs, LinearTime};
pub use link::Link;

/// The share of the messages' time that trials may take: too little for an application to notice.
const TRIAL_SHARE: f32 = 0.005;
/// The time that may be spent in addition to learn the link's rate at the beginning. Nanoseconds in
/// total.
const RATE_BUDGET: f32 = 60_000.0;
/// While the link's rate is unknown, every second of the first messages is sent by another choice,
/// so that packets of two sizes are timed.
const EXPLORE_EVERY: u64 = 2;
/// The number of first messages for which [`EXPLORE_EVERY`] holds.
const EXPLORE_EARLY: u64 = 128;
/// After [`EXPLORE_EARLY`] messages, every sixteenth message is sent by another choice.
const EXPLORE_LATER_EVERY: u64 = 16;
/// The first messages on a new link are sent by the cheapest codec or uncompressed: others may be
/// far too slow for it.
const BLIND_MESSAGES: u64 = 10;
/// Messages of about the same size for which a choice is kept, at most, while nothing new is
/// learned.
const MAX_KEPT: u32 = 8;
/// Shares of a packet's time, and of a message's time on the link. No compression is chosen if it
/// is slower by no more than the smaller of the two, which is about the error of the measurements.
/// If no compression is in use, a codec must be faster by twice as much.
const INDIFFERENT: [f32; 2] = [0.01, 0.05];
/// The weight of a new time in the moving average of the time of no compression.
const BASELINE_GAIN: f32 = 1.0 / 16.0;
/// A ratio below this gives a packet of a clearly different size.
const SMALLER_RATIO: f32 = 0.9;

/// Chooses for the messages of one stream over one link.
///
/// ```
/// use groupwire_codecs::{ALL, Auto, Costs, Link, Packer};
/// let (mut auto, link) = (Auto::new(&Auto::candidates(|codec| codec < 3), &Costs::reference()), Link::of_rate(1e7));
/// let mut packer = Packer::new(ALL);
/// let message = b"again and again and again and again and again and again and again";
/// let pick = auto.choose(message.len(), &link);
/// let mut packed = Vec::new();
/// packer.pack(pick.choice, message, &mut packed)?;
/// auto.learn(pick.choice, message.len(), packed.len());
/// if let Some(also) = pick.also {
///     let mut other = Vec::new();
///     packer.pack(also, message, &mut other)?;
///     auto.learn(also, message.len(), other.len());
/// }
/// assert!(packed.len() < message.len());
/// # Ok::<(), groupwire_codecs::OptionsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Auto {
    candidates: Vec<Candidate>,
    /// The number of messages for which a choice was made so far.
    messages: u64,
    /// Time that trials may take now, ns.
    trial_budget: f32,
    /// The choice that the last message is packed by as a trial, in addition to the one that is
    /// sent.
    also: Option<Choice>,
    /// By how much the last message's ratio exceeded the expected one.
    excess: f32,
    /// The choices that are kept while nothing new is learned, by size class.
    kept: [Kept; CLASSES],
    /// What is left of [`RATE_BUDGET`], ns.
    rate_budget: f32,
    /// Measured times of packing and of unpacking without compression, ns. They are subtracted from
    /// measured times of codecs, since only the difference matters.
    baseline: [Option<f32>; 2],
}

/// A choice that is kept for the next messages of a size class.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    /// Size of the message that the choice was made for.
    size: usize,
    /// The chosen candidate's index.
    at: usize,
    /// The number of messages for which the choice was to be kept when it was made.
    run: u32,
    /// The number of messages for which it is still kept.
    left: u32,
}

/// The choice for one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pick {
    /// The choice by which the message is packed and sent. Report the packed size to
    /// [`Auto::learn`].
    pub choice: Choice,
    /// Another choice by which the message is packed as a trial. Report its packed size to
    /// [`Auto::learn`]; do not send it.
    pub also: Option<Choice>,
}

impl Auto {
    /// Chooses among `candidates` and no compression.
    pub fn new(candidates: &[Choice], costs: &Costs) -> Self {
        let mut all: Vec<Candidate> = Vec::with_capacity(candidates.len() + 1);
        for &choice in [Choice::NONE].iter().chain(candidates) {
            if all.iter().all(|known| known.choice != choice) {
                all.push(Candidate::new(choice, costs.of(choice)));
            }
        }
        Auto {
            candidates: all,
            messages: 0,
            trial_budget: 0.0,
            also: None,
            excess: 0.0,
            kept: [Kept::default(); CLASSES],
            rate_budget: RATE_BUDGET,
            baseline: [None; 2],
        }
    }

    /// The default candidates for messages, limited to codecs for which `has` is true: those that
    /// both ends have.
    pub fn candidates(has: impl Fn(u8) -> bool) -> Vec<Choice> {
        reference::CANDIDATES.iter().copied().filter(|choice| has(choice.codec)).collect()
    }

    /// Chooses for a message of `size` bytes. Takes some nanoseconds mostly and less than a
    /// microsecond always; allocates nothing.
    pub fn choose(&mut self, size: usize, link: &Link) -> Pick {
        self.messages += 1;
        let kept = &mut self.kept[Message::new(size, 0.0).class];
        if kept.left > 0 && kept.size.abs_diff(size) <= size / 32 {
            kept.left -= 1;
            (self.also, self.excess) = (None, 0.0);
            return Pick { choice: self.candidates[kept.at].choice, also: None };
        }
        self.choose_again(size, link)
    }

    fn choose_again(&mut self, size: usize, link: &Link) -> Pick {
        let message = Message::new(size, link.assumed_nanos());
        let best = self.preferred(message, link);
        let expected = self.candidates[best].expected(message);
        let since = self.kept[message.class].run + 1;
        self.trial_budget =
            (self.trial_budget + since as f32 * TRIAL_SHARE * expected).min(message.plain);
        let chosen = self.explore(best, message, link).unwrap_or(best);
        let also = self.trial(chosen, expected, message);
        self.keep(best, message, best == 0 || !link.is_unknown());
        let choice = |at: usize| self.candidates[at].choice;
        let pick = Pick { choice: choice(chosen), also: also.map(choice) };
        (self.also, self.excess) = (pick.also, 0.0);
        pick
    }

    /// Keeps a choice for the next messages of about this size: for twice as many whenever it is
    /// confirmed.
    fn keep(&mut self, best: usize, message: Message, is_sure: bool) {
        let kept = &mut self.kept[message.class];
        let is_same = kept.at == best && is_sure;
        let run = if is_same { (2 * kept.run + 1).min(MAX_KEPT - 1) } else { 0 };
        *kept = Kept { size: message.size, at: best, run, left: run };
    }

    /// Learns that packing a message of `size` bytes by `choice` took `time`. Optional: times of
    /// some messages, say one of eight, correct the costs that [`Auto::new`] was given. Report
    /// times of [`Choice::NONE`] as well, since only the difference matters.
    pub fn took(&mut self, choice: Choice, size: usize, time: Duration) {
        let time = self.above_baseline(0, choice, time);
        let is_trial = self.also == Some(choice);
        let message = Message::new(size, 0.0);
        let found = self.candidates[1..].iter_mut().find(|candidate| candidate.choice == choice);
        found.into_iter().for_each(|candidate| candidate.took(message, time, is_trial));
    }

    /// Learns that unpacking a message of `size` bytes took `time`. The level in `choice` is
    /// ignored, because a packed message does not state it. The time that this end needs is the
    /// best estimate of what the other end needs.
    pub fn unpacked(&mut self, choice: Choice, size: usize, time: Duration) {
        let time = self.above_baseline(1, choice, time);
        let message = Message::new(size, 0.0);
        let is_of = |other: Choice| (other.codec, other.filter) == (choice.codec, choice.filter);
        let of_codec = self.candidates[1..].iter_mut().filter(|candidate| is_of(candidate.choice));
        of_codec.for_each(|candidate| candidate.unpacked(message, time));
    }

    /// Estimates the time that the other end needed to unpack a message that was packed by `sent`,
    /// and to pack its answer of about the same size by `came`. It is part of a measured round
    /// trip, and not caused by the link.
    pub fn others_work(&self, sent: Choice, came: Choice, size: usize) -> Duration {
        let message = Message::new(size, 0.0);
        let of = |choice: Choice| {
            let same = self.candidates.iter().find(|candidate| candidate.choice == choice);
            let is_of = |candidate: &&Candidate| candidate.choice.codec == choice.codec;
            same.or_else(|| self.candidates.iter().find(is_of))
        };
        let unpacking = of(sent).map_or(0.0, |candidate| candidate.unpacking(message));
        let packing = of(came).map_or(0.0, |candidate| candidate.packing(message));
        Duration::from_nanos((unpacking + packing) as u64)
    }

    /// `time` less the baseline, ns; `which` is 0 for packing, 1 for unpacking. The time of no
    /// compression updates the baseline.
    fn above_baseline(&mut self, which: usize, choice: Choice, time: Duration) -> f32 {
        let nanos = time.as_nanos() as f32;
        let baseline = &mut self.baseline[which];
        if choice == Choice::NONE {
            let before = baseline.unwrap_or(nanos);
            *baseline = Some(before + BASELINE_GAIN * (nanos.min(2.0 * before + 1.0) - before));
        }
        (nanos - baseline.unwrap_or(0.0)).max(0.0)
    }

    /// Learns that `choice` packed a message of `size` bytes into `packed` bytes. `choice` is the
    /// one that the packer was given, even if it left the message unchanged. Call this for
    /// [`Pick::choice`] first, then for [`Pick::also`].
    pub fn learn(&mut self, choice: Choice, size: usize, packed: usize) {
        let found = self.candidates.iter_mut().find(|candidate| candidate.choice == choice);
        let Some(candidate) = found.filter(|_| choice != Choice::NONE && size > 0) else { return };
        let message = Message::new(size, 0.0);
        let ratio = packed as f32 / size as f32;
        let is_trial = self.also == Some(choice);
        // A message that is unusual for the choice is as unusual for the trial, so the choice's
        // excess is subtracted.
        let excess = if is_trial { self.excess } else { 0.0 };
        self.excess = if is_trial { 0.0 } else { ratio - candidate.ratio(message) };
        let surprise = candidate.learn(message, ratio - excess, self.messages);
        if surprise != Surprise::None {
            (self.kept[message.class].run, self.kept[message.class].left) = (0, 0);
        }
        if surprise == Surprise::NewContent {
            let others = self.candidates.iter_mut().filter(|other| other.choice != choice);
            others.for_each(|other| other.forget(message));
        }
    }

    /// The candidate of the least expected time.
    fn best(&self, message: Message, may: impl Fn(&Candidate) -> bool) -> Option<usize> {
        let allowed = self.candidates.iter().enumerate().filter(|(_, candidate)| may(candidate));
        let times = allowed.map(|(index, candidate)| (index, candidate.expected(message)));
        times.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
    }

    /// The best candidate, or no compression if that is hardly slower. A small advantage for the
    /// choice that is kept avoids needless changes.
    fn preferred(&self, message: Message, link: &Link) -> usize {
        if link.is_new() && self.messages <= BLIND_MESSAGES {
            return if self.messages.is_multiple_of(3) { 0 } else { self.cheapest(message) };
        }
        let expected = |at: usize| self.candidates[at].expected(message);
        let noise = (INDIFFERENT[0] * link.one_way()).min(INDIFFERENT[1] * message.plain);
        let before = self.kept[message.class].at;
        let mut best = self.best(message, |_| true).unwrap_or(0);
        if expected(before) <= expected(best) + noise / 2.0 {
            best = before;
        }
        let least = if before == 0 { 2.0 * noise } else { noise };
        if message.plain - expected(best) > least { best } else { 0 }
    }

    /// The codec that takes the least time to pack and unpack.
    fn cheapest(&self, message: Message) -> usize {
        let works = self.candidates.iter().map(|candidate| candidate.work(message)).enumerate();
        works.skip(1).min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at)
    }

    /// Another choice than `best`, which gives a packet of another size, if the link's rate is
    /// still to be learned.
    fn explore(&mut self, best: usize, message: Message, link: &Link) -> Option<usize> {
        if !link.wants_sizes() {
            return None;
        }
        let is_unknown = link.is_unknown();
        if best != 0 && is_unknown {
            let every =
                if self.messages < EXPLORE_EARLY { EXPLORE_EVERY } else { EXPLORE_LATER_EVERY };
            return self.messages.is_multiple_of(every).then_some(0);
        }
        let other = if best == 0 { self.cheapest_smaller(message, link)? } else { 0 };
        let work = |at: usize| self.candidates[at].work(message);
        let expected = |at: usize| self.candidates[at].expected(message);
        let time = if is_unknown { work(other) } else { expected(other) - expected(best) }.max(0.0);
        if is_unknown && self.messages < EXPLORE_EARLY && time <= self.rate_budget {
            let is_turn = self.messages.is_multiple_of(EXPLORE_EVERY);
            self.rate_budget -= if is_turn { time } else { 0.0 };
            return is_turn.then_some(other);
        }
        self.spend(time).then_some(other)
    }

    /// The cheapest candidate that gives a clearly smaller packet and that would pay on the slowest
    /// link which the measured times allow. `None` if the rate does not matter.
    fn cheapest_smaller(&self, message: Message, link: &Link) -> Option<usize> {
        let most = link.most_nanos().min(f32::MAX / 1e12) * message.size as f32;
        let may = |candidate: &Candidate| {
            let ratio = candidate.ratio(message);
            ratio < SMALLER_RATIO && candidate.work(message) < (1.0 - ratio) * most
        };
        let able = self.candidates.iter().enumerate().filter(|(_, candidate)| may(candidate));
        let works = able.map(|(at, candidate)| (at, candidate.work(message)));
        works.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
    }

    /// A candidate whose next trial is due, which could win if its ratio had improved, and which
    /// fits the budget.
    fn trial(&mut self, chosen: usize, expected: f32, message: Message) -> Option<usize> {
        let is_due = |candidate: &Candidate| {
            candidate.is_due(message, self.messages)
                && candidate.at_best(message) < expected
                && candidate.packing(message) <= self.trial_budget
        };
        let mut candidates = self.candidates.iter().enumerate();
        let at = candidates.position(|(at, candidate)| at != chosen && is_due(candidate))?;
        self.spend(self.candidates[at].packing(message));
        self.candidates[at].put_off(message, self.messages);
        Some(at)
    }

    /// Takes `time`, ns, from the trial budget. False if there is not enough.
    fn spend(&mut self, time: f32) -> bool {
        let enough = time <= self.trial_budget;
        if enough {
            self.trial_budget -= time;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LZ4: Choice = Choice::codec(1);
    const LZMA: Choice = Choice::codec(10);

    fn auto() -> Auto {
        Auto::new(&[LZ4, LZMA], &Costs::reference())
    }

    /// Chooses for a message of 1000 bytes; `left` says to how many bytes each choice packs it.
    fn send(auto: &mut Auto, link: &Link, left: impl Fn(Choice) -> usize) -> Pick {
        let pick = auto.choose(1000, link);
        for choice in [Some(pick.choice), pick.also].into_iter().flatten() {
            auto.learn(choice, 1000, left(choice));
        }
        pick
    }

    #[test]
    fn without_candidates_nothing_is_compressed() {
        let mut auto = Auto::new(&[], &Costs::reference());
        for size in [0, 1, 1000, usize::MAX] {
            let pick = auto.choose(size, &Link::of_rate(1000.0));
            assert_eq!(pick, Pick { choice: Choice::NONE, also: None });
            auto.learn(Choice::NONE, size, 7);
            auto.learn(LZ4, size, 7);
        }
    }

    #[test]
    fn the_rate_of_the_link_decides() {
        let left = |choice| if choice == LZMA { 300 } else { 500 };
        for (rate, best) in [(1e5, LZMA), (1e8, LZ4), (1e11, Choice::NONE)] {
            let (mut auto, link) = (auto(), Link::of_rate(rate));
            for nth in 0..100 {
                let pick = send(&mut auto, &link, left);
                assert!(nth < 3 || pick.choice == best, "{nth}: {pick:?} at {rate}");
            }
        }
    }

    #[test]
    fn a_candidate_that_cannot_win_is_never_tried() {
        let (mut auto, link) = (auto(), Link::of_rate(1e9));
        for _ in 0..10_000 {
            let pick = send(&mut auto, &link, |_| 500);
            assert!(pick.choice != LZMA && pick.also != Some(LZMA));
        }
    }

    #[test]
    fn small_messages_are_not_compressed() {
        let (mut auto, link) = (auto(), Link::of_rate(1e9));
        auto.learn(LZ4, 20, 20);
        assert_eq!(auto.choose(20, &link).choice, Choice::NONE);
        assert_eq!(auto.choose(1400, &link).choice, LZ4);
    }

    #[test]
    fn noise_is_not_compressed_after_a_few_messages_and_trials_get_rarer() {
        let (mut auto, link) = (auto(), Link::of_rate(1e6));
        let picks: Vec<_> = (0..4000).map(|_| send(&mut auto, &link, |_| 1001)).collect();
        assert!(picks[3..].iter().all(|pick| pick.choice == Choice::NONE));
        let trials = |picks: &[Pick]| picks.iter().filter(|pick| pick.also.is_some()).count();
        let (early, late) = (trials(&picks[..200]), trials(&picks[3000..]));
        assert!(early > 5 && (4..12).contains(&late), "{early}, {late}");
    }

    #[test]
    fn ratios_are_learned_for_each_size_class() {
        let (mut auto, link) = (auto(), Link::of_rate(1e6));
        for _ in 0..50 {
            for (size, left) in [(100, 102), (1000, 200)] {
                let pick = auto.choose(size, &link);
                auto.learn(pick.choice, size, left);
            }
        }
        assert_eq!(auto.choose(100, &link).choice, Choice::NONE);
        assert_ne!(auto.choose(1000, &link).choice, Choice::NONE);
    }
}
