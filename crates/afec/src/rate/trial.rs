//! A trial: a time of a lower rate, which shows whether fewer packets are lost at that rate. A
//! report of the receiver tells the sender of the lower rate.

/// The rate of a trial, as a share of the rate at which many packets are lost. Chosen by judgement;
/// not tuned.
const TRIAL: f64 = 0.8;

/// The least number of packets of a trial.
const PACKETS: f64 = 60.0;

/// The least duration of a trial, in ms. Chosen by judgement; not tuned.
const LEAST: f64 = 1000.0;
/// The time at the beginning of a trial, in ms, in which the report reaches the sender. Chosen by
/// judgement; not tuned.
const GRACE: f64 = 600.0;

/// The longest duration of a trial without a result, in ms. Chosen by judgement; not tuned.
const MOST: f64 = 8000.0;

/// The number of standard errors by which losses must be lower in the trial than before it. Chosen
/// by judgement; not tuned.
const SIGMAS: f64 = 2.5;

/// The lowest share of lost packets that a trial can show: about one of the trial's packets.
const BAR_LEAST: f64 = 0.02;

/// A period with a lower rate limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trial {
    /// When the trial began, in ms.
    began: f64,
    /// The time from which on packets are counted, in ms.
    counted: f64,
    /// The rate limit in bytes per second.
    pub(super) cap: f64,
    /// The rate in bytes per second at which packets arrived before the trial.
    pub(super) delivered: f64,
    /// The bar: the lower rate helps if no more than this share of packets is lost.
    bar: f64,
    /// The number of packets since [`Trial::counted`], including lost ones.
    packets: f64,
    lost: f64,
    /// The bytes of the packets that arrived since [`Trial::counted`].
    bytes: f64,
}

/// The result of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The trial has no result yet.
    Open,
    /// Fewer packets are lost: the link was overloaded.
    Helps,
    /// As many packets are lost, or the sender did not lower its rate.
    InVain,
}

/// The bar of a trial: the share of losses that the trial must reach. `loss` is the share before
/// the trial, and about `clumping` losses happen together. `None` if so few packets are lost that a
/// trial could not show a difference.
pub(super) fn bar(loss: f64, clumping: f64) -> Option<f64> {
    let bar = loss - SIGMAS * libm::sqrt(loss * (1.0 - loss) * clumping / PACKETS);
    (bar >= BAR_LEAST).then_some(bar)
}

impl Trial {
    /// Begins a trial at a rate lower than `rate`. `delivered` is the rate at which packets arrived
    /// before.
    pub(super) fn new(now: f64, rate: f64, delivered: f64, bar: f64) -> Self {
        let cap = TRIAL * rate;
        Trial { began: now, counted: now, cap, delivered, bar, packets: 0.0, lost: 0.0, bytes: 0.0 }
    }

    /// Counts packets, of which `lost` are lost.
    pub(super) fn count(&mut self, packets: f64, lost: f64) {
        self.packets += packets;
        self.lost += lost;
    }

    /// Counts the bytes of a packet that arrived.
    pub(super) fn arrived(&mut self, bytes: f64) {
        self.bytes += bytes;
    }

    /// The share of packets that were lost.
    pub(super) fn loss(&self) -> f64 {
        self.lost / self.packets.max(1.0)
    }

    /// Returns the trial in its present state, and its verdict. Counting starts again if the sender
    /// may not have lowered its rate yet.
    pub(super) fn judge(self, now: f64) -> (Self, Verdict) {
        if now - self.began > MOST {
            return (self, Verdict::InVain);
        }
        let passed = now - self.counted;
        let enough = self.packets >= PACKETS && passed >= LEAST;
        let sender_knows = now - self.began >= GRACE;
        if sender_knows && !enough {
            return (self, Verdict::Open);
        }
        let received = (self.packets - self.lost).max(1.0);
        let sent = self.bytes * self.packets / received / passed.max(1.0) * 1000.0;
        if !sender_knows || sent > self.cap * 1.15 {
            // The sender may not know of the lower limit yet, so counting starts again.
            let again = Trial { counted: now, packets: 0.0, lost: 0.0, bytes: 0.0, ..self };
            return (again, Verdict::Open);
        }
        (self, if self.loss() > self.bar { Verdict::InVain } else { Verdict::Helps })
    }
}
