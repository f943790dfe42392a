//! Finds out whether losses grow with the rate. They do on a full link whose queue is too short to
//! be seen as delay, such as a policer. The losses of a radio link do not depend on the rate.

/// The interval, in ms, over which rate and losses are compared: long enough for some packets of a
/// slow channel, and short enough to show the bursts of a busy one. Chosen by judgement; not tuned.
const INTERVAL: f64 = 500.0;

/// The pause, in ms without a packet, after which another cluster of packets begins. Packets that
/// were lost between two clusters are not counted: with them, the computed rate would be one that
/// no cluster had. The sender separates clusters by the same pause.
const PAUSE: f64 = 250.0;

/// Losses that are noticed within this many packets after a pause are not counted: the packets may
/// have been lost before the pause ended.
const PAUSE_PACKETS: f64 = 4.0;

/// The least number of packets of an interval for a meaningful rate. Chosen by judgement; not
/// tuned.
const PACKETS: f64 = 5.0;

/// The factor by which the weight of earlier intervals is multiplied with each new one: about 30
/// intervals count, 15 s of activity. Chosen by judgement; not tuned.
const DECAY: f64 = 0.97;

/// The least number of packets for a conclusion. Chosen by judgement; not tuned.
const EVIDENCE: f64 = 100.0;

/// The share of lost packets below which no lower rate is tried: redundancy makes up for the
/// losses. Chosen by judgement; not tuned.
const HEAVY: f64 = 0.08;

/// The share of lost packets above which redundancy does not help, so that a lower rate is tried
/// even if losses do not grow with the rate. Chosen by judgement; not tuned.
const EXTREME: f64 = 0.4;

/// The number of standard errors from which on growth is believed. Tuned on `examples/rate`: with
/// three, the clusters of a pointer under random losses led to trials of a lower rate.
const SIGMAS: f64 = 4.0;

/// The rate and the losses of the last seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct LossGrowth {
    /// When the present interval began, in ms.
    began: f64,
    /// When the last packet arrived, in ms.
    last: f64,
    /// The bytes of the packets of the present interval.
    bytes: f64,
    /// The number of packets of the present interval that arrived.
    received: f64,
    /// The number of packets of the present interval that were lost.
    lost: f64,
    /// The number of packets since the last pause.
    since_pause: f64,
    sums: Sums,
}

/// Sums over the packets of all intervals. The `x` of a packet is the rate of the packet's interval
/// in kB/s.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    packets: f64,
    lost: f64,
    x: f64,
    /// The sum of x squared.
    xx: f64,
    /// The sum of x over lost packets.
    lost_x: f64,
    /// The number of intervals.
    intervals: f64,
    /// The sum, over all intervals, of the squared number of losses divided by the number of
    /// packets.
    lost_lost: f64,
}

impl LossGrowth {
    /// Notes a packet of `bytes` bytes that arrived at `now`, in ms.
    pub(super) fn arrived(&mut self, now: f64, bytes: f64) {
        if now - self.last > PAUSE {
            self.add_interval(self.last);
            *self = LossGrowth { began: now, last: now, sums: self.sums, ..LossGrowth::default() };
            return;
        }
        self.last = now;
        self.bytes += bytes;
        self.received += 1.0;
        self.since_pause += 1.0;
        if now - self.began >= INTERVAL {
            self.add_interval(now);
            *self = LossGrowth {
                began: now,
                last: now,
                sums: self.sums,
                since_pause: self.since_pause,
                ..LossGrowth::default()
            };
        }
    }

    /// Notes that `packets` packets were lost.
    pub(super) fn lost(&mut self, packets: f64) {
        if self.since_pause >= PAUSE_PACKETS {
            self.lost += packets;
        }
    }

    /// The share of packets that were lost. `None` if there were too few packets.
    pub(super) fn share(&self) -> Option<f64> {
        (self.sums.packets >= EVIDENCE).then(|| self.sums.lost / self.sums.packets)
    }

    /// If a lower rate may reduce the losses, the clumping of losses; otherwise `None`. Clumping is
    /// the variance of the number of losses divided by that of independent losses: about the number
    /// of losses that happen together.
    pub(super) fn suspected(&self) -> Option<f64> {
        let share = self.share().filter(|share| *share >= HEAVY)?;
        let Sums { packets, lost, x, xx, lost_x, intervals, lost_lost } = self.sums;
        let variance = share * (1.0 - share);
        // The slope of the loss probability as a function of the rate, by least squares.
        let mean = x / packets;
        let spread = xx - x * mean;
        let covariance = lost_x - lost * mean;
        let varied = spread > 0.01 * mean * mean * packets;
        let explained = if varied { covariance * covariance / spread } else { 0.0 };
        let residual = (lost_lost - lost * share - explained).max(0.0);
        let clumping = (residual / (intervals * variance).max(1e-9)).max(1.0);
        // On an overloaded link losses grow faster than the rate.
        let grows = varied
            && covariance > SIGMAS * libm::sqrt(variance * clumping * spread)
            && covariance / spread * mean > share / 2.0;
        (grows || share >= EXTREME).then_some(clumping)
    }

    /// Adds the interval that ends at `end` to the sums.
    fn add_interval(&mut self, end: f64) {
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
