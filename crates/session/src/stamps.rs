//! How long packets of a stream take, beyond what their ages say (wire.md W79): on a network that loses, a stream waits
//! for what is sent again, and nothing in the packets behind it tells.

use core::time::Duration;

use crate::clock::Clock;
use crate::wire::contract::{self, Stamp};
use crate::wire::frame::Frame;

use alloc::vec::Vec;

/// A packet that carries messages is stamped so often: ten times a second tell a share of lateness well enough, at 40
/// octets per second.
const SPACING: Duration = Duration::from_millis(100);

/// Octets of a stamp, at most.
const SIZE: usize = 4;

/// The stamps of one transport's stream, both ways.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// Both ends know contracts.
    pub(crate) agreed: bool,
    sent: Option<Duration>,
    /// What the last stamped packet took.
    transit: Option<Duration>,
}

impl Stamps {
    pub(crate) fn new(agreed: bool) -> Self {
        Stamps { agreed, ..Stamps::default() }
    }

    /// Puts a stamp into a packet before the body that begins at `at`, if one is due and fits what the packet may still
    /// take.
    pub(crate) fn write(&mut self, now: Duration, room: usize, packet: &mut Vec<u8>, at: usize) {
        let is_due = self.sent.is_none_or(|sent| now >= sent + SPACING);
        if !self.agreed || !is_due || packet.len() == at || room < SIZE {
            return;
        }
        self.sent = Some(now);
        let mut frame = Vec::with_capacity(SIZE);
        Frame::Contract(&contract::write(Some(Stamp::of(now)), &[])).write(&mut frame);
        packet.splice(at..at, frame);
    }

    /// A stamp came; `clock` compares this end's clock with that of the other.
    pub(crate) fn came(&mut self, now: Duration, stamp: Stamp, clock: &Clock) {
        let Some((ahead_us, _)) = clock.offset() else { return };
        let ahead = Duration::from_micros(ahead_us.unsigned_abs());
        let there = match ahead_us < 0 {
            true => now.checked_sub(ahead),
            false => now.checked_add(ahead),
        };
        self.transit = there.map(|there| stamp.ago(there).unwrap_or_default());
    }

    /// How long the packet that came last took: at least half of the smallest round trip.
    pub(crate) fn transit(&self, clock: &Clock) -> Duration {
        clock.one_way().max(self.transit.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn w79_a_delay_behind_a_lost_packet_is_seen() {
        let mut clock = Clock::default();
        // The other clock is a second behind, the way takes 10 ms.
        clock.pong(5_020_000, 5_000_000, 4_010_000, 4_010_000);
        let mut stamps = Stamps::default();
        assert_eq!(stamps.transit(&clock), MS * 10);
        stamps.came(MS * 6_230, Stamp::of(MS * 5_000), &clock);
        assert_eq!(stamps.transit(&clock), MS * 230);
        stamps.came(MS * 6_310, Stamp::of(MS * 5_300), &clock);
        assert_eq!(stamps.transit(&clock), MS * 10);
    }

    #[test]
    fn w79_stamps_go_with_bodies_now_and_then() {
        let mut stamps = Stamps { agreed: true, ..Stamps::default() };
        let mut stamped = |now: u32, body: &[u8]| {
            let mut packet = Vec::from([0x0d, 1, 0]);
            packet.extend_from_slice(body);
            stamps.write(MS * now, 1000, &mut packet, 3);
            packet.len() - 3 - body.len()
        };
        assert_eq!(stamped(20_000, b""), 0);
        assert_eq!(stamped(20_000, b"body"), SIZE);
        assert_eq!(stamped(20_040, b"body"), 0);
        assert_eq!(stamped(20_100, b"body"), SIZE);
    }
}
