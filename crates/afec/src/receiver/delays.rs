//! What queues add to the way of a packet, from two clocks that were never compared.

use core::time::Duration;

/// The smallest difference of the clocks is taken over one to two of these.
const PERIOD: Duration = Duration::from_secs(10);
/// A packet that took this much less, in ms, than the fastest one is not believed, because one that lies would make all
/// that follow seem late. In the beginning the fastest one may be the liar: then nor are those that took this much more.
const ODD: i16 = 50;
/// So many running that agree are believed.
const AGREE: u8 = 6;

/// How long a packet was on its way beyond the fastest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Queued {
    pub(super) delay: Duration,
    pub(super) clock: Clock,
}

/// Whose clock a packet was sent by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    /// That of the packets before.
    Same,
    /// One that nobody believes.
    Odd,
    /// One that enough packets agree on: those before are no measure any more.
    New,
}

/// Differences between the receiver's and the sender's clock, in ms, of which the sender's has 16 bits.
#[derive(Debug, Default)]
pub(super) struct Delays {
    /// The smallest of this and of the last period, relative to `origin`.
    smallest: Option<(i16, i16)>,
    origin: u16,
    since: Duration,
    /// The last one that was not believed, and how many agree.
    odd: (i16, u8),
    /// How many agreed with the smallest, up to [`AGREE`].
    support: u8,
}

impl Delays {
    /// A packet came that was sent at `sent`: how much longer it took than the fastest one lately.
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
            // After a silence both are old: the clocks may have drifted apart.
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

    /// Whether enough packets running were like this one.
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
            let way = if second < 10 { 20 } else { 50 };
            let now = Duration::from_millis(second * 1000 + way);
            last = delays.arrived(now, (second * 1000) as u16).delay;
        }
        assert_eq!(last, Duration::ZERO);
    }

    #[test]
    fn a_lie_about_the_time_delays_nothing_after_it() {
        for lie in [-20_000, -300, 300, 20_000, 40_000i32] {
            let mut delays = Delays::default();
            let late = (0..100i32).filter(|nth| {
                let sent = if *nth == 0 { lie } else { nth * 33 };
                !delays
                    .arrived(Duration::from_millis(*nth as u64 * 33), sent as u16)
                    .delay
                    .is_zero()
            });
            assert!(late.count() < usize::from(AGREE), "{lie}");
        }
        for lie in [-20_000, -300, 300, 20_000, 40_000i32] {
            let mut delays = Delays::default();
            for nth in 0..100i32 {
                let sent = if nth % 50 == 49 { nth * 33 + lie } else { nth * 33 };
                let delay =
                    delays.arrived(Duration::from_millis(nth as u64 * 33), sent as u16).delay;
                assert!(nth % 50 == 49 || delay.is_zero(), "{lie}: {delay:?} at {nth}");
            }
        }
    }

    #[test]
    fn a_much_faster_path_is_soon_believed() {
        let mut delays = Delays::default();
        let ms = Duration::from_millis;
        for nth in 0..20u16 {
            let way = if nth < 10 { 300 } else { 20 };
            assert_eq!(delays.arrived(ms(u64::from(nth) * 33 + way), nth * 33).delay, ms(0));
        }
        assert_eq!(delays.arrived(ms(20 * 33 + 30), 20 * 33).delay, ms(10));
    }

    #[test]
    fn drift_in_a_silence_is_no_delay() {
        let mut delays = Delays::default();
        let ms = Duration::from_millis;
        delays.arrived(ms(0), 0);
        assert_eq!(delays.arrived(ms(3_600_360), 3_600_000u32 as u16).delay, ms(0));
        assert_eq!(delays.arrived(ms(3_600_400), 3_600_030u32 as u16).delay, ms(10));
    }
}
