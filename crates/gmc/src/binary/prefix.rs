//! Strings that follow their length, in binary messages of an unknown format.

use alloc::vec::Vec;

use super::varint::{read_varint, varint, varint_end};

/// The format of the length before a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    Byte,
    Big16,
    Little16,
    Big32,
    Little32,
    Varint,
}

impl Prefix {
    /// All formats, wider ones first: the zero bytes of a wide number are evidence that it is a length.
    pub(crate) const ALL: [Self; 6] =
        [Self::Big32, Self::Little32, Self::Big16, Self::Little16, Self::Byte, Self::Varint];

    /// The range of the string whose length is at `at`. `None` if the message has no such string there.
    pub(crate) fn string(self, bytes: &[u8], at: usize) -> Option<core::ops::Range<usize>> {
        let rest = bytes.get(at..)?;
        let (length, width) = match self {
            Self::Byte => (u64::from(*rest.first()?), 1),
            Self::Big16 => (u16::from_be_bytes(*rest.first_chunk()?).into(), 2),
            Self::Little16 => (u16::from_le_bytes(*rest.first_chunk()?).into(), 2),
            Self::Big32 => (u32::from_be_bytes(*rest.first_chunk()?).into(), 4),
            Self::Little32 => (u32::from_le_bytes(*rest.first_chunk()?).into(), 4),
            Self::Varint => {
                let end = varint_end(bytes, at)?;
                (read_varint(&bytes[at..end]), end - at)
            }
        };
        let start = at + width;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        (end <= bytes.len()).then_some(start..end)
    }

    /// The largest length that the format can express, in bytes.
    pub(crate) fn limit(self) -> usize {
        match self {
            Self::Byte => 0xff,
            Self::Big16 | Self::Little16 => 0xffff,
            _ => usize::MAX,
        }
    }

    pub(crate) fn insert(self, out: &mut Vec<u8>, at: usize) {
        let length = out.len() - at;
        match self {
            Self::Byte => insert(out, at, &[&[length as u8]]),
            Self::Big16 => insert(out, at, &[&(length as u16).to_be_bytes()]),
            Self::Little16 => insert(out, at, &[&(length as u16).to_le_bytes()]),
            Self::Big32 => insert(out, at, &[&(length as u32).to_be_bytes()]),
            Self::Little32 => insert(out, at, &[&(length as u32).to_le_bytes()]),
            Self::Varint => {
                let (bytes, count) = varint(length as u64);
                insert(out, at, &[&bytes[..count]]);
            }
        }
    }
}

/// Inserts `parts`, one after the other, into `out` at `at`. It puts the bytes of a length before the string that they
/// belong to.
pub(crate) fn insert(out: &mut Vec<u8>, at: usize, parts: &[&[u8]]) {
    let bytes = parts.iter().flat_map(|part| part.iter().copied());
    out.splice(at..at, bytes);
}
