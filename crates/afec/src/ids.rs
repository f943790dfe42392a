//! The numbers that name channels, messages, keys and packets, each as a type of its own. On a
//! conflated channel only the newest value of each key matters.

use core::fmt;

/// The number of a channel. Both ends of a path give the same channel the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(pub u32);

impl ChannelId {
    /// The largest number of a channel: on the wire the number and two flag bits share an integer
    /// of 32 bits.
    pub(crate) const MAX: ChannelId = ChannelId(u32::MAX / 4);
}

impl From<u32> for ChannelId {
    fn from(number: u32) -> Self {
        ChannelId(number)
    }
}

impl From<ChannelId> for u32 {
    fn from(id: ChannelId) -> Self {
        id.0
    }
}

impl fmt::Display for ChannelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The count of a message among the messages of its channel. It wraps around after 2^32 messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct MessageIndex(pub(crate) u32);

impl MessageIndex {
    /// The 16 low bits, which are sent with the message.
    pub(crate) fn low(self) -> u16 {
        self.0 as u16
    }

    /// The index `count` messages later.
    pub(crate) fn plus(self, count: u32) -> Self {
        MessageIndex(self.0.wrapping_add(count))
    }

    /// The index `count` messages earlier.
    pub(crate) fn minus(self, count: u32) -> Self {
        MessageIndex(self.0.wrapping_sub(count))
    }

    /// How many messages after `earlier` this one is.
    pub(crate) fn since(self, earlier: MessageIndex) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// How many messages the index whose 16 low bits are `low` is ahead of this one; negative if it
    /// is behind.
    pub(crate) fn ahead(self, low: u16) -> i16 {
        low.wrapping_sub(self.low()) as i16
    }

    /// The index that is `ahead` messages after this one, or before it if `ahead` is negative.
    pub(crate) fn offset(self, ahead: i16) -> Self {
        MessageIndex(self.0.wrapping_add_signed(i32::from(ahead)))
    }

    /// True if this message was sent before `other`. Because indices wrap around, the two must be
    /// less than 2^31 apart.
    pub(crate) fn is_before(self, other: MessageIndex) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }
}

/// The key of a value on a conflated channel: a newer value of a key replaces the older ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Key(pub(crate) u32);

/// The number of a packet. Packets of one direction count from 0 and wrap around after 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PacketNumber(pub(crate) u32);

impl PacketNumber {
    /// The 16 low bits, which are sent with the packet.
    pub(crate) fn low(self) -> u16 {
        self.0 as u16
    }

    /// The number of the next packet.
    pub(crate) fn next(self) -> Self {
        PacketNumber(self.0.wrapping_add(1))
    }

    /// True if this packet was sent after `other`. Because numbers wrap around, the two must be
    /// less than 2^31 apart.
    pub(crate) fn is_after(self, other: PacketNumber) -> bool {
        self.0.wrapping_sub(other.0) as i32 > 0
    }
}

/// The number of a report, with which a receiver tells the sender how packets arrive. Four bits are
/// sent with the report, and three are sent back with its [`Echo`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ReportNumber(pub(crate) u8);

impl ReportNumber {
    /// Those bits of a number that are in the echo of a report.
    const ECHO: u8 = 0x07;

    /// The number of the next report: four bits.
    pub(crate) fn next(self) -> Self {
        ReportNumber(self.0.wrapping_add(1) & 0x0f)
    }

    /// The part of the number that the receiver of the report sends back to confirm that the report
    /// arrived.
    pub(crate) fn echo(self) -> Echo {
        Echo(self.0 & Self::ECHO)
    }
}

/// The three low bits of a report's number, sent back to confirm that the report arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Echo(pub(crate) u8);

impl Echo {
    /// The echo in the three low bits of `bits`; the other bits are ignored.
    pub(crate) fn of(bits: u8) -> Self {
        ReportNumber(bits).echo()
    }

    /// True if this is the echo of `report` or of one of the three reports after it.
    pub(crate) fn covers(self, report: ReportNumber) -> bool {
        self.0.wrapping_sub(report.0) & ReportNumber::ECHO < 4
    }
}
