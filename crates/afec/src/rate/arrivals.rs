//! The packets of the last moments, and what their spacing says.

use super::delay::Delay;

/// How many slots are kept. On a narrow link a slot is a packet, so that 16 are some 0.3 s of 28.8 kbit/s.
const SLOTS: usize = 16;

/// Packets that come within so many ms share a slot.
const SLOT: f64 = 10.0;

/// A queue stands if packets found one in so many slots ...
const STANDING_SLOTS: usize = 4;

/// ... and for so many ms. Jitter of single packets does not do that.
const STANDING: f64 = 70.0;

/// Nothing older than this, in ms, says anything of now.
const RECENT: f64 = 1000.0;

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// When the first and the last of its packets came, in ms.
    began: f64,
    end: f64,
    /// The relative delay of the last.
    relative: f64,
    /// The least queueing delay of its packets.
    queue: f32,
    bytes: f32,
}

/// The newest packets.
#[derive(Debug, Clone)]
pub(super) struct Arrivals {
    /// The newest first.
    slots: [Slot; SLOTS],
    count: usize,
}

/// How packets came over some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Flow {
    /// Bytes per second as they came.
    pub(super) delivered: f64,
    /// Bytes per second as they were sent, without the lost.
    pub(super) sending: f64,
    /// By how many ms the delay rose.
    pub(super) rise: f64,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        Arrivals { slots: [Slot::default(); SLOTS], count: 0 }
    }

    /// A packet came at `now`, in ms. Returns whether it began a slot.
    pub(super) fn push(&mut self, now: f64, delay: Delay, bytes: f64) -> bool {
        let newest = &mut self.slots[0];
        if self.count > 0 && now - newest.began < SLOT {
            newest.end = now;
            newest.relative = delay.relative;
            newest.queue = newest.queue.min(delay.queue as f32);
            newest.bytes += bytes as f32;
            return false;
        }
        self.slots.copy_within(..SLOTS - 1, 1);
        self.slots[0] = Slot {
            began: now,
            end: now,
            relative: delay.relative,
            queue: delay.queue as f32,
            bytes: bytes as f32,
        };
        self.count = (self.count + 1).min(SLOTS);
        true
    }

    /// The queue that the newest packets found, in ms.
    pub(super) fn queue(&self) -> f64 {
        self.recent().take(3).map(|slot| f64::from(slot.queue)).reduce(f64::min).unwrap_or(0.0)
    }

    /// The least delay, as [`Delay::relative`], of what is recent.
    pub(super) fn least(&self) -> f64 {
        self.recent().map(|slot| slot.relative).reduce(f64::min).unwrap_or(0.0)
    }

    /// Whether all packets of the last moments found a queue of more than `threshold` ms.
    pub(super) fn stands(&self, threshold: f64) -> bool {
        let queued = || self.recent().take_while(|slot| f64::from(slot.queue) > threshold);
        let span = queued().last().map_or(0.0, |oldest| self.slots[0].end - oldest.end);
        queued().count() >= STANDING_SLOTS && span >= STANDING
    }

    /// How packets came while there was a queue of more than `threshold` ms, up to now. Then the link was busy, and
    /// what it delivered is what it can.
    pub(super) fn busy(&self, threshold: f64) -> Option<Flow> {
        self.flow(self.recent().take_while(|slot| f64::from(slot.queue) > threshold).count())
    }

    /// How packets came lately.
    pub(super) fn lately(&self) -> Option<Flow> {
        self.flow(self.recent().count())
    }

    fn recent(&self) -> impl Iterator<Item = &Slot> {
        let now = self.slots[0].end;
        self.slots[..self.count].iter().take_while(move |slot| now - slot.end < RECENT)
    }

    fn flow(&self, count: usize) -> Option<Flow> {
        if count < STANDING_SLOTS {
            return None;
        }
        let (newest, oldest) = (&self.slots[0], &self.slots[count - 1]);
        let bytes: f64 = self.slots[..count - 1].iter().map(|slot| f64::from(slot.bytes)).sum();
        let span = (newest.end - oldest.end).max(1.0);
        let rise = newest.relative - oldest.relative;
        // Clocks of whole ms, jitter and lies make it wrong; the quotient stays within reason.
        let sent_span = (span - rise).max(span / 8.0);
        Some(Flow { delivered: bytes / span * 1000.0, sending: bytes / sent_span * 1000.0, rise })
    }
}
