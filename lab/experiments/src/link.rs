//! A network link in simulated time: delay, loss, reordering, duplicates, the same ones for the
//! same seed.

use std::collections::BTreeMap;

use oorandom::Rand64;

/// The delay, losses and reordering of a link.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct LinkConfig {
    /// The delay of a packet in ticks: the unit in which the caller counts time.
    pub(crate) delay: u64,
    /// The probability that a packet never arrives.
    pub(crate) loss: f64,
    /// The probability that a packet travels longer, and so may be overtaken.
    pub(crate) reorder: f64,
    /// The most ticks by which such a packet is late.
    pub(crate) reorder_by: u64,
    /// The probability that a packet arrives twice, the second time up to
    /// [`LinkConfig::reorder_by`] ticks later.
    pub(crate) duplicate: f64,
}

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Link<T> {
    config: LinkConfig,
    random: Rand64,
    sent: u64,
    /// The packets under way, by arrival; packets that arrive at the same time, in the order of
    /// sending.
    travelling: BTreeMap<(u64, u64), T>,
}

impl<T: Clone> Link<T> {
    /// An idle link.
    pub(crate) fn new(config: LinkConfig, seed: u64) -> Self {
        Link { config, random: Rand64::new(seed.into()), sent: 0, travelling: BTreeMap::new() }
    }

    /// Sends a packet at time `now`. The fate of the n-th packet depends on the seed and n alone,
    /// so that all techniques meet the same link.
    pub(crate) fn send(&mut self, now: u64, packet: T) {
        let [lost, late, twice] = std::array::from_fn(|_| self.random.rand_float());
        let [by, by_second] = std::array::from_fn(|_| {
            self.random.rand_range(0..self.config.reorder_by.saturating_add(1))
        });
        let number = 2 * self.sent;
        self.sent += 1;
        if lost < self.config.loss {
            return;
        }
        let due = now + self.config.delay;
        let first = if late < self.config.reorder { due + by } else { due };
        if twice < self.config.duplicate {
            self.travelling.insert((first + by_second, number + 1), packet.clone());
        }
        self.travelling.insert((first, number), packet);
    }

    /// The time at which the next packet arrives, if one is under way.
    pub(crate) fn due(&self) -> Option<u64> {
        self.travelling.first_key_value().map(|(&(due, _), _)| due)
    }

    /// The next packet that has arrived by `now`.
    pub(crate) fn receive(&mut self, now: u64) -> Option<T> {
        let first = self.travelling.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSSY: LinkConfig =
        LinkConfig { delay: 100, loss: 0.2, reorder: 0.1, reorder_by: 30, duplicate: 0.02 };

    fn arrivals(config: LinkConfig, seed: u64) -> Vec<(u64, u32)> {
        let mut link = Link::new(config, seed);
        (0..10_000).for_each(|packet| link.send(u64::from(packet) * 10, packet));
        let mut arrived = Vec::new();
        while let Some(due) = link.due() {
            assert_eq!(link.receive(due - 1), None);
            arrived.extend(link.receive(due).map(|packet| (due, packet)));
        }
        arrived
    }

    #[test]
    fn a_seed_repeats_and_another_does_not() {
        assert_eq!(arrivals(LOSSY, 7), arrivals(LOSSY, 7));
        assert_ne!(arrivals(LOSSY, 7), arrivals(LOSSY, 8));
    }

    #[test]
    fn packets_are_lost_doubled_and_overtaken_as_often_as_asked() {
        let arrived = arrivals(LOSSY, 1);
        let mut packets: Vec<u32> = arrived.iter().map(|one| one.1).collect();
        let overtaken = packets.windows(2).filter(|pair| pair[0] > pair[1]).count();
        assert!((300..1500).contains(&overtaken), "{overtaken}");
        packets.sort_unstable();
        packets.dedup();
        assert!((7_800..8_200).contains(&packets.len()), "{}", packets.len());
        let doubled = arrived.len() - packets.len();
        assert!((100..230).contains(&doubled), "{doubled}");
    }

    #[test]
    fn without_loss_everything_arrives_once_in_order_after_the_delay() {
        let arrived = arrivals(LinkConfig { delay: 100, ..LinkConfig::default() }, 1);
        let expected = (0..10_000).map(|packet| (u64::from(packet) * 10 + 100, packet));
        assert!(arrived.into_iter().eq(expected));
    }
}
