//! Messages that the administration publishes in a room, and resets of channels: limits how often they
//! are permitted, and answers requests once they are durable.

use std::time::Duration;

use groupwire_session::Position;
use groupwire_session::room::{NotPublished, NotReset, Publication, Published};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Driver;

/// Publications per second of one room, on average; more are for participants to send.
const PER_SECOND: f64 = 10.0;

/// Publications that may come at once after a pause.
const BURST: f64 = 100.0;

/// Publications that wait until they are durable, at most.
const MOST_WAITING: usize = 1024;

/// See the [module](self).
pub(super) struct Publications {
    /// The number of publications that are permitted, and the time of that number.
    permitted: (f64, Instant),
    /// The requests that wait until the transactions up to a position are durable. A request that gets no answer learns that the room has
    /// ended.
    waiting: Vec<(Position, oneshot::Sender<()>)>,
}

/// Why the administration's message was not published.
#[derive(Debug)]
pub(crate) enum Refused {
    TooOften,
    Room(NotPublished),
}

impl Publications {
    pub(super) fn new(now: Instant) -> Self {
        Publications { permitted: (BURST, now), waiting: Vec::new() }
    }

    fn permits(&mut self) -> bool {
        let (before, since) = self.permitted;
        let now = Instant::now();
        let permitted = (before + now.duration_since(since).as_secs_f64() * PER_SECOND).min(BURST);
        let is_permitted = permitted >= 1.0 && self.waiting.len() < MOST_WAITING;
        self.permitted = (permitted - f64::from(u8::from(is_permitted)), now);
        is_permitted
    }
}

impl Driver {
    /// Publishes a message of the room itself. Answers on `durable` when it has taken effect.
    pub(crate) fn publish(
        &mut self,
        now: Duration,
        publication: &Publication<'_>,
        durable: oneshot::Sender<()>,
    ) -> Result<Published, Refused> {
        if !self.publications.permits() {
            return Err(Refused::TooOften);
        }
        let published = self.room.publish(now, publication).map_err(Refused::Room)?;
        let position = match published {
            Published::Transaction { position, .. } => position,
            Published::Awareness => Position(0),
        };
        self.publications.waiting.push((position, durable));
        Ok(published)
    }

    /// Resets channels. Answers on `durable` when that has taken effect.
    pub(crate) fn reset(
        &mut self,
        now: Duration,
        channels: &[String],
        durable: oneshot::Sender<()>,
    ) -> Result<Position, NotReset> {
        let position = self.room.reset(now, channels)?;
        self.publications.waiting.push((position, durable));
        Ok(position)
    }

    /// Answers the requests whose publications are durable.
    pub(super) fn tell_durable(&mut self) {
        if self.publications.waiting.is_empty() {
            return;
        }
        let durable = self.room.durable();
        let is_durable = |(position, _): &mut (Position, _)| *position <= durable;
        for (_, waiting) in self.publications.waiting.extract_if(.., is_durable) {
            // The client of the request may have gone.
            let _ = waiting.send(());
        }
    }
}
