//! Whether losses grow with the rate: the sign of a full link whose queue is too short to be seen as delay, such as a
//! policer. Losses of a radio link do not care how much is sent.

/// An interval over which rate and losses are compared, in ms: long enough for some packets of a slow channel, short
/// enough to see the bursts of a busy one.
const INTERVAL: f64 = 500.0;

/// After so many ms without a packet another cluster begins. What was lost between, in whichever of them, is not counted:
/// it would make a rate that never was.
const PAUSE: f64 = 250.0;

/// By so many packets after the pause such losses are found.
const PAUSE_PACKETS: f64 = 4.0;

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

/// How many standard errors make growth believed. With three, a pointer's clusters under random loss led to trials.
const SIGMAS: f64 = 4.0;

/// Rate and losses of the last seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct LossGrowth {
    began: f64,
    last: f64,
    bytes: f64,
    received: f64,
    lost: f64,
    since_pause: f64,
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
    /// Of intervals: their number, and the square of their losses over their packets.
    intervals: f64,
    lost_lost: f64,
}

impl LossGrowth {
    /// A packet came at `now`, in ms.
    pub(super) fn arrived(&mut self, now: f64, bytes: f64) {
        if now - self.last > PAUSE {
            self.close(self.last);
            *self = LossGrowth { began: now, last: now, sums: self.sums, ..LossGrowth::default() };
            return;
        }
        self.last = now;
        self.bytes += bytes;
        self.received += 1.0;
        self.since_pause += 1.0;
        if now - self.began >= INTERVAL {
            self.close(now);
            *self = LossGrowth {
                began: now,
                last: now,
                sums: self.sums,
                since_pause: self.since_pause,
                ..LossGrowth::default()
            };
        }
    }

    /// So many packets were found lost.
    pub(super) fn lost(&mut self, packets: f64) {
        if self.since_pause >= PAUSE_PACKETS {
            self.lost += packets;
        }
    }

    /// The share of packets lost, if enough came to say.
    pub(super) fn share(&self) -> Option<f64> {
        (self.sums.packets >= EVIDENCE).then(|| self.sums.lost / self.sums.packets)
    }

    /// If sending less may lose less: by how much the number of losses varies more than it would if they were
    /// independent, which is about how many come together.
    pub(super) fn suspected(&self) -> Option<f64> {
        let share = self.share().filter(|share| *share >= HEAVY)?;
        let Sums { packets, lost, x, xx, lost_x, intervals, lost_lost } = self.sums;
        let variance = share * (1.0 - share);
        // The slope of a packet's probability to be lost over the rate, by least squares.
        let mean = x / packets;
        let spread = xx - x * mean;
        let covariance = lost_x - lost * mean;
        let varied = spread > 0.01 * mean * mean * packets;
        let explained = if varied { covariance * covariance / spread } else { 0.0 };
        let residual = (lost_lost - lost * share - explained).max(0.0);
        let clumping = (residual / (intervals * variance).max(1e-9)).max(1.0);
        // Of an overloaded link the loss grows faster than the rate.
        let grows = varied
            && covariance > SIGMAS * libm::sqrt(variance * clumping * spread)
            && covariance / spread * mean > share / 2.0;
        (grows || share >= EXTREME).then_some(clumping)
    }

    fn close(&mut self, end: f64) {
        if self.received < PACKETS || end <= self.began {
            return;
        }
        let packets = self.received + self.lost;
        // Bytes per ms are kB/s.
        let x = self.bytes * packets / self.received / (end - self.began);
        let sums = &mut self.sums;
        sums.packets = sums.packets * DECAY + packets;
        sums.lost = sums.lost * DECAY + self.lost;
        sums.x = sums.x * DECAY + packets * x;
        sums.xx = sums.xx * DECAY + packets * x * x;
        sums.lost_x = sums.lost_x * DECAY + self.lost * x;
        sums.intervals = sums.intervals * DECAY + 1.0;
        sums.lost_lost = sums.lost_lost * DECAY + self.lost * self.lost / packets;
    }
}
