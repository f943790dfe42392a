//! One channel of a sender. A message misses if it does not arrive by its deadline; the target is
//! the share of messages that may miss. A code is the plan by which messages are repeated; a
//! piggyback is a repeat in a packet with new messages; a tail flush is one more packet when a
//! pause begins.
//!
//! The error-budget balance is how many more messages were missed than the target permits. The aim
//! is the share of misses for which a code is chosen: the target, corrected by the balance. On a
//! conflated channel only the newest value of each key matters. A leg is a path that is one part of
//! a longer way. "The paper" is the AFEC paper of 2012.

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

/// The most keys whose newest message is remembered: [`Channel::reference_key`] returns 0 for keys
/// that were used less recently. It bounds the memory of a channel. Chosen by judgement; not tuned.
const KEYS: usize = 64;

/// The most messages over which an error-budget balance, positive or negative, is brought back to
/// zero. Tuned on changes from 0 to 20 % loss (`groupwire-lab afec --part steps`, 200 seeds): the
/// mean share of misses meets its target from two seconds on.
const REPAID_OVER: f64 = 300.0;
/// The time in seconds over which the balance of a conflated channel is brought back to zero, if
/// fewer than [`REPAID_OVER`] messages are sent in it. It is as long as the paper's telepointer
/// takes for that number. Without this limit, the balance that halves the aim of a channel with
/// five messages per second and a target of 5 % would be 7 messages, a fifth of all that the
/// channel may miss in ten minutes.
const REPAID_IN: f64 = 10.0;
/// The fewest messages over which a balance is brought back to zero. Chosen by judgement; not
/// tuned.
const REPAID_LEAST: f64 = 20.0;
/// The part of the balance, in messages, that a receiver which requests missing messages corrects
/// by these requests: half of what its request budget holds at most. Chosen by judgement; not
/// tuned.
const CORRECTED_BY_REQUESTS: f64 = 6.0;
/// The usual aim and the highest one, as shares of the target, on a path that loses clearly more
/// than the target: a little below the target, so that most windows of 1000 messages hold the
/// target and not only half of them. Tuned on `groupwire-lab afec --part grid`.
const CAREFUL: (f64, f64) = (0.97, 0.97);
/// The same two numbers as [`CAREFUL`], for a path that nearly holds the target without repeats: a
/// little above the target, so that nothing is repeated because of chance. Tuned on `groupwire-lab
/// afec --part grid` with 5 % loss and a target of 5 %.
const CALM: (f64, f64) = (1.06, 1.1);
/// A path loses clearly more than the target if it loses this many times as much. Chosen by
/// judgement; not tuned.
const LOSES: f64 = 1.3;
/// The usual aim is multiplied by this on a conflated channel that permits fewer than [`FEW`]
/// misses per second, since chance makes a larger part of so few. Tuned on text values over two
/// legs that lose 18.6 % in bursts (`groupwire-lab contract --setup table1`).
const CAREFUL_FEW: f64 = 0.85;
/// The permitted misses per second, on one leg, below which chance makes a large part of them.
const FEW: f64 = 0.25;
/// The lowest aim, as a share of the target. Chosen by judgement; not tuned.
const LEAST_AIM: f64 = 0.35;
/// The highest aim on a conflated channel, as a share of the target. It is above [`CALM`] because
/// it is hard to predict how many values will be replaced by newer ones in time; the misses that
/// the receiver reports show it better. Tuned on Table 1 of the paper over two legs that lose 20 %
/// (`groupwire-lab contract --setup table1`).
const CONFLATED_MOST: f64 = 1.25;
/// The lowest and the highest aim of a conflated channel on a path with a rate limit, as shares of
/// the target, also for a minute after the limit. A repeat takes the place of a newer value there,
/// so more repeats mean more misses (measured with `groupwire-lab contract --setup modem`).
const CONFLATED_LIMITED: (f64, f64) = (2.0, 3.0);
/// A target counts as out of reach if the least possible share of misses is more than this many
/// times the target. Chosen by judgement; not tuned.
const OUT_OF_REACH: f64 = 1.1;
/// The balance, in messages, from which on a target also counts as out of reach. The highest
/// balance that a receiver reports is 31. Outages that depend on time look more harmless to the
/// loss model than they are.
const HOPELESS: f64 = 28.0;
/// The share of misses, as a multiple of the target, that is assumed while the balance is
/// [`HOPELESS`] or more.
const HOPELESS_MISSES: f64 = 1.15;
/// For how long a target must be in reach again before the application is told so, so that notices
/// do not alternate. Chosen by judgement; not tuned.
const RELIEF: Duration = Duration::from_secs(10);

/// A message that waits to be sent for the first time.
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
    /// The sum of [`Code::share`] over the last messages, less 1 for each message that got
    /// [`Code::other`] repeats. It decides which repeats the next message gets.
    share: f64,
    pub(super) next_index: MessageIndex,
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) history: History,
    pub(super) cadence: Cadence,
    /// When the tail flush is sent, unless a new message is sent earlier.
    pub(super) flush_at: Option<Duration>,
    /// The plan of the repeats of a conflated channel.
    pub(super) values: Values,
    /// When new messages were last sent.
    pub(super) last_new: Option<Duration>,
    /// The mean size of a message with its header, in bytes.
    pub(super) bytes: f64,
    /// The age of messages when they are first sent, in seconds: near the highest age of the last
    /// ones.
    age: f64,
    /// The error-budget balance that the receiver last reported: how many more messages were missed
    /// than the target permits; negative if fewer were missed.
    pub(super) balance: f64,
    /// The interval between messages that the path's rate allows this channel, if it is longer than
    /// the channel's own interval.
    pub(super) slowed: Option<Duration>,
    /// Since when the target is in reach again. Only set until the application is told.
    in_reach_since: Option<Duration>,
    /// Since when repeats do not fit into packets. `None` if they do.
    pub(super) overflowing: Option<Duration>,
    /// While the target is out of reach: the expected share of misses that the application was
    /// told.
    pub(super) told: Option<f64>,
    pub(super) stats: SenderStats,
    /// The most recently used keys, each with the index of its newest message; the least recently
    /// used key first.
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
            // The size of a telepointer's message in text form, until the first messages were sent.
            // (A telepointer is the pointer of another user.)
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

    /// Replaces the QoS. `reset_balance` says that the error-budget balance of the old QoS tells
    /// nothing about the new one.
    pub(super) fn set_qos(&mut self, qos: Qos, reset_balance: bool) {
        if reset_balance {
            self.balance = 0.0;
        }
        self.qos = qos;
    }

    /// Drops the messages that wait and those that may be repeated. The indices of later messages
    /// follow without a gap.
    pub(super) fn forget_messages(&mut self) {
        self.waiting.clear();
        self.history.clear();
        self.values.forget_repeats();
        self.flush_at = None;
    }

    /// Replaces a waiting value of the same key by a newer value, and returns the older one.
    /// Returns the newer value as an error if it replaces nothing and is to wait, too. If the
    /// channel has a minimum rate and the path `has_spare_rate`, two values of a key may wait: both
    /// are sent in one packet, and both may arrive.
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

    /// The repeats of the next message. Messages alternate between the code's two sets as evenly as
    /// the code's share allows.
    pub(super) fn next_repeats(&mut self) -> Repeats {
        self.share += self.code.share;
        debug_assert!((0.0..=2.0).contains(&self.share), "a share is a number from 0 to 1");
        if self.share >= 1.0 {
            self.share -= 1.0;
            return self.code.other;
        }
        self.code.repeats
    }

    /// The key as a packet carries it: with the number of messages since the key was last used, or
    /// 0 if that is unknown. `None` on a channel that is not conflated.
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

    /// The aim: the share of the next messages that may miss, on a path with loss rate `loss`. It
    /// is below the target if the balance is positive, and above the target if the balance is
    /// negative.
    pub(super) fn aim(&self, loss: f64, is_narrow: bool) -> f64 {
        let target = self.qos.target;
        let (margin, most) = if loss > target * LOSES { CAREFUL } else { CALM };
        let (least, most) = match (self.conflates(), is_narrow) {
            (false, _) => (LEAST_AIM, most),
            (true, false) => (LEAST_AIM, CONFLATED_MOST),
            (true, true) => CONFLATED_LIMITED,
        };
        let interval = self.cadence.interval().as_secs_f64();
        let has_few = self.conflates() && target < FEW * interval;
        let margin = if has_few { margin * CAREFUL_FEW } else { margin };
        // The receiver of a dense channel requests everything in any case, so it has no reserve.
        let requests = self.code.answers > 0 && !self.qos.dense;
        let balance =
            if requests { (self.balance - CORRECTED_BY_REQUESTS).max(0.0) } else { self.balance };
        let repaid_over = match self.conflates() {
            true => (REPAID_IN / interval).within(REPAID_LEAST, REPAID_OVER),
            false => REPAID_OVER,
        };
        (target * margin - balance / repaid_over).within(target * least, target * most)
    }

    /// The share of misses to tell the application if the target is out of reach, otherwise `None`.
    /// `possible` is the least share that any code reaches. As long as the application was told
    /// that the target is out of reach, the result is the share that it was told.
    pub(super) fn outlook(&mut self, now: Duration, possible: f64) -> Option<f64> {
        let target = self.qos.target;
        // A balance that stays high overrides what the loss model expects.
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

    /// Updates the average age with the age of a message that is sent for the first time. The
    /// average rises fast and falls slowly.
    pub(super) fn note_age(&mut self, age: Duration) {
        let more = age.as_secs_f64() - self.age;
        self.age += if more > 0.0 { more / 4.0 } else { more / 32.0 };
    }

    /// The part of the deadline that is left when a message is first sent.
    pub(super) fn left(&self) -> Duration {
        let spent = Duration::from_secs_f64(self.age);
        self.qos.deadline.saturating_sub(self.qos.ahead).saturating_sub(spent)
    }

    /// The last moment at which sending a message of this origin is useful, if a packet takes
    /// `delay` to the other end.
    pub(super) fn useful_until(&self, origin: Duration, delay: Duration) -> Duration {
        (origin + self.qos.deadline).saturating_sub(self.qos.ahead + delay)
    }

    /// The earliest time at which the next new message may be sent.
    pub(super) fn paced(&self) -> Duration {
        self.last_new.map_or(Duration::ZERO, |last| last + self.spacing())
    }

    /// The least interval between packets with new messages. It follows from the channel's maximum
    /// rate or, on a conflated channel, from the rate that the path allows the channel.
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
