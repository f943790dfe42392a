//! Other connections at the same bottleneck: how they are noticed, how losses beside them are
//! answered, and how it is noticed that they have gone.

use std::time::Duration;

use super::{Congestion, GROWN, Mode};

/// The time for which this connection remembers that it met other connections.
const REMEMBERED: Duration = Duration::from_secs(10);

/// The number of losses at a queue, between which the queue never drained, that are attributed to
/// other connections: this connection lowers its window for a queue of its own before packets are
/// lost.
const LOSSES: u32 = 2;

/// After this time without a queue the other connections count as ended. BBR lets the queue drain
/// for 200 ms every ten seconds, and Cubic for an instant after losses.
const QUIET: Duration = Duration::from_millis(500);

/// How often the window is lowered for two round trips, to see whether the queue is this
/// connection's own by now.
const PROBE: Duration = Duration::from_secs(5);

/// Losses go on if less than this number of round trips is between two of them. Beside TCP flows
/// that answer losses, a window with a fair share has fewer losses.
const OFTEN: u32 = 5;
/// If the round trip did not fall to this share after a back-off, the others did not lower their
/// windows.
const YIELDED: f64 = 0.85;
/// The share of a lost packet by which the window is lowered if losses go on and others, such as
/// BBR, do not lower their windows. Measured beside BBR of Linux.
const PER_LOSS: f64 = 0.2;

/// The time within which queues of other connections vary. Cubic fills a queue and drains some of
/// it within seconds, and BBR drains the queue every ten seconds.
const PERIOD: Duration = Duration::from_secs(15);

/// What is known of other connections.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Others {
    /// When they were last noticed, or a loss last showed a full queue.
    noticed: Option<Duration>,
    /// When a packet was last lost while there was a queue.
    lost: Option<Duration>,
    /// Back-offs for losses since the queue was last drained.
    pub(super) losses: u32,
    /// The round trip when the window was last lowered, and the least since.
    fall: Option<(Duration, Duration)>,
    /// How the round trip varied beside them.
    span: Span,
    /// When the window was last lowered to see whether they have gone.
    probed: Duration,
    /// The window before that, until the answer is known.
    pub(super) probe: Option<u64>,
}

/// How much the round trip varied, in the present period and in the previous one.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    began: Duration,
    least: Duration,
    greatest: Duration,
    /// Whether it varied in the previous period.
    varied: bool,
}

impl Span {
    fn new(now: Duration, round_trip: Duration, varied: bool) -> Self {
        Span { began: now, least: round_trip, greatest: round_trip, varied }
    }

    fn varies(&self) -> bool {
        self.greatest - self.least > GROWN
    }
}

impl Others {
    /// Whether others were noticed lately.
    pub(super) fn are_remembered(&self, now: Duration) -> bool {
        self.noticed.is_some_and(|at| now < at + REMEMBERED)
    }

    pub(super) fn on_lowered(&mut self, round_trip: Duration) {
        self.fall = Some((round_trip, round_trip));
    }

    pub(super) fn on_round_trip(&mut self, round_trip: Duration) {
        if let Some((_, least)) = &mut self.fall {
            *least = round_trip.min(*least);
        }
    }

    /// Whether the others lowered their windows, too, when this connection last did.
    fn have_yielded(&self) -> bool {
        self.fall.is_none_or(|(then, least)| least.as_secs_f64() <= then.as_secs_f64() * YIELDED)
    }
}

impl Congestion {
    /// Answers the loss of a packet that was sent while there was a queue.
    pub(super) fn on_congestion_loss(&mut self, bytes: u64) {
        let since_loss = self.others.lost.replace(self.now).map(|at| self.now.saturating_sub(at));
        let goes_on = since_loss.is_some_and(|passed| passed < OFTEN * self.round_trip());
        if self.mode == Mode::Beside && goes_on && !self.others.have_yielded() {
            // A window that is lowered to 70 % for each of these losses ends at nothing.
            return self.set_window(self.window as f64 - PER_LOSS * bytes as f64);
        }
        self.back_off();
        self.others.noticed = Some(self.now);
        self.others.losses = self.others.losses.saturating_add(1);
        if self.others.losses >= LOSSES && self.mode != Mode::Beside {
            self.be_beside();
        }
    }

    /// Attributes the queue to other connections.
    pub(super) fn be_beside(&mut self) {
        self.mode = Mode::Beside;
        self.others.span = Span::new(self.now, self.round_trip(), true);
        self.drains = None;
        self.others.noticed = Some(self.now);
        self.others.probed = self.now;
        self.others.probe = None;
    }

    /// Attributes the queue to this connection.
    pub(super) fn be_alone(&mut self) {
        self.mode = Mode::Alone;
        self.drains = None;
        self.others.noticed = Some(self.now);
        self.others.losses = 0;
        self.others.probe = None;
    }

    /// Keeps the least round trip while others hide it. A round trip that does not vary is no queue
    /// of others: the route has become longer, and then the old least is forgotten.
    pub(super) fn keep_least(&mut self) {
        let (now, round_trip) = (self.now, self.round_trip());
        let span = &mut self.others.span;
        if now >= span.began + PERIOD {
            *span = Span::new(now, round_trip, span.varies());
        }
        span.least = span.least.min(round_trip);
        span.greatest = span.greatest.max(round_trip);
        debug_assert!(span.least <= span.greatest, "the round trip is between both");
        if span.varied || span.varies() {
            self.delay.keep_least(now);
        }
    }

    /// How long there must be no queue until none is expected.
    pub(super) fn quiet_time(&self) -> Duration {
        match self.mode {
            Mode::Beside => self.round_trip().max(QUIET),
            Mode::Starting | Mode::Alone => self.round_trip(),
        }
    }

    /// Lowers the window now and then, because the queue may be this connection's own by now: then
    /// it drains.
    pub(super) fn probe(&mut self) {
        if let Some(window) = self.others.probe {
            if self.has_settled() {
                self.others.probe = None;
                if self.delay.queue() > GROWN {
                    self.set_window(window as f64);
                } else {
                    self.be_alone();
                }
            }
        } else if self.was_full && self.now >= self.others.probed + PROBE {
            let others = Others { probed: self.now, probe: Some(self.window), ..self.others };
            self.lower(self.drained());
            self.others = others;
        }
    }
}
