//! How often, and when, a message is repeated.

use core::time::Duration;

/// The last packet that a message can ride on: this many after its own.
pub const LAST_RIDE: u8 = 32;
/// The most packets of its own that a message can have.
pub const EXTRAS: usize = 4;

/// One more sending of a message, after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repeat {
    /// In the n-th packet (1 = the next) after the message's own that goes anyway. If none goes in time, because a
    /// cluster of messages has ended, the sender may send one for it (see [`Code::close`]).
    Ride(u8),
    /// In a packet of its own, so long after the message's own.
    Extra(Duration),
}

/// The repeats of a message, each once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repeats {
    /// A bit for each packet that goes anyway, the next one lowest.
    rides: u32,
    /// In µs, earliest first, zeros last.
    extras: [u32; EXTRAS],
}

impl Repeats {
    /// None.
    pub const NONE: Repeats = Repeats { rides: 0, extras: [0; EXTRAS] };

    /// These repeats. What is out of range ([`LAST_RIDE`], [`EXTRAS`], more than an hour) is left out.
    pub fn new(repeats: impl IntoIterator<Item = Repeat>) -> Self {
        let mut all = Repeats::NONE;
        let mut extras = 0;
        for repeat in repeats {
            match repeat {
                Repeat::Ride(lag @ 1..=LAST_RIDE) => all.rides |= 1 << (lag - 1),
                Repeat::Ride(_) => {}
                Repeat::Extra(after) => {
                    let Ok(micros @ 1..) = u32::try_from(after.as_micros()) else {
                        continue;
                    };
                    if extras < EXTRAS && !all.extras.contains(&micros) {
                        all.extras[extras] = micros;
                        extras += 1;
                    }
                }
            }
        }
        all.extras[..extras].sort_unstable();
        all
    }

    /// FEC-n of the paper: in each of the next `n` packets.
    pub fn repeat_last(n: u8) -> Self {
        Repeats::new((1..=n).map(Repeat::Ride))
    }

    /// The repeats in turn: rides first.
    pub fn iter(&self) -> impl Iterator<Item = Repeat> + '_ {
        let rides = (0..LAST_RIDE).filter(|bit| self.rides >> bit & 1 == 1);
        let extras = self.extras.iter().filter(|micros| **micros > 0);
        let extras = extras.map(|micros| Repeat::Extra(Duration::from_micros(u64::from(*micros))));
        rides.map(|bit| Repeat::Ride(bit + 1)).chain(extras)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rides.count_ones() as usize + self.extras.iter().filter(|micros| **micros > 0).count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Repeats::NONE
    }
}

/// What a sender does for the messages of a channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Code {
    /// The repeats that most messages get.
    pub repeats: Repeats,
    /// The repeats that a share of messages gets instead.
    pub other: Repeats,
    /// That share, 0 to 1.
    pub share: f64,
    /// Whether the receiver should ask for messages that it misses, and in how many packets each one asked for is sent.
    pub ask: u8,
    /// Whether repeats that find no packet to ride on, at the end of a cluster, get a packet.
    pub close: bool,
}

impl Code {
    /// Each message once.
    pub const PLAIN: Code =
        Code { repeats: Repeats::NONE, other: Repeats::NONE, share: 0.0, ask: 0, close: false };
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn repeats_come_back_sorted_and_once() {
        let extra = |ms| Repeat::Extra(Duration::from_millis(ms));
        let given = [
            Repeat::Ride(3),
            extra(20),
            Repeat::Ride(1),
            extra(10),
            Repeat::Ride(3),
            Repeat::Ride(0),
        ];
        let repeats = Repeats::new(given);
        assert_eq!(
            repeats.iter().collect::<Vec<_>>(),
            [Repeat::Ride(1), Repeat::Ride(3), extra(10), extra(20)]
        );
        assert_eq!(repeats.len(), 4);
        assert_eq!(Repeats::new([Repeat::Ride(33), Repeat::Extra(Duration::MAX)]), Repeats::NONE);
        assert_eq!(Repeats::repeat_last(2), Repeats::new([Repeat::Ride(2), Repeat::Ride(1)]));
    }
}
