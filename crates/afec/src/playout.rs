//! A playout buffer: it delays messages a little, so that they are played in the rhythm in which they were sent, in spite of
//! jitter, loss and repeats.
//!
//! A message is played at its origin, which is when the sender's application had it, plus the *playout delay*. The delay is the
//! same for all channels of one buffer, so that actions that belong together, such as pointing and speaking, are played
//! together.
//!
//! A fixed delay is one number. An adaptive delay follows a quantile of the ages at arrival, as WebRTC's NetEq does: the least delay
//! at which that share of the messages comes in time. It starts at twice the first message's age and then changes slowly:
//! while it grows, messages are played at half speed at most ([`RISE`]), and while it shrinks, 5 % too fast at most ([`FALL`]).
//! Played time never stops, jumps or runs backwards.
//!
//! ```
//! use core::time::Duration;
//! use groupwire_afec::playout::{Playout, PlayoutConfig};
//!
//! const POINTER: u32 = 0;
//! let ms = Duration::from_millis;
//! let mut playout = Playout::new(PlayoutConfig::default());
//! // A message of 20 bytes comes at 1000 ms and is 40 ms old.
//! for early in playout.push(ms(1000), POINTER, ms(1000) - ms(40), 20, "here") {
//!     println!("{} has to go at once", early.item);
//! }
//! let due = playout.next().expect("it waits");
//! assert!(due > ms(1030) && due <= ms(1040), "nearly 80 ms after its origin");
//! assert_eq!(playout.pop(ms(1030)), None);
//! assert_eq!(playout.pop(due).expect("it is due").item, "here");
//! ```

mod ages;
mod delay;

pub use delay::{FALL, RISE};

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use ages::Ages;
use delay::PlayoutDelay;

/// The highest age of a message, and the longest delay: the longest deadline of a channel.
pub const HORIZON: Duration = Duration::from_secs(60);

/// The settings of a playout buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayoutConfig {
    /// The time between the origin of a message and its playout.
    pub delay: Delay,
    /// What happens to messages that come too late.
    pub late: Late,
    /// The most messages that wait. If there are more, the oldest are played early.
    pub max_items: usize,
    /// The most bytes of messages that wait. If there are more, the oldest messages are played early.
    pub max_bytes: usize,
}

/// The playout delay, at most [`HORIZON`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delay {
    /// Always this delay.
    Fixed(Duration),
    /// The least delay with which enough messages come in time.
    Adaptive {
        /// The share of messages that are to come in time, 0 to 1, of those that are not older than `max`: no delay helps the
        /// others.
        quantile: f64,
        /// The shortest delay.
        min: Duration,
        /// The longest delay, even if `min` is longer: the shortest deadline of the channels, as later a message is worth nothing.
        max: Duration,
    },
}

/// What happens to messages that come after newer messages may have been played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Late {
    /// The messages are played at once, marked as late.
    #[default]
    Play,
    /// The messages are dropped and counted.
    Drop,
}

impl Default for PlayoutConfig {
    /// Adapts up to 250 ms, the default deadline of a channel, for 98 % of the messages. Plays late messages. Holds 1024 messages,
    /// which are those of four channels with 1000 messages per second in that time, and 1 MiB.
    fn default() -> Self {
        let max = Duration::from_millis(250);
        PlayoutConfig {
            delay: Delay::Adaptive { quantile: 0.98, min: Duration::ZERO, max },
            late: Late::Play,
            max_items: 1024,
            max_bytes: 1 << 20,
        }
    }
}

/// A playout buffer: messages that wait for their time. All times are since one moment, the same for all calls. If `now` is
/// earlier than in a call before, the earlier call's `now` counts.
#[derive(Debug, Clone)]
pub struct Playout<T> {
    config: PlayoutConfig,
    delay: PlayoutDelay,
    ages: Ages,
    /// The waiting messages by origin; those of one origin by arrival.
    waiting: BTreeMap<(Duration, u64), Waiting<T>>,
    /// The bytes of the waiting messages.
    bytes: usize,
    /// The latest time of a call.
    now: Duration,
    /// The newest origin that was played.
    played: Duration,
    arrived: u64,
    late: u64,
    dropped: u64,
    early: u64,
}

/// A waiting message.
#[derive(Debug, Clone)]
struct Waiting<T> {
    channel: u32,
    bytes: usize,
    is_late: bool,
    item: T,
}

/// A message that is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Played<T> {
    /// The item that was pushed.
    pub item: T,
    /// The channel of the item.
    pub channel: u32,
    /// The origin of the item as it was pushed, limited to at most the time of arrival and at least [`HORIZON`] before it.
    pub origin: Duration,
    /// Whether the item is played at its time.
    pub timing: Timing,
}

/// Whether a message is played at its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timing {
    /// Before its time, because too many messages waited.
    Early,
    /// At its time, or when the caller asked next.
    OnTime,
    /// The message came after its time, or after a newer message had been played. An old position completes a trace, but is no
    /// position to move to.
    Late,
}

/// Statistics for people to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlayoutStats {
    /// The present playout delay.
    pub delay: Duration,
    /// The delay towards which it changes.
    pub target: Duration,
    /// The interarrival jitter as RTP defines it (RFC 3550, section 6.4.1 and appendix A.8), over all channels.
    pub jitter: Duration,
    /// Messages that came.
    pub arrived: u64,
    /// Messages that came late, dropped or not.
    pub late: u64,
    /// Late messages that were dropped.
    pub dropped: u64,
    /// Messages that were played early because too many waited.
    pub early: u64,
    /// Messages that wait now.
    pub waiting: usize,
    /// The bytes of the waiting messages.
    pub waiting_bytes: usize,
}

impl<T> Playout<T> {
    /// An empty buffer.
    pub fn new(config: PlayoutConfig) -> Self {
        let (min, max) = config.delay.bounds();
        Playout {
            config,
            delay: PlayoutDelay::new(min),
            ages: Ages::new(max),
            waiting: BTreeMap::new(),
            bytes: 0,
            now: Duration::ZERO,
            played: Duration::ZERO,
            arrived: 0,
            late: 0,
            dropped: 0,
            early: 0,
        }
    }

    /// A message of `bytes` bytes came, which the sender's application had at `origin`: its time of arrival less its age. If the
    /// buffer is full, returns the messages that are played early to make room, the oldest first.
    #[must_use]
    pub fn push(
        &mut self,
        now: Duration,
        channel: u32,
        origin: Duration,
        bytes: usize,
        item: T,
    ) -> Vec<Played<T>> {
        let now = self.pass(now);
        // A message does not come before its origin, whatever a peer or a clock says.
        let origin = origin.clamp(now.saturating_sub(HORIZON), now);
        self.adapt(now, now.saturating_sub(origin));
        self.arrived += 1;
        let is_late = origin < self.played || origin.saturating_add(self.delay.at(now)) < now;
        self.late += u64::from(is_late);
        if is_late && self.config.late == Late::Drop {
            self.dropped += 1;
            return Vec::new();
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.waiting.insert((origin, self.arrived), Waiting { channel, bytes, is_late, item });
        self.make_room()
    }

    /// Takes the next message whose time has come, in the order of origins. The caller repeats this until it returns `None`.
    pub fn pop(&mut self, now: Duration) -> Option<Played<T>> {
        let now = self.pass(now);
        if self.next()? > now {
            return None;
        }
        self.take(Timing::OnTime)
    }

    /// When [`Playout::pop`] returns the next message, unless a message is pushed before; `None` if no message waits. It is never
    /// later than the arrival of the message plus the longest delay.
    pub fn next(&self) -> Option<Duration> {
        let (&(origin, _), first) = self.waiting.first_key_value()?;
        Some(if first.is_late { self.now } else { self.delay.due(origin) })
    }

    /// The statistics so far.
    pub fn stats(&self, now: Duration) -> PlayoutStats {
        PlayoutStats {
            delay: self.delay.at(now.max(self.now)),
            target: self.delay.target(),
            jitter: self.ages.jitter(),
            arrived: self.arrived,
            late: self.late,
            dropped: self.dropped,
            early: self.early,
            waiting: self.waiting.len(),
            waiting_bytes: self.bytes,
        }
    }

    /// Advances the time, which does not run backwards.
    fn pass(&mut self, now: Duration) -> Duration {
        self.now = self.now.max(now);
        self.now
    }

    /// Adapts the delay to a message of this age.
    fn adapt(&mut self, now: Duration, age: Duration) {
        let is_first = self.arrived == 0;
        self.ages.add(age);
        let Delay::Adaptive { quantile, .. } = self.config.delay else {
            return;
        };
        let (min, max) = self.config.delay.bounds();
        if is_first {
            // No message has been played, so that the delay may jump. One age does not show how much ages vary: as much again
            // is allowed for.
            self.delay = PlayoutDelay::new((2 * age).clamp(min, max));
        }
        if let Some(target) = self.ages.quantile(quantile) {
            self.delay.steer(now, target.clamp(min, max));
        }
    }

    /// Removes the oldest messages beyond the limits.
    fn make_room(&mut self) -> Vec<Played<T>> {
        let mut early = Vec::new();
        while self.waiting.len() > self.config.max_items || self.bytes > self.config.max_bytes {
            let Some(played) = self.take(Timing::Early) else {
                break;
            };
            early.push(played);
        }
        early
    }

    /// Takes the oldest message. `timing`: its timing, unless it came late.
    fn take(&mut self, timing: Timing) -> Option<Played<T>> {
        let ((origin, _), Waiting { channel, bytes, is_late, item }) = self.waiting.pop_first()?;
        self.bytes = self.bytes.saturating_sub(bytes);
        self.played = self.played.max(origin);
        let timing = if is_late { Timing::Late } else { timing };
        self.early += u64::from(timing == Timing::Early);
        Some(Played { item, channel, origin, timing })
    }
}

impl Delay {
    /// The shortest and the longest delay.
    fn bounds(self) -> (Duration, Duration) {
        let (min, max) = match self {
            Delay::Fixed(delay) => (delay, delay),
            Delay::Adaptive { min, max, .. } => (min, max),
        };
        let max = max.min(HORIZON);
        (min.min(max), max)
    }
}
