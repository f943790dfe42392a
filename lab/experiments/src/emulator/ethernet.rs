//! The time that packets take on an Ethernet.

use std::time::{Duration, Instant};

/// Bytes around an IP packet: the frame's header and its check, the preamble before it and the gap
/// behind it.
const AROUND: usize = 14 + 4 + 8 + 12;
/// The shortest content of a frame (IEEE 802.3). Shorter contents are padded.
const SHORTEST: usize = 46;

/// An Ethernet between two hosts: cables of one rate with switches between that store a frame
/// before they forward it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Ethernet {
    /// The rate of each cable, in bits per second; `None`: packets take no time.
    pub(crate) rate: Option<f64>,
    /// The number of switches between the hosts.
    pub(crate) switches: usize,
}

impl Ethernet {
    /// An Ethernet with a rate in Mbit/s.
    pub(crate) fn mbit(rate: f64, switches: usize) -> Self {
        Ethernet { rate: Some(rate * 1e6), switches }
    }

    /// Bytes that an IP packet takes up on a cable.
    pub(crate) fn bytes(packet: usize) -> usize {
        packet.max(SHORTEST) + AROUND
    }

    /// The time from the first bit that is sent to the last bit that arrives, of a packet that
    /// meets no other.
    pub(crate) fn transit(&self, packet: usize) -> Duration {
        self.serialisation(packet) * (self.switches as u32 + 1)
    }

    /// The time to send a packet on one cable.
    fn serialisation(&self, packet: usize) -> Duration {
        let seconds = |rate| 8.0 * Ethernet::bytes(packet) as f64 / rate;
        self.rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(seconds(rate)))
    }
}

/// Counts the packets that an Ethernet has carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Carried {
    /// IP packets.
    pub(crate) packets: u64,
    /// Their bytes on the cable, with Ethernet's preamble, header, checksum and gap.
    pub(crate) bytes: u64,
    /// The [transits](Ethernet::transit) of all packets taken together.
    pub(crate) time: Duration,
}

impl Carried {
    /// The difference to an earlier count.
    #[must_use]
    pub(crate) fn since(self, earlier: Carried) -> Carried {
        Carried {
            packets: self.packets - earlier.packets,
            bytes: self.bytes - earlier.bytes,
            time: self.time - earlier.time,
        }
    }

    /// The sum of both counts.
    #[must_use]
    pub(crate) fn plus(self, other: Carried) -> Carried {
        Carried {
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
            time: self.time + other.time,
        }
    }

    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there are no wires"))]
    pub(super) fn add(&mut self, ethernet: &Ethernet, packet: usize) {
        self.packets += 1;
        self.bytes += Ethernet::bytes(packet) as u64;
        self.time += ethernet.transit(packet);
    }
}

/// The cables of one direction.
#[derive(Debug, Clone, Default)]
pub(super) struct Cables {
    /// The time at which each cable is free again, in the order in which packets pass them.
    free: Vec<Instant>,
}

impl Cables {
    /// Sends a packet now, and returns when it arrives.
    pub(super) fn carry(&mut self, ethernet: &Ethernet, now: Instant, packet: usize) -> Instant {
        self.free.resize(ethernet.switches + 1, now);
        let time = ethernet.serialisation(packet);
        let mut at = now;
        for free in &mut self.free {
            at = at.max(*free) + time;
            *free = at;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_on_the_wire_with_all_that_is_around_it() {
        assert_eq!(Ethernet::bytes(1500), 1538);
        assert_eq!(Ethernet::bytes(20), 84);
        assert_eq!(Ethernet::mbit(1000.0, 0).transit(1500), Duration::from_nanos(12_304));
        assert_eq!(Ethernet::default().transit(1500), Duration::ZERO);
    }

    #[test]
    fn packets_follow_each_other_on_each_cable() {
        let (ethernet, now) = (Ethernet::mbit(10.0, 1), Instant::now());
        let mut cables = Cables::default();
        // 1000 µs and 200 µs on each cable.
        let [large, small] = [1212, 212].map(|packet| cables.carry(&ethernet, now, packet) - now);
        assert_eq!(large, Duration::from_micros(2000));
        assert_eq!(small, Duration::from_micros(2200));
        let later = now + Duration::from_micros(5000);
        let alone = cables.carry(&ethernet, later, 212) - later;
        assert_eq!(alone, Duration::from_micros(400));
    }
}
