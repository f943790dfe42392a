//! Figures beside the totals of rooms: connections by transport, refusals by error, and durations.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use groupwire_session::{Error, name_of};
use tokio::time::Instant;

use super::Times;
use crate::figures::seldom::Seldom;

/// Counters and histograms of a server.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// Open connections by transport.
    pub(crate) connections: Connections,
    /// Clients that were refused.
    pub(crate) refusals: Errors,
    /// Participants whose connection a room closed because of an error.
    pub(crate) disconnects: Errors,
    /// Rooms that were closed.
    pub(crate) closings: Closings,
    /// From a connection's first packet to its place in the room, which may have to be loaded.
    pub(crate) joins: Times,
    /// How late rooms did what was due.
    pub(crate) lags: Times,
    /// Messages above their limit. A client may send the same one again after each attempt to
    /// connect.
    too_large: Seldom,
}

impl Events {
    /// Logs that a connection ends because something was too large. `place` is its transport or its
    /// document.
    pub(crate) fn log_too_large(&self, place: &str, why: &impl Display) {
        if let Some(unlogged) = self.too_large.turn(Instant::now()) {
            tracing::warn!(place, %why, unlogged, "connection closed: too much at once");
        }
    }
}

/// The names of transports, which the inspector shows, too.
const TRANSPORTS: [&str; 5] =
    ["WebTransport", "WebSocket", "TCP socket", "HTTP requests", "HTTP users"];

/// Open connections by transport.
#[derive(Debug, Default)]
pub(crate) struct Connections([AtomicUsize; TRANSPORTS.len()]);

impl Connections {
    /// The counter of a transport; `None` for one that is not counted by its name.
    pub(crate) fn of(&self, transport: &str) -> Option<&AtomicUsize> {
        self.0.get(TRANSPORTS.iter().position(|&name| name == transport)?)
    }

    /// All transports with their open connections.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, usize)> {
        TRANSPORTS.into_iter().zip(self.0.iter().map(|count| count.load(Ordering::Relaxed)))
    }
}

/// Why a room was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// The room held nothing, and nobody could resume.
    NoContent,
    /// The room had no participants for as long as it is kept.
    Unused,
    /// Another room needed its place.
    Evicted,
    /// The stored content of the room was deleted, replaced or refused.
    Ended,
}

impl Closing {
    const ALL: [Closing; 4] =
        [Closing::NoContent, Closing::Unused, Closing::Evicted, Closing::Ended];

    /// Its name in `/metrics` and in the log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Closing::NoContent => "no-content",
            Closing::Unused => "unused",
            Closing::Evicted => "evicted",
            Closing::Ended => "ended",
        }
    }
}

/// Rooms that were closed, by the reason.
#[derive(Debug, Default)]
pub(crate) struct Closings([AtomicU64; Closing::ALL.len()]);

impl Closings {
    pub(crate) fn count(&self, why: Closing) {
        self.0[why as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The names of all reasons with their counters.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let count = |why: Closing| self.0[why as usize].load(Ordering::Relaxed);
        Closing::ALL.into_iter().map(move |why| (why.name(), count(why)))
    }
}

/// More than the largest number of an error.
const NUMBERS: usize = 64;

/// The name of numbers that are no error's.
const UNKNOWN: &str = "unknown";

/// Counters of errors.
#[derive(Debug)]
pub(crate) struct Errors([AtomicU64; NUMBERS]);

impl Default for Errors {
    fn default() -> Self {
        Errors([const { AtomicU64::new(0) }; NUMBERS])
    }
}

impl Errors {
    pub(crate) fn count(&self, error: &Error) {
        let number = error.code() as usize;
        let is_known = number < NUMBERS && error.name() != UNKNOWN;
        self.0[if is_known { number } else { 0 }].fetch_add(1, Ordering::Relaxed);
    }

    /// The names of all errors with their counters.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        (0..).map(name_of).zip(counts).enumerate().filter_map(|(number, (name, count))| {
            // Unknown numbers are counted at 0.
            (number == 0 || name != UNKNOWN).then_some((name, count))
        })
    }
}

#[cfg(test)]
mod tests {
    use groupwire_session::Fault;

    use super::*;

    #[test]
    fn errors_are_counted_by_name_and_foreign_numbers_together() {
        let errors = Errors::default();
        errors.count(&Error::Stalled);
        errors.count(&Error::Stalled);
        for code in [0, 63, 64, u32::MAX] {
            errors.count(&Error::Remote { code, fault: Fault::Own, detail: String::new() });
        }
        let all: Vec<_> = errors.all().collect();
        assert!(all.contains(&("stalled", 2)) && all.contains(&("unknown", 4)), "{all:?}");
        assert!(all.contains(&("too-many", 0)));
        let mut names: Vec<_> = all.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn connections_are_counted_by_transport() {
        let connections = Connections::default();
        connections.of("WebSocket").unwrap().fetch_add(2, Ordering::Relaxed);
        assert!(connections.of("pigeon").is_none());
        assert!(connections.all().eq([
            ("WebTransport", 0),
            ("WebSocket", 2),
            ("TCP socket", 0),
            ("HTTP requests", 0),
            ("HTTP users", 0)
        ]));
    }
}
