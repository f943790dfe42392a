//! Reading and writing the integers of a packet.

use alloc::vec::Vec;

use thiserror::Error;

use crate::ids::ChannelId;

/// What is wrong with a packet. The other end or the path is at fault. No byte after the fault was
/// used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PacketError {
    /// The packet ends within a field.
    #[error("the peer's packet ends too early")]
    Truncated,
    /// An integer takes more than five bytes, or its value more than 32 bits.
    #[error("the peer's packet holds an integer over 32 bits")]
    IntegerTooLarge,
    /// The packet has another protocol or version.
    #[error("the packet is not of this protocol's version")]
    Version,
    /// The packet names a channel that is not open at this end.
    #[error(
        "the peer used channel {0}, which is not open at this end: open it with the same QoS at both"
    )]
    UnknownChannel(ChannelId),
    /// The packet arrived before, or is older than all packets that are remembered.
    #[error("the packet was received before")]
    Duplicate,
    /// The report in the packet has a part of an unknown kind.
    #[error("the peer's report holds a part of unknown kind")]
    UnknownReport,
}

/// Reads a packet from its beginning.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The bytes that are not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8], PacketError> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(PacketError::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], PacketError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(PacketError::Truncated)?;
        self.rest = rest;
        Ok(*bytes)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, PacketError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, PacketError> {
        self.array().map(u16::from_be_bytes)
    }

    /// Reads a variable-length integer: LEB128.
    pub(crate) fn varint(&mut self) -> Result<u32, PacketError> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return u32::try_from(value).map_err(|_| PacketError::IntegerTooLarge);
            }
        }
        Err(PacketError::IntegerTooLarge)
    }
}

/// Appends a variable-length integer: LEB128.
pub(crate) fn write_varint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The bytes that [`write_varint`] writes.
pub(crate) fn varint_len(value: u32) -> usize {
    (38 - (value | 1).leading_zeros() as usize) / 7
}
