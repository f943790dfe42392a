//! Whether less is lost if less is sent.

/// Of the rate at which much is lost, what is tried.
const TRIAL: f64 = 0.8;

/// A trial takes so many packets ...
const PACKETS: f64 = 60.0;

/// ... and so many ms at least, after these in which the sender comes to know.
const LEAST: f64 = 1000.0;
const GRACE: f64 = 600.0;

/// A trial that has not come to that in so many ms is over.
const MOST: f64 = 8000.0;

/// How many standard errors less must be lost.
const SIGMAS: f64 = 2.5;

/// A trial must show a loss that is not less than this, one of its packets.
const BAR_LEAST: f64 = 0.02;

/// A time with a lower cap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    began: f64,
    /// Since when packets are counted.
    counted: f64,
    pub(super) cap: f64,
    /// What came through before, in bytes per second.
    pub(super) delivered: f64,
    /// If no more than this share is lost now, sending less helps.
    bar: f64,
    packets: f64,
    lost: f64,
    /// Of those that came.
    bytes: f64,
}

/// What a trial has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing yet.
    Open,
    /// Less is lost: the link was overloaded.
    Helps,
    /// As much is lost, or nobody tried.
    InVain,
}

/// The share of losses to which a trial must bring `loss`, if they come `clumping` together; `None`: so little is lost
/// that a trial could show nothing.
pub(super) fn bar(loss: f64, clumping: f64) -> Option<f64> {
    let bar = loss - SIGMAS * libm::sqrt(loss * (1.0 - loss) * clumping / PACKETS);
    (bar >= BAR_LEAST).then_some(bar)
}

impl Trial {
    /// Tries less than `rate`.
    pub(super) fn new(now: f64, rate: f64, delivered: f64, bar: f64) -> Self {
        let cap = TRIAL * rate;
        Trial { began: now, counted: now, cap, delivered, bar, packets: 0.0, lost: 0.0, bytes: 0.0 }
    }

    /// Counts packets, `lost` of them lost.
    pub(super) fn count(&mut self, packets: f64, lost: f64) {
        self.packets += packets;
        self.lost += lost;
    }

    /// Counts the bytes of a packet that came.
    pub(super) fn arrived(&mut self, bytes: f64) {
        self.bytes += bytes;
    }

    /// The share of packets lost.
    pub(super) fn loss(&self) -> f64 {
        self.lost / self.packets.max(1.0)
    }

    /// What is shown by now, and how the trial goes on.
    pub(super) fn judge(self, now: f64) -> (Self, Verdict) {
        if now - self.began > MOST {
            return (self, Verdict::InVain);
        }
        let passed = now - self.counted;
        let enough = self.packets >= PACKETS && passed >= LEAST;
        let knows = now - self.began >= GRACE;
        if knows && !enough {
            return (self, Verdict::Open);
        }
        let received = (self.packets - self.lost).max(1.0);
        let sent = self.bytes * self.packets / received / passed.max(1.0) * 1000.0;
        if !knows || sent > self.cap * 1.15 {
            // Counts from here, as the sender may not have known.
            let again = Trial { counted: now, packets: 0.0, lost: 0.0, bytes: 0.0, ..self };
            return (again, Verdict::Open);
        }
        (self, if self.loss() > self.bar { Verdict::InVain } else { Verdict::Helps })
    }
}
