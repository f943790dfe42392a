//! Values that supersede each other: how often each needs to go, and when it goes again.
//!
//! A value that is lost is made good by whatever comes next of its key while it is still of use: a newer value, or itself
//! again. So what counts is how often anything of its key is *sent* within the value's time, and only values that nothing
//! newer follows soon enough go again, at the last moment at which that helps, or sooner on a packet that goes anyway. Where a
//! minimum rate needs more values than arrive, being superseded is not enough: some go again beside the next one of their key.

use alloc::vec::Vec;
use core::time::Duration;

use crate::choice::losses::Losses;
use crate::code::{Code, Repeats};

/// Keys of which a value may go again; the least recently used make room for others.
const KEYS: usize = 24;
/// The values of a key that are still of use at a time; of more, the oldest were sent often enough.
const OPEN: usize = MOST;
/// The most sendings within a value's time: so many that one comes through where ten packets in a row are lost.
pub(super) const MOST: usize = 12;
/// Values over which it is counted how often they are sent.
const COUNTED_OVER: f64 = 64.0;
/// Of the time until a value is to go again, the share before which it does not ride on other packets.
const RIDES_AFTER: u32 = 4;
/// Between values of a key, in seconds, until some were seen; a longer gap than the other one is a pause.
const INTERVAL: f64 = 0.033;
const PAUSE: Duration = Duration::from_millis(250);
/// Between two sendings of a value at least.
const SOONEST: Duration = Duration::from_millis(1);
/// A value rests if none followed for so many intervals.
const RESTS_AFTER: (u32, u32) = (3, 2);
/// What is left of the golden ratio: its multiples are spread evenly ([`is_turn`]).
const GOLDEN: f64 = 0.618_033_988_749_895;
/// Of what a channel's least rate needs of one hop, so much is seen to: what is doubted of losses does the rest (measured
/// with `groupwire lab contract`).
const ENOUGH: f64 = 0.88;

/// The values of a channel that may go again.
#[derive(Debug)]
pub(super) struct Values {
    keys: Vec<Key>,
    /// The shares of values of whose key something new is sent once within the value's time (itself), twice, and so on.
    shares: [f64; MOST],
    /// How often something is to be sent; between two whole numbers, packets take turns.
    pub(super) sendings: f64,
    /// How often the value at which a key rests goes again.
    pub(super) rests: u8,
    /// The share of values that go again beside the next one of their key, because too few values arrive otherwise.
    pub(super) beside: f64,
    /// So much sooner than at the last moment a value goes again.
    pub(super) early: Duration,
    /// Between the values of a key while they come, in seconds.
    interval: f64,
    /// The share of those that went again beside others.
    rode: f64,
}

#[derive(Debug)]
struct Key {
    key: u32,
    /// Its newest value.
    index: u32,
    /// When one of its values went last.
    sent: Duration,
    /// When the newest one went first.
    new: Duration,
    /// When the newest is to go again.
    due: Option<Duration>,
    /// How often the newest went again.
    went_again: u8,
    /// The one before it, if that goes again beside it.
    beside: Option<u32>,
    /// The values that are still of use, oldest first.
    open: Vec<Open>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    /// What comes after this is too late for it.
    until: Duration,
    /// How often something new of its key went since then, this one included.
    new: u8,
    /// How often something of its key is still to go.
    lacks: u8,
}

/// What a channel's values need, and what to expect of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Need {
    /// See [`Values::sendings`].
    pub(super) sendings: f64,
    /// The share of values that miss.
    pub(super) misses: f64,
    /// The least share that could miss.
    pub(super) possible: f64,
}

impl Default for Values {
    fn default() -> Self {
        // Until something was counted, nothing follows.
        let mut shares = [0.0; MOST];
        shares[0] = 1.0;
        Values {
            keys: Vec::new(),
            shares,
            sendings: 1.0,
            rests: 0,
            beside: 0.0,
            early: Duration::ZERO,
            interval: INTERVAL,
            rode: 0.0,
        }
    }
}

impl Values {
    /// A new value goes, in packet `number`; what comes after `until` is too late for it.
    pub(super) fn sent(&mut self, now: Duration, number: u32, value: (u32, u32), until: Duration) {
        let (key, index) = value;
        let mut entry = match self.keys.iter().position(|entry| entry.key == key) {
            Some(place) => self.keys.remove(place),
            None => {
                let reused = (self.keys.len() == KEYS).then(|| self.keys.remove(0));
                let mut open = reused.map(|oldest| self.give_up(oldest)).unwrap_or_default();
                open.clear();
                Key {
                    key,
                    index,
                    sent: now,
                    new: now,
                    due: None,
                    went_again: 0,
                    beside: None,
                    open,
                }
            }
        };
        entry.open.retain(|open| {
            let is_over = open.until < now;
            if is_over {
                self.count(open.new);
            }
            !is_over
        });
        if entry.open.len() == OPEN {
            self.count(entry.open.remove(0).new);
        }
        let gap = now.saturating_sub(entry.new);
        if entry.index != index && gap < PAUSE {
            self.interval += (gap.as_secs_f64() - self.interval) / COUNTED_OVER;
        }
        if let Some(last) = entry.open.last_mut().filter(|_| gap.is_zero()) {
            // In one packet with the one before, it is as good as that.
            last.until = until;
            entry.index = index;
            self.plan(now, &mut entry);
            self.keys.push(entry);
            return;
        }
        for open in &mut entry.open {
            open.new = open.new.saturating_add(1);
            open.lacks = open.lacks.saturating_sub(1);
        }
        let whole = libm::floor(self.sendings);
        let more = is_turn(number, self.sendings - whole);
        let lacks = whole as u8 + u8::from(more) - 1;
        let is_of_use = entry.open.last().is_some_and(|last| last.until >= now);
        let goes_beside = is_of_use && entry.went_again == 0 && is_turn(entry.index, self.beside);
        entry.beside = goes_beside.then_some(entry.index);
        entry.open.push(Open { until, new: 1, lacks });
        entry.index = index;
        entry.sent = now;
        entry.new = now;
        entry.went_again = 0;
        self.plan(now, &mut entry);
        self.keys.push(entry);
    }

    /// As a code: what a value gets that nothing newer follows.
    pub(super) fn code(&self) -> Code {
        let whole = libm::floor(self.sendings);
        let again = |times: f64| Repeats::repeat_last(times as u8);
        Code {
            repeats: again(whole - 1.0),
            other: again(whole),
            share: self.sendings - whole,
            close: self.rests > 0,
            ..Code::PLAIN
        }
    }

    /// When the next value is to go again.
    pub(super) fn next(&self) -> Option<Duration> {
        self.keys.iter().filter_map(|key| key.due).min()
    }

    /// Hands the values to `take` that go again in a packet at `now`, which takes others, too, if it `goes_anyway`; `take`
    /// says whether the value could go.
    pub(super) fn take(
        &mut self,
        now: Duration,
        mut goes_anyway: bool,
        mut take: impl FnMut(u32) -> bool,
    ) {
        goes_anyway |= self.next().is_some_and(|due| due <= now);
        if !goes_anyway {
            return;
        }
        let mut keys = core::mem::take(&mut self.keys);
        for key in &mut keys {
            if let Some(beside) = key.beside.take().filter(|_| key.sent == now) {
                // What is not kept any more does not go.
                let _ = take(beside);
            }
            let Some(due) = key.due else { continue };
            let is_due = due <= now;
            let rides = now >= key.sent + due.saturating_sub(key.sent) / RIDES_AFTER;
            if key.sent == now || !(is_due || rides) {
                continue;
            }
            if !take(key.index) {
                key.due = None;
                continue;
            }
            self.rode += (f64::from(u8::from(!is_due)) - self.rode) / COUNTED_OVER;
            key.sent = now;
            key.went_again = key.went_again.saturating_add(1);
            for open in &mut key.open {
                open.lacks = open.lacks.saturating_sub(1);
            }
            self.plan(now, key);
        }
        self.keys = keys;
    }

    /// What holds a target on a path that loses so, if one does; else what is worth its cost, `worth` misses for each
    /// sending more.
    pub(super) fn need(&self, losses: &Losses, target: f64, worth: f64, near: f64) -> Need {
        let misses: [f64; MOST] = core::array::from_fn(|least| {
            let lost = |times: usize| losses.rate * losses.run(times);
            let share = self.shares.iter().enumerate();
            share.map(|(new, share)| share * lost(new.max(least))).sum()
        });
        let possible = misses[MOST - 1];
        let mut sendings = 1.0;
        let mut missed = misses[0];
        for most in 1..MOST {
            if missed <= target {
                break;
            }
            let saved = misses[most - 1] - misses[most];
            // Those of which so many new ones are not sent by themselves.
            let again: f64 = self.shares[..most].iter().sum();
            if possible > target * near && saved < worth * again {
                break;
            }
            let part = if saved > 0.0 { ((missed - target) / saved).min(1.0) } else { 1.0 };
            sendings += part;
            missed -= saved * part;
        }
        Need { sendings, misses: missed, possible }
    }

    /// The share of values that go again beside the next, if so many are to arrive that a key has `rate` values a second.
    pub(super) fn beside_for(&self, losses: &Losses, rate: f64) -> f64 {
        let lost = losses.rate;
        // An application's messages take two hops, each of which does its part.
        let share = libm::sqrt(rate * self.interval) * ENOUGH;
        let missing = share.min(1.0) - (1.0 - lost);
        if missing <= 0.0 {
            return 0.0;
        }
        (missing / (lost * (1.0 - losses.run(1))).max(f64::EPSILON)).min(1.0)
    }

    /// When the newest value of a key is to go again: what its values lack, spread over the time that each has.
    fn plan(&self, now: Duration, key: &mut Key) {
        let interval = Duration::from_secs_f64(self.interval);
        // Never at once: what goes now is on its way.
        let soonest = now + SOONEST;
        let lacking = key.open.iter().filter(|open| open.lacks > 0 && open.until > soonest);
        let due = lacking
            .map(|open| {
                let left = (open.until - now).saturating_sub(self.early);
                soonest.max(now + left / u32::from(open.lacks))
            })
            .min();
        key.due = None;
        let Some(newest) = key.open.last() else { return };
        let (more, of) = RESTS_AFTER;
        let rest = (key.went_again < self.rests)
            .then(|| soonest.max(key.sent + interval * more / of))
            .filter(|rest| *rest <= newest.until);
        key.due = [due, rest].into_iter().flatten().min();
    }

    /// How often more each value goes, in the mean.
    pub(super) fn again(&self) -> f64 {
        let more =
            |(new, share): (usize, &f64)| share * (self.sendings - 1.0 - new as f64).max(0.0);
        self.shares.iter().enumerate().map(more).sum()
    }

    /// The share of those that go again which needs a packet for it.
    pub(super) fn alone(&self) -> f64 {
        1.0 - self.rode
    }

    fn give_up(&mut self, key: Key) -> Vec<Open> {
        key.open.iter().for_each(|open| self.count(open.new));
        key.open
    }

    /// A value was followed by so many within its time, itself included.
    fn count(&mut self, new: u8) {
        let place = usize::from(new).clamp(1, MOST) - 1;
        for (at, share) in self.shares.iter_mut().enumerate() {
            *share += (f64::from(u8::from(at == place)) - *share) / COUNTED_OVER;
        }
    }

    pub(super) fn memory(&self) -> usize {
        let open = |key: &Key| key.open.capacity() * size_of::<Open>();
        self.keys.capacity() * size_of::<Key>() + self.keys.iter().map(open).sum::<usize>()
    }
}

/// Whether it is this one's turn, of those that so many do in turns.
fn is_turn(number: u32, share: f64) -> bool {
    let turn = f64::from(number) * GOLDEN;
    turn - libm::floor(turn) < share
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::loss::{LAGS, LossModel};

    const MS: Duration = Duration::from_millis(1);
    /// A path that loses a fifth, and this share of those after one that was lost.
    fn lossy(again: f64) -> Losses {
        Losses::new(&LossModel { rate: 0.2, again: [again; LAGS], weight: 1e3 })
    }

    /// When values go again that come so many ms apart and are of use for so many.
    fn goes_again(values: &mut Values, count: u32, apart: u32, of_use: u32) -> Vec<(u32, u32)> {
        let mut again = Vec::new();
        let mut now = 0;
        for index in 0..count {
            let at = MS * now;
            values.sent(at, index, (7, index), at + MS * of_use);
            for later in now + 1..=now + apart {
                values.take(MS * later, false, |which| {
                    again.push((which, later - now));
                    true
                });
            }
            now += apart;
        }
        again
    }

    #[test]
    fn what_is_followed_in_time_does_not_go_again() {
        let mut values = Values { sendings: 2.0, ..Values::default() };
        assert!(goes_again(&mut values, 200, 40, 50).is_empty());
        assert!(values.need(&lossy(0.2), 0.09, 0.05, 2.0).sendings < 1.1, "{values:?}");
    }

    #[test]
    fn what_is_not_followed_goes_again_at_the_last_moment() {
        let mut values = Values { sendings: 2.0, ..Values::default() };
        let again = goes_again(&mut values, 20, 100, 30);
        assert_eq!(again, (0..20).map(|index| (index, 30)).collect::<Vec<_>>());
        let mut values = Values { sendings: 3.0, ..Values::default() };
        let again = goes_again(&mut values, 2, 100, 30);
        assert_eq!(again, [(0, 15), (0, 30), (1, 15), (1, 30)]);
    }

    #[test]
    fn it_rides_on_what_goes_anyway_but_not_at_once() {
        let mut values = Values { sendings: 2.0, ..Values::default() };
        values.sent(Duration::ZERO, 0, (7, 0), MS * 40);
        let mut again = Vec::new();
        for now in [5, 12, 13, 40] {
            values.take(MS * now, true, |_| {
                again.push(now);
                true
            });
        }
        assert_eq!(again, [12]);
    }

    #[test]
    fn two_of_a_packet_are_one_sending_of_which_the_newer_goes_again() {
        let mut values = Values { sendings: 2.0, ..Values::default() };
        values.sent(Duration::ZERO, 0, (7, 0), MS * 40);
        values.sent(Duration::ZERO, 0, (7, 1), MS * 45);
        let mut again = Vec::new();
        for now in 1..60 {
            values.take(MS * now, false, |index| {
                again.push((index, now));
                true
            });
        }
        assert_eq!(again, [(1, 45)]);
    }

    #[test]
    fn between_whole_numbers_packets_take_turns() {
        let mut values = Values { sendings: 1.3, ..Values::default() };
        let again = goes_again(&mut values, 1000, 100, 30).len();
        assert!((290..310).contains(&again), "{again}");
    }

    #[test]
    fn a_value_at_rest_goes_again_as_often_as_asked() {
        let mut values = Values { rests: 2, ..Values::default() };
        assert!(goes_again(&mut values, 100, 33, 400).is_empty());
        let at = MS * 3300;
        values.sent(at, 100, (7, 100), at + MS * 400);
        let mut again = Vec::new();
        for later in 1..400 {
            values.take(at + MS * later, false, |_| {
                again.push(later);
                true
            });
        }
        assert_eq!(again.len(), 2, "{again:?}");
        assert!((40..60).contains(&again[0]), "{again:?}");
    }

    #[test]
    fn a_least_rate_needs_more_than_newer_values() {
        let mut values = Values::default();
        goes_again(&mut values, 200, 40, 50);
        assert_eq!(values.beside_for(&lossy(0.2), 10.0), 0.0);
        assert!(values.beside_for(&lossy(0.2), 24.9) > 0.3);
        let none = Losses::new(&LossModel::default());
        assert_eq!(values.beside_for(&none, 24.9), 0.0);
    }

    #[test]
    fn what_goes_beside_the_next_value_of_its_key_needs_no_packet() {
        let again = |beside: f64, of_use: u32| {
            let mut values = Values { beside, ..Values::default() };
            let mut again = 0;
            for index in 0..1000 {
                let now = MS * 40 * index;
                values.sent(now, index, (7, index), now + MS * of_use);
                assert_eq!(values.next(), None);
                values.take(now, true, |which| {
                    assert_eq!(which + 1, index);
                    again += 1;
                    true
                });
            }
            again
        };
        assert!((290..310).contains(&again(0.3, 50)));
        assert_eq!(again(1.0, 50), 999);
        assert_eq!(again(1.0, 30), 0);
    }

    #[test]
    fn what_cannot_be_met_is_worth_so_much_and_no_more() {
        let values = Values::default();
        let need = values.need(&lossy(0.2), 0.01, 0.0, 2.0);
        assert!(need.sendings > 2.0 && need.misses <= 0.01, "{need:?}");
        let need = values.need(&lossy(0.9), 0.01, 0.05, 2.0);
        assert_eq!(need.sendings, 1.0, "{need:?}");
        assert!(need.possible > 0.1);
    }

    #[test]
    fn many_keys_take_bounded_memory() {
        let mut values = Values { sendings: 2.0, ..Values::default() };
        for index in 0..10_000 {
            let now = MS * index;
            values.sent(now, index, (index, index), now + MS * 1000);
        }
        assert!(values.memory() < 8 * 1024, "{}", values.memory());
    }
}
