//! The outcome of a direct transaction, which the room reports to its sender (wire W116).

/// The outcome of a direct transaction, which is for one participant alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Receipt {
    /// The receiver's application has it.
    Delivered,
    /// The receiver is not in the room, or left before it confirmed the transaction, or the channel
    /// was reset.
    Gone,
    /// The receiver has not opened the channel, or has no right to receive on it.
    NotOpen,
    /// Too many transactions wait for the receiver.
    Full,
    /// The outcome is not known: the sender's session or the room's state was lost, or the client
    /// gave the message up.
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
