//! The administration's publications and resets of channels in a room: limits how often a message
//! is permitted, and answers requests once they are durable.

use groupwire_session::Position;
use groupwire_session::room::NotPublished;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Publications of the administration per second in one room, on average, and those that may come
/// at once after a pause; more are for participants to send.
const ADMINISTRATION: (f64, f64) = (10.0, 100.0);

/// The same for the requests of all visitors of a room together. The room remembers the keys of
/// 4,096 requests, so a request can be repeated for at least half a minute.
pub(super) const VISITORS: (f64, f64) = (100.0, 400.0);

/// Publications that wait until they are durable, at most.
const MOST_WAITING: usize = 1024;

/// See the [module](self).
pub(super) struct Publications {
    permits: Permits,
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

/// A rate that is not exceeded for long.
pub(super) struct Permits {
    /// Per second, and at once.
    rate: (f64, f64),
    /// What is permitted, and the time of that number.
    permitted: (f64, Instant),
}

impl Permits {
    pub(super) fn new(rate: (f64, f64), now: Instant) -> Self {
        Permits { rate, permitted: (rate.1, now) }
    }

    /// True if one more is permitted now. It is counted.
    pub(super) fn permit(&mut self) -> bool {
        let ((per_second, burst), (before, since)) = (self.rate, self.permitted);
        let now = Instant::now();
        let permitted = (before + now.duration_since(since).as_secs_f64() * per_second).min(burst);
        let is_permitted = permitted >= 1.0;
        self.permitted = (permitted - f64::from(u8::from(is_permitted)), now);
        is_permitted
    }
}

impl Publications {
    pub(super) fn new(now: Instant) -> Self {
        Publications { permits: Permits::new(ADMINISTRATION, now), waiting: Vec::new() }
    }

    /// True if one more of the administration is permitted now. It is counted.
    pub(super) fn permits(&mut self) -> bool {
        self.has_place() && self.permits.permit()
    }

    /// True if one more may wait.
    pub(super) fn has_place(&self) -> bool {
        self.waiting.len() < MOST_WAITING
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
