//! Reporting the quality of channels to the inspector (wire W84).

use alloc::vec::Vec;
use core::time::Duration;

use super::channel::Channel;
use crate::Error;
use crate::datagrams::Datagrams;
use crate::wire::quality;

/// The shortest time between two reports. People do not see faster changes.
const MOST_OFTEN: Duration = Duration::from_millis(500);
/// The longest time between two reports: an inspector that just opened shows something within it.
const MOST_SELDOM: Duration = Duration::from_secs(60);

/// The reports that the server asked for on one transport.
#[derive(Debug, Default)]
pub(super) struct Reports {
    /// The time between two reports, and when the next one is due.
    wish: Option<(Duration, Duration)>,
}

impl Reports {
    /// Processes a request of the server to begin sending reports, or to stop.
    ///
    /// # Errors
    /// A frame that cannot be read.
    pub(super) fn on_wish(&mut self, now: Duration, bytes: &[u8]) -> Result<(), Error> {
        let every = quality::read_request(bytes)?;
        self.wish = every.map(|every| (every.clamp(MOST_OFTEN, MOST_SELDOM), now));
        Ok(())
    }

    /// When the next report is due.
    pub(super) fn next(&self) -> Option<Duration> {
        self.wish.map(|(_, next)| next)
    }

    /// The quality of all channels that this end receives, if a report is due, as the frame's
    /// payload.
    pub(super) fn take_due(
        &mut self,
        now: Duration,
        channels: &mut [Channel],
        reason: &str,
        datagrams: Option<&Datagrams>,
    ) -> Option<Vec<u8>> {
        if !self.is_due(now) {
            return None;
        }
        let subscribed = channels.iter_mut().filter(|channel| channel.access.subscribe);
        let reported = subscribed.filter_map(|channel| {
            let id = channel.id?;
            let received = datagrams.and_then(|datagrams| datagrams.stats(id));
            let recovered = received.map_or(0, |(_, _, received)| received.recovered);
            channel.judge.quality(now, id, recovered)
        });
        let reported: Vec<_> = reported.collect();
        Some(quality::write(reason, &reported))
    }

    /// True if a report is due. Then it plans the next one.
    fn is_due(&mut self, now: Duration) -> bool {
        let due = self.wish.as_mut().filter(|(_, next)| *next <= now);
        due.map(|(every, next)| *next = now + *every).is_some()
    }
}
