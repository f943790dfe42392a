//! A waiting line whose head moves at a rate that changes: a token bucket that goes into debt.

use std::time::Duration;

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct WaitingLine {
    /// Places that were given away.
    given: f64,
    /// Places up to this number may go, at the time `at`.
    head: f64,
    at: Duration,
}

/// A place in a line, or several in a row for a client that costs as much as several others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WaitingPlace {
    /// The number of the last of these places, from 1 on.
    number: f64,
    /// The number of places.
    size: f64,
}

impl WaitingLine {
    /// Moves the head at `per_second` since the last call. Unused turns are saved for up to
    /// `burst`.
    pub(super) fn advance(&mut self, now: Duration, per_second: f64, burst: Duration) {
        let moved = now.saturating_sub(self.at).as_secs_f64() * per_second;
        let most = self.given + burst.as_secs_f64() * per_second;
        self.head = (self.head + moved).min(most.max(self.head));
        self.at = self.at.max(now);
    }

    /// The next place.
    pub(super) fn take(&mut self) -> WaitingPlace {
        self.take_some(1.0)
    }

    /// The next `size` places in a row, for a connection that costs as much as several. Its turn
    /// comes with the last of them.
    pub(super) fn take_some(&mut self, size: f64) -> WaitingPlace {
        self.given += size;
        WaitingPlace { number: self.given, size }
    }

    /// Holds the head still for a time.
    pub(super) fn hold(&mut self, time: Duration, per_second: f64) {
        self.head -= time.as_secs_f64() * per_second;
    }

    /// Gives a place up. The places behind it stay, and as many become free at the end of the line.
    pub(super) fn leave(&mut self, place: WaitingPlace) {
        self.given -= place.size;
    }

    /// How long a place has to wait, at this rate.
    pub(super) fn wait(&self, place: WaitingPlace, per_second: f64) -> Duration {
        Duration::from_secs_f64((place.number - self.head).max(0.0) / per_second)
    }

    /// How long a new client would have to wait.
    pub(super) fn length(&self, per_second: f64) -> Duration {
        self.wait(WaitingPlace { number: self.given + 1.0, size: 1.0 }, per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BURST: Duration = Duration::from_millis(30);

    #[test]
    fn places_go_at_the_rate_and_a_burst_at_once() {
        let (mut line, ms) = (WaitingLine::default(), Duration::from_millis);
        line.advance(ms(1000), 100.0, BURST);
        let places: Vec<_> = (0..6).map(|_| line.take()).collect();
        let waits = |line: &WaitingLine, rate| {
            places.iter().map(|&it| line.wait(it, rate)).collect::<Vec<_>>()
        };
        assert_eq!(waits(&line, 100.0), [0, 0, 0, 10, 20, 30].map(ms));
        assert_eq!(line.length(100.0), ms(40));
        // The rate halves.
        line.advance(ms(1010), 50.0, BURST);
        assert_eq!(waits(&line, 50.0), [0, 0, 0, 10, 30, 50].map(ms));
        // Turns that were long unused are lost, except for those of the burst.
        line.advance(ms(9000), 100.0, BURST);
        assert_eq!(line.length(100.0), ms(0));
        (0..3).for_each(|_| _ = line.take());
        assert_eq!(line.length(100.0), ms(10));
    }
    #[test]
    fn whoever_leaves_gives_all_its_places_back() {
        let mut line = WaitingLine::default();
        line.advance(Duration::ZERO, 100.0, BURST);
        let length = line.length(100.0);
        for size in [1.0, 3.0] {
            let place = line.take_some(size);
            assert!(line.length(100.0) > length);
            line.leave(place);
            assert_eq!(line.length(100.0), length, "{size} places");
        }
    }
}
