//! How long packets wait in queues, computed from the difference of two clocks that are not
//! synchronised: the sender's and the receiver's. The difference is that of the receiver's clock
//! when a packet arrives and the sender's clock in the packet.

use core::time::Duration;

/// The smallest difference is taken over one to two periods of this length. In 20 s clocks that
/// differ by 100 ppm drift by 2 ms. Chosen by judgement; not tuned.
const PERIOD: Duration = Duration::from_secs(10);
/// How many ms less than the fastest packet a packet may seem to have taken. If it seems to have
/// taken still less, its clock is not believed: one false clock would make all later packets seem
/// late. Until [`AGREE`] packets agree, the fastest packet itself may have had a false clock; until
/// then, a packet that seems to have taken this many ms more is not believed either. Chosen by
/// judgement; not tuned.
const ODD: i16 = 50;
/// The number of consecutive packets that must agree with a new clock before it is believed. Packet
/// numbers have the same rule: see [`numbers`](super::numbers).
const AGREE: u8 = 6;

/// How much longer a packet took than the fastest one, which is the time that it waited in queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Queued {
    pub(super) delay: Duration,
    /// Whether the packet's clock is believed.
    pub(super) clock: Clock,
}

/// Whether the clock in a packet agrees with the clock in earlier packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    /// The packet's clock agrees with the clocks of older packets.
    Same,
    /// The packet's clock does not agree with older packets and is not believed.
    Odd,
    /// It does not agree with older packets, but with enough newer ones: it is believed from now
    /// on.
    New,
}

/// Differences between the receiver's clock and the sender's clock, in ms, modulo 2^16.
#[derive(Debug, Default)]
pub(super) struct Delays {
    /// The smallest difference of this period and that of the last one, both relative to `origin`.
    smallest: Option<(i16, i16)>,
    /// The difference of the first packet.
    origin: u16,
    /// When this period began.
    since: Duration,
    /// The newest difference that is far from the expected one, and may be an outlier; and the
    /// number of consecutive packets with a difference near that one.
    odd: (i16, u8),
    /// The number of packets that agreed with the smallest difference. It stops at [`AGREE`].
    support: u8,
}

impl Delays {
    /// Notes a packet that was sent when the sender's clock showed `sent` ms. Returns how much
    /// longer it took than the fastest recent one.
    pub(super) fn arrived(&mut self, now: Duration, sent: u16) -> Queued {
        let difference = (now.as_millis() as u16).wrapping_sub(sent);
        let (mut this, mut last) = match self.smallest {
            Some(smallest) => smallest,
            None => {
                self.origin = difference;
                self.since = now;
                (0, 0)
            }
        };
        let delay = difference.wrapping_sub(self.origin) as i16;
        let smallest = this.min(last);
        let late = (i32::from(delay) - i32::from(smallest)).max(0);
        let age = now.saturating_sub(self.since);
        let early = delay < smallest.saturating_sub(ODD);
        let liar = late > ODD.into() && self.support < AGREE;
        if (early || liar) && age < PERIOD * 2 && !self.agree(delay) {
            let delay = Duration::from_millis(late as u64);
            return Queued { delay, clock: Clock::Odd };
        }
        let jumped = early || liar;
        if early || liar || age >= PERIOD * 2 {
            // After a long silence both smallest differences are too old, since the clocks may have
            // drifted apart.
            (this, last) = (delay, delay);
            self.since = now;
        } else if age >= PERIOD {
            (this, last) = (delay, this);
            self.since = now;
        }
        self.odd.1 = 0;
        self.support = (self.support + 1).min(AGREE);
        this = this.min(delay);
        self.smallest = Some((this, last));
        let delay = (i32::from(delay) - i32::from(this.min(last))).max(0);
        let clock = if jumped { Clock::New } else { Clock::Same };
        Queued { delay: Duration::from_millis(delay as u64), clock }
    }

    /// Whether [`AGREE`] consecutive packets that were not believed had a difference near `delay`.
    fn agree(&mut self, delay: i16) -> bool {
        let (other, count) = self.odd;
        let near = count > 0 && delay.abs_diff(other) <= ODD.unsigned_abs();
        self.odd = (delay, if near { count + 1 } else { 1 });
        self.odd.1 >= AGREE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_packet_counts_as_undelayed() {
        let mut delays = Delays::default();
        let ms = Duration::from_millis;
        assert_eq!(delays.arrived(ms(100_000), 65_000).delay, ms(0));
        assert_eq!(delays.arrived(ms(100_040), 65_030).delay, ms(10));
        assert_eq!(delays.arrived(ms(100_055), 65_060).delay, ms(0));
        assert_eq!(delays.arrived(ms(100_100), 65_100).delay, ms(5));
        assert_eq!(delays.arrived(ms(101_000), 464).delay, ms(5), "the sender's clock wrapped");
    }

    #[test]
    fn a_longer_path_is_accepted_after_two_periods() {
        let mut delays = Delays::default();
        let mut last = Duration::ZERO;
        for second in 0..40u64 {
            let delay = if second < 10 { 20 } else { 50 };
            let now = Duration::from_millis(second * 1000 + delay);
            last = delays.arrived(now, (second * 1000) as u16).delay;
        }
        assert_eq!(last, Duration::ZERO);
    }

    #[test]
    fn a_false_clock_delays_no_later_packet() {
        for error in [-20_000, -300, 300, 20_000, 40_000i32] {
            let mut delays = Delays::default();
            let late = (0..100i32).filter(|nth| {
                let sent = if *nth == 0 { error } else { nth * 33 };
                !delays
                    .arrived(Duration::from_millis(*nth as u64 * 33), sent as u16)
                    .delay
                    .is_zero()
            });
            assert!(late.count() < usize::from(AGREE), "{error}");
        }
        for error in [-20_000, -300, 300, 20_000, 40_000i32] {
            let mut delays = Delays::default();
            for nth in 0..100i32 {
                let sent = if nth % 50 == 49 { nth * 33 + error } else { nth * 33 };
                let delay =
                    delays.arrived(Duration::from_millis(nth as u64 * 33), sent as u16).delay;
                assert!(nth % 50 == 49 || delay.is_zero(), "{error}: {delay:?} at {nth}");
            }
        }
    }

    #[test]
    fn a_much_faster_path_is_soon_believed() {
        let mut delays = Delays::default();
        let ms = Duration::from_millis;
        for nth in 0..20u16 {
            let delay = if nth < 10 { 300 } else { 20 };
            assert_eq!(delays.arrived(ms(u64::from(nth) * 33 + delay), nth * 33).delay, ms(0));
        }
        assert_eq!(delays.arrived(ms(20 * 33 + 30), 20 * 33).delay, ms(10));
    }

    #[test]
    fn clock_drift_during_a_silence_is_no_delay() {
        let mut delays = Delays::default();
        let ms = Duration::from_millis;
        delays.arrived(ms(0), 0);
        assert_eq!(delays.arrived(ms(3_600_360), 3_600_000u32 as u16).delay, ms(0));
        assert_eq!(delays.arrived(ms(3_600_400), 3_600_030u32 as u16).delay, ms(10));
    }
}
