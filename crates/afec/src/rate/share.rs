//! Divides a rate among channels. A conflated channel is one on which a newer value of a key
//! replaces the older ones.

use alloc::vec::Vec;

use crate::within::Within;

/// What a channel would send if the rate of the path sufficed. Numbers that are negative or not
/// finite count as 0, those above a million as a million; a message takes at least one byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// The bytes of a message on the wire, together with its share of the packet's headers.
    pub message: f64,
    /// The messages per second that the channel would send.
    pub rate: f64,
    /// The messages per second below which the channel must not be slowed down.
    pub rate_min: f64,
    /// The bytes of redundancy (repeats) per message.
    pub redundancy: f64,
    /// The priority: the channel with the lowest one is the first to get less (see [`share`]).
    pub priority: u8,
    /// Whether the channel is conflated. Such a channel can be slowed down, because only the newest
    /// value of a key matters.
    pub conflated: bool,
}

/// What a channel gets of the rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The messages per second.
    pub rate: f64,
    /// The bytes of redundancy per message. If they are fewer than the channel asked for, it may
    /// miss its loss target.
    pub redundancy: f64,
    /// Whether the rate is below what the channel must have: [`Demand::rate_min`] if the channel is
    /// conflated, otherwise [`Demand::rate`]. The application should then get a notice;
    /// [`Share::rate`] is the rate that the channel can have.
    pub short: bool,
}

/// Divides `budget`, in bytes per second (`None`: no limit is known), among channels. The shares
/// are in the order of the demands. As long as the budget does not suffice, three steps follow each
/// other: conflated channels are slowed down to their minimum rate; redundancy is left out;
/// channels get less than they must have, and are marked as short. In each step the channels of the
/// lowest priority yield first, and those of equal priority in proportion to what they can give up.
///
/// The shares together never cost more than the budget. With a larger budget no channel gets less.
pub fn share(demands: &[Demand], budget: Option<u32>) -> Vec<Share> {
    let demands: Vec<Demand> = demands.iter().map(sane).collect();
    let mut shares: Vec<Share> = demands
        .iter()
        .map(|d| Share { rate: d.rate, redundancy: d.redundancy, short: false })
        .collect();
    let Some(budget) = budget else {
        return shares;
    };
    let total: f64 = demands.iter().zip(&shares).map(|(demand, share)| cost(demand, share)).sum();
    let mut excess = total - f64::from(budget);
    for step in [Step::SlowDown, Step::LeaveRedundancy, Step::FallShort] {
        let mut next = priority_from(&demands, 0);
        while let Some(priority) = next
            && excess > 0.0
        {
            excess -= step.yield_at(priority, excess, &demands, &mut shares);
            next = priority.checked_add(1).and_then(|above| priority_from(&demands, above));
        }
    }
    shares
}

/// The steps by which channels yield, in the order in which they are used.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    SlowDown,
    LeaveRedundancy,
    FallShort,
}

impl Step {
    /// Takes `excess` bytes per second from the channels of one priority, or as many as they can
    /// give up in this step. Returns the number of bytes per second taken.
    fn yield_at(self, priority: u8, excess: f64, demands: &[Demand], shares: &mut [Share]) -> f64 {
        let gives = |(demand, share): (&Demand, &Share)| {
            cost(demand, share) - cost(demand, &self.last(demand, share))
        };
        let chosen = |(demand, _): &(&Demand, &Share)| demand.priority == priority;
        let all: f64 = demands.iter().zip(shares.iter()).filter(chosen).map(gives).sum();
        if all <= 0.0 {
            return 0.0;
        }
        let part = (excess / all).min(1.0);
        for (demand, share) in
            demands.iter().zip(shares).filter(|(demand, _)| demand.priority == priority)
        {
            let last = self.last(demand, share);
            // If all that can be given up is taken, the share becomes exactly `last`, so that no
            // rounding error is left.
            let toward =
                |from: f64, to: f64| if part == 1.0 { to } else { from + part * (to - from) };
            let short = share.short || last.short && last.rate < share.rate;
            *share = Share {
                rate: toward(share.rate, last.rate),
                redundancy: toward(share.redundancy, last.redundancy),
                short,
            };
        }
        all.min(excess)
    }

    /// The least share that this step can leave to a channel.
    fn last(self, demand: &Demand, share: &Share) -> Share {
        match self {
            Step::SlowDown if demand.conflated => Share { rate: demand.rate_min, ..*share },
            Step::SlowDown => *share,
            Step::LeaveRedundancy => Share { redundancy: 0.0, ..*share },
            Step::FallShort => Share { rate: 0.0, short: true, ..*share },
        }
    }
}

/// Limits the numbers of a demand to a sensible range.
fn sane(demand: &Demand) -> Demand {
    let sane = |value: f64| if value.is_finite() { value.within(0.0, 1e6) } else { 0.0 };
    let rate = sane(demand.rate);
    Demand {
        // Reducing a channel whose messages cost nothing would save nothing.
        message: sane(demand.message).max(1.0),
        rate,
        rate_min: sane(demand.rate_min).min(rate),
        redundancy: sane(demand.redundancy),
        ..*demand
    }
}

/// The bytes per second that a share costs.
fn cost(demand: &Demand, share: &Share) -> f64 {
    share.rate * (demand.message + share.redundancy)
}

/// The lowest priority among the channels that is at least `least`.
fn priority_from(demands: &[Demand], least: u8) -> Option<u8> {
    demands.iter().map(|demand| demand.priority).filter(|priority| *priority >= least).min()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pointer() -> Demand {
        Demand {
            message: 50.0,
            rate: 30.0,
            rate_min: 10.0,
            redundancy: 20.0,
            priority: 1,
            conflated: true,
        }
    }

    fn chat() -> Demand {
        Demand {
            message: 80.0,
            rate: 5.0,
            rate_min: 0.0,
            redundancy: 80.0,
            priority: 9,
            conflated: false,
        }
    }

    #[test]
    fn channels_yield_in_order_of_steps_and_priorities() {
        let at = |budget| share(&[pointer(), chat()], Some(budget));
        // 30 * 70 + 5 * 160 = 2900 are wanted.
        assert!(at(2900).iter().all(|share| !share.short && share.redundancy > 0.0));
        // The pointer slows down first: 20 * 70 + 800.
        let shares = at(2200);
        assert!((shares[0].rate - 20.0).abs() < 1e-9 && shares[0].redundancy == 20.0);
        // At its minimum rate the pointer gives up its redundancy: 10 * 60 + 800.
        let shares = at(1400);
        assert_eq!((shares[0].rate, shares[1].redundancy), (10.0, 80.0));
        assert!((shares[0].redundancy - 10.0).abs() < 1e-9);
        // Then the chat gives up its redundancy: 10 * 50 + 5 * 80.
        let shares = at(900);
        assert_eq!((shares[0].redundancy, shares[1].redundancy), (0.0, 0.0));
        assert!(shares.iter().all(|share| !share.short));
        // Then the pointer falls below its minimum.
        let shares = at(600);
        assert!(shares[0].short && !shares[1].short && (shares[0].rate - 4.0).abs() < 1e-9);
        let shares = at(0);
        assert!(shares.iter().all(|share| share.short && share.rate == 0.0));
    }

    fn demand() -> impl Strategy<Value = Demand> {
        let number = prop_oneof![8 => 0.0..100.0f64, 1 => Just(0.0), 1 => any::<f64>()];
        (number.clone(), number.clone(), number.clone(), number, 0u8..4, any::<bool>()).prop_map(
            |(message, rate, rate_min, redundancy, priority, conflated)| Demand {
                message,
                rate,
                rate_min,
                redundancy,
                priority,
                conflated,
            },
        )
    }

    proptest! {
        #[test]
        fn shares_keep_the_rules(demands in prop::collection::vec(demand(), 0..8), budget in 0u32..60_000) {
            let shares = share(&demands, Some(budget));
            let sane: Vec<Demand> = demands.iter().map(super::sane).collect();
            let total: f64 = sane.iter().zip(&shares).map(|(demand, share)| cost(demand, share)).sum();
            prop_assert!(total <= f64::from(budget) * (1.0 + 1e-9) + 1e-3, "{total} of {budget}");
            let least = |demand: &Demand| if demand.conflated { demand.rate_min } else { demand.rate };
            let yielded = sane.iter().zip(&shares).all(|(demand, share)| {
                let redundancy = share.rate * share.redundancy;
                redundancy < 1e-3 && share.rate <= least(demand) || share.rate == 0.0
            });
            for (demand, share) in sane.iter().zip(&shares) {
                prop_assert!(share.rate >= 0.0 && share.rate <= demand.rate);
                prop_assert!(share.redundancy >= 0.0 && share.redundancy <= demand.redundancy);
                prop_assert_eq!(share.short, share.rate < least(demand), "{:?} {:?}", demand, share);
                if share.short {
                    prop_assert!(yielded, "short while others can yield: {:?} {:?}", sane, shares);
                }
            }
        }

        #[test]
        fn more_budget_never_gives_less(
            demands in prop::collection::vec(demand(), 0..8),
            budget in 0u32..60_000,
            more in 0u32..10_000,
        ) {
            let less = share(&demands, Some(budget));
            for (a, b) in less.iter().zip(share(&demands, Some(budget + more))) {
                prop_assert!(b.rate >= a.rate - 1e-6 && b.redundancy >= a.redundancy - 1e-6, "{a:?} {b:?}");
                prop_assert!(a.short || !b.short);
            }
        }
    }
}
