//! While somebody looks on at the room: telling how channels stand here (wire.md W84).

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::{Client, Phase};
use crate::wire::frame::Frame;
use crate::wire::standing::{self, MAX_REASON};
use crate::{Error, link::clip};

/// What the server may wish: often enough for eyes, seldom enough to cost next to nothing.
const MOST_OFTEN: Duration = Duration::from_millis(500);
const MOST_SELDOM: Duration = Duration::from_secs(60);

/// What somebody who looks on is told.
#[derive(Debug, Default)]
pub(super) struct Inspected {
    /// Both ends can (W10).
    agreed: bool,
    reason: String,
    /// How often it is to be told, and when next.
    wish: Option<(Duration, Duration)>,
}

impl Inspected {
    /// Another transport: its server says whether anybody looks on.
    pub(super) fn begin_anew(&mut self, agreed: bool) {
        self.agreed = agreed;
        self.wish = None;
    }

    pub(super) fn wished(&mut self, now: Duration, octets: &[u8]) -> Result<(), Error> {
        if !self.agreed {
            return Err(Error::malformed("STANDING: it was not agreed on"));
        }
        let every = standing::read_wish(octets)?;
        self.wish = every.map(|every| (every.clamp(MOST_OFTEN, MOST_SELDOM), now));
        Ok(())
    }

    pub(super) fn next(&self) -> Option<Duration> {
        self.wish.map(|(_, next)| next)
    }

    /// Whether it is to be told now; if so, later again.
    fn take_turn(&mut self, now: Duration) -> bool {
        let due = self.wish.as_mut().filter(|(_, next)| *next <= now);
        due.map(|(every, next)| *next = now + *every).is_some()
    }
}

impl Client {
    /// Says why the transport in use was chosen, in a sentence for people who inspect the room; of up to 240 octets.
    pub fn set_reason(&mut self, reason: &str) {
        self.inspected.reason = clip(reason, MAX_REASON).into();
    }

    /// Tells how channels stand, if it is time.
    pub(super) fn tell_standing(&mut self, now: Duration) {
        let Some(link) = self.link.as_mut().filter(|_| self.phase == Phase::Joined) else { return };
        if !self.inspected.take_turn(now) {
            return;
        }
        let datagrams = link.datagrams.as_ref();
        let subscribed = self.channels.iter_mut().filter(|channel| channel.access.subscribe);
        let told = subscribed.filter_map(|channel| {
            let id = channel.id?;
            let came = datagrams.and_then(|datagrams| datagrams.stats(id));
            let saved = came.map_or(0, |(_, _, came)| came.recovered);
            channel.judge.standing(now, id, saved)
        });
        let told: Vec<_> = told.collect();
        link.queue(&Frame::Standing(&standing::write(&self.inspected.reason, &told)));
    }
}
