//! Time stamps that tell how long the packets of a stream take (wire W79). On a network that loses
//! packets, a stream waits until the lost data is sent again. The ages in messages do not contain
//! this wait, because the sender wrote them before it.

use core::time::Duration;

use crate::clock::Clock;
use crate::wire::contract::{self, Stamp};
use crate::wire::frame::Frame;

use alloc::vec::Vec;

/// The time between two stamps in payloads whose ages matter. Ten stamps per second are enough to
/// measure the share of late messages, and cost 40 bytes per second at most.
const SPACING: Duration = Duration::from_millis(100);

/// The time between two stamps in other payloads: those with transactions without a deadline. While
/// somebody types, ten stamps per second would be nearly half of the bytes.
const RARE_SPACING: Duration = Duration::from_secs(1);

/// The most bytes of a stamp: tag, length, and a varint of two bytes.
const SIZE: usize = 4;

/// The stamps on the stream of one transport, in both directions.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    /// True if both ends have the capability for contracts, which includes stamps.
    pub(crate) agreed: bool,
    /// When the last stamp was sent.
    sent: Option<Duration>,
    /// How long the last packet with a stamp took.
    transit: Option<Duration>,
}

impl Stamps {
    pub(crate) fn new(agreed: bool) -> Self {
        Stamps { agreed, ..Stamps::default() }
    }

    /// Inserts a stamp into a packet before the payload, which begins at `at`, if a stamp is due
    /// and fits: `remaining` is the number of bytes that the packet may still take. `is_timed`: the
    /// payload has awareness, or transactions with a deadline.
    pub(crate) fn write(
        &mut self,
        now: Duration,
        remaining: usize,
        is_timed: bool,
        packet: &mut Vec<u8>,
        at: usize,
    ) {
        let spacing = if is_timed { SPACING } else { RARE_SPACING };
        let is_due = self.sent.is_none_or(|sent| now >= sent + spacing);
        if !self.agreed || !is_due || packet.len() == at || remaining < SIZE {
            return;
        }
        self.sent = Some(now);
        let mut frame = Vec::with_capacity(SIZE);
        Frame::Contract(&contract::write(Some(Stamp::of(now)), &[])).write(&mut frame);
        packet.splice(at..at, frame);
    }

    /// Takes in a stamp that arrived at `now`. `clock` gives the offset between the clocks of the
    /// two ends.
    pub(crate) fn came(&mut self, now: Duration, stamp: Stamp, clock: &Clock) {
        self.transit = clock.there(now).map(|there| stamp.ago(there).unwrap_or_default());
    }

    /// The estimated time that the last received packet took from the other end: the time measured
    /// by the newest stamp, but at least half of the smallest round trip.
    pub(crate) fn transit(&self, clock: &Clock) -> Duration {
        clock.one_way().max(self.transit.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn w79_a_delay_after_a_lost_packet_is_measured() {
        let mut clock = Clock::default();
        // The other clock is 1 s behind, and each direction takes 10 ms.
        clock.pong(5_020_000, 5_000_000, 4_010_000, 4_010_000);
        let mut stamps = Stamps::default();
        assert_eq!(stamps.transit(&clock), MS * 10);
        stamps.came(MS * 6_230, Stamp::of(MS * 5_000), &clock);
        assert_eq!(stamps.transit(&clock), MS * 230);
        stamps.came(MS * 6_310, Stamp::of(MS * 5_300), &clock);
        assert_eq!(stamps.transit(&clock), MS * 10);
    }

    #[test]
    fn w79_packets_with_payloads_are_stamped_every_100_ms() {
        let mut stamps = Stamps { agreed: true, ..Stamps::default() };
        let mut stamped = |now: u32, is_timed: bool, payload: &[u8]| {
            let mut packet = Vec::from([0x0d, 1, 0]);
            packet.extend_from_slice(payload);
            stamps.write(MS * now, 1000, is_timed, &mut packet, 3);
            packet.len() - 3 - payload.len()
        };
        assert_eq!(stamped(20_000, true, b""), 0);
        assert_eq!(stamped(20_000, true, b"body"), SIZE);
        assert_eq!(stamped(20_040, true, b"body"), 0);
        assert_eq!(stamped(20_100, true, b"body"), SIZE);
        // Transactions without a deadline need one a second.
        assert_eq!(stamped(21_000, false, b"body"), 0);
        assert_eq!(stamped(21_100, false, b"body"), SIZE);
        assert_eq!(stamped(21_200, true, b"body"), SIZE);
    }
}
