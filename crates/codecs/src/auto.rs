//! The choice of a codec for each message: what the paper LMC leaves to future work.
//!
//! A message's time is what packing takes, its packed bytes on the link, and what unpacking takes; what a packet costs
//! besides is the same whatever is chosen. [`Auto`] reckons it for every candidate and takes the least. It knows
//!
//! - what packing and unpacking take from [`Costs`], by size, and, if it is told, what they take among real messages
//!   ([`Auto::took`], [`Auto::unpacked`]), which is more;
//! - what a byte takes on the [`Link`];
//! - how small messages become from those that were packed, by candidate and size class (powers of two).
//!
//! A candidate that was never tried is hoped to shrink a message to a quarter. So whatever could be best is tried at
//! once, the cheapest first, and what could not be best on this link never is. Later the losers are packed too now and
//! then ([`Pick::also`]), at growing intervals, since content changes; that takes at most 0.5 % of the time that
//! messages take. A loser is compared with what was chosen for the same message, so that odd messages deceive nobody.
//!
//! As long as the link's rate is not known, now and then a message goes by another choice, so that there are two sizes.
//! If none is best, that is the cheapest choice that shrinks messages, within 60 µs in all at the beginning and the
//! 0.5 % after that; if no choice could pay even if all of the time were due to the bytes, the rate does not matter.
//!
//! A choice is kept for up to eight messages of about one size, and no compression is preferred to what is better by less
//! than a hundredth of a packet's time.
//!
//! If content changes all at once, as from text to pictures, three messages show it, and what was known of their size
//! class is forgotten. Against the best fixed choice for the new content less than 2 % is lost
//!
//! - 20 messages after text became noise;
//! - 100, 150 and 300 messages after noise became text, at 10, 100 and 1000 Mbit/s: the less there is to gain, the more
//!   rarely it is looked for;
//! - 100 messages after the link became a hundred times slower, 200 after it became as much faster.

mod candidate;
mod cost;
mod estimate;
mod fit;
mod link;
mod measure;
mod pace;
mod reference;

use alloc::vec::Vec;
use core::time::Duration;

use self::candidate::{CLASSES, Candidate, Message, News};
use crate::Choice;

pub use cost::{Cost, Costs, LinearTime};
pub use link::Link;

/// The share of messages' time that may be spent to learn.
const SHARE: f32 = 0.005;
/// Beside it, to learn the link's rate at the beginning, ns in all.
const GRANT: f32 = 60_000.0;
/// While the link's rate is not known, one message of so many goes by another choice, so that there are two sizes...
const OTHERWISE: u64 = 2;
/// ... for so many messages; then one of so many.
const OTHERWISE_FIRST: u64 = 128;
const OTHERWISE_LATER: u64 = 16;
/// So many messages at first go by the cheapest choice or by none: on an unknown link others may be far too slow.
const FIRST: u64 = 10;
/// Messages of about one size that a choice is kept for, at most, while nothing new is learned.
const KEPT: u32 = 8;
/// No compression is chosen if it is worse by no more than this share of a packet's time, or of a message's time on the
/// link: so little is not known. To leave it takes twice as much.
const NOISE: [f32; 2] = [0.01, 0.05];
/// How fast the time of no compression follows.
const FOLLOW: f32 = 1.0 / 16.0;
/// Such a ratio makes another size.
const SMALLER: f32 = 0.9;

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
    /// Chosen for so far.
    messages: u64,
    /// Time that may be spent to learn, ns.
    credit: f32,
    /// What the last message is packed by only to learn from it.
    also: Option<Choice>,
    /// How much worse the last message's ratio is than was expected.
    odd: f32,
    /// What is chosen while nothing new is learned, by size class.
    kept: [Kept; CLASSES],
    /// What may still be spent at the beginning, ns.
    grant: f32,
    /// What packing and unpacking by no compression take, ns: so much less counts of others' times.
    nothing: [Option<f32>; 2],
}

/// A choice that was made.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    size: usize,
    at: usize,
    /// Messages that it was made for and that it is still good for.
    run: u32,
    left: u32,
}

/// What is chosen for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pick {
    /// What the message is to be packed by, and to be learned from.
    pub choice: Choice,
    /// What it is to be packed by too, only to be learned from.
    pub also: Option<Choice>,
}

impl Auto {
    /// Chooses among these. No compression is always among them.
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
            credit: 0.0,
            also: None,
            odd: 0.0,
            kept: [Kept::default(); CLASSES],
            grant: GRANT,
            nothing: [None; 2],
        }
    }

    /// The candidates that are worth while for messages, of the codecs that both ends have.
    pub fn candidates(has: impl Fn(u8) -> bool) -> Vec<Choice> {
        reference::CANDIDATES.iter().copied().filter(|choice| has(choice.codec)).collect()
    }

    /// Chooses for a message of `size` bytes. Mostly in some nanoseconds, always well below a microsecond; allocates
    /// nothing.
    pub fn choose(&mut self, size: usize, link: &Link) -> Pick {
        self.messages += 1;
        let kept = &mut self.kept[Message::new(size, 0.0).class];
        if kept.left > 0 && kept.size.abs_diff(size) <= size / 32 {
            kept.left -= 1;
            (self.also, self.odd) = (None, 0.0);
            return Pick { choice: self.candidates[kept.at].choice, also: None };
        }
        self.choose_anew(size, link)
    }

    fn choose_anew(&mut self, size: usize, link: &Link) -> Pick {
        let message = Message::new(size, link.reckoned());
        let best = self.best_for_sure(message, link);
        let expected = self.candidates[best].expected(message);
        let since = self.kept[message.class].run + 1;
        self.credit = (self.credit + since as f32 * SHARE * expected).min(message.plain);
        let chosen = self.otherwise(best, message, link).unwrap_or(best);
        let also = self.trial(chosen, expected, message);
        self.keep(best, message, best == 0 || !link.is_unknown());
        let choice = |at: usize| self.candidates[at].choice;
        let pick = Pick { choice: choice(chosen), also: also.map(choice) };
        (self.also, self.odd) = (pick.also, 0.0);
        pick
    }

    /// Keeps a choice for the next messages of about this size: the longer the more often it was the same.
    fn keep(&mut self, best: usize, message: Message, is_sure: bool) {
        let kept = &mut self.kept[message.class];
        let is_same = kept.at == best && is_sure;
        let run = if is_same { (2 * kept.run + 1).min(KEPT - 1) } else { 0 };
        *kept = Kept { size: message.size, at: best, run, left: run };
    }

    /// Learns that packing a message of `size` bytes by this choice took so long. Without it costs are those that
    /// the choice was made with; with some of the messages, say one of eight, they become what they are among real
    /// messages. What no compression takes should be told likewise, since only the difference counts.
    pub fn took(&mut self, choice: Choice, size: usize, time: Duration) {
        let time = self.beyond_nothing(0, choice, time);
        let is_trial = self.also == Some(choice);
        let message = Message::new(size, 0.0);
        let found = self.candidates[1..].iter_mut().find(|candidate| candidate.choice == choice);
        found.into_iter().for_each(|candidate| candidate.took(message, time, is_trial));
    }

    /// Learns that unpacking a message of `size` bytes took so long. The level does not matter, as it is not known.
    /// What this end needs to unpack is the best that is known of what the other one needs.
    pub fn unpacked(&mut self, choice: Choice, size: usize, time: Duration) {
        let time = self.beyond_nothing(1, choice, time);
        let message = Message::new(size, 0.0);
        let is_of = |other: Choice| (other.codec, other.filter) == (choice.codec, choice.filter);
        let of_codec = self.candidates[1..].iter_mut().filter(|candidate| is_of(candidate.choice));
        of_codec.for_each(|candidate| candidate.unpacked(message, time));
    }

    /// What the other end probably needed to unpack a message that was packed by `sent` and to pack its answer of about
    /// the same size by `came`, beyond what no compression takes: not a matter of the link.
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

    /// The time, ns, less what no compression takes; which is learned, if this is it.
    fn beyond_nothing(&mut self, which: usize, choice: Choice, time: Duration) -> f32 {
        let nanos = time.as_nanos() as f32;
        let nothing = &mut self.nothing[which];
        if choice == Choice::NONE {
            let before = nothing.unwrap_or(nanos);
            *nothing = Some(before + FOLLOW * (nanos.min(2.0 * before + 1.0) - before));
        }
        (nanos - nothing.unwrap_or(0.0)).max(0.0)
    }

    /// Learns that a message of `size` bytes became one of `packed` by `choice`: the one that was asked for, even if
    /// the packer left the message as it was. First [`Pick::choice`], then [`Pick::also`].
    pub fn learn(&mut self, choice: Choice, size: usize, packed: usize) {
        let found = self.candidates.iter_mut().find(|candidate| candidate.choice == choice);
        let Some(candidate) = found.filter(|_| choice != Choice::NONE && size > 0) else { return };
        let message = Message::new(size, 0.0);
        let ratio = packed as f32 / size as f32;
        let is_trial = self.also == Some(choice);
        // If the message is an odd one, it is for both, the chosen one and the one that is packed beside it.
        let odd = if is_trial { self.odd } else { 0.0 };
        self.odd = if is_trial { 0.0 } else { ratio - candidate.ratio(message) };
        let news = candidate.learn(message, ratio - odd, self.messages);
        if news != News::None {
            (self.kept[message.class].run, self.kept[message.class].left) = (0, 0);
        }
        if news == News::OtherContent {
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

    /// The best, or no compression if that is hardly worse. What was chosen before has some advantage.
    fn best_for_sure(&self, message: Message, link: &Link) -> usize {
        if link.is_new() && self.messages <= FIRST {
            return if self.messages.is_multiple_of(3) { 0 } else { self.cheapest(message) };
        }
        let expected = |at: usize| self.candidates[at].expected(message);
        let noise = (NOISE[0] * link.way()).min(NOISE[1] * message.plain);
        let before = self.kept[message.class].at;
        let mut best = self.best(message, |_| true).unwrap_or(0);
        if expected(before) <= expected(best) + noise / 2.0 {
            best = before;
        }
        let least = if before == 0 { 2.0 * noise } else { noise };
        if message.plain - expected(best) > least { best } else { 0 }
    }

    fn cheapest(&self, message: Message) -> usize {
        let works = self.candidates.iter().map(|candidate| candidate.work(message)).enumerate();
        works.skip(1).min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at)
    }

    /// Another choice than the best, of another size, if the link needs that to be learned.
    fn otherwise(&mut self, best: usize, message: Message, link: &Link) -> Option<usize> {
        if !link.wants_sizes() {
            return None;
        }
        let is_unknown = link.is_unknown();
        if best != 0 && is_unknown {
            let every = if self.messages < OTHERWISE_FIRST { OTHERWISE } else { OTHERWISE_LATER };
            return self.messages.is_multiple_of(every).then_some(0);
        }
        let other = if best == 0 { self.smaller(message, link)? } else { 0 };
        let work = |at: usize| self.candidates[at].work(message);
        let expected = |at: usize| self.candidates[at].expected(message);
        let time = if is_unknown { work(other) } else { expected(other) - expected(best) }.max(0.0);
        if is_unknown && self.messages < OTHERWISE_FIRST && time <= self.grant {
            // No more than every other message.
            let is_turn = self.messages.is_multiple_of(OTHERWISE);
            self.grant -= if is_turn { time } else { 0.0 };
            return is_turn.then_some(other);
        }
        self.spend(time).then_some(other)
    }

    /// The cheapest one that makes another size and that would pay if a byte took as long as it may. If there is
    /// none, the rate does not matter.
    fn smaller(&self, message: Message, link: &Link) -> Option<usize> {
        let most = link.most().min(f32::MAX / 1e12) * message.size as f32;
        let may = |candidate: &Candidate| {
            let ratio = candidate.ratio(message);
            ratio < SMALLER && candidate.work(message) < (1.0 - ratio) * most
        };
        let able = self.candidates.iter().enumerate().filter(|(_, candidate)| may(candidate));
        let works = able.map(|(at, candidate)| (at, candidate.work(message)));
        works.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
    }

    /// A candidate whose turn it is, that could win if it were lucky, and that there is time for.
    fn trial(&mut self, chosen: usize, expected: f32, message: Message) -> Option<usize> {
        let is_due = |candidate: &Candidate| {
            candidate.is_due(message, self.messages)
                && candidate.at_best(message) < expected
                && candidate.packing(message) <= self.credit
        };
        let mut candidates = self.candidates.iter().enumerate();
        let at = candidates.position(|(at, candidate)| at != chosen && is_due(candidate))?;
        self.spend(self.candidates[at].packing(message));
        self.candidates[at].put_off(message, self.messages);
        Some(at)
    }

    /// Takes time to learn, ns, if there is so much.
    fn spend(&mut self, time: f32) -> bool {
        let enough = time <= self.credit;
        if enough {
            self.credit -= time;
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

    /// Chooses for a message of 1000 bytes of which a choice leaves so many.
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
    fn the_link_decides() {
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
    fn what_cannot_win_is_never_tried() {
        let (mut auto, link) = (auto(), Link::of_rate(1e9));
        for _ in 0..10_000 {
            let pick = send(&mut auto, &link, |_| 500);
            assert!(pick.choice != LZMA && pick.also != Some(LZMA));
        }
    }

    #[test]
    fn small_messages_are_left_alone() {
        let (mut auto, link) = (auto(), Link::of_rate(1e9));
        auto.learn(LZ4, 20, 20);
        assert_eq!(auto.choose(20, &link).choice, Choice::NONE);
        assert_eq!(auto.choose(1400, &link).choice, LZ4);
    }

    #[test]
    fn noise_is_left_alone_after_a_few_messages_and_tried_ever_more_rarely() {
        let (mut auto, link) = (auto(), Link::of_rate(1e6));
        let picks: Vec<_> = (0..4000).map(|_| send(&mut auto, &link, |_| 1001)).collect();
        assert!(picks[3..].iter().all(|pick| pick.choice == Choice::NONE));
        let trials = |picks: &[Pick]| picks.iter().filter(|pick| pick.also.is_some()).count();
        let (early, late) = (trials(&picks[..200]), trials(&picks[3000..]));
        assert!(early > 5 && (4..12).contains(&late), "{early}, {late}");
    }

    #[test]
    fn sizes_are_told_apart() {
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
