//! The minimum round trip of a link, without the time that the link takes for the bytes of a block.
//!
//! A block that meets no queue takes the round trip plus the time of its bytes. The difference
//! between the minimum times of small and of large blocks gives the time per byte, which is
//! subtracted from the minimum time of the smallest blocks. The time per byte is limited to that of
//! the largest measured bandwidth. Without this limit too much would be subtracted for a link that
//! seems slow, which would make the link seem slower still.

/// The binary logarithm of the smallest size class in bytes; the number of classes follows. The
/// classes are 1 to 128 KiB and more.
const SMALLEST: u32 = 10;
const SIZES: usize = 8;
/// The period of the measurements in seconds. Measurements of the current and of the previous
/// period count; older ones expire because routes change. On a link that is always busy every block
/// meets a queue, so that a pause is needed once in each period, which costs one round trip.
const PERIOD: f64 = 30.0;
/// The factor by which the sizes of two measurements must differ if they are to give a time per
/// byte. With a smaller difference jitter would dominate.
const LARGER: f64 = 1.3;

/// The minimum round trip of a link.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundTrip {
    /// The measurements of the current and of the previous period.
    periods: [Period; 2],
    /// The time at which the current period began, in seconds.
    since: f64,
    /// The estimate in seconds; 0 if unknown.
    estimate: f64,
    needs_pause: bool,
}

/// The measurements of one period.
#[derive(Debug, Clone, Copy)]
struct Period {
    /// For each size class: the minimum time in seconds, and the bytes of the block that had this
    /// time.
    times: [(f64, f64); SIZES],
    /// The largest measured bandwidth in bytes per second.
    fastest: f64,
}

const NOTHING: Period = Period { times: [(f64::INFINITY, 0.0); SIZES], fastest: 0.0 };

impl Default for RoundTrip {
    fn default() -> Self {
        RoundTrip { periods: [NOTHING; 2], since: 0.0, estimate: 0.0, needs_pause: false }
    }
}

impl RoundTrip {
    /// The round trip in seconds; 0 if unknown.
    pub(super) fn seconds(&self) -> f64 {
        self.estimate
    }

    /// Whether a new measurement is due, which needs a link without a queue: the sender has to
    /// pause.
    pub(super) fn needs_pause(&self) -> bool {
        self.needs_pause
    }

    /// Learns that `bytes` bytes were acknowledged `time` seconds after they were sent. `alone` is
    /// true if they met no queue of other blocks of this stream.
    pub(super) fn learn(&mut self, now: f64, time: f64, bytes: f64, alone: bool) {
        self.needs_pause = now - self.since > PERIOD && !alone;
        if now - self.since > PERIOD && alone {
            self.periods = [NOTHING, self.periods[0]];
            self.since = now;
        }
        let size = (bytes as u32).max(1).ilog2().saturating_sub(SMALLEST) as usize;
        let known = &mut self.periods[0].times[size.min(SIZES - 1)];
        if time < known.0 {
            *known = (time.max(1e-6), bytes);
        }
        self.estimate = self.estimated();
    }

    /// Learns a measured bandwidth in bytes per second.
    pub(super) fn note_bandwidth(&mut self, bandwidth: f64) {
        self.periods[0].fastest = self.periods[0].fastest.max(bandwidth);
    }

    /// The estimate from the measurements of both periods.
    fn estimated(&self) -> f64 {
        let [current, previous] = &self.periods;
        let all = current.times.iter().chain(&previous.times).filter(|(time, _)| time.is_finite());
        let least = all.clone().min_by(|a, b| a.0.total_cmp(&b.0));
        let Some(&(time, bytes)) = least else { return 0.0 };
        let fastest = current.fastest.max(previous.fastest);
        let mut slope = if fastest > 0.0 { 1.0 / fastest } else { 0.0 };
        let mut is_known = false;
        for &(longer, more) in all.filter(|(_, more)| *more > LARGER * bytes) {
            slope = slope.min((longer - time) / (more - bytes));
            is_known = true;
        }
        if is_known { (time - slope * bytes).max(1e-6) } else { time }
    }
}
