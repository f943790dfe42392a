//! One channel of a sender.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::cadence::Cadence;
use super::history::History;
use super::values::Values;
use crate::choice::Choice;
use crate::code::{Code, Repeats};
use crate::qos::{Order, Qos};
use crate::stats::SenderStats;
use crate::within::Within;

/// Keys whose last message is remembered.
const KEYS: usize = 64;

/// Messages over which what was missed too much or too little is made up for.
const SETTLED_OVER: f64 = 300.0;
/// What a receiver that asks makes up for by itself, in messages.
const OWED: f64 = 6.0;
/// The aim and the most it may be, as shares of the target: a little less, for then the most windows hold it, where the
/// path loses more than the target and a bit; but nothing is to be repeated on a path that nearly holds it by itself.
const CAREFUL: (f64, f64) = (0.97, 0.97);
const CALM: (f64, f64) = (1.06, 1.1);
const LOSES: f64 = 1.3;
/// The least aim, as a share of the target.
const LEAST: f64 = 0.35;
/// Where newer values meet older ones, the most that an aim may be: how often they do is known less well beforehand than by
/// what is missed.
const SUPERSEDED: f64 = 1.25;
/// The least and the most there where the path carries no more than it is sent: what goes again takes the place of newer values,
/// so that more is missed the more goes again (measured with `groupwire lab contract --setup modem`).
const CROWDED_OUT: (f64, f64) = (2.0, 3.0);
/// A target is called out of reach if this many times it is.
const CANNOT: f64 = 1.1;
/// Nor is it reached if so many more messages were missed than it permits and the debt stays: the most that a receiver tells
/// is 31. It is then said to be missed by this.
const HOPELESS: f64 = 28.0;
const MISSED: f64 = 1.15;
/// For how long it has to be in reach again before the application is told so.
const RELIEF: Duration = Duration::from_secs(10);

/// A message that was not sent yet.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) origin: Duration,
    pub(super) key: u32,
    pub(super) payload: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Channel {
    pub(super) id: u32,
    pub(super) qos: Qos,
    pub(super) code: Code,
    /// Fractions of a message that is to get the code's other repeats.
    share: f64,
    pub(super) next_index: u32,
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) history: History,
    pub(super) cadence: Cadence,
    /// When a packet goes that ends the cluster, unless there is a new message before.
    pub(super) closing: Option<Duration>,
    /// What may go again where values supersede each other.
    pub(super) values: Values,
    /// When new messages went last.
    pub(super) last_new: Option<Duration>,
    /// Mean bytes of a message with what stands before it.
    pub(super) bytes: f64,
    /// How old messages are when they are sent first, in seconds: nearly the most lately.
    age: f64,
    /// What the receiver last said of missed messages against the target.
    pub(super) standing: f64,
    /// The interval between messages that the path's rate leaves, if that is too little.
    pub(super) slowed: Option<Duration>,
    /// What is being decided.
    pub(super) choice: Option<Choice>,
    /// Since when the target could be met again, of which the application was told that it cannot.
    could: Option<Duration>,
    /// Since when repeats do not fit packets.
    pub(super) crowded: Option<Duration>,
    /// The share of messages that is expected to miss, if the application was told that the target cannot be met.
    pub(super) told: Option<f64>,
    pub(super) stats: SenderStats,
    /// Keys and the index of their last message, least recently used first.
    keys: Vec<(u32, u32)>,
}

impl Channel {
    pub(super) fn new(id: u32, qos: Qos, code: Code) -> Self {
        Channel {
            id,
            qos,
            code,
            share: 0.0,
            next_index: 0,
            waiting: VecDeque::new(),
            history: History::default(),
            cadence: Cadence::default(),
            closing: None,
            values: Values::default(),
            last_new: None,
            bytes: 25.0,
            age: 0.0,
            standing: 0.0,
            slowed: None,
            choice: None,
            could: None,
            crowded: None,
            told: None,
            stats: SenderStats::default(),
            keys: Vec::new(),
        }
    }

    /// Whether only the newest value of each key matters.
    pub(super) fn conflates(&self) -> bool {
        self.qos.order == Order::Newest
    }

    /// Other needs from now on. `anew`: what was missed before says nothing of them.
    pub(super) fn change(&mut self, qos: Qos, anew: bool) {
        if anew {
            self.standing = 0.0;
        }
        self.qos = qos;
    }

    /// Puts a newer value in the place of what waits of its key. Where a least rate is asked for and the path `has_room`, two
    /// wait: both in a packet are two that may arrive. Returns what goes no more; as an error the newer one, if it is to
    /// wait beside the others.
    pub(super) fn supersede(&mut self, newer: Waiting, has_room: bool) -> Result<Waiting, Waiting> {
        let most = if self.qos.rate_min > 0.0 && has_room { 2 } else { 1 };
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

    /// The repeats of the next message. The two sets alternate as evenly as the share allows.
    pub(super) fn repeats(&mut self) -> Repeats {
        self.share += self.code.share;
        if self.share >= 1.0 {
            self.share -= 1.0;
            return self.code.other;
        }
        self.code.repeats
    }

    /// The key as it stands in a packet: with how many messages ago it was used before.
    pub(super) fn key(&mut self, key: u32, index: u32) -> Option<(u32, u32)> {
        if !self.conflates() {
            return None;
        }
        let known = self.keys.iter().position(|(known, _)| *known == key);
        let back = known.map_or(0, |place| index.wrapping_sub(self.keys.remove(place).1));
        if self.keys.len() == KEYS {
            self.keys.remove(0);
        }
        self.keys.push((key, index));
        Some((key, back))
    }

    /// The share of messages that may miss, as far as the next ones go, on a path that loses so much: less if many
    /// missed lately, more if few.
    pub(super) fn aim(&self, loss: f64, is_narrow: bool) -> f64 {
        let lowered = self.told.filter(|_| self.qos.may_lower);
        let target = lowered.map_or(self.qos.target, |told| told.max(self.qos.target));
        let (margin, most) = if loss > target * LOSES { CAREFUL } else { CALM };
        let (least, most) = match (self.conflates(), is_narrow) {
            (false, _) => (LEAST, most),
            (true, false) => (LEAST, SUPERSEDED),
            (true, true) => CROWDED_OUT,
        };
        // A receiver that asks makes up for what it missed by itself.
        let asks = self.code.ask > 0;
        let standing = if asks { (self.standing - OWED).max(0.0) } else { self.standing };
        (target * margin - standing / SETTLED_OVER).within(target * least, target * most)
    }

    /// Whether the application is to be told that the target cannot be met, and what can: `possible` misses, or what
    /// it was told already.
    pub(super) fn judge(&mut self, now: Duration, possible: f64) -> Option<f64> {
        let target = self.qos.target;
        // What is expected may be wrong; what was missed for long is not.
        let possible =
            if self.standing >= HOPELESS { possible.max(target * MISSED) } else { possible };
        if possible > target * CANNOT {
            self.could = None;
            return Some(self.told.unwrap_or(possible));
        }
        let told = self.told?;
        if possible > target {
            self.could = None;
            return Some(told);
        }
        let since = *self.could.get_or_insert(now);
        (now < since + RELIEF).then_some(told)
    }

    /// A message goes out for the first time that is so old.
    pub(super) fn note_age(&mut self, age: Duration) {
        let more = age.as_secs_f64() - self.age;
        self.age += if more > 0.0 { more / 4.0 } else { more / 32.0 };
    }

    /// What is left of the deadline when a message is sent first.
    pub(super) fn left(&self) -> Duration {
        let spent = Duration::from_secs_f64(self.age);
        self.qos.deadline.saturating_sub(self.qos.ahead).saturating_sub(spent)
    }

    /// After this nothing is of use any more to a message of that origin, with `way` to go.
    pub(super) fn until(&self, origin: Duration, way: Duration) -> Duration {
        (origin + self.qos.deadline).saturating_sub(self.qos.ahead + way)
    }

    /// The earliest time for the next new message.
    pub(super) fn paced(&self) -> Duration {
        self.last_new.map_or(Duration::ZERO, |last| last + self.spacing())
    }

    /// The mean interval between messages at the channel's highest rate, or at what the path leaves it.
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

    pub(super) fn memory(&self) -> usize {
        let waiting: usize = self.waiting.iter().map(|waiting| waiting.payload.capacity()).sum();
        size_of::<Self>()
            + self.history.memory()
            + self.waiting.capacity() * size_of::<Waiting>()
            + waiting
            + self.keys.capacity() * size_of::<(u32, u32)>()
            + self.values.memory()
    }
}
