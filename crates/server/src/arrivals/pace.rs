//! Decides when clients may join: at the rate that the server can serve, which is measured by how
//! late its rooms are.
//!
//! A new client waits in a queue that moves at this rate. While the queue is short, the client's
//! connection stays open and waits. Otherwise the client is told when to come back, and connects
//! again. The time is an argument.
//!
//! After an interval in which rooms were late too often, the rate becomes less than what was served
//! in that interval. After an interval in which they were not late, although clients had to wait,
//! it grows. So joins get the capacity that the people in rooms do not use.

use std::time::Duration;

use super::config::ArrivalLimits;
use super::line::{WaitingLine, WaitingPlace};

/// The first rate of a server, in joins per second: what two cores of 2020 serve beside their
/// rooms. If it is too high, it falls within some intervals.
const BEGIN: f64 = 1000.0;
/// The lowest rate, so that a server whose rooms are late for another reason still takes clients
/// in.
const LOWEST: f64 = 50.0;
/// The highest rate, above what any machine serves.
const HIGHEST: f64 = 50_000.0;

/// The rate changes once per interval: some ticks of the rooms, so that they have reported whether
/// they are late.
const INTERVAL: Duration = Duration::from_millis(100);
/// Rooms are too late if more than one in this many measurements exceeds the permitted lag. Some
/// always do on a busy machine, because the operating system delays them.
const MEASUREMENTS_PER_LATE: u32 = 20;
/// The fewest late measurements: a single one may be an accident.
const LEAST_LATE: u32 = 2;
/// How the rate grows per interval: it doubles within 0.7 s, but grows slowly above a share of
/// `served_at_most`.
const GROWTH: f64 = 1.1;
const SLOW_GROWTH: f64 = 1.02;
const SLOW_ABOVE: f64 = 0.9;
/// How the rate falls: to a share of what was served while rooms were late, and within these two
/// shares of the present rate.
const FALL_TO_SERVED: f64 = 0.9;
const LEAST_FALL: f64 = 0.95;
const MOST_FALL: f64 = 0.5;
/// After a fall, no client is taken in until the rooms have caught up, for this time at most.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// Without a storm the rate returns to [`BEGIN`] in this time, because older measurements are out
/// of date then.
const MEMORY: Duration = Duration::from_secs(10);

/// The burst of joins: clients that come together after a pause join at once, as many as the rate
/// permits in this time.
const BURST: Duration = Duration::from_millis(50);
/// The longest line in which clients wait. If it is longer, the server tells them to come back
/// later. A client gives up after 5 s, but one in a browser tries other transports after 1.5 s.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The longest total wait of a connection if the rate falls meanwhile: the client gives up after 5
/// s.
const MOST_PATIENCE: Duration = Duration::from_secs(3);
/// The longest time after which a client is told to come back.
const LONGEST_AWAY: Duration = Duration::from_secs(30);
/// For a period, the server tells this many times the clients that it can serve to come back in it:
/// the rate may grow until then, and some clients do not come.
const OVERBOOKING: f64 = 1.25;

/// New connections per join: an answer that says when to come back costs a fraction of a join, so
/// several are sent for each join.
const CONNECTIONS_PER_JOIN: f64 = 4.0;
/// A connection with TLS counts as this many others: its handshake costs about as much as a join,
/// and handshakes of clients that are then told to come back take that time from joins. Further
/// connections wait in the kernel.
const ENCRYPTED: f64 = 3.0;
/// New connections per second at least, which leaves room for web pages and monitoring.
const LEAST_CONNECTIONS: f64 = 500.0;
/// The burst of new connections: as many as the rate permits in this time. Further ones wait in the
/// kernel.
const CONNECTION_BURST: Duration = Duration::from_millis(10);

/// A new connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Newcomer {
    Plain,
    /// With a handshake of TLS, over TCP or within QUIC.
    Encrypted,
}

impl Newcomer {
    fn places(self) -> f64 {
        match self {
            Newcomer::Plain => 1.0,
            Newcomer::Encrypted => ENCRYPTED,
        }
    }
}

/// What a client has to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Answer {
    /// The client may join.
    Join,
    /// The connection waits in the line: ask again after this time.
    Wait { after: Duration, place: WaitingPlace },
    /// Connect again after this time.
    ComeBack { after: Duration },
}

/// What was measured in an interval.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measured {
    /// The number of measurements of a room's lag.
    pub(super) times: u32,
    /// The number of measurements above the permitted lag.
    pub(super) late: u32,
    /// The longest lag.
    pub(super) longest: Duration,
    /// Clients that joined.
    pub(super) served: u32,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Pace {
    limits: ArrivalLimits,
    /// Joins per second.
    rate: f64,
    joins: WaitingLine,
    returns: WaitingLine,
    connections: WaitingLine,
    /// Joins per second that were served when rooms were late last.
    served_at_most: f64,
    /// Until this time the last fall of the rate has no effect yet, so the rate stays.
    settles_at: Duration,
    /// When this interval began.
    since: Duration,
    /// True if clients had to wait in this interval.
    is_limiting: bool,
    /// True if connections or clients came in this interval.
    is_visited: bool,
    /// The number of clients that were sent away when all planned times were taken.
    unplanned: u64,
}

impl Pace {
    pub(super) fn new(limits: ArrivalLimits) -> Self {
        Pace {
            rate: BEGIN.min(highest(limits)),
            limits,
            joins: WaitingLine::default(),
            returns: WaitingLine::default(),
            connections: WaitingLine::default(),
            served_at_most: HIGHEST,
            settles_at: Duration::ZERO,
            since: Duration::ZERO,
            is_limiting: false,
            is_visited: false,
            unplanned: 0,
        }
    }

    /// A client asks to join.
    pub(super) fn arrive(&mut self, now: Duration) -> Answer {
        self.is_visited = true;
        if self.is_unlimited() {
            return Answer::Join;
        }
        self.joins.advance(now, self.rate, BURST);
        if self.joins.length(self.rate) > LONGEST_WAIT {
            return self.send_away(now);
        }
        let place = self.joins.take();
        self.ask_again(now, place, Duration::ZERO)
    }

    /// A client that waits in the line asks again; it has waited for this long.
    pub(super) fn ask_again(
        &mut self,
        now: Duration,
        place: WaitingPlace,
        waited: Duration,
    ) -> Answer {
        self.joins.advance(now, self.rate, BURST);
        let after = self.joins.wait(place, self.rate);
        match after.is_zero() {
            true => Answer::Join,
            // The rate has fallen since the client got its place.
            false if waited + after > MOST_PATIENCE => {
                self.joins.leave(place);
                self.send_away(now)
            }
            false => {
                self.is_limiting = true;
                Answer::Wait { after, place }
            }
        }
    }

    /// A connection was accepted. Returns how long it has to wait before the server works on it.
    pub(super) fn connect(&mut self, now: Duration, newcomer: Newcomer) -> Duration {
        self.is_visited = true;
        if self.is_unlimited() {
            return Duration::ZERO;
        }
        let rate = (self.rate * CONNECTIONS_PER_JOIN).max(LEAST_CONNECTIONS);
        self.connections.advance(now, rate, CONNECTION_BURST);
        let place = self.connections.take_some(newcomer.places());
        self.connections.wait(place, rate)
    }

    /// True if the interval is over, so that [`end_interval`](Self::end_interval) is due.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        now.saturating_sub(self.since) >= INTERVAL
    }

    /// Adapts the rate to what was measured since the last call.
    pub(super) fn end_interval(&mut self, now: Duration, measured: Measured) {
        let length = now.saturating_sub(self.since).max(INTERVAL).as_secs_f64();
        self.since = now;
        let (is_limiting, is_visited) =
            (std::mem::take(&mut self.is_limiting), std::mem::take(&mut self.is_visited));
        let Measured { times, late, longest, served } = measured;
        let is_late = late >= LEAST_LATE && late.saturating_mul(MEASUREMENTS_PER_LATE) > times;
        let rate = if now < self.settles_at {
            self.rate
        } else if is_late && (is_visited || served > 0) {
            self.served_at_most = f64::from(served) / length;
            let pause = longest.min(LONGEST_PAUSE);
            self.joins.hold(pause, self.rate);
            self.settles_at = now + pause + INTERVAL;
            let most = self.served_at_most * FALL_TO_SERVED;
            most.clamp(self.rate * MOST_FALL, self.rate * LEAST_FALL)
        } else if is_limiting && served > 0 {
            let is_near = self.rate > self.served_at_most * SLOW_ABOVE;
            self.rate * if is_near { SLOW_GROWTH } else { GROWTH }
        } else if is_limiting {
            self.rate
        } else {
            self.rate + (BEGIN - self.rate) * (length / MEMORY.as_secs_f64()).min(1.0)
        };
        self.rate = rate.max(LOWEST).min(highest(self.limits));
    }

    /// Joins per second.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    fn is_unlimited(&self) -> bool {
        self.limits.lag.is_zero() && self.limits.joins_per_second == 0
    }

    /// Tells a client to come back. Each client gets another time.
    fn send_away(&mut self, now: Duration) -> Answer {
        self.is_limiting = true;
        let rate = self.rate * OVERBOOKING;
        self.returns.advance(now, rate, Duration::ZERO);
        let after = LONGEST_WAIT + self.returns.length(rate);
        if after < LONGEST_AWAY {
            self.returns.take();
            return Answer::ComeBack { after };
        }
        // No client is sent away for longer, however many come: further clients are spread over the
        // second half of that time. The fractional parts of multiples of the golden ratio are
        // evenly distributed (Knuth, volume 3, section 6.4).
        self.unplanned = self.unplanned.wrapping_add(1);
        let place = self.unplanned.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let after = LONGEST_AWAY.mul_f64(0.5 + 0.5 * place as f64 / 2_f64.powi(32));
        Answer::ComeBack { after }
    }
}

/// The highest rate that the limits permit.
fn highest(limits: ArrivalLimits) -> f64 {
    match limits.joins_per_second {
        0 => HIGHEST,
        limit => f64::from(limit),
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
