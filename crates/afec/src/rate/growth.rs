//! Whether losses grow with the rate: the sign of a full link whose queue is too short to be seen as delay, such as a
//! policer. Losses of a radio link do not care how much is sent.

/// An interval over which rate and losses are compared, in ms: long enough for some packets of a slow channel, short
/// enough to see the bursts of a busy one.
const INTERVAL: f64 = 500.0;

/// An interval with fewer packets has no rate to speak of.
const PACKETS: f64 = 5.0;

/// How much an interval still counts at the next: 30 intervals, 15 s of activity.
const DECAY: f64 = 0.97;

/// Nothing is said before so many packets.
const EVIDENCE: f64 = 100.0;

/// Losses below this share are left to redundancy.
const HEAVY: f64 = 0.08;

/// Above this share redundancy is no answer, so less is tried even though nothing shows that it helps.
const EXTREME: f64 = 0.4;

/// How many standard errors make growth believed. With losses in bursts counted as [`CLUMPING`] and some hundred
/// looks per hour, chance alone comes here less than once a day.
const SIGMAS: f64 = 3.0;

/// How many losses come together: the variance of their number is that much larger (FINDINGS: bursts of 3 to 5).
const CLUMPING: f64 = 3.0;

/// Rate and losses of the last seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct LossGrowth {
    began: f64,
    last: f64,
    bytes: f64,
    received: f64,
    lost: f64,
    sums: Sums,
}

/// Sums over intervals, each packet with the rate x of its interval, in kB/s.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    packets: f64,
    lost: f64,
    x: f64,
    xx: f64,
    lost_x: f64,
}

impl LossGrowth {
    /// A packet came at `now`, in ms.
    pub(super) fn arrived(&mut self, now: f64, bytes: f64) {
        if now - self.began >= INTERVAL {
            self.close(now);
        }
        self.last = now;
        self.bytes += bytes;
        self.received += 1.0;
    }

    /// So many packets were found lost.
    pub(super) fn lost(&mut self, packets: f64) {
        self.lost += packets;
    }

    /// The share of packets lost, if enough came to say.
    pub(super) fn share(&self) -> Option<f64> {
        (self.sums.packets >= EVIDENCE).then(|| self.sums.lost / self.sums.packets)
    }

    /// Whether sending less may lose less.
    pub(super) fn suspected(&self) -> bool {
        let Some(share) = self.share().filter(|share| *share >= HEAVY) else {
            return false;
        };
        if share >= EXTREME {
            return true;
        }
        let Sums { packets, lost, x, xx, lost_x } = self.sums;
        // The slope of a packet's probability to be lost over the rate, by least squares.
        let spread = xx - x * x / packets;
        let mean = x / packets;
        if spread <= 0.01 * mean * mean * packets {
            return false;
        }
        let slope = (lost_x - lost * mean) / spread;
        let error = libm::sqrt(share * (1.0 - share) * CLUMPING / spread);
        // Of an overloaded link the loss grows faster than the rate.
        slope > SIGMAS * error && slope * mean > share / 2.0
    }

    fn close(&mut self, now: f64) {
        if self.received >= PACKETS && self.last > self.began {
            let packets = self.received + self.lost;
            let bytes = self.bytes * packets / self.received;
            // The time from first to last holds all but one packet. Bytes per ms are kB/s.
            let x = bytes * (packets - 1.0) / packets / (self.last - self.began);
            let sums = &mut self.sums;
            sums.packets = sums.packets * DECAY + packets;
            sums.lost = sums.lost * DECAY + self.lost;
            sums.x = sums.x * DECAY + packets * x;
            sums.xx = sums.xx * DECAY + packets * x * x;
            sums.lost_x = sums.lost_x * DECAY + self.lost * x;
        }
        *self = LossGrowth { began: now, sums: self.sums, ..LossGrowth::default() };
    }
}
