//! What queues add to the way of a packet, from two clocks that were never compared.

use core::time::Duration;

/// The smallest difference of the clocks is taken over one to two of these.
const PERIOD: Duration = Duration::from_secs(10);
/// What two clocks that count whole ms may be off.
const ROUNDING: Duration = Duration::from_millis(4);

/// Differences between the receiver's and the sender's clock, in ms, of which the sender's has 16 bits.
#[derive(Debug, Default)]
pub(super) struct Delays {
    /// The smallest of this and of the last period, relative to `origin`.
    smallest: Option<(i16, i16)>,
    origin: u16,
    since: Duration,
    /// When the newest packet came, and what delay it had.
    last: Option<(Duration, i16)>,
}

impl Delays {
    /// A packet came that was sent at `sent`: how much longer it took than the fastest one lately. `newest`: it was sent
    /// after all that came before.
    pub(super) fn arrived(&mut self, now: Duration, sent: u16, newest: bool) -> Duration {
        let difference = (now.as_millis() as u16).wrapping_sub(sent);
        let mut delay = difference.wrapping_sub(self.origin) as i16;
        if self.smallest.is_none() || (newest && self.is_impossible(now, delay)) {
            self.origin = difference;
            self.since = now;
            self.smallest = Some((0, 0));
            delay = 0;
        }
        if newest {
            self.last = Some((now, delay));
        }
        let (mut this, mut last) = self.smallest.unwrap_or_default();
        let age = now.saturating_sub(self.since);
        if age >= PERIOD {
            self.since = now;
            // After a silence both are old: the clocks may have drifted apart.
            last = if age < PERIOD * 2 { this } else { delay };
            this = delay;
        }
        this = this.min(delay);
        self.smallest = Some((this, last));
        Duration::from_millis((i32::from(delay) - i32::from(this.min(last))).max(0) as u64)
    }

    /// A queue does not grow faster than time goes. If it seems so, a clock was set or a packet lied, and what was
    /// drawn from that would make all that follows seem late.
    fn is_impossible(&self, now: Duration, delay: i16) -> bool {
        self.last.is_some_and(|(at, last)| {
            let grown = (i32::from(delay) - i32::from(last)).max(0) as u64;
            Duration::from_millis(grown) > now.saturating_sub(at) + ROUNDING
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_packet_counts_as_undelayed() {
        let mut delays = Delays::default();
        let ms = Duration::from_millis;
        assert_eq!(delays.arrived(ms(100_000), 65_000, true), ms(0));
        assert_eq!(delays.arrived(ms(100_040), 65_030, true), ms(10));
        assert_eq!(delays.arrived(ms(100_055), 65_060, true), ms(0));
        assert_eq!(delays.arrived(ms(100_100), 65_100, true), ms(5));
        assert_eq!(delays.arrived(ms(101_000), 464, true), ms(5), "the sender's clock wrapped");
    }

    #[test]
    fn a_longer_path_is_accepted_after_two_periods() {
        let mut delays = Delays::default();
        let mut last = Duration::ZERO;
        for second in 0..40u64 {
            let way = if second < 10 { 20 } else { 50 };
            let now = Duration::from_millis(second * 1000 + way);
            last = delays.arrived(now, (second * 1000) as u16, true);
        }
        assert_eq!(last, Duration::ZERO);
    }

    #[test]
    fn a_lie_about_the_time_delays_nothing_after_it() {
        for lie in [50, 300, 20_000, 40_000u16] {
            let mut delays = Delays::default();
            for nth in 0..100u16 {
                let sent = if nth == 50 { nth * 33 + lie } else { nth * 33 };
                let delay = delays.arrived(Duration::from_millis(u64::from(nth) * 33), sent, true);
                assert!(
                    nth == 50 || delay < Duration::from_millis(50),
                    "{lie}: {delay:?} at {nth}"
                );
            }
        }
    }

    #[test]
    fn drift_in_a_silence_is_no_delay() {
        let mut delays = Delays::default();
        let ms = Duration::from_millis;
        delays.arrived(ms(0), 0, true);
        assert_eq!(delays.arrived(ms(3_600_360), 3_600_000u32 as u16, true), ms(0));
        assert_eq!(delays.arrived(ms(3_600_400), 3_600_030u32 as u16, true), ms(10));
    }
}
