//! Codes: how often, and when, a message is repeated. The AFEC paper (2012) is the one on which
//! this crate is based; FEC-n is its name for repeating the last n messages. A cluster is the
//! messages between two pauses.

use core::time::Duration;

/// The farthest packet that can carry a piggyback, counted in packets with new messages from the
/// message's own packet on. A packet of the usual path MTU has room for about 32 messages of a
/// telepointer (the pointer of another user): the most that FEC-n can repeat.
pub const LAST_PIGGYBACK: u8 = 32;
/// The most dedicated packets (packets for a repeat alone) of one message.
/// [`choose`](crate::choice::choose) uses at most three. Chosen by judgement; not tuned.
pub const MAX_DEDICATED: usize = 4;

/// One repeat of a message: a further sending after the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repeat {
    /// A piggyback: the repeat goes in the n-th packet with new messages after the message's own
    /// packet (1 is the next such packet). If a pause begins before that packet, the sender may
    /// send another packet for the repeat: the tail flush (see [`Code::tail_flush`]).
    Piggyback(u8),
    /// A dedicated packet: the repeat goes alone in a packet, this long after the message's own
    /// packet.
    Dedicated(Duration),
}

/// The repeats of a message. No two of them are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repeats {
    /// Bit n - 1 is set if the n-th packet after the message's own packet carries a piggyback.
    piggybacks: u32,
    /// The delays of the dedicated packets in µs, in ascending order. Unused places at the end are
    /// 0.
    dedicated: [u32; MAX_DEDICATED],
}

impl Repeats {
    /// No repeat.
    pub const NONE: Repeats = Repeats { piggybacks: 0, dedicated: [0; MAX_DEDICATED] };

    /// Collects repeats. Ignores those that are out of range: piggybacks beyond [`LAST_PIGGYBACK`],
    /// more than [`MAX_DEDICATED`] dedicated packets, and delays of more than an hour.
    pub fn new(repeats: impl IntoIterator<Item = Repeat>) -> Self {
        let mut all = Repeats::NONE;
        let mut dedicated = 0;
        for repeat in repeats {
            match repeat {
                Repeat::Piggyback(lag @ 1..=LAST_PIGGYBACK) => all.piggybacks |= 1 << (lag - 1),
                Repeat::Piggyback(_) => {}
                Repeat::Dedicated(after) => {
                    let Ok(micros @ 1..) = u32::try_from(after.as_micros()) else {
                        continue;
                    };
                    if dedicated < MAX_DEDICATED && !all.dedicated.contains(&micros) {
                        // In ascending order.
                        let mut at = dedicated;
                        while at > 0 && all.dedicated[at - 1] > micros {
                            all.dedicated[at] = all.dedicated[at - 1];
                            at -= 1;
                        }
                        all.dedicated[at] = micros;
                        dedicated += 1;
                    }
                }
            }
        }
        all
    }

    /// FEC-n of the AFEC paper: a piggyback in each of the next `n` packets.
    pub fn repeat_last(n: u8) -> Self {
        Repeats::new((1..=n).map(Repeat::Piggyback))
    }

    /// Iterates over the repeats: first the piggybacks, then the dedicated packets, each in
    /// ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Repeat> + '_ {
        let piggybacks = (0..LAST_PIGGYBACK).filter(|bit| self.piggybacks >> bit & 1 == 1);
        let dedicated = self.dedicated.iter().filter(|micros| **micros > 0);
        let dedicated =
            dedicated.map(|micros| Repeat::Dedicated(Duration::from_micros(u64::from(*micros))));
        piggybacks.map(|bit| Repeat::Piggyback(bit + 1)).chain(dedicated)
    }

    /// The number of repeats.
    pub fn len(&self) -> usize {
        self.piggybacks.count_ones() as usize
            + self.dedicated.iter().filter(|micros| **micros > 0).count()
    }

    /// True if there is no repeat.
    pub fn is_empty(&self) -> bool {
        *self == Repeats::NONE
    }
}

/// The plan by which a sender repeats the messages of a channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Code {
    /// The repeats of most messages.
    pub repeats: Repeats,
    /// The repeats of the other messages.
    pub other: Repeats,
    /// The share of messages that have [`other`](Code::other) repeats, 0 to 1.
    pub share: f64,
    /// The number of copies with which the sender answers a request for a missing message. If 0,
    /// the receiver does not request missing messages.
    pub answers: u8,
    /// The tail flush: whether the sender sends one more packet when a pause follows a cluster of
    /// messages. That packet carries the piggybacks for which no packet with new messages was sent.
    pub tail_flush: bool,
}

impl Code {
    /// Each message is sent once and never repeated.
    pub const PLAIN: Code = Code {
        repeats: Repeats::NONE,
        other: Repeats::NONE,
        share: 0.0,
        answers: 0,
        tail_flush: false,
    };
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn repeats_are_sorted_and_distinct() {
        let dedicated = |ms| Repeat::Dedicated(Duration::from_millis(ms));
        let given = [
            Repeat::Piggyback(3),
            dedicated(20),
            Repeat::Piggyback(1),
            dedicated(10),
            Repeat::Piggyback(3),
            Repeat::Piggyback(0),
        ];
        let repeats = Repeats::new(given);
        assert_eq!(
            repeats.iter().collect::<Vec<_>>(),
            [Repeat::Piggyback(1), Repeat::Piggyback(3), dedicated(10), dedicated(20)]
        );
        assert_eq!(repeats.len(), 4);
        assert_eq!(
            Repeats::new([Repeat::Piggyback(33), Repeat::Dedicated(Duration::MAX)]),
            Repeats::NONE
        );
        assert_eq!(
            Repeats::repeat_last(2),
            Repeats::new([Repeat::Piggyback(2), Repeat::Piggyback(1)])
        );
    }
}
