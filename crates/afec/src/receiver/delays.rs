//! What queues add to the way of a packet, from two clocks that were never compared.

use core::time::Duration;

/// The smallest difference of the clocks is taken over one to two of these.
const PERIOD: Duration = Duration::from_secs(10);

/// Differences between the receiver's and the sender's clock, in ms, of which the sender's has 16 bits.
#[derive(Debug, Default)]
pub(super) struct Delays {
    /// The smallest of this and of the last period, relative to `origin`.
    smallest: Option<(i16, i16)>,
    origin: u16,
    since: Duration,
}

impl Delays {
    /// A packet came that was sent at `sent`: how much longer it took than the fastest one lately.
    pub(super) fn arrived(&mut self, now: Duration, sent: u16) -> Duration {
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
        if now.saturating_sub(self.since) >= PERIOD {
            self.since = now;
            last = this;
            this = delay;
        }
        this = this.min(delay);
        self.smallest = Some((this, last));
        Duration::from_millis((i32::from(delay) - i32::from(this.min(last))).max(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_packet_counts_as_undelayed() {
        let mut delays = Delays::default();
        let ms = Duration::from_millis;
        assert_eq!(delays.arrived(ms(100_000), 65_000), ms(0));
        assert_eq!(delays.arrived(ms(100_040), 65_030), ms(10));
        assert_eq!(delays.arrived(ms(100_055), 65_060), ms(0));
        assert_eq!(delays.arrived(ms(100_100), 65_100), ms(5));
        assert_eq!(delays.arrived(ms(101_000), 464), ms(5), "the sender's clock wrapped");
    }

    #[test]
    fn a_longer_path_is_accepted_after_two_periods() {
        let mut delays = Delays::default();
        let mut last = Duration::ZERO;
        for second in 0..40u64 {
            let way = if second < 10 { 20 } else { 50 };
            last =
                delays.arrived(Duration::from_millis(second * 1000 + way), (second * 1000) as u16);
        }
        assert_eq!(last, Duration::ZERO);
    }
}
