//! The outcome of a transaction for one participant, which its sender is told (wire W116).

/// What became of a transaction for one participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Receipt {
    /// The receiver's application has it.
    Delivered,
    /// The receiver is not in the room, or has left before it said that it has it. The channel may have been reset, too.
    Gone,
    /// The receiver has not opened the channel for receiving, or may not.
    NotOpen,
    /// Too much waits for the receiver.
    Full,
    /// Nobody can tell any more: the sender's session or the room's state was lost.
    Unknown,
}

impl Receipt {
    pub(crate) fn to_wire(self) -> u8 {
        match self {
            Receipt::Delivered => 0,
            Receipt::Gone => 1,
            Receipt::NotOpen => 2,
            Receipt::Full => 3,
            Receipt::Unknown => 4,
        }
    }

    /// `None` if no receipt has this number.
    pub(crate) fn from_wire(number: u8) -> Option<Self> {
        let all =
            [Receipt::Delivered, Receipt::Gone, Receipt::NotOpen, Receipt::Full, Receipt::Unknown];
        all.get(usize::from(number)).copied()
    }
}
