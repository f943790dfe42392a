//! The time of day.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time of day, as the time since 1970. A clock that is set before 1970 counts as 1970.
pub(crate) fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The time of day, in milliseconds since 1970.
pub(crate) fn wall_ms() -> u64 {
    u64::try_from(wall().as_millis()).unwrap_or(u64::MAX)
}
