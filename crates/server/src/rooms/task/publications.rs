//! The administration's publications and resets of channels in a room: limits how often a message
//! is permitted, and answers requests once they are durable.

use groupwire_session::Position;
use groupwire_session::room::NotPublished;
use tokio::sync::oneshot;
use tokio::time::Instant;

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
    /// The requests that wait until the transactions up to a position are durable. A request that
    /// gets no answer learns that the room has ended.
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

    /// True if one more is permitted now. It is counted.
    pub(super) fn permits(&mut self) -> bool {
        let (before, since) = self.permitted;
        let now = Instant::now();
        let permitted = (before + now.duration_since(since).as_secs_f64() * PER_SECOND).min(BURST);
        let is_permitted = permitted >= 1.0 && self.waiting.len() < MOST_WAITING;
        self.permitted = (permitted - f64::from(u8::from(is_permitted)), now);
        is_permitted
    }

    /// Keeps a request that is answered once the transactions up to `position` are durable.
    pub(super) fn wait_for(&mut self, position: Position, answer: oneshot::Sender<()>) {
        self.waiting.push((position, answer));
    }

    /// Answers the requests that wait for transactions up to `durable`.
    pub(super) fn answer(&mut self, durable: Position) {
        let is_durable = |(position, _): &mut (Position, _)| *position <= durable;
        for (_, waiting) in self.waiting.extract_if(.., is_durable) {
            // The client of the request may have gone.
            let _ = waiting.send(());
        }
    }
}
