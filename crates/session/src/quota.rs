//! Quotas of what participants send (wire W99), and the meters that count usage against them.

use core::time::Duration;

/// The limits of sending in a second, on average. A room takes input above them, too, but later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Bytes of packets and datagrams, or of the messages in them if these are more after
    /// unpacking. Parts of the snapshot that the room asked for do not count.
    pub bytes: u64,
    /// Messages times the receivers of their channels. A message without receivers counts once,
    /// because the room has it. A changed presence counts as a message to all participants.
    pub deliveries: u64,
}

impl Quota {
    /// No limit.
    pub const NONE: Quota = Quota { bytes: u64::MAX, deliveries: u64::MAX };
}

/// The quotas of a room. By default it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quotas {
    /// What each participant may send, unless [`Authority::quota`](crate::Authority::quota) says
    /// otherwise.
    pub participant: Quota,
    /// What all participants together may send. Above it, the room limits participants that send
    /// more than an equal share.
    pub room: Quota,
    /// The quota of this time may be used at once if it was not used before. So a quota limits
    /// participants that send much all the time, and not those that paste a large text.
    pub burst: Duration,
}

impl Default for Quotas {
    fn default() -> Self {
        let burst = Duration::from_secs(4);
        Quotas { participant: Quota::NONE, room: Quota::NONE, burst }
    }
}

/// The usage of one input, as quotas count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Used {
    pub(crate) bytes: u64,
    pub(crate) deliveries: u64,
    /// Transactions, and pieces of large ones.
    pub(crate) transactions: u64,
}

impl Used {
    /// The time that it takes to send this at the rate of a quota that `parts` senders share
    /// equally.
    fn time(self, quota: Quota, parts: u64) -> [Duration; 2] {
        [(self.bytes, quota.bytes), (self.deliveries, quota.deliveries)].map(|(amount, rate)| {
            let nanos = u128::from(amount.saturating_mul(parts)) * 1_000_000_000;
            let nanos = nanos / u128::from(rate.max(1));
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        })
    }
}

/// The usage of a quota, as times: when everything that was sent would have been sent at the rate
/// of the quota. This is a token bucket in the form of ATM's generic cell rate algorithm (ITU-T
/// I.371): it needs no timer, and accepts a message of any size.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meter {
    bytes: Duration,
    deliveries: Duration,
}

impl Meter {
    /// Adds the usage of an input. `parts`: the number of senders that share the quota equally.
    pub(crate) fn count(&mut self, now: Duration, used: Used, quota: Quota, parts: u64) {
        let [bytes, deliveries] = used.time(quota, parts);
        self.bytes = self.bytes.max(now).saturating_add(bytes);
        self.deliveries = self.deliveries.max(now).saturating_add(deliveries);
    }

    /// How many transactions like `typical` may come until the sender is further ahead than
    /// `burst`.
    pub(crate) fn takes(
        &self,
        now: Duration,
        burst: Duration,
        typical: Used,
        quota: Quota,
        parts: u64,
    ) -> u64 {
        let [bytes, deliveries] = typical.time(quota, parts);
        let takes = |until: Duration, time: Duration| {
            let free = burst.saturating_sub(until.saturating_sub(now));
            (free.as_nanos() / time.as_nanos().max(1)).try_into().unwrap_or(u64::MAX)
        };
        u64::min(takes(self.bytes, bytes), takes(self.deliveries, deliveries))
    }

    /// How long nothing would have to come until all that came is within the quota, without a
    /// burst.
    pub(crate) fn ahead(&self, now: Duration) -> Duration {
        self.bytes.max(self.deliveries).saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const QUOTA: Quota = Quota { bytes: 1000, deliveries: 10 };

    fn used(bytes: u64, deliveries: u64) -> Used {
        Used { bytes, deliveries, transactions: 0 }
    }

    #[test]
    fn w99_a_meter_counts_by_the_quota_that_is_used_most() {
        let mut meter = Meter::default();
        assert_eq!(meter.ahead(SECOND), Duration::ZERO);
        meter.count(SECOND, used(500, 1), QUOTA, 1);
        assert_eq!(meter.ahead(SECOND), SECOND / 2);
        meter.count(SECOND, used(0, 9), QUOTA, 1);
        assert_eq!(meter.ahead(SECOND), SECOND);
        // Usage becomes less with time, but never negative: the burst is the caller's.
        assert_eq!(meter.ahead(SECOND * 3 / 2), SECOND / 2);
        assert_eq!(meter.ahead(SECOND * 100), Duration::ZERO);
        meter.count(SECOND * 100, used(1000, 0), QUOTA, 1);
        assert_eq!(meter.ahead(SECOND * 100), SECOND);
    }

    #[test]
    fn w99_in_the_long_run_the_rate_holds_whatever_the_sizes() {
        for size in [1, 7, 999, 1000, 65_536] {
            let (mut meter, mut now, mut sent) = (Meter::default(), Duration::ZERO, 0);
            // A sender that waits until the meter is empty before each packet sends at the rate of
            // the quota.
            while now < SECOND * 10_000 {
                now += meter.ahead(now);
                meter.count(now, used(size, 0), QUOTA, 1);
                sent += size;
            }
            let rate = sent as f64 / now.as_secs_f64();
            assert!(
                (990.0..1010.0).contains(&rate),
                "{rate} bytes per second of packets of {size}"
            );
        }
    }

    #[test]
    fn w99_a_meter_takes_as_many_transactions_as_fit_into_the_burst() {
        let mut meter = Meter::default();
        let takes = |meter: &Meter, now| meter.takes(now, SECOND * 2, used(100, 2), QUOTA, 1);
        assert_eq!(takes(&meter, SECOND), 10);
        meter.count(SECOND, used(1500, 0), QUOTA, 1);
        assert_eq!(takes(&meter, SECOND), 5);
        meter.count(SECOND, used(1500, 0), QUOTA, 1);
        assert_eq!((takes(&meter, SECOND), takes(&meter, SECOND * 4)), (0, 10));
        assert!(meter.takes(SECOND * 9, SECOND, used(0, 0), Quota::NONE, 1) > 1000);
    }

    #[test]
    fn w99_one_of_several_has_a_part_of_the_quota() {
        let mut meter = Meter::default();
        meter.count(SECOND, used(100, 0), QUOTA, 20);
        assert_eq!(meter.ahead(SECOND), SECOND * 2);
    }

    #[test]
    fn w99_without_a_quota_nothing_is_ahead_and_nothing_overflows() {
        let mut meter = Meter::default();
        meter.count(SECOND, used(u64::MAX >> 40, u64::MAX >> 40), Quota::NONE, 1);
        assert_eq!(meter.ahead(SECOND), Duration::ZERO);
        for _ in 0..3 {
            meter.count(
                SECOND,
                used(u64::MAX, u64::MAX),
                Quota { bytes: 0, deliveries: 1 },
                u64::MAX,
            );
        }
        assert!(meter.ahead(SECOND) > SECOND * 1_000_000);
    }
}
