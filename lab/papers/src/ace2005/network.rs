//! Forecasts of bandwidth and latency, in place of the sensors of the Network Weather Service
//! (NWS), which the paper "Adaptive On-the-Fly Compression" uses.
//!
//! These sensors measure the time that 64 KB take, at intervals. Here the blocks of the stream are
//! the measurement if the network was the slowest stage. If it was not, 64 KB of blocks are sent
//! uncompressed as a measurement. The window, below, is the most bytes that may be in flight: sent
//! and not acknowledged.

use core::time::Duration;

use groupwire_ace::Delivered;

use super::flights::Flight;
use super::nws::Forecaster;

/// The number of bytes of one measurement, which is the default of the NWS. It is also the window
/// before the first measurement.
pub(super) const SENSOR: usize = 64 << 10;
/// The window on a short path in bytes: the size of socket buffers in 2005 (Linux 2.4: `tcp_wmem`
/// up to 128 KB).
const SOCKET: f64 = (128 << 10) as f64;
/// The time between measurements. The NWS has longer intervals, because it measures hosts; a stream
/// may last some seconds only.
const PERIOD: Duration = Duration::from_secs(1);
/// The shortest time over which transmitted bytes give a lower bound for the bandwidth.
const TRAIN: Duration = Duration::from_millis(100);
/// The least share of the time since its previous acknowledgement that the other end waited for
/// bytes, if the network is to count as the slowest stage.
const WAITED: f64 = 0.05;
/// The network counts as the slowest stage if the blocks took at least this many times as long to
/// arrive as this end took to produce them.
const DISPERSED: f64 = 1.2;
/// The size of a batch in bytes, two packets, up to which its whole round trip counts as latency.
const SMALL: usize = 2048;

/// Forecasts of the network in one direction.
#[derive(Debug, Clone)]
pub(super) struct Network {
    /// The bandwidth in bytes per second.
    bandwidth: Forecaster,
    /// The round trip in seconds.
    latency: Forecaster,
    least_round_trip: f64,
    /// The time of the last measurement of the bandwidth, or of the last attempt. Lower bounds do
    /// not count as measurements.
    measured: Duration,
    /// The start time of the present lower bound, and the bytes that were sent since then and have
    /// arrived.
    train: Option<(Duration, f64)>,
}

/// The blocks that one acknowledgement covers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Batch {
    wire: f64,
    interval: f64,
    held: bool,
    alone: bool,
    /// The time at which the first block of the batch had been compressed.
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

    /// The bandwidth in bytes per second; `None` before the first measurement.
    pub(super) fn bandwidth(&self) -> Option<f64> {
        self.bandwidth.forecast().map(|bandwidth| bandwidth.max(1.0))
    }

    /// The round trip in seconds without waiting in queues; 0 if unknown.
    pub(super) fn round_trip(&self) -> f64 {
        let least = if self.least_round_trip.is_finite() { self.least_round_trip } else { 0.0 };
        self.latency.forecast().unwrap_or(least)
    }

    /// The most bytes that may be in flight: the size of socket buffers in 2005, or twice the
    /// bandwidth-delay product if that is more.
    pub(super) fn window(&self) -> usize {
        match self.bandwidth() {
            Some(bandwidth) => SOCKET.max(2.0 * bandwidth * self.round_trip()) as usize,
            None => SENSOR,
        }
    }

    /// Whether a measurement is due. Returns true once for each measurement.
    pub(super) fn is_due(&mut self, now: Duration) -> bool {
        let is_due = now.saturating_sub(self.measured) > PERIOD;
        if is_due {
            self.measured = now;
        }
        is_due
    }

    /// Learns from the acknowledgement of `batch`. `idle` is true if nothing is in flight any more.
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

    /// Computes a lower bound of the bandwidth from the bytes that were sent since a start time and
    /// have arrived. The bound is used if it exceeds the forecast.
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

    /// The batch of a single block of 32 KiB whose compression took no time.
    fn block(at: Duration) -> Batch {
        let mut batch = Batch::default();
        batch.add(&Flight { handed: at, wire: 32_772, ..Flight::default() });
        batch
    }

    fn acknowledgement(span: Duration, waited: Duration, round_trip: Duration) -> Delivered {
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
    fn the_slowest_stage_is_measured_if_it_is_the_network() {
        let mut network = Network::new();
        assert_eq!((network.bandwidth(), network.window()), (None, SENSOR));
        network.learn(50 * MS, &acknowledgement(30 * MS, 29 * MS, 40 * MS), &block(10 * MS), false);
        assert_eq!(network.bandwidth(), Some(32_772.0 / 0.03));
        assert!(!network.is_due(900 * MS) && network.is_due(1100 * MS));
        assert!(!network.is_due(1200 * MS) && network.is_due(2200 * MS));
    }

    #[test]
    fn an_end_that_does_not_wait_gives_no_measurement() {
        let mut network = Network::new();
        network.learn(50 * MS, &acknowledgement(30 * MS, MS, 40 * MS), &block(10 * MS), false);
        assert_eq!(network.bandwidth(), None);
    }

    #[test]
    fn slow_compression_gives_a_lower_bound_only() {
        let mut network = Network::new();
        network.learn(5 * MS, &acknowledgement(3 * MS, 3 * MS, 4 * MS), &block(MS), false);
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
            network.learn(at + 4 * MS, &acknowledgement(30 * MS, 29 * MS, 4 * MS), &batch, false);
        }
        assert_eq!(network.bandwidth(), Some(measured));
        assert!(network.is_due(3000 * MS));
    }

    #[test]
    fn transmitted_bytes_give_a_lower_bound() {
        let mut network = Network::new();
        for nth in 0..300 {
            let batch = block(nth * MS);
            network.learn((nth + 1) * MS, &acknowledgement(MS, Duration::ZERO, MS), &batch, false);
        }
        // One block of 32,772 bytes arrives in each millisecond. Blocks that were sent before the
        // start time do not count.
        let bandwidth = network.bandwidth().unwrap();
        assert!((31e6..33e6).contains(&bandwidth), "{bandwidth}");
    }

    #[test]
    fn a_single_block_is_a_measurement_after_subtracting_the_latency() {
        let mut network = Network::new();
        let alone = |wire| {
            let mut batch = Batch::default();
            batch.add(&Flight { alone: true, wire, ..Flight::default() });
            batch
        };
        network.learn(
            90 * MS,
            &Delivered { wire: 20, ..acknowledgement(MS, MS, 70 * MS) },
            &alone(20),
            true,
        );
        assert_eq!((network.bandwidth(), network.round_trip()), (None, 0.07));
        let delivered =
            Delivered { backlogged: false, ..acknowledgement(99 * MS, 99 * MS, 170 * MS) };
        network.learn(300 * MS, &delivered, &alone(32_772), true);
        let bandwidth = network.bandwidth().unwrap();
        assert!((bandwidth - 327_720.0).abs() < 1.0, "{bandwidth}");
        assert_eq!(network.window(), 128 << 10);
    }

    #[test]
    fn a_long_path_has_a_larger_window() {
        let mut network = Network::new();
        network.learn(999 * MS, &acknowledgement(3 * MS, 3 * MS, 500 * MS), &block(10 * MS), false);
        assert_eq!(network.window(), 10_924_000);
    }
}
