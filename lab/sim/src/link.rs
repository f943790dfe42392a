//! One direction of a path: computes when each packet arrives, or that it does not.

use std::collections::VecDeque;
use std::time::Duration;

use oorandom::Rand64;

use crate::capacity::{Capacity, Transmitter};
use crate::loss::{Loss, LossProcess};
use crate::random::derive;

/// Bytes of the headers of IPv4 and UDP.
pub const UDP_HEADER: usize = 28;
/// Bytes of the header of IPv4 alone, for packets that already contain the header of TCP.
pub const IP_HEADER: usize = 20;

/// What a link does to packets. The default delivers every packet at once, and adds the headers of
/// IPv4 and UDP.
#[derive(Debug, Clone)]
pub struct LinkConfig {
    /// The time that a packet travels after it has left the queue.
    pub delay: Duration,
    /// The largest additional delay; evenly distributed. Packets stay in order: an early one waits
    /// for the one before it.
    pub jitter: Duration,
    /// The probability that a packet takes a slower route, on which later packets may overtake it.
    pub reorder: f64,
    /// The largest additional delay of that route; evenly distributed.
    pub reorder_by: Duration,
    /// The probability that a packet arrives twice, the second time up to
    /// [`LinkConfig::reorder_by`] later.
    pub duplicate: f64,
    /// The probability that a packet arrives with some of its bits flipped.
    pub corrupt: f64,
    /// How fast the link sends.
    pub capacity: Capacity,
    /// The limit of the queue. Packets beyond it are dropped.
    pub queue: Queue,
    /// Which packets are lost after the queue. A lost packet has used capacity.
    pub loss: Loss,
    /// Bytes that headers add to each packet.
    pub header: usize,
}

impl Default for LinkConfig {
    fn default() -> Self {
        LinkConfig {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            reorder: 0.0,
            reorder_by: Duration::ZERO,
            duplicate: 0.0,
            corrupt: 0.0,
            capacity: Capacity::Unlimited,
            queue: Queue::Unlimited,
            loss: Loss::NONE,
            header: UDP_HEADER,
        }
    }
}

/// How much may wait to be sent. A packet beyond that is dropped (drop-tail).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Queue {
    /// No limit.
    #[default]
    Unlimited,
    /// The most bytes, with headers, including the packet that is being sent.
    Bytes(usize),
    /// The longest time until a packet has left the queue.
    Time(Duration),
}

/// When a packet arrives: never, once or twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Arrivals {
    /// The time of arrival; `None` if the packet is lost or dropped.
    pub first: Option<Duration>,
    /// The time of arrival of a duplicate, if there is one.
    pub second: Option<Duration>,
    /// Whether the caller has to flip bits of the packet with [`Link::damage`].
    pub corrupt: bool,
}

/// Counts of a link's packets so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkStats {
    /// Packets given to the link, including those that it dropped or lost.
    pub packets: u64,
    /// The bytes of these packets, with headers.
    pub bytes: u64,
    /// Packets lost on the way.
    pub lost: u64,
    /// Packets that the full queue dropped.
    pub dropped: u64,
    /// Packets that arrived a second time.
    pub duplicated: u64,
}

/// One direction of a path.
///
/// ```
/// use groupwire_sim::{Capacity, Link, LinkConfig};
/// use std::time::Duration;
///
/// let ms = Duration::from_millis(1);
/// let config = LinkConfig { delay: 20 * ms, capacity: Capacity::kbit(64.0), ..LinkConfig::default() };
/// let mut link = Link::new(config, 1);
/// // 52 bytes and 28 of headers are sent in 10 ms; the second packet waits for the first.
/// assert_eq!(link.send(5 * ms, 52).first, Some(35 * ms));
/// assert_eq!(link.send(5 * ms, 52).first, Some(45 * ms));
/// ```
#[derive(Debug, Clone)]
pub struct Link {
    config: LinkConfig,
    transmitter: Transmitter,
    /// The waiting packets if the queue counts bytes: when each will have left, and its length.
    waiting: VecDeque<(Duration, usize)>,
    waiting_bytes: usize,
    loss: LossProcess,
    random: Rand64,
    /// The latest time of arrival of the packets that stay in order.
    last: Duration,
    stats: LinkStats,
}

impl Link {
    /// An idle link. The same seed gives the same results; two links with the same seed lose the
    /// same packets.
    pub fn new(config: LinkConfig, seed: u64) -> Self {
        Link {
            transmitter: Transmitter::new(config.capacity.clone()),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            loss: LossProcess::new(&config.loss, derive(seed, 0)),
            random: Rand64::new(derive(seed, 1).into()),
            last: Duration::ZERO,
            stats: LinkStats::default(),
            config,
        }
    }

    /// Sends a packet of `len` bytes, headers not counted. `now` must not decrease from call to
    /// call.
    ///
    /// Loss, jitter, reordering and damage of the n-th packet depend only on the configuration, the
    /// seed and n and, for outages and steps, on the time.
    pub fn send(&mut self, now: Duration, len: usize) -> Arrivals {
        let len = len + self.config.header;
        self.stats.packets += 1;
        self.stats.bytes += len as u64;
        let lost = self.loss.lost(now);
        let late = self.chance(self.config.reorder);
        let twice = self.chance(self.config.duplicate);
        let corrupt = self.chance(self.config.corrupt);
        let jitter = self.up_to(self.config.jitter);
        let by = self.up_to(self.config.reorder_by);
        let by_second = self.up_to(self.config.reorder_by);

        let Some(left) = self.transmit(now, len) else {
            self.stats.dropped += 1;
            return Arrivals::default();
        };
        if lost {
            self.stats.lost += 1;
            return Arrivals::default();
        }
        let in_order = (left + self.config.delay + jitter).max(self.last);
        let first = if late {
            in_order + by
        } else {
            self.last = in_order;
            in_order
        };
        self.stats.duplicated += u64::from(twice);
        Arrivals { first: Some(first), second: twice.then_some(first + by_second), corrupt }
    }

    /// Changes what the link does to packets that are sent from now on. Those that wait or travel
    /// are not affected.
    pub fn change(&mut self, config: LinkConfig) {
        if config.loss != self.config.loss {
            self.loss = LossProcess::new(&config.loss, self.random.rand_u64());
        }
        self.transmitter.change(config.capacity.clone());
        self.config = config;
    }

    /// What the link does to packets.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Flips a few bits of a packet: one to four.
    pub fn damage(&mut self, packet: &mut [u8]) {
        if packet.is_empty() {
            return;
        }
        for _ in 0..self.random.rand_range(1..5) {
            let at = self.random.rand_range(0..packet.len() as u64 * 8) as usize;
            packet[at / 8] ^= 1 << (at % 8);
        }
    }

    /// Counts of this link's packets so far.
    pub fn stats(&self) -> LinkStats {
        self.stats
    }

    /// When the packet will have left the queue; `None` if the queue drops it.
    fn transmit(&mut self, now: Duration, len: usize) -> Option<Duration> {
        if self.transmitter.is_unlimited() {
            return Some(now);
        }
        match self.config.queue {
            Queue::Unlimited => self.transmitter.send(now, len, None),
            Queue::Time(longest) => self.transmitter.send(now, len, Some(longest)),
            Queue::Bytes(most) => {
                while let Some(&(_, gone)) = self.waiting.front().filter(|one| one.0 <= now) {
                    self.waiting_bytes -= gone;
                    self.waiting.pop_front();
                }
                if self.waiting_bytes + len > most {
                    return None;
                }
                let left = self.transmitter.send(now, len, None)?;
                self.waiting.push_back((left, len));
                self.waiting_bytes += len;
                Some(left)
            }
        }
    }

    /// Draws no random number if the probability is 0: most links use few of these features, which
    /// makes them much faster.
    fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.random.rand_float() < probability
    }

    fn up_to(&mut self, longest: Duration) -> Duration {
        if longest.is_zero() {
            return Duration::ZERO;
        }
        longest.mul_f64(self.random.rand_float())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// The arrivals of packets that are sent every 10 ms.
    fn arrivals(config: &LinkConfig, seed: u64) -> Vec<Arrivals> {
        let mut link = Link::new(config.clone(), seed);
        (0..20_000).map(|n| link.send(10 * MS * n, 22)).collect()
    }

    fn plain() -> LinkConfig {
        LinkConfig { delay: 100 * MS, ..LinkConfig::default() }
    }

    #[test]
    fn without_more_everything_arrives_once_after_the_delay() {
        for (n, found) in (0..).zip(arrivals(&plain(), 1)) {
            let first = Some(10 * MS * n + 100 * MS);
            assert_eq!(found, Arrivals { first, second: None, corrupt: false });
        }
    }

    #[test]
    fn jitter_spreads_but_does_not_reorder() {
        let config = LinkConfig { jitter: 30 * MS, ..plain() };
        let times: Vec<_> = arrivals(&config, 1).iter().map(|one| one.first.unwrap()).collect();
        assert!(times.is_sorted());
        let delays = (0..).zip(&times).map(|(n, time)| (*time - 10 * MS * n).as_secs_f64() - 0.1);
        let delays: Vec<_> = delays.collect();
        assert!(delays.iter().all(|delay| (-1e-9..0.030_001).contains(delay)));
        // Packets wait for late ones before them, so the mean is more than half of 30 ms.
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        assert!((0.0155..0.022).contains(&mean), "{mean}");
    }

    #[test]
    fn packets_are_overtaken_doubled_damaged_and_lost_as_often_as_asked() {
        let config = LinkConfig {
            reorder: 0.1,
            reorder_by: 40 * MS,
            duplicate: 0.02,
            corrupt: 0.03,
            loss: "rand20".parse().unwrap(),
            ..plain()
        };
        let found = arrivals(&config, 2);
        let share = |what: &dyn Fn(&Arrivals) -> bool| {
            found.iter().filter(|one| what(one)).count() as f64 / found.len() as f64
        };
        assert!((share(&|one| one.first.is_none()) - 0.2).abs() < 0.01);
        assert!((share(&|one| one.second.is_some()) - 0.8 * 0.02).abs() < 0.004);
        assert!((share(&|one| one.corrupt) - 0.8 * 0.03).abs() < 0.005);
        let times: Vec<_> = found.iter().filter_map(|one| one.first).collect();
        let overtaken = times.windows(2).filter(|pair| pair[0] > pair[1]).count() as f64;
        // One packet in ten is late by up to 40 ms; the next one that is not lost follows 10 ms
        // later or a little more.
        assert!((0.05..0.08).contains(&(overtaken / 20_000.0)), "{overtaken}");
        assert_eq!(found, arrivals(&config, 2));
        assert_ne!(found, arrivals(&config, 3));
    }

    #[test]
    fn a_full_queue_drops_what_comes() {
        // A packet of 50 bytes takes 10 ms. One is sent every 5 ms, so half of them are dropped.
        for queue in [Queue::Bytes(250), Queue::Time(50 * MS)] {
            let capacity = Capacity::BytesPerSecond(5000.0);
            let mut link = Link::new(LinkConfig { capacity, queue, ..plain() }, 1);
            let waits: Vec<_> = (0..2000)
                .filter_map(|n| Some(link.send(5 * MS * n, 22).first? - 100 * MS - 5 * MS * n))
                .collect();
            assert!((1000..1010).contains(&waits.len()), "{queue:?}: {}", waits.len());
            assert_eq!(waits[1990 / 2..].iter().max(), Some(&(50 * MS)), "{queue:?}");
            let stats = link.stats();
            assert_eq!((stats.packets, stats.bytes), (2000, 100_000));
            assert_eq!(stats.dropped as usize, 2000 - waits.len());
        }
    }

    #[test]
    fn a_change_affects_what_is_sent_later() {
        let rate = |rate| LinkConfig { capacity: Capacity::BytesPerSecond(rate), ..plain() };
        let mut link = Link::new(rate(5000.0), 1);
        assert_eq!(link.send(Duration::ZERO, 22).first, Some(110 * MS));
        link.change(LinkConfig { delay: 50 * MS, ..rate(10_000.0) });
        // Packets stay in order: the second one waits for the first, which travels for longer.
        assert_eq!(link.send(Duration::ZERO, 22).first, Some(110 * MS));
        assert_eq!(link.send(100 * MS, 22).first, Some(155 * MS));
        link.change(LinkConfig { loss: "rand100".parse().unwrap(), ..rate(10_000.0) });
        assert_eq!(link.send(200 * MS, 22).first, None);
    }

    #[test]
    fn damage_is_a_few_bits() {
        let mut link = Link::new(plain(), 4);
        for _ in 0..1000 {
            let mut packet = [0; 20];
            link.damage(&mut packet);
            let flipped: u32 = packet.iter().map(|byte: &u8| byte.count_ones()).sum();
            assert!(flipped <= 4);
        }
        link.damage(&mut []);
    }
}
