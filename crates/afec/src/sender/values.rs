//! The repeats of a conflated channel, on which a newer value of a key replaces the older ones.
//!
//! A lost value is made up for by the next sending of its key that arrives before the value's
//! deadline: a newer value, or a repeat. So what matters is how often the key is sent within the
//! time of the value, which lasts as long as a repeat of it is useful. Only values that too few
//! newer ones follow are repeated: in a packet of their own (a dedicated packet) at the last useful
//! moment, or earlier in a packet that is sent anyway (as a piggyback). Where the channel's minimum
//! rate needs more values than arrive, some values are also resent together with the next value of
//! their key. "The paper" is the AFEC paper of 2012; a leg is a path that is one part of a longer
//! way.

use alloc::vec::Vec;
use core::time::Duration;

use crate::choice::losses::Losses;
use crate::code::{Code, Repeats};
use crate::ids::{Key, MessageIndex, PacketNumber};
use crate::whole::floor;

/// The most keys whose values are repeated. A new key replaces the least recently used one. It
/// bounds the memory of a channel. Chosen by judgement; not tuned.
const KEYS: usize = 24;
/// The most values of a key that are tracked at a time. Older values were already followed by
/// [`MOST`] sendings.
const PENDING: usize = MOST;
/// The most sendings of a key within the time of a value. Twelve get through bursts of ten lost
/// packets: tuned on text values with a deadline of 100 ms over two legs that lose 19 % in bursts
/// of up to ten (`groupwire-lab contract --setup table1`), where six were too few.
pub(super) const MOST: usize = 12;
/// The number of values over which averages are taken. Chosen by judgement; not tuned.
const COUNTED_OVER: f64 = 64.0;
/// How long a repeat must wait before it may be a piggyback: the time until it is due, divided by
/// this. Packets shortly after a value are often lost together with it. Chosen by judgement; not
/// tuned.
const PIGGYBACK_AFTER: u32 = 4;
/// The interval in seconds between the values of a key that is assumed before the first two values:
/// 30 values per second, as of the paper's telepointer (the pointer of another user).
const INTERVAL: f64 = 0.033;
/// The gap between two values beyond which there is a pause, which does not count for the interval:
/// the same as for clusters in [`cadence`](super::cadence).
const PAUSE: Duration = Duration::from_millis(250);
/// The least time between two sendings of a value: a repeat is never sent at once, while the first
/// sending is still on its way.
const SOONEST: Duration = Duration::from_millis(1);
/// After this many intervals without a newer value of its key, a value is settled (the fraction is
/// one and a half). Chosen by judgement; not tuned.
const SETTLED_AFTER: (u32, u32) = (3, 2);
/// The fractional part of the golden ratio: its multiples modulo 1 are spread evenly ([`is_turn`]).
const GOLDEN: f64 = 0.618_033_988_749_895;
/// Repeats are planned as if this share of a channel's minimum rate were enough: the loss rates
/// that the plan uses are a little too high, which makes up for the difference. Tuned on Table 1 of
/// the paper over two legs that lose 20 % (`groupwire-lab contract --setup table1`).
const ENOUGH: f64 = 0.88;

/// The values of a channel that may be repeated, and the plan of their repeats.
#[derive(Debug)]
pub(super) struct Values {
    /// The keys with their newest values, the least recently used key first.
    keys: Vec<KeyState>,
    /// `shares[n]`: the share of values within whose time n + 1 new values of their key are sent,
    /// the value itself included.
    shares: [f64; MOST],
    /// How often a key is to be sent within the time of each value. A number that is not whole is
    /// met by alternating between the two whole numbers next to it.
    pub(super) sendings: f64,
    /// The number of repeats of a settled value.
    pub(super) settled_repeats: u8,
    /// The share of values that are resent together with the next value of their key, because too
    /// few values would arrive otherwise.
    pub(super) resend_with_next: f64,
    /// How much earlier than at the last useful moment a value is repeated.
    pub(super) lead: Duration,
    /// The mean interval between the values of a key, pauses excluded, in seconds.
    interval: f64,
    /// The share of repeats that were piggybacks.
    piggybacked: f64,
}

#[derive(Debug)]
struct KeyState {
    key: Key,
    /// The index of the newest value.
    index: MessageIndex,
    /// When a value of the key was last sent, new or repeated.
    sent: Duration,
    /// When the newest value was sent for the first time.
    first_sent: Duration,
    /// When the newest value is to be repeated.
    due: Option<Duration>,
    /// The number of repeats of the newest value.
    repeats: u8,
    /// The previous value, if it is to be resent in the packet of the newest one.
    resend_with_next: Option<MessageIndex>,
    /// The values for which a repeat is still useful, the oldest first.
    pending: Vec<Pending>,
}

#[derive(Debug, Clone, Copy)]
struct Pending {
    /// The last moment for a repeat of this value: if it is sent later, it arrives too late.
    until: Duration,
    /// The number of new values of the key that were sent from this value on, itself included.
    new: u8,
    /// The number of sendings of the key that this value still needs.
    lacking: u8,
}

/// How often the keys of a channel need to be sent, and the share of misses that is expected then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Need {
    /// See [`Values::sendings`].
    pub(super) sendings: f64,
    /// The expected share of values that miss: neither they nor a newer value of their key arrive
    /// in time.
    pub(super) misses: f64,
    /// The least share of misses that any number of sendings can reach.
    pub(super) possible: f64,
}

impl Default for Values {
    fn default() -> Self {
        // Before values are counted, it is assumed that no newer value follows in time.
        let mut shares = [0.0; MOST];
        shares[0] = 1.0;
        Values {
            keys: Vec::new(),
            shares,
            sendings: 1.0,
            settled_repeats: 0,
            resend_with_next: 0.0,
            lead: Duration::ZERO,
            interval: INTERVAL,
            piggybacked: 0.0,
        }
    }
}

impl Values {
    /// Notes that a new value is sent in packet `number`. A repeat that is sent after `until` would
    /// arrive too late.
    pub(super) fn sent(
        &mut self,
        now: Duration,
        number: PacketNumber,
        value: (Key, MessageIndex),
        until: Duration,
    ) {
        let (key, index) = value;
        let mut entry = match self.keys.iter().position(|entry| entry.key == key) {
            Some(place) => self.keys.remove(place),
            None => {
                let reused = (self.keys.len() == KEYS).then(|| self.keys.remove(0));
                let mut pending = reused.map(|oldest| self.give_up(oldest)).unwrap_or_default();
                pending.clear();
                KeyState {
                    key,
                    index,
                    sent: now,
                    first_sent: now,
                    due: None,
                    repeats: 0,
                    resend_with_next: None,
                    pending,
                }
            }
        };
        entry.pending.retain(|pending| {
            let is_over = pending.until < now;
            if is_over {
                self.count(pending.new);
            }
            !is_over
        });
        if entry.pending.len() == PENDING {
            self.count(entry.pending.remove(0).new);
        }
        let gap = now.saturating_sub(entry.first_sent);
        if entry.index != index && gap < PAUSE {
            self.interval += (gap.as_secs_f64() - self.interval) / COUNTED_OVER;
        }
        if let Some(last) = entry.pending.last_mut().filter(|_| gap.is_zero()) {
            // Two values in one packet count as one sending.
            last.until = until;
            entry.index = index;
            self.plan(now, &mut entry);
            self.keys.push(entry);
            return;
        }
        for pending in &mut entry.pending {
            pending.new = pending.new.saturating_add(1);
            pending.lacking = pending.lacking.saturating_sub(1);
        }
        debug_assert!((1.0..=MOST as f64).contains(&self.sendings), "{}", self.sendings);
        let whole = floor(self.sendings);
        let more = is_turn(number.0, self.sendings - whole);
        let lacking = whole as u8 + u8::from(more) - 1;
        let is_useful = entry.pending.last().is_some_and(|last| last.until >= now);
        let resend_previous =
            is_useful && entry.repeats == 0 && is_turn(entry.index.0, self.resend_with_next);
        entry.resend_with_next = resend_previous.then_some(entry.index);
        entry.pending.push(Pending { until, new: 1, lacking });
        entry.index = index;
        entry.sent = now;
        entry.first_sent = now;
        entry.repeats = 0;
        self.plan(now, &mut entry);
        self.keys.push(entry);
    }

    /// A code (a plan of repeats) that describes the repeats of a value that no newer one follows.
    /// It is for statistics only.
    pub(super) fn code(&self) -> Code {
        let whole = floor(self.sendings);
        let repeats = |times: f64| Repeats::repeat_last(times as u8);
        Code {
            repeats: repeats(whole - 1.0),
            other: repeats(whole),
            share: self.sendings - whole,
            tail_flush: self.settled_repeats > 0,
            ..Code::PLAIN
        }
    }

    /// Cancels the repeats of all values that were sent so far.
    pub(super) fn forget_repeats(&mut self) {
        for key in &mut self.keys {
            key.due = None;
            key.resend_with_next = None;
            key.pending.clear();
        }
    }

    /// When the next repeat is due.
    pub(super) fn next(&self) -> Option<Duration> {
        self.keys.iter().filter_map(|key| key.due).min()
    }

    /// Passes the values that a packet at `now` repeats to `take`, which returns whether the value
    /// was put into the packet. `goes_anyway` says that the packet has other messages, so that
    /// these repeats are piggybacks.
    pub(super) fn take(
        &mut self,
        now: Duration,
        mut goes_anyway: bool,
        mut take: impl FnMut(MessageIndex) -> bool,
    ) {
        goes_anyway |= self.next().is_some_and(|due| due <= now);
        if !goes_anyway {
            return;
        }
        let mut keys = core::mem::take(&mut self.keys);
        for key in &mut keys {
            if let Some(previous) = key.resend_with_next.take().filter(|_| key.sent == now) {
                // The result does not matter, since the newest value of the key is in the packet.
                let _ = take(previous);
            }
            let Some(due) = key.due else { continue };
            let is_due = due <= now;
            let may_piggyback = now >= key.sent + due.saturating_sub(key.sent) / PIGGYBACK_AFTER;
            if key.sent == now || !(is_due || may_piggyback) {
                continue;
            }
            if !take(key.index) {
                key.due = None;
                continue;
            }
            self.piggybacked += (f64::from(u8::from(!is_due)) - self.piggybacked) / COUNTED_OVER;
            key.sent = now;
            key.repeats = key.repeats.saturating_add(1);
            for pending in &mut key.pending {
                pending.lacking = pending.lacking.saturating_sub(1);
            }
            self.plan(now, key);
        }
        self.keys = keys;
    }

    /// The least number of sendings that holds `target` on a path with these losses. If not even
    /// the share `near` of misses is possible, it is the number up to which each further sending
    /// saves at least `worth` misses.
    pub(super) fn need(&self, losses: &Losses, target: f64, worth: f64, near: f64) -> Need {
        let misses: [f64; MOST] = core::array::from_fn(|least| {
            let lost = |repeats: usize| losses.all_lost(repeats);
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
            // The share of values for which one more sending costs a repeat, because too few newer
            // values of their key follow.
            let repeated: f64 = self.shares[..most].iter().sum();
            if possible > near && saved < worth * repeated {
                break;
            }
            let part = if saved > 0.0 { ((missed - target) / saved).min(1.0) } else { 1.0 };
            sendings += part;
            missed -= saved * part;
        }
        Need { sendings, misses: missed, possible }
    }

    /// The share of values to resend together with the next value of their key, so that `rate`
    /// values per second and key arrive.
    pub(super) fn resend_with_next_for(&self, losses: &Losses, rate: f64) -> f64 {
        let lost = losses.rate;
        // Messages pass two legs, so each leg has to deliver the square root of the share that is
        // to arrive at the end.
        let share = libm::sqrt(rate * self.interval) * ENOUGH;
        let missing = share.min(1.0) - (1.0 - lost);
        if missing <= 0.0 {
            return 0.0;
        }
        (missing / (lost * (1.0 - losses.run(1))).max(f64::EPSILON)).min(1.0)
    }

    /// Sets when the newest value of a key is to be repeated, so that the sendings which each
    /// pending value lacks are spread over the time that is left for that value.
    fn plan(&self, now: Duration, key: &mut KeyState) {
        let interval = Duration::from_secs_f64(self.interval);
        let soonest = now + SOONEST;
        let lacking =
            key.pending.iter().filter(|pending| pending.lacking > 0 && pending.until > soonest);
        let due = lacking
            .map(|pending| {
                let left = (pending.until - now).saturating_sub(self.lead);
                soonest.max(now + left / u32::from(pending.lacking))
            })
            .min();
        key.due = None;
        let Some(newest) = key.pending.last() else { return };
        let (more, of) = SETTLED_AFTER;
        let settled = (key.repeats < self.settled_repeats)
            .then(|| soonest.max(key.sent + interval * more / of))
            .filter(|at| *at <= newest.until);
        key.due = [due, settled].into_iter().flatten().min();
    }

    /// The mean number of repeats of a value.
    pub(super) fn repeats(&self) -> f64 {
        let more =
            |(new, share): (usize, &f64)| share * (self.sendings - 1.0 - new as f64).max(0.0);
        self.shares.iter().enumerate().map(more).sum()
    }

    /// The share of repeats that need a dedicated packet.
    pub(super) fn dedicated_share(&self) -> f64 {
        1.0 - self.piggybacked
    }

    /// Counts the pending values of a key that is given up, and returns their buffer for reuse.
    fn give_up(&mut self, key: KeyState) -> Vec<Pending> {
        key.pending.iter().for_each(|pending| self.count(pending.new));
        key.pending
    }

    /// Counts a value within whose time `new` new values of its key were sent, the value itself
    /// included.
    fn count(&mut self, new: u8) {
        let place = usize::from(new).clamp(1, MOST) - 1;
        for (at, share) in self.shares.iter_mut().enumerate() {
            *share += (f64::from(u8::from(at == place)) - *share) / COUNTED_OVER;
        }
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        let pending = |key: &KeyState| key.pending.capacity() * size_of::<Pending>();
        self.keys.capacity() * size_of::<KeyState>() + self.keys.iter().map(pending).sum::<usize>()
    }
}

/// Picks a share of consecutive numbers, spread as evenly as possible: true if `number` is picked.
fn is_turn(number: u32, share: f64) -> bool {
    let turn = f64::from(number) * GOLDEN;
    turn - floor(turn) < share
}

#[cfg(test)]
mod tests;
