//! The least round trip, without what the link takes for the bytes.
//!
//! A block that meets no queue takes a round trip and what its bytes take. So of the least times by size the smallest
//! is about a round trip, and how much longer the larger ones took says what of it is due to bytes. That is limited by
//! the bandwidth as it was measured at its best: more would be subtracted the slower the link seems, and the more is
//! subtracted, the slower it would seem.

/// Sizes that are told apart, by powers of two of bytes from this one on.
const SMALLEST: u32 = 10;
const SIZES: usize = 8;
/// Times count for so long, and for as long again, seconds. Routes change; but while the link is kept busy no block meets
/// it without a queue, and then a pause is needed to learn it again: a round trip in this time.
const STRETCH: f64 = 30.0;
/// A size that is larger by this says something.
const LARGER: f64 = 1.3;

#[derive(Debug, Clone, Copy)]
pub(super) struct Least {
    stretches: [Stretch; 2],
    since: f64,
    round_trip: f64,
    wants_pause: bool,
}

/// Of one stretch of time: by size, the least time and the bytes that it took it for, and the largest bandwidth.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    times: [(f64, f64); SIZES],
    fastest: f64,
}

const NOTHING: Stretch = Stretch { times: [(f64::INFINITY, 0.0); SIZES], fastest: 0.0 };

impl Default for Least {
    fn default() -> Self {
        Least { stretches: [NOTHING; 2], since: 0.0, round_trip: 0.0, wants_pause: false }
    }
}

impl Least {
    /// Seconds. 0: not known.
    pub(super) fn round_trip(&self) -> f64 {
        self.round_trip
    }

    /// Whether it is to be measured again, for which there must be no queue.
    pub(super) fn wants_pause(&self) -> bool {
        self.wants_pause
    }

    /// Learns when word came of so many bytes, seconds after they went; `alone` if they met no queue of ours.
    pub(super) fn learn(&mut self, now: f64, time: f64, bytes: f64, alone: bool) {
        self.wants_pause = now - self.since > STRETCH && !alone;
        if now - self.since > STRETCH && alone {
            self.stretches = [NOTHING, self.stretches[0]];
            self.since = now;
        }
        let size = (bytes as u32).max(1).ilog2().saturating_sub(SMALLEST) as usize;
        let known = &mut self.stretches[0].times[size.min(SIZES - 1)];
        if time < known.0 {
            *known = (time.max(1e-6), bytes);
        }
        self.round_trip = self.reckoned();
    }

    /// Learns what the link carried, bytes per second.
    pub(super) fn carried(&mut self, bandwidth: f64) {
        self.stretches[0].fastest = self.stretches[0].fastest.max(bandwidth);
    }

    fn reckoned(&self) -> f64 {
        let [late, before] = &self.stretches;
        let all = late.times.iter().chain(&before.times).filter(|(time, _)| time.is_finite());
        let least = all.clone().min_by(|a, b| a.0.total_cmp(&b.0));
        let Some(&(time, bytes)) = least else { return 0.0 };
        let fastest = late.fastest.max(before.fastest);
        let mut slope = if fastest > 0.0 { 1.0 / fastest } else { 0.0 };
        let mut is_known = false;
        for &(longer, more) in all.filter(|(_, more)| *more > LARGER * bytes) {
            slope = slope.min((longer - time) / (more - bytes));
            is_known = true;
        }
        if is_known { (time - slope * bytes).max(1e-6) } else { time }
    }
}
