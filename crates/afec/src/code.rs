//! How often, and when, a message is repeated.

use core::time::Duration;

/// The most repeats of a message.
pub const REPEATS: usize = 6;

/// One more sending of a message, after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repeat {
    /// In the n-th packet (1 = the next) after the message's own that goes anyway. If none goes in time, because a
    /// cluster of messages has ended, the sender may send one for it (see [`Code::close`]).
    Ride(u8),
    /// In a packet of its own, so long after the message's own.
    Extra(Duration),
}

/// The repeats of a message. At most [`REPEATS`], each once, sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repeats {
    repeats: [Option<Repeat>; REPEATS],
}

impl Repeats {
    /// None.
    pub const NONE: Repeats = Repeats { repeats: [None; REPEATS] };

    /// These repeats; what is more than [`REPEATS`] is left out.
    pub fn new(repeats: impl IntoIterator<Item = Repeat>) -> Self {
        let mut all = Repeats::NONE;
        for (place, repeat) in all.repeats.iter_mut().zip(repeats) {
            *place = Some(repeat);
        }
        all.repeats.sort_unstable_by_key(|repeat| (repeat.is_none(), *repeat));
        all
    }

    /// FEC-n of the paper: in each of the next `n` packets.
    pub fn repeat_last(n: u8) -> Self {
        Repeats::new((1..=n).map(Repeat::Ride))
    }

    /// The repeats in turn.
    pub fn iter(&self) -> impl Iterator<Item = Repeat> + '_ {
        self.repeats.iter().flatten().copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.repeats[0].is_none()
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
