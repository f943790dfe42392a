use proptest::prelude::*;

use super::*;

#[test]
fn takes_under_1_kb() {
    assert!(size_of::<RateEstimator>() < 1024, "{}", size_of::<RateEstimator>());
}

/// Lets packets of `bytes(i)` bytes arrive, 30 a second or as many as the limit allows, each with a
/// delay of `delay(i)` ms. Returns the lowest and the last limit.
fn feed(
    count: u64,
    bytes: impl Fn(u64) -> usize,
    delay: impl Fn(u64) -> u64,
) -> (Option<u32>, Option<u32>) {
    let mut estimator = RateEstimator::new();
    let mut caps = std::vec::Vec::new();
    let mut sent = 0;
    for i in 0..count {
        let now = Duration::from_millis(sent + delay(i));
        estimator.arrived(now, sent as u16, bytes(i));
        let cap = estimator.cap(now);
        caps.extend(cap);
        sent += cap.map_or(33, |cap| (bytes(i) as u64 * 1000 / u64::from(cap)).max(33));
    }
    let last = estimator.cap(Duration::from_millis(sent));
    (caps.into_iter().min(), last)
}

#[test]
fn a_longer_route_is_soon_no_congestion() {
    for longer in [30, 100, 400] {
        let (least, last) = feed(1200, |_| 60, |i| if i < 300 { 40 } else { 40 + longer });
        assert!(least.is_none_or(|cap| cap > 500), "{longer}: {least:?}");
        assert_eq!(last, None, "{longer}: {least:?}");
    }
}

#[test]
fn longer_packets_are_no_congestion() {
    // At 28.8 kbit/s 40 bytes take 11 ms and 100 bytes take 28 ms: the load is at most 83 % of the
    // link's rate.
    let bytes = |i: u64| if (i / 30).is_multiple_of(2) { 40 } else { 100 };
    let (least, _) = feed(1200, bytes, |i| 40 + bytes(i) as u64 * 1000 / 3600);
    assert_eq!(least, None);
}

proptest! {
    #[test]
    fn no_calls_break_the_limits(
        steps in prop::collection::vec((any::<bool>(), 0u64..100, any::<u16>(), any::<u32>(), 0u8..20), 0..400),
    ) {
        let mut estimator = RateEstimator::new();
        let mut now = Duration::ZERO;
        for (arrives, ms, sent, number, rare) in steps {
            now = match rare {
                0 => Duration::from_nanos(u64::from(number) << 30),
                1 => Duration::MAX,
                _ => now.saturating_add(Duration::from_millis(ms)),
            };
            if arrives {
                estimator.arrived(now, sent, number as usize);
            } else {
                estimator.lost(now, number);
            }
            if let Some(cap) = estimator.cap(now) {
                prop_assert!((RATE_FLOOR..=RATE_MOST as u32).contains(&cap));
            }
            prop_assert!(estimator.loss.is_finite() && estimator.target.is_finite());
        }
    }

    /// The clock is false after the first packet. Packets arrive with the spacing with which they
    /// were sent.
    #[test]
    fn a_false_clock_breaks_no_invariant(errors in prop::collection::vec(0u16..500, 1..600)) {
        let mut estimator = RateEstimator::new();
        for (i, error) in errors.iter().enumerate() {
            let ms = i as u64 * 17;
            estimator.arrived(Duration::from_millis(ms + 40), (ms as u16).wrapping_sub(*error), 60);
            if let State::Limited(limited) = &estimator.state {
                prop_assert!(limited.limit.is_finite() && limited.cap > 0.0);
                prop_assert!(limited.climb <= crate::rate::limited::CLIMB_MOST);
                prop_assert!(limited.limit <= RATE_MOST && limited.cap <= RATE_MOST);
            }
        }
    }
}
