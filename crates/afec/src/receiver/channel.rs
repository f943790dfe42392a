//! One channel of a receiver: which messages arrived in time, and which are missing. A message is
//! missed if it did not arrive by its deadline; the target is the share of messages that may be
//! missed.
//!
//! The index of a message is its count in the channel. Its origin is the time at which the sender's
//! application had it. The error-budget balance is how many more messages were missed than the
//! target permits. On a conflated channel a newer value of a key replaces the older ones. A report
//! tells the sender what arrived.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::balance::Balance;
use super::ordering::Delivery;
use crate::ids::{ChannelId, Key, MessageIndex};
use crate::qos::{Order, Qos};
use crate::stats::ReceiverStats;
use crate::wire::MessageHead;

/// The most missing messages that are remembered: four seconds of a telepointer (the pointer of
/// another user). The oldest ones beyond this number are given up. It bounds the memory of a
/// channel. Chosen by judgement; not tuned.
const MISSING: usize = 128;
/// After this many consecutive messages whose indices are near each other, below the highest one,
/// and not missing, the channel may continue from these indices: either the highest index was
/// false, or the sender began anew. Further conditions are in `is_new_start`. Packet numbers have
/// the same rule: see [`numbers`](super::numbers).
const ASTRAY: u8 = 6;
/// The error budget from which missing messages are waived: not requested, because the target
/// permits to miss them. It saves up at most 4 permitted misses and remembers at most 12 misses
/// that were not permitted. Chosen by judgement; not tuned.
type RequestBudget = Balance<-4, 12>;
/// The error-budget balance that is reported to the sender. Its upper limit fits into the report's
/// signed byte, which counts quarters of messages (up to 31.75). Chosen by judgement; not tuned.
type ReportedBalance = Balance<-20, 31>;
/// The factor by which the waiting time for repeats is multiplied at each gap, so that a long
/// waiting time is forgotten over about 50 gaps. Chosen by judgement; not tuned.
const FORGET_RECOVERY: f64 = 0.98;

/// A message that did not arrive yet although a newer one did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Missing {
    pub(super) index: MessageIndex,
    /// The origin of the message, interpolated between those of the messages around it.
    pub(super) origin: Duration,
    /// The time at which the message was found missing.
    pub(super) found: Duration,
    /// When the message was last requested.
    pub(super) requested: Option<Duration>,
    /// The number of requests for the message so far.
    pub(super) requests: u8,
    /// The number of copies of the newest request that are still to be sent.
    pub(super) copies: u8,
    /// True if the error budget permits to miss the message, so that it is not requested.
    pub(super) waived: bool,
    /// True if the message counts as missed, because its deadline has passed.
    pub(super) judged: bool,
}

/// The receiving side of a channel.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) id: ChannelId,
    pub(super) qos: Qos,
    pub(super) stats: ReceiverStats,
    /// The index after the highest one that arrived.
    next: MessageIndex,
    pub(super) missing: VecDeque<Missing>,
    /// The low bits of the index of the last message that was older than all remembered ones, and
    /// the number of such messages in a row.
    astray: (u16, u8),
    /// When the newest message with a plausible index arrived.
    last_plausible: Duration,
    /// The most recently used keys, each with the index of its newest message; the least recently
    /// used key first.
    pub(super) keys: Vec<(Key, MessageIndex)>,
    /// The origin of the newest message.
    last_origin: Option<Duration>,
    /// The mean interval between messages, in seconds.
    pub(super) interval: f64,
    /// The time in seconds from when a gap was noticed to when the missing message arrived without
    /// a request: near the longest of the recent times.
    pub(super) recovery: f64,
    /// The least time that the answer to a request takes.
    pub(super) fastest_answer: Duration,
    /// The error budget from which missing messages are waived instead of requested.
    pub(super) request_budget: RequestBudget,
    /// The error-budget balance that is reported to the sender.
    balance: ReportedBalance,
    /// True if the caller reports the misses from application to application
    /// ([`Channel::report_misses`]). The balance then ignores the misses that this endpoint sees.
    caller_reports: bool,
    /// The balance in the last report to the sender.
    pub(super) reported_balance: f64,
}

impl Channel {
    pub(super) fn new(id: ChannelId, qos: Qos) -> Self {
        Channel {
            id,
            qos,
            stats: ReceiverStats::default(),
            next: MessageIndex(0),
            missing: VecDeque::new(),
            astray: (0, 0),
            last_plausible: Duration::ZERO,
            keys: Vec::new(),
            last_origin: None,
            // The rate of the paper's telepointer, 30 messages per second, until the first messages
            // arrived.
            interval: 0.033,
            recovery: 0.0,
            fastest_answer: Duration::ZERO,
            request_budget: RequestBudget::default(),
            balance: ReportedBalance::default(),
            caller_reports: false,
            reported_balance: 0.0,
        }
    }

    /// How many more messages were missed recently than the target permits; negative if fewer were
    /// missed.
    pub(super) fn balance(&self) -> f64 {
        self.balance.misses()
    }

    /// Accepts a message that is `age` old: judges whether it is in time, and delivers it if it is
    /// in time and new.
    pub(super) fn message<F: FnMut(Delivery<'_>)>(
        &mut self,
        now: Duration,
        head: &MessageHead,
        age: Duration,
        payload: &[u8],
        deliver: &mut F,
    ) {
        let in_time = age <= self.qos.deadline;
        let mut ahead = self.next.ahead(head.index);
        let mut found = if ahead < 0 { self.take_missing(self.next.offset(ahead)) } else { None };
        if ahead < 0 && found.is_none_or(|missing| missing.judged) {
            if !(in_time && self.is_new_start(now, head)) {
                let count =
                    if found.is_some() { &mut self.stats.late } else { &mut self.stats.useless };
                *count += 1;
                return;
            }
            self.restart(head.index);
            (ahead, found) = (0, None);
        }
        (self.astray.1, self.last_plausible) = (0, now);
        let index = self.next.offset(ahead);
        let origin = now.saturating_sub(age);
        if let Some(missing) = found {
            if missing.waived {
                self.request_budget.add(-1.0);
            }
            // A message that arrives sooner than the answer to its first request can is a planned
            // repeat.
            let is_repeat =
                |requested| missing.requests == 1 && now < requested + self.fastest_answer;
            if missing.requested.is_none_or(is_repeat) {
                let took = now.saturating_sub(missing.found).as_secs_f64();
                self.recovery = self.recovery.max(took);
            }
        } else {
            self.note_gap(now, index, origin);
        }
        self.judge(!in_time, false);
        self.supersede(now, index, head.key);
        if !in_time {
            self.stats.late += 1;
            return;
        }
        let recovered = head.repeated;
        self.stats.recovered += u64::from(recovered);
        self.stats.latency.add(age);
        let key = head.key.map(|(key, _)| key);
        if self.qos.order == Order::Newest && !self.is_newest(key, index) {
            self.stats.superseded += 1;
            return;
        }
        deliver(Delivery {
            channel: self.id,
            index: index.0,
            key: key.map(|key| key.0),
            age: now.saturating_sub(origin),
            recovered,
            payload,
        });
    }

    /// Whether a message in time, whose index is older than those of all awaited messages, shows
    /// that the sender began anew. This is so under two conditions: it is the last of [`ASTRAY`]
    /// consecutive such messages that have indices near each other and are no repeats; and the
    /// newest message with a plausible index arrived more than a deadline ago.
    fn is_new_start(&mut self, now: Duration, head: &MessageHead) -> bool {
        if head.repeated {
            return false;
        }
        let (last, count) = self.astray;
        let apart = usize::from((head.index.wrapping_sub(last) as i16).unsigned_abs());
        let near = count > 0 && (1..=MISSING).contains(&apart);
        let count = if near { count.saturating_add(1) } else { 1 };
        self.astray = (head.index, count);
        count >= ASTRAY && self.last_plausible + self.qos.deadline < now
    }

    /// Makes the index whose 16 low bits are `low` the next expected one, and gives up all missing
    /// messages.
    fn restart(&mut self, low: u16) {
        while !self.missing.is_empty() {
            self.give_up_oldest();
        }
        self.keys.clear();
        self.last_origin = None;
        self.next = self.next.offset(self.next.ahead(low));
    }

    /// Counts missing older values of a key as met if their deadline has not passed: the value with
    /// index `index` replaces them.
    ///
    /// The keys of missing messages are known in two cases only. A message says how many messages
    /// earlier its key was last used (`back`); and while a channel has a single key, all messages
    /// have that key. For other missing messages, keys are assumed to alternate in a fixed rhythm,
    /// so that messages at multiples of `back` have the same key.
    fn supersede(&mut self, now: Duration, index: MessageIndex, key: Option<(Key, u32)>) {
        let (Order::Newest, Some((key, back))) = (self.qos.order, key) else {
            return;
        };
        let only = self.keys.iter().all(|(known, _)| *known == key);
        let last = self.keys.iter().find(|(known, _)| *known == key).map(|(_, last)| *last);
        let deadline = self.qos.deadline;
        let met = |missing: &Missing| {
            let apart = index.since(missing.index);
            let since = last.is_some_and(|last| last.is_before(missing.index));
            let older = if only {
                missing.index.is_before(index)
            } else {
                back > 0 && (apart == back || (since && apart.is_multiple_of(back)))
            };
            older && !missing.judged && now <= missing.origin + deadline
        };
        while let Some(place) = self.missing.iter().position(met) {
            let missing = self.missing.remove(place).expect("its position was found");
            self.judge(false, missing.waived);
            if missing.waived {
                self.request_budget.add(-1.0);
            }
        }
    }

    /// Removes a message from the list of missing ones. `None` if it is not on the list.
    fn take_missing(&mut self, index: MessageIndex) -> Option<Missing> {
        let place = self.missing.iter().position(|missing| missing.index == index)?;
        self.missing.remove(place)
    }

    /// Notes as missing the messages before `index`, which is the highest index now.
    fn note_gap(&mut self, now: Duration, index: MessageIndex, origin: Duration) {
        let gap = index.since(self.next);
        let last = self.last_origin.unwrap_or(origin);
        let spacing = origin.saturating_sub(last).as_secs_f64() / f64::from(gap + 1);
        // A longer time between messages is a pause between clusters of messages.
        if spacing < 0.25 {
            self.interval += (spacing - self.interval) / 16.0;
        }
        let spacing = spacing.min(self.interval * 1.25);
        if gap > 0 {
            self.recovery *= FORGET_RECOVERY;
        }
        let listed = gap.min(MISSING as u32);
        self.judge_never(gap - listed);
        for nth in gap - listed..gap {
            if self.missing.len() == MISSING {
                self.give_up_oldest();
            }
            self.missing.push_back(Missing {
                index: self.next.plus(nth),
                origin: last + Duration::from_secs_f64(spacing * f64::from(nth + 1)),
                found: now,
                requested: None,
                requests: 0,
                copies: 0,
                waived: false,
                judged: false,
            });
        }
        self.next = index.plus(1);
        self.last_origin = Some(origin);
    }

    /// Gives up the oldest missing message, which counts as missed.
    pub(super) fn give_up_oldest(&mut self) {
        if let Some(missing) = self.missing.pop_front()
            && !missing.judged
        {
            self.judge(true, missing.waived);
        }
    }

    /// Judges the missing messages whose deadline has passed.
    pub(super) fn expire(&mut self, now: Duration) {
        let deadline = self.qos.deadline;
        for place in 0..self.missing.len() {
            let missing = self.missing[place];
            if !missing.judged && missing.origin + deadline < now {
                self.missing[place].judged = true;
                self.judge(true, missing.waived);
            }
        }
        // Judged messages stay on the list for two more deadlines, so that a late message can be
        // told from a useless repeat.
        let forget = |missing: &Missing| missing.judged && missing.origin + deadline * 3 < now;
        while self.missing.front().is_some_and(forget) {
            self.missing.pop_front();
        }
    }

    /// Replaces the QoS. `reset_balance` says that the error-budget balance of the old QoS tells
    /// nothing about the new one.
    pub(super) fn set_qos(&mut self, qos: Qos, reset_balance: bool) {
        if reset_balance {
            self.balance = ReportedBalance::default();
        }
        self.qos = qos;
    }

    /// Counts a message as met or missed. `waived` says that the miss was already charged to the
    /// request budget.
    fn judge(&mut self, missed: bool, waived: bool) {
        self.stats.judged += 1;
        self.stats.missed += u64::from(missed);
        let target = self.qos.target;
        self.note_misses(f64::from(u8::from(missed)) - target);
        // All that is missing of a dense channel is requested, so that its budget permits nothing.
        if !self.qos.dense {
            self.request_budget.add(-target);
        }
        if missed && !waived {
            self.request_budget.add(1.0);
        }
        debug_assert!(self.stats.missed <= self.stats.judged, "a missed message is judged");
    }

    /// Counts `count` messages as missed, without listing them one by one: a peer may claim 32,000
    /// with five bytes.
    fn judge_never(&mut self, count: u32) {
        if count == 0 {
            return;
        }
        self.stats.judged += u64::from(count);
        self.stats.missed += u64::from(count);
        let beyond = f64::from(count) * (1.0 - self.qos.target);
        self.note_misses(beyond);
        self.request_budget.add(beyond);
    }

    /// Adds misses that this endpoint sees to the balance, unless the caller reports misses.
    fn note_misses(&mut self, beyond: f64) {
        if !self.caller_reports {
            self.balance.add(beyond);
        }
    }

    /// Adds misses that the caller judged from application to application, in excess of the
    /// permitted ones. From the first call on, the misses that this endpoint sees on its own part
    /// of the way do not count.
    pub(super) fn report_misses(&mut self, beyond: f64) {
        self.caller_reports = true;
        self.balance.add(beyond);
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>()
            + self.missing.capacity() * size_of::<Missing>()
            + self.keys.capacity() * size_of::<(Key, MessageIndex)>()
    }
}
