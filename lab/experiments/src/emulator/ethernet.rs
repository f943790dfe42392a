//! What Ethernet does to a packet's time.

use std::time::{Duration, Instant};

/// Octets around an IP packet: the frame's header and its check, the preamble before it and the gap behind it.
const AROUND: usize = 14 + 4 + 8 + 12;
/// The shortest content of a frame (IEEE 802.3): what is shorter is padded.
const SHORTEST: usize = 46;

/// An Ethernet between two hosts: cables of one rate with switches between that store a frame before they forward it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Ethernet {
    /// Of each cable, in bits per second; `None`: nothing takes any time.
    pub(crate) rate: Option<f64>,
    /// Switches between the hosts.
    pub(crate) switches: usize,
}

impl Ethernet {
    /// An Ethernet of so many Mbit/s.
    pub(crate) fn mbit(rate: f64, switches: usize) -> Self {
        Ethernet { rate: Some(rate * 1e6), switches }
    }

    /// Octets that an IP packet takes up on a cable.
    pub(crate) fn octets(packet: usize) -> usize {
        packet.max(SHORTEST) + AROUND
    }

    /// The time from the first bit of a packet that meets no other to the last one's arrival.
    pub(crate) fn transit(&self, packet: usize) -> Duration {
        self.serialisation(packet) * (self.switches as u32 + 1)
    }

    /// The time on one cable.
    fn serialisation(&self, packet: usize) -> Duration {
        let seconds = |rate| 8.0 * Ethernet::octets(packet) as f64 / rate;
        self.rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(seconds(rate)))
    }
}

/// What has gone over an Ethernet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Carried {
    /// IP packets.
    pub(crate) packets: u64,
    /// All that they take up on a cable.
    pub(crate) octets: u64,
    /// The [transits](Ethernet::transit) of all packets taken together.
    pub(crate) time: Duration,
}

impl Carried {
    /// What was carried since an earlier look.
    #[must_use]
    pub(crate) fn since(self, earlier: Carried) -> Carried {
        Carried {
            packets: self.packets - earlier.packets,
            octets: self.octets - earlier.octets,
            time: self.time - earlier.time,
        }
    }

    /// Both taken together.
    #[must_use]
    pub(crate) fn plus(self, other: Carried) -> Carried {
        Carried {
            packets: self.packets + other.packets,
            octets: self.octets + other.octets,
            time: self.time + other.time,
        }
    }

    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there are no wires"))]
    pub(super) fn add(&mut self, ethernet: &Ethernet, packet: usize) {
        self.packets += 1;
        self.octets += Ethernet::octets(packet) as u64;
        self.time += ethernet.transit(packet);
    }
}

/// One direction at work.
#[derive(Debug, Clone, Default)]
pub(super) struct Cables {
    /// When each is free again, in the order that packets pass them.
    free: Vec<Instant>,
}

impl Cables {
    /// When a packet arrives that is sent now.
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
        assert_eq!(Ethernet::octets(1500), 1538);
        assert_eq!(Ethernet::octets(20), 84);
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
