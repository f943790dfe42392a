//! The packets of the last second, and the rate and the queueing delay (time in queues) that follow
//! from their spacing.

use super::delay::Delay;

/// The number of slots that are kept. A slot is a group of packets that arrived at nearly the same
/// time. On a narrow link each packet has its own slot, so that 16 slots are about 0.3 s at 28.8
/// kbit/s.
const SLOTS: usize = 16;

/// Packets that arrive within this many ms share a slot. Chosen by judgement; not tuned.
const SLOT: f64 = 10.0;

/// The least number of consecutive slots whose packets were all queued, if the queue is to count as
/// a standing queue. It must also last for at least [`STANDING`] ms.
const STANDING_SLOTS: usize = 4;

/// The least duration of a standing queue in ms. The jitter of single packets does not last that
/// long. This and [`STANDING_SLOTS`] were tuned on `examples/rate`: links of 14.4 to 3000 kbit/s
/// with jitter and losses.
const STANDING: f64 = 70.0;

/// By how many mean falls of the delay from slot to slot a standing queue has to exceed the
/// threshold. Where the delay is random between 0 and r ms, the mean fall is r / 6, and several
/// slots in a row are seldom above two thirds of r. This and the five constants below were tuned on
/// `examples/rate`: at 30 to 50 ms of jitter, which Wi-Fi has, the path showed a limit nearly all
/// of the time without them.
const FALLS: f64 = 4.0;

/// For each of these ms of the mean fall, a standing queue has to last for one more slot.
const FALL_OF_SLOT: f64 = 2.0;

/// A longer fall counts as this many ms: it is that of a queue which has drained.
const FALL_MOST: f64 = 60.0;

/// A pause between two slots, in ms, in which a queue may have drained: their delays are not
/// compared.
const PAUSE: f64 = 200.0;

/// The number of slots over which falls are averaged.
const FALLS_SEEN: u32 = 32;

/// The mean fall of the first slots, in ms, and how many slots it counts for.
const FIRST_FALL: (f64, u32) = (4.0, 4);

/// The age in ms beyond which packets do not count. Chosen by judgement; not tuned.
const RECENT: f64 = 1000.0;

/// Packets that arrived at nearly the same time.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// When the first of the packets arrived, in ms.
    began: f64,
    /// When the last of the packets arrived, in ms.
    end: f64,
    /// The delay of the last of the packets (see [`Delay::relative`]).
    relative: f64,
    /// The least queueing delay among the packets, in ms.
    queue: f32,
    /// The bytes of the packets.
    bytes: f32,
}

/// The slots of the newest packets.
#[derive(Debug, Clone)]
pub(super) struct Arrivals {
    /// The slots, the newest first.
    slots: [Slot; SLOTS],
    count: usize,
    /// By how many ms the queueing delay falls from slot to slot in the mean; where it rises it
    /// falls by 0. A queue falls by what the link sends between two packets, jitter by far more.
    fall: f64,
    /// The number of slots so far, up to [`FALLS_SEEN`].
    seen: u32,
}

/// The rates at which packets were sent and arrived during some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Flow {
    /// The bytes per second by the times of arrival.
    pub(super) delivered: f64,
    /// The bytes per second by the times of sending. Lost packets do not count.
    pub(super) sending: f64,
    /// By how many ms the delay of packets rose.
    pub(super) rise: f64,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        let (fall, seen) = FIRST_FALL;
        Arrivals { slots: [Slot::default(); SLOTS], count: 0, fall, seen }
    }

    /// Notes a packet that arrived at `now`, in ms. Returns whether it begins a slot.
    pub(super) fn push(&mut self, now: f64, delay: Delay, bytes: f64) -> bool {
        let newest = &mut self.slots[0];
        if self.count > 0 && now - newest.began < SLOT {
            newest.end = now;
            newest.relative = delay.relative;
            newest.queue = newest.queue.min(delay.queue as f32);
            newest.bytes += bytes as f32;
            return false;
        }
        self.note_fall();
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

    /// Forgets the packets, whose delays no longer count, but not how much delays vary.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Compares the two newest slots.
    fn note_fall(&mut self) {
        let [newer, older, ..] = &self.slots;
        if self.count < 2 || newer.began - older.end > PAUSE {
            return;
        }
        let fall = f64::from(older.queue - newer.queue).clamp(0.0, FALL_MOST);
        self.seen = (self.seen + 1).min(FALLS_SEEN);
        self.fall += (fall - self.fall) / f64::from(self.seen);
    }

    /// The queueing delay of the newest packets, in ms.
    pub(super) fn queue(&self) -> f64 {
        self.recent().take(3).map(|slot| f64::from(slot.queue)).reduce(f64::min).unwrap_or(0.0)
    }

    /// The least [`Delay::relative`] of the recent packets.
    pub(super) fn least(&self) -> f64 {
        self.recent().map(|slot| slot.relative).reduce(f64::min).unwrap_or(0.0)
    }

    /// Whether the newest packets were held up by a standing queue of more than `threshold` ms. On
    /// a path with jitter the queue has to be longer, and to last for more packets.
    pub(super) fn has_standing_queue(&self, threshold: f64) -> bool {
        let least = threshold + FALLS * self.fall;
        let queued = || self.recent().take_while(|slot| f64::from(slot.queue) > least);
        let span = queued().last().map_or(0.0, |oldest| self.slots[0].end - oldest.end);
        let slots = STANDING_SLOTS + (self.fall / FALL_OF_SLOT) as usize;
        // Where packets are rare, those of the last second have to do.
        let slots = slots.min(self.recent().count()).max(STANDING_SLOTS);
        queued().count() >= slots && span >= STANDING
    }

    /// The rates from when a queue of more than `threshold` ms formed until now. The link was busy
    /// during that time, so it delivered as fast as it can.
    pub(super) fn busy(&self, threshold: f64) -> Option<Flow> {
        self.flow(self.recent().take_while(|slot| f64::from(slot.queue) > threshold).count())
    }

    /// The rates of the recent packets.
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
        // The span may be wrong because clocks have whole ms, jitter, or are false; this limits the
        // quotient.
        let sent_span = (span - rise).max(span / 8.0);
        Some(Flow { delivered: bytes / span * 1000.0, sending: bytes / sent_span * 1000.0, rise })
    }
}
