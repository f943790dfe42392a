//! Decides whether a participant has nothing to do between ticks, so that it can rest.

use core::time::Duration;

use super::{Connection, Peer, State};
use crate::Timing;
use crate::room::accounting::upstream::Upstream;
use crate::room::attention::Attention;
use crate::room::attention::resting::Rest;
use crate::room::feed::SharedStreams;

/// A ping that measures the round trip is sent at intervals of this many `Timing::ping` (W35).
pub(in crate::room) const MEASURE_EVERY: u32 = 5;

impl Peer {
    /// Ends the participant's rest: the next housekeeping looks at it.
    pub(in crate::room) fn wake(&mut self, attention: &mut Attention) {
        self.end_skip(&mut attention.skipped);
        attention.resting.wake(self.id, &mut self.rest);
    }

    /// Wakes a participant that rests if there is something to do for it by now.
    pub(in crate::room) fn review_rest(
        &mut self,
        timing: &Timing,
        streams: &SharedStreams,
        attention: &mut Attention,
    ) {
        if self.rest.is_some() && self.may_rest(timing, streams).is_none() {
            self.wake(attention);
        }
    }

    /// Lets the participant rest if there is nothing to do for it.
    pub(in crate::room) fn rest(
        &mut self,
        timing: &Timing,
        streams: &SharedStreams,
        attention: &mut Attention,
    ) {
        if self.rest.is_none()
            && let Some(rest) = self.may_rest(timing, streams)
        {
            attention.resting.begin(self.id, rest);
            self.rest = Some(rest);
        }
    }

    /// How the participant may rest: it is away, or it is a member of a shared stream, has been
    /// sent all of it, and needs nothing else. Participants with datagrams do not rest: their
    /// groups and repeats are looked at all the time.
    pub(in crate::room) fn may_rest(
        &self,
        timing: &Timing,
        streams: &SharedStreams,
    ) -> Option<Rest> {
        let &Timing { ping, dead, away, .. } = timing;
        if self.account.is_limited() || !self.sender.upstream.values().all(Upstream::is_over) {
            return None;
        }
        let connection = match &self.state {
            State::Away { since } => return Some(Rest { until: *since + away, stream: None }),
            State::Here(connection) => connection,
        };
        let is_idle = connection.datagrams.is_none()
            && connection.place.is_none()
            && connection.participants.may_page
            && !connection.owes_position()
            && connection.has_all(streams);
        let stream = connection.member().filter(|_| is_idle)?.group;
        Some(Rest { until: connection.silent_at(ping, dead), stream: Some(stream) })
    }
}

impl Connection {
    /// When a ping is due, or the participant has been silent for too long, if nothing is received
    /// until then.
    fn silent_at(&self, ping: Duration, dead: Duration) -> Duration {
        let (received, pinged) = (self.link.last_packet(), self.link.last_ping());
        (received + dead).min(pinged + ping * MEASURE_EVERY).min(received.max(pinged) + ping)
    }
}
