//! Reporting the quality of channels to the inspector (wire.md W84).

use alloc::vec::Vec;
use core::time::Duration;

use super::Client;
use super::phase::Joined;
use super::session::Session;
use crate::Error;
use crate::link::clip;
use crate::wire::frame::Frame;
use crate::wire::standing::{self, MAX_REASON};

/// The shortest time between two reports, which follows what people can see.
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
    /// The server asks for reports, or for no more.
    ///
    /// # Errors
    /// A frame that cannot be read.
    pub(super) fn on_wish(&mut self, now: Duration, bytes: &[u8]) -> Result<(), Error> {
        let every = standing::read_wish(bytes)?;
        self.wish = every.map(|every| (every.clamp(MOST_OFTEN, MOST_SELDOM), now));
        Ok(())
    }

    /// When the next report is due.
    pub(super) fn next(&self) -> Option<Duration> {
        self.wish.map(|(_, next)| next)
    }

    /// Whether a report is due. If so, plans the next one.
    fn take_due(&mut self, now: Duration) -> bool {
        let due = self.wish.as_mut().filter(|(_, next)| *next <= now);
        due.map(|(every, next)| *next = now + *every).is_some()
    }
}

impl Client {
    /// States why the transport in use was chosen, in a sentence for people who inspect the room; of up to 240 bytes.
    pub fn set_reason(&mut self, reason: &str) {
        self.session.reason = clip(reason, MAX_REASON).into();
    }
}

impl Joined {
    /// Reports the quality of all channels that this end receives, if a report is due.
    pub(super) fn report_quality(&mut self, session: &mut Session, now: Duration) {
        if !self.reports.take_due(now) {
            return;
        }
        let datagrams = self.datagrams.as_ref();
        let subscribed = session.channels.iter_mut().filter(|channel| channel.access.subscribe);
        let reported = subscribed.filter_map(|channel| {
            let id = channel.id?;
            let received = datagrams.and_then(|datagrams| datagrams.stats(id));
            let recovered = received.map_or(0, |(_, _, received)| received.recovered);
            channel.judge.standing(now, id, recovered)
        });
        let reported: Vec<_> = reported.collect();
        self.link.queue(&Frame::Standing(&standing::write(&session.reason, &reported)));
    }
}
