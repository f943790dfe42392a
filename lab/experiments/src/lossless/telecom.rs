//! Signalling of an invented mobile network.
//!
//! The paper took 100 packets, some 20 KB, from a dump of a real telecom network, and left out
//! their protocol headers (section 7.2). These are as many packets of the kinds that such networks
//! send, with what makes them hard or easy to compress. A packet is 1 to 3 messages, a message a
//! code and information elements, each a tag, a length and a value.
//!
//! | element | value |
//! | --- | --- |
//! | identity | 15 digits, two to a byte (BCD), of a few operators; the last nine are random |
//! | temporary identity, tunnel | 4 random bytes |
//! | cell | operator (BCD), area of 2 bytes and cell of 2, both from a small neighbourhood |
//! | time | seconds, 4 bytes, and microseconds; it goes on from packet to packet |
//! | counters | 4 bytes each, most of them small, all growing |
//! | capabilities | a bit map of 8 bytes, one of a few that telephones have |
//! | measurements | 2 to 12 neighbours: a cell's number, strength and quality, within some units of each other |
//! | key, vector | 16 random bytes |
//! | address | 4 bytes of one network, and a port |
//! | name | ASCII in labels, from a handful |
//! | container | 8 to 40 bytes of another protocol, encrypted: random |
//! | padding | zeros or 0x2b up to a multiple of 4 or 23 bytes |

use crate::drawing::random::Random;

/// The number of packets in the paper's dump.
pub(super) const PACKETS: usize = 100;

/// Mobile country and network codes, in their encoding on the wire.
const OPERATORS: [[u8; 3]; 3] = [[0x42, 0xF0, 0x80], [0x42, 0xF0, 0x10], [0x62, 0xF2, 0x10]];
const CAPABILITIES: [[u8; 8]; 4] = [
    [0xE0, 0xE0, 0xC0, 0x40, 0x00, 0x00, 0x00, 0x00],
    [0xF0, 0x70, 0xC0, 0x40, 0x19, 0x80, 0x00, 0x00],
    [0xF0, 0xF0, 0xC0, 0xC0, 0x1D, 0x80, 0x00, 0x10],
    [0x80, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00],
];
const NAMES: [&[u8]; 4] = [
    b"\x08internet\x06mnc008\x06mcc240\x04gprs",
    b"\x03ims\x06mnc008\x06mcc240\x04gprs",
    b"\x03mms\x08operator\x02se",
    b"\x04corp\x07example\x03com",
];

/// The bytes of `count` packets, one behind the other. They are the same for the same seed.
pub(super) fn packets(seed: u64, count: usize) -> Vec<u8> {
    let mut node = Node::new(seed);
    (0..count).flat_map(|_| node.packet()).collect()
}

/// A simulated network node that sends records about calls.
struct Node {
    random: Random,
    seconds: u32,
    micros: u32,
    transaction: u32,
    /// Bytes and packets of a bearer, up and down.
    counters: [u32; 6],
    area: u16,
}

impl Node {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x7E1E_C0DE);
        let area = random.below(1 << 16) as u16;
        let counters = std::array::from_fn(|n| random.below(200 << (2 * n)) as u32);
        Node { random, seconds: 0xD52A_91C0, micros: 0, transaction: 4711, counters, area }
    }

    fn packet(&mut self) -> Vec<u8> {
        self.micros += self.random.below(90_000) as u32;
        self.seconds += self.micros / 1_000_000;
        self.micros %= 1_000_000;
        self.transaction = self.transaction.wrapping_add(1 + self.random.below(3) as u32);
        let mut packet = Packet::default();
        for _ in 0..1 + self.random.below(3) {
            match self.random.below(20) {
                0..3 => self.attach(&mut packet),
                3..5 => self.authenticate(&mut packet),
                5..10 => self.report(&mut packet),
                10..13 => self.charge(&mut packet),
                13..16 => self.hand_over(&mut packet),
                16..18 => self.page(&mut packet),
                _ => self.bear(&mut packet),
            }
        }
        packet.0
    }

    /// Adds an attach request, by which a telephone registers.
    fn attach(&mut self, packet: &mut Packet) {
        self.begin(packet, 0x41);
        packet.element(0x01, &self.identity());
        packet.element(0x05, &self.cell());
        packet.element(0x1C, &self.capabilities());
        packet.element(0x78, &self.container());
        packet.element(0x47, NAMES[self.random.below(NAMES.len())]);
        packet.pad(4, 0);
    }

    fn authenticate(&mut self, packet: &mut Packet) {
        self.begin(packet, 0x52);
        packet.element(0x21, &self.bytes(16));
        packet.element(0x20, &self.bytes(16));
        packet.element(0x2D, &self.bytes(8));
        packet.pad(23, 0x2B);
    }

    /// Adds a measurement report: the signal strengths of the cells around a telephone.
    fn report(&mut self, packet: &mut Packet) {
        self.begin(packet, 0x15);
        packet.element(0x08, &self.bytes(4));
        let (strength, first) = (self.random.below(40) as u8 + 20, self.random.below(500) as u16);
        for _ in 0..2 + self.random.below(11) {
            let cell = first.wrapping_add(self.random.below(6) as u16).to_be_bytes();
            let quality = self.random.below(12) as u8;
            let heard = [cell[0], cell[1], strength + self.random.below(9) as u8, quality, 0, 0];
            packet.element(0x3A, &heard);
        }
        packet.element(0x24, &self.time());
        packet.pad(23, 0x2B);
    }

    /// Adds a charging record: the data volume of a bearer.
    fn charge(&mut self, packet: &mut Packet) {
        self.begin(packet, 0xF0);
        packet.element(0x01, &self.identity());
        packet.element(0x24, &self.time());
        for record in 0..1 + self.random.below(4) as u8 {
            let grown = std::array::from_fn::<_, 6, _>(|n| self.random.below(60 << (2 * n)) as u32);
            let add = |(counter, more): (&mut u32, u32)| *counter = counter.wrapping_add(more);
            self.counters.iter_mut().zip(grown).for_each(add);
            let mut usage = vec![record, 0x00, 0x05];
            usage.extend(self.counters.iter().flat_map(|counter| counter.to_be_bytes()));
            packet.element(0xBF, &usage);
        }
        packet.element(0x85, &self.address());
        packet.pad(4, 0);
    }

    fn hand_over(&mut self, packet: &mut Packet) {
        self.begin(packet, 0x1D);
        packet.element(0x05, &self.cell());
        packet.element(0x05, &self.cell());
        packet.element(0x57, &self.tunnel());
        packet.element(0x57, &self.tunnel());
        packet.element(0x1C, &self.capabilities());
        packet.element(0x78, &self.container());
        packet.pad(4, 0);
    }

    /// Adds a paging request: telephones are called in all cells of an area.
    fn page(&mut self, packet: &mut Packet) {
        self.begin(packet, 0x0A);
        for _ in 0..1 + self.random.below(5) {
            packet.element(0x0C, &self.bytes(4));
        }
        for _ in 0..2 + self.random.below(6) {
            packet.element(0x05, &self.cell());
        }
        packet.pad(23, 0x2B);
    }

    /// Adds the setup of a bearer.
    fn bear(&mut self, packet: &mut Packet) {
        self.begin(packet, 0x20);
        packet.element(0x01, &self.identity());
        packet.element(0x57, &self.tunnel());
        packet.element(0x47, NAMES[self.random.below(NAMES.len())]);
        packet.element(0x4F, &self.address());
        let mut quality = vec![0x4C, 9 - self.random.below(4) as u8];
        for rate in [64, 128, 384, 8640] {
            let rate: u32 = rate * (1 + self.random.below(2) as u32);
            quality.extend([0].into_iter().chain(rate.to_be_bytes()));
        }
        packet.element(0x50, &quality);
        packet.element(0x24, &self.time());
        packet.pad(4, 0);
    }

    fn begin(&mut self, packet: &mut Packet, code: u8) {
        packet.0.push(code);
        packet.0.extend(&self.transaction.to_be_bytes()[1..]);
    }

    fn identity(&mut self) -> Vec<u8> {
        let operator = OPERATORS[self.random.below(OPERATORS.len())];
        let mut digits = operator.to_vec();
        digits.extend((0..5).map(|_| (self.random.below(10) << 4 | self.random.below(10)) as u8));
        digits[7] |= 0xF0;
        digits
    }

    fn cell(&mut self) -> Vec<u8> {
        let area = self.area.wrapping_add(self.random.below(3) as u16).to_be_bytes();
        let cell = (0x2A00 + self.random.below(90) as u16).to_be_bytes();
        [&OPERATORS[self.random.below(2)][..], &area, &cell].concat()
    }

    fn capabilities(&mut self) -> [u8; 8] {
        CAPABILITIES[self.random.below(CAPABILITIES.len())]
    }

    fn time(&mut self) -> Vec<u8> {
        [self.seconds.to_be_bytes(), self.micros.to_be_bytes()].concat()
    }

    /// An endpoint of a tunnel: its kind, its key, an address.
    fn tunnel(&mut self) -> Vec<u8> {
        let kind = 0x80 | self.random.below(8) as u8;
        [&[kind][..], &self.bytes(4), &self.address()[..4]].concat()
    }

    fn address(&mut self) -> [u8; 6] {
        let host = self.random.below(30) as u8;
        [10, 44, 3, host, 0x08, if host.is_multiple_of(2) { 0x4B } else { 0x68 }]
    }

    fn container(&mut self) -> Vec<u8> {
        let count = 8 + self.random.below(33);
        self.bytes(count)
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.random.below(256) as u8).collect()
    }
}

#[derive(Default)]
struct Packet(Vec<u8>);

impl Packet {
    /// Adds a tag, a length and a value. No value here is longer than 255 bytes.
    fn element(&mut self, tag: u8, value: &[u8]) {
        self.0.extend([tag, 0, value.len() as u8]);
        self.0.extend(value);
    }

    fn pad(&mut self, multiple: usize, with: u8) {
        self.0.resize(self.0.len().next_multiple_of(multiple), with);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_about_those_of_the_paper() {
        let one = packets(1, PACKETS);
        assert!((14_000..24_000).contains(&one.len()), "{}", one.len());
        assert_eq!(one, packets(1, PACKETS));
        assert_ne!(one, packets(2, PACKETS));
    }
}
