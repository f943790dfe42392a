//! How fast one connection may send.

use std::time::Duration;

use groupwire_session::Quota;
use tokio::time::Instant;

/// What a message has cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) bytes: usize,
    /// The number of connections that the message went to; at least 1.
    pub(super) deliveries: usize,
}

/// The accounts of a connection. A connection that has overdrawn one is not read until it is
/// balanced.
#[derive(Debug)]
pub(super) struct Pace {
    bytes: Account,
    deliveries: Account,
}

impl Pace {
    /// `burst`: unused quota is saved for this time.
    pub(super) fn new(quota: Quota, burst: Duration, now: Instant) -> Self {
        let account = |rate| Account::new(rate, burst, now);
        Pace { bytes: account(quota.bytes), deliveries: account(quota.deliveries) }
    }

    /// Pays for a message. Returns how long to wait before more is read.
    pub(super) fn spend(&mut self, cost: Cost, now: Instant) -> Duration {
        self.bytes.spend(cost.bytes, now).max(self.deliveries.spend(cost.deliveries, now))
    }
}

/// An account that fills at a rate.
#[derive(Debug)]
struct Account {
    /// The amount that is added per second; `None` if there is no limit.
    rate: Option<f64>,
    /// The largest balance.
    burst: f64,
    balance: f64,
    since: Instant,
}

impl Account {
    fn new(per_second: u64, burst: Duration, now: Instant) -> Self {
        let rate = (per_second < u64::MAX).then_some(per_second as f64);
        let burst = rate.unwrap_or_default() * burst.as_secs_f64();
        Account { rate, burst, balance: burst, since: now }
    }

    /// Takes something from the account. Returns how long it is overdrawn.
    fn spend(&mut self, amount: usize, now: Instant) -> Duration {
        let Some(rate) = self.rate else { return Duration::ZERO };
        let filled = now.saturating_duration_since(self.since).as_secs_f64() * rate;
        self.since = now;
        self.balance = (self.balance + filled).min(self.burst) - amount as f64;
        Duration::from_secs_f64((-self.balance / rate).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BURST: Duration = Duration::from_secs(4);

    fn bytes(bytes: usize) -> Cost {
        Cost { bytes, deliveries: 1 }
    }

    #[test]
    fn whoever_sends_more_than_the_rate_waits_as_long_as_it_takes() {
        let now = Instant::now();
        let mut pace = Pace::new(Quota { bytes: 1000, ..Quota::NONE }, BURST, now);
        assert_eq!(pace.spend(bytes(4000), now), Duration::ZERO);
        assert_eq!(pace.spend(bytes(500), now), Duration::from_millis(500));
        let later = now + Duration::from_millis(500);
        assert_eq!(pace.spend(bytes(1), later), Duration::from_millis(1));
        let much_later = now + Duration::from_secs(100);
        assert_eq!(pace.spend(bytes(4000), much_later), Duration::ZERO);
        assert_eq!(pace.spend(bytes(1000), much_later), Duration::from_secs(1));
    }

    #[test]
    fn short_messages_to_many_have_a_limit_too() {
        let now = Instant::now();
        let mut pace = Pace::new(Quota { bytes: 1000, deliveries: 100 }, BURST, now);
        let to_many = Cost { bytes: 1, deliveries: 300 };
        assert_eq!(pace.spend(to_many, now), Duration::ZERO);
        assert_eq!(pace.spend(to_many, now), Duration::from_secs(2));
    }

    #[test]
    fn without_a_limit_nobody_waits() {
        let now = Instant::now();
        let mut pace = Pace::new(Quota::NONE, BURST, now);
        assert_eq!(pace.spend(bytes(usize::MAX), now), Duration::ZERO);
    }
}
