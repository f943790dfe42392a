//! The numbers by which rooms and clients name participants, channels, messages, fan-out groups and
//! transports, each as a type of its own, so that the compiler tells them apart.

use core::fmt;

/// Declares a number as a type of its own.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident($raw:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $raw);

        impl $name {
            /// The number as an integer.
            #[must_use]
            pub const fn get(self) -> $raw {
                self.0
            }

            /// The number that follows. It must not be called on the greatest number.
            #[must_use]
            pub const fn next(self) -> Self {
                $name(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl From<u32> for $name {
            fn from(number: u32) -> Self {
                $name(number.into())
            }
        }

        impl From<$name> for u64 {
            fn from(number: $name) -> u64 {
                number.0.into()
            }
        }
    };
}

id! {
    /// The number of a participant of a room. As long as the room keeps its incarnation, no other
    /// participant is ever given the same number. The first participant has number 1. In a packet
    /// from a client to the server, 0 means that client. As the sender of a message, 0 is the room
    /// itself (wire W101).
    ParticipantId(u32)
}

id! {
    /// The number that a room gives to one of its channels, from 1 on. On the wire, 0 means no
    /// particular channel.
    ///
    /// A client's application names a channel by [`ChannelId`](crate::client::ChannelId) instead:
    /// the place of the channel in that client's own list.
    ChannelNo(u32)
}

impl ChannelNo {
    /// The place of the channel in the room's list of channels, which begins at 0.
    #[must_use]
    pub(crate) const fn place(self) -> usize {
        self.0 as usize - 1
    }
}

id! {
    /// Counts the transactions of one participant: its first transaction has counter 1. 0 means no
    /// transaction.
    Counter(u32)
}

id! {
    /// Counts the awareness messages that one participant sends on one channel: the first message
    /// has index 1. After the greatest number of 32 bits, the count begins again at 0.
    Index(u32)
}

id! {
    /// A place in the room's log, which holds the transactions of all participants: the first
    /// transaction has position
    /// 1. 0 is the place before the first one.
    Position(u64)
}

id! {
    /// The number of a message in the order of arrival, in one count for awareness messages and
    /// transactions. A room numbers the messages that it keeps, and a client the messages that it
    /// has to send. 0 is the place before the first message.
    Order(u64)
}

id! {
    /// The number of a fan-out group: receivers of one room that are sent the same encoded bytes,
    /// as datagrams or over their streams.
    GroupId(u32)
}

id! {
    /// The number that the program which drives a room gives to a transport. It never gives two
    /// transports of a room the same number.
    LinkId(u64)
}
