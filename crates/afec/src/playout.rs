//! A playout buffer for receivers that want it: it holds messages back a little, so that they are played in the rhythm
//! in which they were made, in spite of jitter, loss and repair.
//!
//! A message is played at its origin, which is when the sender's application had it, plus the *playout delay*. All that
//! goes through one buffer has the same delay, whatever its channel: what was done together, such as pointing and
//! speaking, is seen and heard together.
//!
//! A fixed delay is one number. An adaptive one follows a quantile of the ages at arrival, as WebRTC's NetEq does: the
//! least delay at which as many messages come in time. It starts at twice the first message's age. Afterwards it moves
//! gently, because while it grows, what is played runs slower than life, and faster while it shrinks: at half speed
//! ([`RISE`]) and 5 % faster ([`FALL`]) at most. So played time never stands still, jumps or runs backwards.
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

/// An origin lies at most so far back, and no delay is longer: the longest deadline of a channel.
pub const HORIZON: Duration = Duration::from_secs(60);

/// What a playout buffer does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayoutConfig {
    /// How long after its origin a message is played.
    pub delay: Delay,
    /// What becomes of messages that come too late for that.
    pub late: Late,
    /// So many messages wait at most. When there are more, the oldest are played early.
    pub max_items: usize,
    /// Messages of so many bytes in sum wait at most. When there are more, the oldest are played early.
    pub max_bytes: usize,
}

/// The playout delay. Values above [`HORIZON`] are taken for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delay {
    /// Always this one.
    Fixed(Duration),
    /// The least one with which enough messages come in time.
    Adaptive {
        /// The share of messages that shall come in time, 0 to 1, of those that are not older than `max`: waiting for
        /// the others would be in vain.
        quantile: f64,
        /// Never less.
        min: Duration,
        /// Never more, even if `min` is. The least deadline of the channels: later a message is worth nothing.
        max: Duration,
    },
}

/// What becomes of messages that come when what was made after them may have been played already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Late {
    /// They are played at once, marked as late.
    #[default]
    Play,
    /// They are dropped, and counted.
    Drop,
}

impl Default for PlayoutConfig {
    /// Adapts up to 250 ms, the deadline of a channel unless stated, for 98 % of the messages. Plays late ones. Holds
    /// 1024 messages, which is four channels' at 1000 messages per second in that time, and 1 MiB.
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

/// Messages that wait for their time. Times are since any one origin, the same for all calls; a `now` before that of an
/// earlier call is taken for the latter.
#[derive(Debug, Clone)]
pub struct Playout<T> {
    config: PlayoutConfig,
    delay: PlayoutDelay,
    ages: Ages,
    /// By origin, and by arrival among those of one origin.
    waiting: BTreeMap<(Duration, u64), Waiting<T>>,
    bytes: usize,
    now: Duration,
    /// The newest origin that was played.
    played: Duration,
    arrived: u64,
    late: u64,
    dropped: u64,
    early: u64,
}

#[derive(Debug, Clone)]
struct Waiting<T> {
    channel: u32,
    bytes: usize,
    is_late: bool,
    item: T,
}

/// A message whose time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Played<T> {
    /// What was pushed, with its channel.
    pub item: T,
    /// See [`Played::item`].
    pub channel: u32,
    /// As it was pushed, but not after its arrival and not more than [`HORIZON`] before it.
    pub origin: Duration,
    /// Whether it is played at its time.
    pub timing: Timing,
}

/// Whether a message is played at its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timing {
    /// Before it, because too much waited.
    Early,
    /// At it, or when the caller next asked.
    OnTime,
    /// It came after it, or after a newer message had been played: an old position to complete a trace with, no place
    /// to move to.
    Late,
}

/// Figures for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlayoutStats {
    /// The playout delay at this moment.
    pub delay: Duration,
    /// What it moves towards.
    pub target: Duration,
    /// The interarrival jitter as RTP defines it (RFC 3550, section 6.4.1 and appendix A.8), over all channels.
    pub jitter: Duration,
    /// Messages that came.
    pub arrived: u64,
    /// Of them, those that came late, dropped or not.
    pub late: u64,
    /// Of the late ones, those that were dropped.
    pub dropped: u64,
    /// Messages played early because too much waited.
    pub early: u64,
    /// Messages that wait now.
    pub waiting: usize,
    /// Their bytes.
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

    /// A message of `bytes` bytes came that its sender's application had at `origin`, which is arrival minus age.
    /// Returns what has to be played early to make room, oldest first: nothing unless the buffer is full.
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
        // Nothing comes before it was made, whatever a peer or a clock says.
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

    /// The next message whose time has come, in the order of origins. To be called until there is none.
    pub fn pop(&mut self, now: Duration) -> Option<Played<T>> {
        let now = self.pass(now);
        if self.next()? > now {
            return None;
        }
        self.take(Timing::OnTime)
    }

    /// When [`Playout::pop`] has something to give, unless something is pushed first; `None` if nothing waits. Not
    /// after arrival plus the greatest delay.
    pub fn next(&self) -> Option<Duration> {
        let (&(origin, _), first) = self.waiting.first_key_value()?;
        Some(if first.is_late { self.now } else { self.delay.due(origin) })
    }

    /// How it goes.
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

    fn pass(&mut self, now: Duration) -> Duration {
        self.now = self.now.max(now);
        self.now
    }

    fn adapt(&mut self, now: Duration, age: Duration) {
        let is_first = self.arrived == 0;
        self.ages.add(age);
        let Delay::Adaptive { quantile, .. } = self.config.delay else {
            return;
        };
        let (min, max) = self.config.delay.bounds();
        if is_first {
            // Nothing has been played, so nothing can jump. One age says little of how much they differ: allow for
            // as much again.
            self.delay = PlayoutDelay::new((2 * age).clamp(min, max));
        }
        if let Some(target) = self.ages.quantile(quantile) {
            self.delay.steer(now, target.clamp(min, max));
        }
    }

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

    /// Takes out the oldest. `timing`: unless it came late.
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
    /// The least and the greatest delay.
    fn bounds(self) -> (Duration, Duration) {
        let (min, max) = match self {
            Delay::Fixed(delay) => (delay, delay),
            Delay::Adaptive { min, max, .. } => (min, max),
        };
        let max = max.min(HORIZON);
        (min.min(max), max)
    }
}
