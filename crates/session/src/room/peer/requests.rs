//! Limits the requests of a participant whose work for the room is greater than for the
//! participant.

use core::time::Duration;

use crate::Error;

/// Counts a participant's CHANGE and RATE requests in the present second: they cost the room more
/// work than the participant.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::room) struct Requests {
    second: u64,
    count: usize,
}

impl Requests {
    /// The most requests in a second, in addition to [`Requests::PER_CHANNEL`]: far more than an
    /// application needs.
    const MOST: usize = 64;

    /// Additional requests for each open channel, as a client makes its requests again for every
    /// channel on a new transport.
    const PER_CHANNEL: usize = 4;

    /// Counts a request (wire W77, W78). Fails if there are too many in this second.
    pub(in crate::room) fn count(&mut self, now: Duration, channels: usize) -> Result<(), Error> {
        if self.second != now.as_secs() {
            *self = Requests { second: now.as_secs(), count: 0 };
        }
        self.count += 1;
        let limit = Self::MOST + Self::PER_CHANNEL * channels;
        match self.count <= limit {
            true => Ok(()),
            false => Err(Error::TooMany { what: "requests in a second", limit }),
        }
    }
}
