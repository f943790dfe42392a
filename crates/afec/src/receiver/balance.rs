//! The error-budget balance of a channel: how many more messages were missed than the target
//! permits. The target is the share of messages that may miss: not arrive by their deadline.

use crate::within::Within;

/// The misses of a channel in excess of what its target permits, in messages; negative if fewer
/// were missed. The number stays between `LEAST` and `MOST`, as in a leaky bucket: what exceeds
/// these bounds is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Balance<const LEAST: i8, const MOST: i8>(f64);

impl<const LEAST: i8, const MOST: i8> Balance<LEAST, MOST> {
    /// Adds the number of misses minus the number of permitted misses.
    pub(super) fn add(&mut self, misses: f64) {
        self.0 = (self.0 + misses).within(f64::from(LEAST), f64::from(MOST));
    }

    /// The misses in excess of the permitted ones.
    pub(super) fn misses(self) -> f64 {
        self.0
    }

    /// True if the target permits to miss one more message.
    pub(super) fn permits_one(self) -> bool {
        self.0 + 1.0 <= 0.0
    }
}
