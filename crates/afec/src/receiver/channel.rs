//! One channel of a receiver: which messages came in time.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::window::Window;
use crate::qos::{Order, Qos};
use crate::stats::ReceiverStats;
use crate::wire::MessageHead;
use crate::within::Within;

/// Missing messages remembered; older ones are given up.
const MISSING: usize = 128;
/// Messages held back until an older one comes.
const HELD: usize = 64;
/// Their bytes, whatever the size of the packets that a peer sends.
const HELD_BYTES: usize = 4 * 1024;
/// Emptied buffers that are kept, and the largest of them.
const SPARE: usize = 8;
const SPARE_BYTES: usize = 256;
/// So many new messages running, near each other, that are older than what is remembered: the highest index was a lie or
/// the sender began anew.
const ASTRAY: u8 = 6;
/// Keys whose newest message is remembered.
const KEYS: usize = 64;
/// How many messages may miss in a row before the receiver asks, if the target permits them: what it saved before.
const SAVED: f64 = 4.0;
/// The most it remembers of missed messages.
const OWED: f64 = 12.0;
/// The same for what it reports.
const STANDING: (f64, f64) = (-20.0, 31.0);

/// A message as it is handed to the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// Its channel.
    pub channel: u32,
    /// Its place among the messages of the channel, from 0.
    pub index: u32,
    /// Its key, if the channel conflates.
    pub key: Option<u32>,
    /// How long ago the first application had it: its age when it was sent, half of the round trip, and what
    /// queues added.
    pub age: Duration,
    /// Whether it came only because it was repeated.
    pub recovered: bool,
    /// Its bytes.
    pub payload: &'a [u8],
}

/// A message that did not come yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Missing {
    pub(super) index: u32,
    /// When the sender's application had it: drawn from the messages around it.
    pub(super) origin: Duration,
    pub(super) found: Duration,
    pub(super) asked: Option<Duration>,
    pub(super) asks: u8,
    /// The target permits to miss it: nobody asks for it.
    pub(super) waived: bool,
    pub(super) judged: bool,
}

/// What became of a message, as far as its deadline goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Met,
    Late,
    Never,
}

#[derive(Debug)]
struct Held {
    index: u32,
    origin: Duration,
    key: Option<u32>,
    recovered: bool,
    payload: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Channel {
    pub(super) id: u32,
    pub(super) qos: Qos,
    pub(super) stats: ReceiverStats,
    /// The index after the highest that came.
    next: u32,
    pub(super) missing: VecDeque<Missing>,
    held: VecDeque<Held>,
    held_bytes: usize,
    /// The last message that was older than what is remembered, and how many there were running.
    astray: (u16, u8),
    /// When a message came last that was not.
    sane: Duration,
    spare: Vec<Vec<u8>>,
    keys: Vec<(u32, u32)>,
    last_origin: Option<Duration>,
    /// Between messages, in seconds.
    pub(super) interval: f64,
    /// How long after it was found missing a message came by itself, in seconds: the longest lately.
    pub(super) recovery: f64,
    /// How long an answer takes at least.
    pub(super) answer: Duration,
    /// Messages missed beyond what the target permits.
    pub(super) owed: f64,
    standing: f64,
    /// Somebody else says how it stands ([`Channel::stand`]).
    is_told: bool,
    pub(super) reported_standing: f64,
    /// For the paper's controller.
    pub(super) window: Option<Window>,
}

impl Channel {
    pub(super) fn new(id: u32, qos: Qos, window: Option<Window>) -> Self {
        Channel {
            id,
            qos,
            stats: ReceiverStats::default(),
            next: 0,
            missing: VecDeque::new(),
            held: VecDeque::new(),
            held_bytes: 0,
            astray: (0, 0),
            sane: Duration::ZERO,
            spare: Vec::new(),
            keys: Vec::new(),
            last_origin: None,
            interval: 0.033,
            recovery: 0.0,
            answer: Duration::ZERO,
            owed: 0.0,
            standing: 0.0,
            is_told: false,
            reported_standing: 0.0,
            window,
        }
    }

    /// How many more messages were missed lately than the target permits.
    pub(super) fn standing(&self) -> f64 {
        self.standing
    }

    /// A message came that is `age` old.
    pub(super) fn message<F: FnMut(Delivery<'_>)>(
        &mut self,
        now: Duration,
        head: &MessageHead,
        age: Duration,
        payload: &[u8],
        deliver: &mut F,
    ) {
        let in_time = age <= self.qos.deadline;
        let mut ahead = self.ahead(head.index);
        let mut found = if ahead < 0 { self.found(self.index(ahead)) } else { None };
        if ahead < 0 && found.is_none_or(|missing| missing.judged) {
            if !(in_time && self.strayed(now, head)) {
                let count =
                    if found.is_some() { &mut self.stats.late } else { &mut self.stats.useless };
                *count += 1;
                return;
            }
            self.restart(now, head.index, deliver);
            (ahead, found) = (0, None);
        }
        (self.astray.1, self.sane) = (0, now);
        let index = self.index(ahead);
        let origin = now.saturating_sub(age);
        if let Some(missing) = found {
            if missing.waived {
                self.charge(-1.0);
            }
            // What comes sooner than an answer can is a repeat that was planned.
            let early = |asked| missing.asks == 1 && now < asked + self.answer;
            if missing.asked.is_none_or(early) {
                let took = now.saturating_sub(missing.found).as_secs_f64();
                self.recovery = self.recovery.max(took);
            }
        } else {
            self.note_gap(now, index, origin);
        }
        self.judge(if in_time { Outcome::Met } else { Outcome::Late }, true);
        self.supersede(now, index, head.key);
        if !in_time {
            self.stats.late += 1;
            return;
        }
        let recovered = head.repeated;
        self.stats.recovered += u64::from(recovered);
        self.stats.latency.add(age);
        let key = head.key.map(|(key, _)| key);
        self.hand_over(
            now,
            Held { index, origin, key, recovered, payload: Vec::new() },
            payload,
            deliver,
        );
    }

    /// How far an index is ahead of the next one that is expected.
    fn ahead(&self, low: u16) -> i16 {
        low.wrapping_sub(self.next as u16) as i16
    }

    fn index(&self, ahead: i16) -> u32 {
        self.next.wrapping_add_signed(i32::from(ahead))
    }

    /// A message came in time that is older than what is awaited. Whether to believe that it is the newest: it
    /// is sent for the first time, as were others near it, and whatever came before them is too late by now to come
    /// again.
    fn strayed(&mut self, now: Duration, head: &MessageHead) -> bool {
        if head.repeated {
            return false;
        }
        let (last, count) = self.astray;
        let apart = usize::from((head.index.wrapping_sub(last) as i16).unsigned_abs());
        let near = count > 0 && (1..=MISSING).contains(&apart);
        let count = if near { count.saturating_add(1) } else { 1 };
        self.astray = (head.index, count);
        count >= ASTRAY && self.sane + self.qos.deadline < now
    }

    /// Counts from this index on. What is missing is given up, what was held back is handed over.
    fn restart<F: FnMut(Delivery<'_>)>(&mut self, now: Duration, low: u16, deliver: &mut F) {
        while !self.missing.is_empty() {
            self.give_up_oldest();
        }
        self.release(now, deliver);
        self.keys.clear();
        self.last_origin = None;
        self.next = self.index(self.ahead(low));
    }

    fn hand_over<F: FnMut(Delivery<'_>)>(
        &mut self,
        now: Duration,
        held: Held,
        payload: &[u8],
        deliver: &mut F,
    ) {
        if self.qos.order == Order::Newest && !self.is_newest(held.key, held.index) {
            self.stats.superseded += 1;
            return;
        }
        // An older one may be held back that waits for nothing any more.
        let older_held = self.held.front().is_some_and(|front| before(front.index, held.index));
        let in_order = self.qos.order == Order::InOrder;
        if !(in_order && (older_held || self.waits_for_older(held.index))) {
            deliver(self.delivery(now, &held, payload));
            return self.release(now, deliver);
        }
        // What is waited for is no younger, or this one would wait beyond its own deadline.
        for missing in self.missing.iter_mut().filter(|missing| before(missing.index, held.index)) {
            missing.origin = missing.origin.min(held.origin);
        }
        let mut held = held;
        held.payload = self.spare.pop().unwrap_or_default();
        held.payload.extend_from_slice(payload);
        self.held_bytes += held.payload.capacity();
        let place = self.held.partition_point(|other| before(other.index, held.index));
        self.held.insert(place, held);
        self.release(now, deliver);
        while self.held.len() >= HELD || self.held_bytes > HELD_BYTES {
            let oldest = self.held.front().expect("what takes room is there").index;
            while self.missing.front().is_some_and(|missing| before(missing.index, oldest)) {
                self.give_up_oldest();
            }
            self.release(now, deliver);
        }
    }

    fn delivery<'a>(&self, now: Duration, held: &Held, payload: &'a [u8]) -> Delivery<'a> {
        Delivery {
            channel: self.id,
            index: held.index,
            key: held.key,
            age: now.saturating_sub(held.origin),
            recovered: held.recovered,
            payload,
        }
    }

    /// Hands over what was held back and need not wait any more.
    fn release<F: FnMut(Delivery<'_>)>(&mut self, now: Duration, deliver: &mut F) {
        while let Some(index) = self.held.front().map(|held| held.index) {
            if self.waits_for_older(index) {
                return;
            }
            let mut held = self.held.pop_front().expect("it was looked at");
            let mut payload = core::mem::take(&mut held.payload);
            self.held_bytes -= payload.capacity();
            deliver(self.delivery(now, &held, &payload));
            if self.spare.len() < SPARE && payload.capacity() <= SPARE_BYTES {
                payload.clear();
                self.spare.push(payload);
            }
        }
    }

    fn waits_for_older(&self, index: u32) -> bool {
        self.missing.iter().any(|missing| !missing.judged && before(missing.index, index))
    }

    fn is_newest(&mut self, key: Option<u32>, index: u32) -> bool {
        let key = key.unwrap_or(0);
        if let Some(place) = self.keys.iter().position(|(known, _)| *known == key) {
            if before(index, self.keys[place].1) {
                return false;
            }
            self.keys.remove(place);
        } else if self.keys.len() == KEYS {
            self.keys.remove(0);
        }
        self.keys.push((key, index));
        true
    }

    /// A newer value of a key meets the older ones that are missing, if their deadline has not passed. Which key those had
    /// is known of the one before it, and of all while only one key was ever seen. Of those before that one it is guessed:
    /// keys mostly take turns, so they lie as far apart.
    fn supersede(&mut self, now: Duration, index: u32, key: Option<(u32, u32)>) {
        let (Order::Newest, Some((key, back))) = (self.qos.order, key) else {
            return;
        };
        let only = self.keys.iter().all(|(known, _)| *known == key);
        let last = self.keys.iter().find(|(known, _)| *known == key).map(|(_, last)| *last);
        let deadline = self.qos.deadline;
        let met = |missing: &Missing| {
            let apart = index.wrapping_sub(missing.index);
            let since = last.is_some_and(|last| before(last, missing.index));
            let older = if only {
                before(missing.index, index)
            } else {
                back > 0 && (apart == back || (since && apart.is_multiple_of(back)))
            };
            older && !missing.judged && now <= missing.origin + deadline
        };
        while let Some(place) = self.missing.iter().position(met) {
            let missing = self.missing.remove(place).expect("it was found");
            self.judge(Outcome::Met, !missing.waived);
            if missing.waived {
                self.charge(-1.0);
            }
        }
    }

    fn found(&mut self, index: u32) -> Option<Missing> {
        let place = self.missing.iter().position(|missing| missing.index == index)?;
        self.missing.remove(place)
    }

    /// Notes which messages are missing below `index`, the highest now.
    fn note_gap(&mut self, now: Duration, index: u32, origin: Duration) {
        let gap = index.wrapping_sub(self.next);
        let last = self.last_origin.unwrap_or(origin);
        let spacing = origin.saturating_sub(last).as_secs_f64() / f64::from(gap + 1);
        if spacing < 0.25 {
            self.interval += (spacing - self.interval) / 16.0;
        }
        let spacing = spacing.min(self.interval * 1.25);
        if gap > 0 {
            self.recovery *= 0.98;
        }
        let listed = gap.min(MISSING as u32);
        self.judge_never(gap - listed);
        for nth in gap - listed..gap {
            if self.missing.len() == MISSING {
                self.give_up_oldest();
            }
            self.missing.push_back(Missing {
                index: self.next.wrapping_add(nth),
                origin: last + Duration::from_secs_f64(spacing * f64::from(nth + 1)),
                found: now,
                asked: None,
                asks: 0,
                waived: false,
                judged: false,
            });
        }
        self.next = index.wrapping_add(1);
        self.last_origin = Some(origin);
    }

    fn give_up_oldest(&mut self) {
        if let Some(missing) = self.missing.pop_front()
            && !missing.judged
        {
            self.judge(Outcome::Never, !missing.waived);
        }
    }

    /// Judges the messages whose deadline has passed, and hands over what waited for them.
    pub(super) fn expire<F: FnMut(Delivery<'_>)>(&mut self, now: Duration, deliver: &mut F) {
        let deadline = self.qos.deadline;
        for place in 0..self.missing.len() {
            let missing = self.missing[place];
            if !missing.judged && missing.origin + deadline < now {
                self.missing[place].judged = true;
                self.judge(Outcome::Never, !missing.waived);
            }
        }
        // They stay for a while, so that a late one is told from a repeated one.
        let forget = |missing: &Missing| missing.judged && missing.origin + deadline * 3 < now;
        while self.missing.front().is_some_and(forget) {
            self.missing.pop_front();
        }
        // Also for what came too late, or was given up because too much is missing.
        self.release(now, deliver);
    }

    /// When a message that others wait for is given up.
    pub(super) fn next_expiry(&self) -> Option<Duration> {
        let oldest = self
            .missing
            .iter()
            .filter(|missing| !missing.judged)
            .map(|missing| missing.origin)
            .min()?;
        (!self.held.is_empty()).then(|| oldest + self.qos.deadline + Duration::from_millis(1))
    }

    /// Other needs from now on. `anew`: what was missed before says nothing of them.
    pub(super) fn change(&mut self, qos: Qos, anew: bool) {
        if anew {
            self.standing = 0.0;
        }
        self.qos = qos;
    }

    /// A message is met or missed. `charge`: it was not charged before.
    fn judge(&mut self, outcome: Outcome, charge: bool) {
        let missed = outcome != Outcome::Met;
        self.stats.judged += 1;
        self.stats.missed += u64::from(missed);
        if let Some(window) = &mut self.window {
            window.push(outcome);
        }
        let target = self.qos.target;
        self.stand(f64::from(u8::from(missed)) - target, false);
        self.owed = (self.owed - target).max(-SAVED);
        if missed && charge {
            self.charge(1.0);
        }
    }

    /// So many messages never came and never were missing long enough to be asked for. A peer may claim 32,000 in five
    /// bytes, so this does not take them one by one.
    fn judge_never(&mut self, count: u32) {
        if count == 0 {
            return;
        }
        self.stats.judged += u64::from(count);
        self.stats.missed += u64::from(count);
        if let Some(window) = &mut self.window {
            window.push_missed(count as usize);
        }
        let beyond = f64::from(count) * (1.0 - self.qos.target);
        self.stand(beyond, false);
        self.charge(beyond);
    }

    /// So many messages more were missed beyond what is permitted. Once somebody else says so who sees more of their way
    /// (`is_told`), what this hop sees of itself counts no more.
    pub(super) fn stand(&mut self, beyond: f64, is_told: bool) {
        self.is_told |= is_told;
        if self.is_told == is_told {
            let (min, max) = STANDING;
            self.standing = (self.standing + beyond).within(min, max);
        }
    }

    pub(super) fn charge(&mut self, messages: f64) {
        self.owed = (self.owed + messages).within(-SAVED, OWED);
    }

    pub(super) fn memory(&self) -> usize {
        let held: usize = self.held.iter().map(|held| held.payload.capacity()).sum();
        let spare: usize = self.spare.iter().map(Vec::capacity).sum();
        size_of::<Self>()
            + self.missing.capacity() * size_of::<Missing>()
            + self.held.capacity() * size_of::<Held>()
            + held
            + spare
            + self.keys.capacity() * size_of::<(u32, u32)>()
            + self.window.as_ref().map_or(0, Window::memory)
    }
}

/// Whether index `a` comes before `b`, on a circle.
fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}
