//! Rates of messages.

use core::time::Duration;

/// A rate in messages per second, to a thousandth.
///
/// ```
/// use groupwire_session::Rate;
///
/// assert_eq!(Rate::per_second(10), Rate::from_millihertz(10_000));
/// assert_eq!(Rate::per_second(25).interval().as_millis(), 40);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate {
    millihertz: u32,
}

impl Rate {
    /// No message at all. Where a rate bounds others, this means that there is no bound.
    pub const ZERO: Rate = Rate::from_millihertz(0);

    /// A whole number of messages per second, at most [`u32::MAX`] thousandths.
    pub const fn per_second(messages: u32) -> Self {
        Rate { millihertz: messages.saturating_mul(1000) }
    }

    /// A rate in thousandths of a message per second, as on the wire.
    pub const fn from_millihertz(millihertz: u32) -> Self {
        Rate { millihertz }
    }

    /// The rate in thousandths of a message per second.
    pub const fn millihertz(self) -> u32 {
        self.millihertz
    }

    /// The rate in messages per second.
    pub fn hertz(self) -> f64 {
        f64::from(self.millihertz) / 1000.0
    }

    /// True for [`Rate::ZERO`].
    pub const fn is_zero(self) -> bool {
        self.millihertz == 0
    }

    /// The shortest time between two messages at this rate; zero if the rate is zero, which is no
    /// bound.
    pub fn interval(self) -> Duration {
        match self.millihertz {
            0 => Duration::ZERO,
            millihertz => Duration::from_nanos(1_000_000_000_000 / u64::from(millihertz)),
        }
    }
}
