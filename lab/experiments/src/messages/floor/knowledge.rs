//! How many bits it takes at least to tell a receiver which state of the model a packet was coded
//! under.
//!
//! A receiver knows the packets that it has and the acknowledgements that it has made. It does not
//! know which of these acknowledgements the sender had when it made a packet, nor the packet's
//! number. Both are mostly close to those of the newest packet that arrived. No header has fewer
//! bits than the entropy of how far they are from these.
//!
//! To reach the entropy, a sender would have to know what the receiver has. It does not: any packet
//! after the last one that was acknowledged may have arrived or not. A header that is understood in
//! either case tells apart the states that these packets name, the *window*. In the mean over these
//! packets it takes at least the entropy of their states.

use std::collections::{BTreeMap, HashMap};

/// What a receiver knows, and how the packets that arrive differ from what it expects.
#[derive(Default)]
pub(super) struct Knowledge {
    sent: HashMap<Vec<u8>, Position>,
    /// The packets since the last one that the sender knows to have arrived, and that one.
    in_doubt: Vec<Position>,
    /// The entropy of the states in the window, summed up over all packets.
    window_bits: f64,
    packets: usize,
    newest: Position,
    /// The numbers that were the newest when an acknowledgement was made.
    tops: Vec<u32>,
    arrivals: Counts,
}

/// A packet's number, and the number of the newest packet that its model has learned.
#[derive(Clone, Copy, Default)]
struct Position {
    number: u32,
    epoch: u32,
}

/// How often each combination occurred of what was known, the state and the number.
#[derive(Default)]
struct Counts(BTreeMap<(usize, isize, i64), usize>);

impl Knowledge {
    /// Notes a packet that is sent.
    pub(super) fn send(&mut self, packet: &[u8], number: u32, epoch: u32) {
        let position = Position { number, epoch };
        self.sent.insert(packet.to_vec(), position);
        // The epoch belongs to the newest packet that was acknowledged.
        self.in_doubt.retain(|sent| sent.number >= epoch);
        self.in_doubt.push(position);
        self.window_bits += entropy(self.in_doubt.iter().map(|sent| (sent.epoch, 1)));
        self.packets += 1;
    }

    /// Notes a packet that arrives and is acknowledged.
    pub(super) fn receive(&mut self, packet: &[u8]) {
        let Some(&position) = self.sent.get(packet) else { return };
        let newest = self.newest;
        let known = self.tops.len() - self.rank(newest.epoch);
        let state = self.rank(position.epoch) as isize - self.rank(newest.epoch) as isize;
        let number = i64::from(position.number) - i64::from(newest.number);
        *self.arrivals.0.entry((known, state, number)).or_default() += 1;
        if position.number > newest.number {
            self.newest = position;
            self.tops.push(position.number);
        }
    }

    /// The entropy of the state, given what is known.
    pub(super) fn state_bits(&self) -> f64 {
        self.arrivals.entropy(|(known, state, _)| (known, state))
            - self.arrivals.entropy(|(known, _, _)| known)
    }

    /// The mean number of bits that tell apart the states in the window, at least.
    pub(super) fn window_bits(&self) -> f64 {
        self.window_bits / self.packets.max(1) as f64
    }

    /// The entropy of the packet's number, given what is known and the state.
    pub(super) fn number_bits(&self) -> f64 {
        self.arrivals.entropy(|all| all) - self.arrivals.entropy(|(known, state, _)| (known, state))
    }

    /// The acknowledgements that were made before the one of this packet.
    fn rank(&self, number: u32) -> usize {
        self.tops.partition_point(|&top| top < number)
    }
}

impl Counts {
    /// The entropy, in bits, of a part of the combinations.
    fn entropy<T: Ord>(&self, part: impl Fn((usize, isize, i64)) -> T) -> f64 {
        entropy(self.0.iter().map(|(&all, &count)| (part(all), count)))
    }
}

/// The entropy, in bits, of what is counted. Equal ones may be counted several times.
fn entropy<T: Ord>(counted: impl Iterator<Item = (T, usize)>) -> f64 {
    let mut counts = BTreeMap::<T, usize>::new();
    for (one, count) in counted {
        *counts.entry(one).or_default() += count;
    }
    let total = counts.values().sum::<usize>() as f64;
    counts.values().map(|&count| count as f64 / total).map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_certain_takes_no_bits() {
        let mut knowledge = Knowledge::default();
        for number in 1..=4000_u32 {
            knowledge.send(&number.to_le_bytes(), number, number.saturating_sub(5));
            knowledge.receive(&number.to_le_bytes());
        }
        assert!(knowledge.state_bits() + knowledge.number_bits() < 0.05);
        // The packet of the state named an older one, and so did the four after it.
        let window = knowledge.window_bits();
        assert!((window - 6_f64.log2()).abs() < 0.05, "{window}");
    }

    #[test]
    fn the_number_of_one_packet_in_four_takes_what_its_distance_takes() {
        let mut knowledge = Knowledge::default();
        let mut random = oorandom::Rand32::new(7);
        let mut epoch = 0;
        for first in (0..40_000_u32).step_by(4) {
            let arrives = random.rand_range(0..4);
            for number in (0..4).map(|place| first + place) {
                knowledge.send(&number.to_le_bytes(), number, epoch);
            }
            epoch = first + arrives;
            knowledge.receive(&epoch.to_le_bytes());
        }
        assert!(knowledge.state_bits() < 0.05);
        // Distances of 1 to 7 occur 1, 2, 3, 4, 3, 2, 1 times in 16.
        let number = knowledge.number_bits();
        assert!((2.6..2.7).contains(&number), "{number}");
    }
}
