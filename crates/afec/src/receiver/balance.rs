//! The error-budget balance: how many messages more were missed than the target permits.

use crate::within::Within;

/// The misses of a channel beyond what its target permits, in messages; negative while fewer were missed. It stays between
/// `LEAST` and `MOST`, as in a leaky bucket: what goes beyond them is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Balance<const LEAST: i8, const MOST: i8>(f64);

impl<const LEAST: i8, const MOST: i8> Balance<LEAST, MOST> {
    /// Adds the number of misses minus the number of permitted misses.
    pub(super) fn add(&mut self, misses: f64) {
        self.0 = (self.0 + misses).within(f64::from(LEAST), f64::from(MOST));
    }

    /// The misses beyond the permitted ones.
    pub(super) fn misses(self) -> f64 {
        self.0
    }

    /// True if the target still permits to miss one more message.
    pub(super) fn permits_one(self) -> bool {
        self.0 + 1.0 <= 0.0
    }
}
