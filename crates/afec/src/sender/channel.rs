//! One channel of a sender.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::cadence::Cadence;
use super::history::History;
use super::values::Values;
use crate::code::{Code, Repeats};
use crate::ids::{ChannelId, Key, MessageIndex};
use crate::qos::{Order, Qos};
use crate::stats::SenderStats;
use crate::within::Within;

/// Keys whose newest message is remembered: [`Channel::reference_key`] returns 0 for keys that were used less recently.
/// It bounds the memory of a channel. Chosen by judgement; not tuned.
const KEYS: usize = 64;

/// The number of messages over which a positive or negative error-budget balance is paid back. Tuned on steps
/// from 0 to 20 % loss (`groupwire lab afec --part steps`, 200 seeds): the mean miss rate meets its target from two seconds on.
const REPAID_OVER: f64 = 300.0;
/// The part of the balance, in messages, that a receiver which requests missing messages corrects by its own requests.
/// Half of what its request budget holds at most. Chosen by judgement; not tuned.
const CORRECTED_BY_REQUESTS: f64 = 6.0;
/// The usual and the highest [`aim`](Channel::aim), as shares of the target, on a path that loses clearly more than the
/// target: a little below the target, so that most windows of 1000 messages hold the target and not only half of them.
/// Tuned on `groupwire lab afec --part grid`.
const CAREFUL: (f64, f64) = (0.97, 0.97);
/// Like [`CAREFUL`], but for a path that without repeats nearly holds the target: a little above the target, so that
/// nothing is repeated because of chance. Tuned on the cells of `groupwire lab afec --part grid` with 5 % loss and a
/// target of 5 %.
const CALM: (f64, f64) = (1.06, 1.1);
/// A path loses clearly more than the target if it loses this many times the target. Chosen by judgement; not tuned.
const LOSES: f64 = 1.3;
/// The lowest [`aim`](Channel::aim), as a share of the target. Chosen by judgement; not tuned.
const LEAST_AIM: f64 = 0.35;
/// The highest aim on a conflated channel, as a share of the target. It is above [`CALM`] because it is hard to predict
/// how many values newer ones will replace in time; the misses that the receiver reports show it better. Tuned on Table
/// 1 of the paper over two legs that lose 20 % (`lab contract --setup table1`).
const CONFLATED_MOST: f64 = 1.25;
/// The lowest and the highest aim of a conflated channel on a path with a rate limit, as shares of the target: a repeat
/// takes the place of a newer value there, so that more repeats mean more misses (measured with `lab contract --setup
/// modem`).
const CONFLATED_LIMITED: (f64, f64) = (2.0, 3.0);
/// A target counts as out of reach if the least possible share of misses is this many times the target. Chosen by
/// judgement; not tuned.
const OUT_OF_REACH: f64 = 1.1;
/// A target also counts as out of reach while the balance is this high, in messages; the highest that a receiver reports is
/// 31. Outages that depend on time look more harmless to the loss model than they are.
const HOPELESS: f64 = 28.0;
/// The share of misses, as a multiple of the target, that is assumed while the balance is [`HOPELESS`].
const HOPELESS_MISSES: f64 = 1.15;
/// For how long a target has to be in reach again before the application is told so: notices should not alternate.
/// Chosen by judgement; not tuned.
const RELIEF: Duration = Duration::from_secs(10);

/// A message that was not sent yet.
#[derive(Debug)]
pub(super) struct Waiting {
    /// When the application at the message's first sender had it.
    pub(super) origin: Duration,
    pub(super) key: Key,
    pub(super) payload: Vec<u8>,
}

/// The sending side of a channel.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) id: ChannelId,
    pub(super) qos: Qos,
    pub(super) code: Code,
    /// The sum of [`Code::share`] over the last messages, less 1 for each message with [`Code::other`] repeats.
    share: f64,
    pub(super) next_index: MessageIndex,
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) history: History,
    pub(super) cadence: Cadence,
    /// When the tail flush is sent, unless a new message is sent before.
    pub(super) flush_at: Option<Duration>,
    /// The repeats of a conflated channel.
    pub(super) values: Values,
    /// When the newest new messages were sent.
    pub(super) last_new: Option<Duration>,
    /// The mean bytes of a message with its header.
    pub(super) bytes: f64,
    /// The age of messages when they are first sent, in seconds: near the highest of the last ones.
    age: f64,
    /// The error-budget balance that the receiver last reported: how many messages more were missed than the target
    /// permits; negative: fewer.
    pub(super) balance: f64,
    /// The interval between messages that the path's rate leaves this channel, if it is longer than the channel's own.
    pub(super) slowed: Option<Duration>,
    /// Since when the target is in reach again, while the application still believes that it is not.
    in_reach_since: Option<Duration>,
    /// Since when repeats do not fit into packets.
    pub(super) overflowing: Option<Duration>,
    /// The expected share of misses that the application was told, while the target is out of reach.
    pub(super) told: Option<f64>,
    pub(super) stats: SenderStats,
    /// The keys used last and the index of their newest message, the least recently used first.
    keys: Vec<(Key, MessageIndex)>,
}

impl Channel {
    pub(super) fn new(id: ChannelId, qos: Qos, code: Code) -> Self {
        Channel {
            id,
            qos,
            code,
            share: 0.0,
            next_index: MessageIndex(0),
            waiting: VecDeque::new(),
            history: History::default(),
            cadence: Cadence::default(),
            flush_at: None,
            values: Values::default(),
            last_new: None,
            // A telepointer message in text form, until the first messages were sent.
            bytes: 25.0,
            age: 0.0,
            balance: 0.0,
            slowed: None,
            in_reach_since: None,
            overflowing: None,
            told: None,
            stats: SenderStats::default(),
            keys: Vec::new(),
        }
    }

    /// True if only the newest value of each key matters.
    pub(super) fn conflates(&self) -> bool {
        self.qos.order == Order::Newest
    }

    /// Replaces the QoS. `reset_balance`: the error-budget balance of the old QoS says nothing of the new one.
    pub(super) fn set_qos(&mut self, qos: Qos, reset_balance: bool) {
        if reset_balance {
            self.balance = 0.0;
        }
        self.qos = qos;
    }

    /// Drops the messages that wait and those that may be repeated. The indices of later messages continue without a
    /// gap.
    pub(super) fn forget_messages(&mut self) {
        self.waiting.clear();
        self.history.clear();
        self.values.forget_repeats();
        self.flush_at = None;
    }

    /// Replaces a waiting value of the same key by a newer one and returns the old one. Two values of a key may wait if the
    /// channel has a minimum rate and the path `has_spare_rate`: both go in one packet and may both arrive. Returns the newer
    /// value as an error if it replaces nothing and is to wait, too.
    pub(super) fn conflate(
        &mut self,
        newer: Waiting,
        has_spare_rate: bool,
    ) -> Result<Waiting, Waiting> {
        let most = if self.qos.rate_min > 0.0 && has_spare_rate { 2 } else { 1 };
        let same =
            |(place, waiting): (usize, &Waiting)| (waiting.key == newer.key).then_some(place);
        let mut places = self.waiting.iter().enumerate().rev().filter_map(same);
        let Some(last) = places.next() else { return Err(newer) };
        if most > 1 {
            let Some(older) = places.next() else { return Err(newer) };
            self.waiting.swap(older, last);
        }
        Ok(core::mem::replace(&mut self.waiting[last], newer))
    }

    /// The repeats of the next message. The two sets of the code alternate as evenly as its share allows.
    pub(super) fn next_repeats(&mut self) -> Repeats {
        self.share += self.code.share;
        debug_assert!((0.0..=2.0).contains(&self.share), "a share is a number from 0 to 1");
        if self.share >= 1.0 {
            self.share -= 1.0;
            return self.code.other;
        }
        self.code.repeats
    }

    /// The key as a packet carries it: with the number of messages since the key was used before, 0 if that is unknown.
    /// `None` on a channel that is not conflated.
    pub(super) fn reference_key(&mut self, key: Key, index: MessageIndex) -> Option<(Key, u32)> {
        if !self.conflates() {
            return None;
        }
        let known = self.keys.iter().position(|(known, _)| *known == key);
        let back = known.map_or(0, |place| index.since(self.keys.remove(place).1));
        if self.keys.len() == KEYS {
            self.keys.remove(0);
        }
        self.keys.push((key, index));
        Some((key, back))
    }

    /// The share of the next messages that may miss, on a path with loss rate `loss`: below the target if the balance is
    /// positive, above it if the balance is negative.
    pub(super) fn aim(&self, loss: f64, is_limited: bool) -> f64 {
        let target = self.qos.target;
        let (margin, most) = if loss > target * LOSES { CAREFUL } else { CALM };
        let (least, most) = match (self.conflates(), is_limited) {
            (false, _) => (LEAST_AIM, most),
            (true, false) => (LEAST_AIM, CONFLATED_MOST),
            (true, true) => CONFLATED_LIMITED,
        };
        let requests = self.code.answers > 0;
        let balance =
            if requests { (self.balance - CORRECTED_BY_REQUESTS).max(0.0) } else { self.balance };
        (target * margin - balance / REPAID_OVER).within(target * least, target * most)
    }

    /// The share of misses to tell the application if the target is out of reach. `possible`: the least share that any
    /// code reaches. While the application believes that the target is out of reach, the result is the share that it
    /// was told. `None` if the target is in reach.
    pub(super) fn outlook(&mut self, now: Duration, possible: f64) -> Option<f64> {
        let target = self.qos.target;
        // A balance that stays high overrides what the model expects.
        let possible = if self.balance >= HOPELESS {
            possible.max(target * HOPELESS_MISSES)
        } else {
            possible
        };
        if possible > target * OUT_OF_REACH {
            self.in_reach_since = None;
            return Some(self.told.unwrap_or(possible));
        }
        let told = self.told?;
        if possible > target {
            self.in_reach_since = None;
            return Some(told);
        }
        let since = *self.in_reach_since.get_or_insert(now);
        (now < since + RELIEF).then_some(told)
    }

    /// Updates the average age with a message that is sent for the first time. The average rises fast and falls slowly.
    pub(super) fn note_age(&mut self, age: Duration) {
        let more = age.as_secs_f64() - self.age;
        self.age += if more > 0.0 { more / 4.0 } else { more / 32.0 };
    }

    /// The part of the deadline that is left when a message is first sent.
    pub(super) fn left(&self) -> Duration {
        let spent = Duration::from_secs_f64(self.age);
        self.qos.deadline.saturating_sub(self.qos.ahead).saturating_sub(spent)
    }

    /// The last moment at which sending a message of this origin is useful, if it takes `delay` to the other end.
    pub(super) fn useful_until(&self, origin: Duration, delay: Duration) -> Duration {
        (origin + self.qos.deadline).saturating_sub(self.qos.ahead + delay)
    }

    /// The earliest time for the next new message.
    pub(super) fn paced(&self) -> Duration {
        self.last_new.map_or(Duration::ZERO, |last| last + self.spacing())
    }

    /// The least interval between packets with new messages: by the channel's maximum rate or, on a conflated channel,
    /// by the rate that the path leaves to it.
    fn spacing(&self) -> Duration {
        if let Some(slowed) = self.slowed
            && self.conflates()
        {
            return slowed;
        }
        if self.qos.rate_max > 0.0 {
            Duration::from_secs_f64((1.0 / self.qos.rate_max).min(60.0))
        } else {
            Duration::ZERO
        }
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        let waiting: usize = self.waiting.iter().map(|waiting| waiting.payload.capacity()).sum();
        size_of::<Self>()
            + self.history.memory()
            + self.waiting.capacity() * size_of::<Waiting>()
            + waiting
            + self.keys.capacity() * size_of::<(Key, MessageIndex)>()
            + self.values.memory()
    }
}
