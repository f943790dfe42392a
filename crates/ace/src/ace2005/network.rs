//! What the network carries: the part of the Network Weather Service's sensors.
//!
//! The paper's sensors send 64 KB now and then and see how long that takes. Here the stream's own blocks are the
//! measurement wherever the network was what they waited for; where it was not, two blocks are sent as they are.

use core::time::Duration;

use super::flights::Flight;
use super::nws::Forecaster;
use crate::Delivered;

/// Bytes of a sensor's measurement (the NWS's default), which is also what is sent before anything is known.
pub(super) const SENSOR: usize = 64 << 10;
/// What a socket of the paper's time held (Linux 2.4: `tcp_wmem` up to 128 KB): bytes in flight on a short path.
const SOCKET: f64 = (128 << 10) as f64;
/// The time between measurements. The NWS's was longer; but it watches hosts, and this a stream that may last seconds.
const PERIOD: Duration = Duration::from_secs(1);
/// Over this time at least, what was carried is a lower bound of what can be.
const TRAIN: Duration = Duration::from_millis(100);
/// If the other end waited for bytes for this share of the time, it was not what held the stream up.
const WAITED: f64 = 0.05;
/// Blocks that come so much further apart than they were packed were held up by the network.
const DISPERSED: f64 = 1.2;
/// A round trip of so few bytes is the latency alone.
const SMALL: usize = 2048;

/// Forecasts of one direction.
#[derive(Debug, Clone)]
pub(super) struct Network {
    /// Bytes per second.
    bandwidth: Forecaster,
    /// Seconds there and back.
    latency: Forecaster,
    least_round_trip: f64,
    /// When the bandwidth was last measured and not only bounded, or that was last tried.
    measured: Duration,
    /// What was handed over and arrived since a moment.
    train: Option<(Duration, f64)>,
}

/// Blocks of which the other end spoke together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Batch {
    wire: f64,
    interval: f64,
    held: bool,
    alone: bool,
    /// When the first was handed over.
    first: Option<Duration>,
}

impl Batch {
    pub(super) fn add(&mut self, flight: &Flight) {
        self.wire += flight.wire as f64;
        self.interval += flight.interval.as_secs_f64();
        self.held |= flight.held;
        self.alone = flight.alone && self.first.is_none();
        self.first.get_or_insert(flight.handed);
    }
}

impl Network {
    pub(super) fn new() -> Self {
        Network {
            bandwidth: Forecaster::new(),
            latency: Forecaster::new(),
            least_round_trip: f64::INFINITY,
            measured: Duration::ZERO,
            train: None,
        }
    }

    /// Bytes per second; `None`: nothing was measured yet.
    pub(super) fn bandwidth(&self) -> Option<f64> {
        self.bandwidth.forecast().map(|bandwidth| bandwidth.max(1.0))
    }

    /// Seconds there and back without a queue; 0: not known.
    pub(super) fn round_trip(&self) -> f64 {
        let least = if self.least_round_trip.is_finite() { self.least_round_trip } else { 0.0 };
        self.latency.forecast().unwrap_or(least)
    }

    /// Bytes that may be in flight: what a socket of the paper's time held, or twice what the path does.
    pub(super) fn window(&self) -> usize {
        match self.bandwidth() {
            Some(bandwidth) => SOCKET.max(2.0 * bandwidth * self.round_trip()) as usize,
            None => SENSOR,
        }
    }

    /// Whether it is time to measure again. Once it is said, it is done.
    pub(super) fn is_due(&mut self, now: Duration) -> bool {
        let is_due = now.saturating_sub(self.measured) > PERIOD;
        if is_due {
            self.measured = now;
        }
        is_due
    }

    /// Learns from what the other end said of `batch`. `idle`: nothing else is in flight.
    pub(super) fn learn(
        &mut self,
        now: Duration,
        delivered: &Delivered,
        batch: &Batch,
        idle: bool,
    ) {
        let round_trip = delivered.round_trip.as_secs_f64() - delivered.unpacking.as_secs_f64();
        let round_trip = round_trip.max(1e-6);
        self.least_round_trip = self.least_round_trip.min(round_trip);
        let alone = batch.alone && idle;
        if alone && batch.wire <= SMALL as f64 {
            self.latency.add(round_trip);
            return;
        }
        let span = delivered.span.as_secs_f64();
        let waited = delivered.waited.as_secs_f64() >= WAITED * span;
        let held = batch.held || span >= DISPERSED * batch.interval;
        let wire = delivered.wire as f64;
        if delivered.backlogged && waited && held && span > 0.0 {
            self.measure(now, wire / span);
        } else if alone && batch.wire > 0.0 {
            let latency = self.latency.forecast().unwrap_or(0.0).min(round_trip / 2.0);
            self.measure(now, wire / (round_trip - latency));
        } else {
            self.bound(now, batch);
        }
    }

    fn measure(&mut self, now: Duration, bandwidth: f64) {
        self.bandwidth.add(bandwidth);
        self.measured = now;
        self.train = None;
    }

    /// The network carries at least what was handed over after a moment and has arrived now. It is believed if it is
    /// more than the forecast.
    fn bound(&mut self, now: Duration, batch: &Batch) {
        let Some(first) = batch.first else { return };
        let (start, carried) = self.train.get_or_insert((first, 0.0));
        if first >= *start {
            *carried += batch.wire;
        }
        let time = now.saturating_sub(*start);
        if time < TRAIN {
            return;
        }
        let bandwidth = *carried / time.as_secs_f64();
        self.train = Some((now, 0.0));
        if bandwidth > self.bandwidth.forecast().unwrap_or(0.0) {
            self.bandwidth.add(bandwidth);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A block of 32 KiB that was packed at once, and what is said of it.
    fn block(at: Duration) -> Batch {
        let mut batch = Batch::default();
        batch.add(&Flight { handed: at, wire: 32_772, ..Flight::default() });
        batch
    }

    fn word(span: Duration, waited: Duration, round_trip: Duration) -> Delivered {
        Delivered {
            blocks: 1,
            wire: 32_772,
            unpacking: Duration::ZERO,
            span,
            waited,
            round_trip,
            backlogged: true,
        }
    }

    #[test]
    fn a_network_that_holds_blocks_up_is_measured() {
        let mut network = Network::new();
        assert_eq!((network.bandwidth(), network.window()), (None, SENSOR));
        network.learn(50 * MS, &word(30 * MS, 29 * MS, 40 * MS), &block(10 * MS), false);
        assert_eq!(network.bandwidth(), Some(32_772.0 / 0.03));
        assert!(!network.is_due(900 * MS) && network.is_due(1100 * MS));
        assert!(!network.is_due(1200 * MS) && network.is_due(2200 * MS));
    }

    #[test]
    fn an_end_that_does_not_wait_is_no_slow_network() {
        let mut network = Network::new();
        network.learn(50 * MS, &word(30 * MS, MS, 40 * MS), &block(10 * MS), false);
        assert_eq!(network.bandwidth(), None);
    }

    #[test]
    fn a_packer_that_is_slow_gives_a_lower_bound_only() {
        let mut network = Network::new();
        network.learn(5 * MS, &word(3 * MS, 3 * MS, 4 * MS), &block(MS), false);
        let measured = network.bandwidth().unwrap();
        for nth in 0..100 {
            let at = (10 + 30 * nth) * MS;
            let flight = Flight {
                handed: at,
                interval: 30 * MS,
                took: 29 * MS,
                wire: 32_772,
                ..Flight::default()
            };
            let mut batch = Batch::default();
            batch.add(&flight);
            network.learn(at + 4 * MS, &word(30 * MS, 29 * MS, 4 * MS), &batch, false);
        }
        assert_eq!(network.bandwidth(), Some(measured));
        assert!(network.is_due(3000 * MS));
    }

    #[test]
    fn what_was_carried_can_be_carried() {
        let mut network = Network::new();
        for nth in 0..300 {
            let batch = block(nth * MS);
            network.learn((nth + 1) * MS, &word(MS, Duration::ZERO, MS), &batch, false);
        }
        // A block in a millisecond, less what was handed over before a train began.
        let bandwidth = network.bandwidth().unwrap();
        assert!((31e6..33e6).contains(&bandwidth), "{bandwidth}");
    }

    #[test]
    fn a_block_alone_is_a_measurement_without_the_latency() {
        let mut network = Network::new();
        let alone = |wire| {
            let mut batch = Batch::default();
            batch.add(&Flight { alone: true, wire, ..Flight::default() });
            batch
        };
        network.learn(90 * MS, &Delivered { wire: 20, ..word(MS, MS, 70 * MS) }, &alone(20), true);
        assert_eq!((network.bandwidth(), network.round_trip()), (None, 0.07));
        let delivered = Delivered { backlogged: false, ..word(99 * MS, 99 * MS, 170 * MS) };
        network.learn(300 * MS, &delivered, &alone(32_772), true);
        let bandwidth = network.bandwidth().unwrap();
        assert!((bandwidth - 327_720.0).abs() < 1.0, "{bandwidth}");
        assert_eq!(network.window(), 128 << 10);
    }

    #[test]
    fn a_long_path_holds_more() {
        let mut network = Network::new();
        network.learn(999 * MS, &word(3 * MS, 3 * MS, 500 * MS), &block(10 * MS), false);
        assert_eq!(network.window(), 10_924_000);
    }
}
