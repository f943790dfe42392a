//! One interface to all self-describing formats, in which each value tells its type and length. A
//! hole, below, is a place of a message where the value differs from message to message.

use alloc::vec::Vec;

use super::float::Width;
use super::part::{Item, Part};
use super::{cbor, message_pack};
use crate::error::DecodeError;

/// A self-describing format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    MessagePack,
    Cbor,
}

impl Format {
    pub(crate) fn read(self, bytes: &[u8], at: usize) -> Option<Part> {
        match self {
            Self::MessagePack => message_pack::read(bytes, at),
            Self::Cbor => cbor::read(bytes, at),
        }
    }

    /// The end of the value at `at`. `None` if this is not a single value, such as a number or a
    /// string.
    pub(crate) fn item_end(self, bytes: &[u8], at: usize) -> Option<usize> {
        match self.read(bytes, at)? {
            Part::Item(_, end) => Some(end),
            _ => None,
        }
    }

    /// Whether the value of a hole, given from its first byte on, is a string.
    pub(crate) fn is_string(self, bytes: &[u8]) -> bool {
        matches!(self.read(bytes, 0), Some(Part::Item(Item::String { .. }, _)))
    }

    pub(crate) fn shortest(self, value: i64) -> u8 {
        match self {
            Self::MessagePack => message_pack::shortest(value),
            Self::Cbor => cbor::shortest(value),
        }
    }

    pub(crate) fn write_integer(
        self,
        first: u8,
        value: i64,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let (width, argument) = match self {
            Self::MessagePack => (message_pack::integer_width(first), value as u64),
            Self::Cbor => (cbor::integer_width(first), cbor::argument(value)),
        };
        out.push(first);
        let width = width.ok_or(DecodeError::Malformed)?;
        out.extend_from_slice(&argument.to_be_bytes()[8 - width..]);
        Ok(())
    }

    pub(crate) fn write_float(
        self,
        bits: u64,
        width: Width,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let first = match self {
            Self::MessagePack => message_pack::float(width).ok_or(DecodeError::Malformed)?,
            Self::Cbor => cbor::float(width),
        };
        out.push(first);
        out.extend_from_slice(&bits.to_be_bytes()[8 - width.bytes()..]);
        Ok(())
    }

    pub(crate) fn string(self, text: bool, length: usize) -> (u8, usize) {
        match self {
            Self::MessagePack => message_pack::string(text, length),
            Self::Cbor => cbor::string(text, length),
        }
    }

    pub(crate) fn length_width(self, first: u8, text: bool) -> Option<usize> {
        match self {
            Self::MessagePack => message_pack::length_width(first, text),
            Self::Cbor => cbor::length_width(first, text),
        }
    }

    pub(crate) fn simple(self, value: u8) -> u8 {
        match self {
            Self::MessagePack => 0xc0 | value & 3,
            Self::Cbor => cbor::simple(value),
        }
    }
}
