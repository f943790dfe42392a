//! Announcements: templates, and additions to them, that the decoder must have before a packet. A
//! template is an earlier message; its dictionary gives one-byte keys to parts of it, and a
//! composite template is a sequence of parts with holes, where messages differ.
//!
//! All numbers are most significant byte first. Announcements follow each other without separators;
//! each begins with two bytes: its kind in the upper two bits, the template's number in the lower
//! 13.
//!
//! | kind | then | bytes |
//! | --- | --- | --- |
//! | 0 template | number of the one it replaces or 65,535 (2), length (2), the template | 6 + its length |
//! | 1 dictionary addition | key (1), offset (2), length - 1 (1) | 6 |
//! | 2 frequency list | 256 frequencies (4 each) | 1026 |
//! | 3 composite template, Plus only | key (1), hole before and after (1), number of parts (1), their keys | 5 + parts |

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::config::MAX_NUMBER;
use super::error::DecodeError;
use super::huffman::Frequencies;
use super::suffix::Span;

/// A change of the model that a packet announces: a new template, a new entry of a table, or new
/// symbol frequencies.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Announcement<'a> {
    Template { number: u16, replaces: Option<u16>, bytes: &'a [u8] },
    Addition { number: u16, key: u8, part: Span },
    Frequencies { number: u16, frequencies: Box<Frequencies> },
    Composite { number: u16, key: u8, shape: Shape, parts: &'a [u8] },
}

/// Whether a composite template has holes before its first part and after its last one, besides
/// those between its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) hole_before: bool,
    pub(super) hole_after: bool,
}

/// The bytes of a template's announcement in addition to the template itself.
pub(super) const TEMPLATE_BYTES: usize = 6;
/// The bytes of the announcement of a dictionary addition.
pub(super) const ADDITION_BYTES: usize = 6;

const TEMPLATE: u16 = 0;
const ADDITION: u16 = 1;
const FREQUENCIES: u16 = 2;
const COMPOSITE: u16 = 3;

/// The number that stands for "no template" where an announcement names the replaced one.
const NOTHING: u16 = u16::MAX;

impl<'a> Announcement<'a> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Template { number, replaces, bytes } => {
                write_u16(TEMPLATE << 14 | number, out);
                write_u16(replaces.unwrap_or(NOTHING), out);
                write_u16(bytes.len() as u16, out);
                out.extend_from_slice(bytes);
            }
            Self::Addition { number, key, part } => {
                write_u16(ADDITION << 14 | number, out);
                out.push(key);
                write_u16(part.offset, out);
                out.push((part.length - 1) as u8);
            }
            Self::Frequencies { number, ref frequencies } => {
                write_u16(FREQUENCIES << 14 | number, out);
                for frequency in frequencies.iter() {
                    out.extend_from_slice(&frequency.to_be_bytes());
                }
            }
            Self::Composite { number, key, shape, parts } => {
                write_u16(COMPOSITE << 14 | number, out);
                let shape = u8::from(shape.hole_before) | u8::from(shape.hole_after) << 1;
                out.extend_from_slice(&[key, shape, parts.len() as u8]);
                out.extend_from_slice(parts);
            }
        }
    }

    /// Reads one announcement from the start of `bytes` and removes it from them.
    pub(super) fn read(bytes: &mut &'a [u8]) -> Result<Self, DecodeError> {
        let head = read_u16(bytes)?;
        let (kind, number) = (head >> 14, head & 0x3fff);
        if number > MAX_NUMBER {
            return Err(DecodeError::Malformed);
        }
        Ok(match kind {
            TEMPLATE => {
                let replaces = Some(read_u16(bytes)?).filter(|&number| number != NOTHING);
                let length = read_u16(bytes)?;
                Self::Template { number, replaces, bytes: take(bytes, length.into())? }
            }
            ADDITION => {
                let key = read_u8(bytes)?;
                let offset = read_u16(bytes)?;
                let length = u16::from(read_u8(bytes)?) + 1;
                Self::Addition { number, key, part: Span { offset, length } }
            }
            FREQUENCIES => {
                let mut frequencies = Box::new([0; 256]);
                for frequency in frequencies.iter_mut() {
                    *frequency = u32::from_be_bytes(take_array(bytes)?);
                }
                Self::Frequencies { number, frequencies }
            }
            _ => {
                let [key, shape, parts] = take_array(bytes)?;
                if shape > 3 {
                    return Err(DecodeError::Malformed);
                }
                let shape = Shape { hole_before: shape & 1 == 1, hole_after: shape & 2 == 2 };
                Self::Composite { number, key, shape, parts: take(bytes, parts.into())? }
            }
        })
    }
}

pub(super) fn write_u16(number: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_be_bytes());
}

pub(super) fn read_u16(bytes: &mut &[u8]) -> Result<u16, DecodeError> {
    take_array(bytes).map(u16::from_be_bytes)
}

pub(super) fn read_u8(bytes: &mut &[u8]) -> Result<u8, DecodeError> {
    take_array(bytes).map(u8::from_be_bytes)
}

/// Reads `length` bytes from the start of `bytes` and removes them.
pub(super) fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8], DecodeError> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or(DecodeError::Malformed)?;
    *bytes = rest;
    Ok(taken)
}

fn take_array<const LENGTH: usize>(bytes: &mut &[u8]) -> Result<[u8; LENGTH], DecodeError> {
    let (taken, rest) = bytes.split_first_chunk().ok_or(DecodeError::Malformed)?;
    *bytes = rest;
    Ok(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_the_papers() {
        let size = |announcement: Announcement| {
            let mut out = Vec::new();
            announcement.write(&mut out);
            out.len()
        };
        let part = Span { offset: 40_000, length: 256 };
        assert_eq!(size(Announcement::Addition { number: 1, key: 2, part }), ADDITION_BYTES);
        let frequencies = Box::new([9; 256]);
        assert_eq!(size(Announcement::Frequencies { number: 1, frequencies }), 1026);
        let template = Announcement::Template { number: 1, replaces: None, bytes: &[0; 85] };
        assert_eq!(size(template), TEMPLATE_BYTES + 85);
    }

    proptest! {
        #[test]
        fn reads_what_it_wrote(
            number in 0..=MAX_NUMBER, replaces in prop::option::of(0..=MAX_NUMBER),
            key in 0_u8.., bytes in prop::collection::vec(0_u8.., 0..300),
            offset in 0_u16.., length in 1..=256_u16, holes in (any::<bool>(), any::<bool>()),
        ) {
            let shape = Shape { hole_before: holes.0, hole_after: holes.1 };
            let parts = &bytes[..bytes.len().min(255)];
            for announcement in [
                Announcement::Template { number, replaces, bytes: &bytes },
                Announcement::Addition { number, key, part: Span { offset, length } },
                Announcement::Frequencies { number, frequencies: Box::new([u32::from(offset) << 9; 256]) },
                Announcement::Composite { number, key, shape, parts },
            ] {
                let mut out = Vec::new();
                announcement.write(&mut out);
                let mut rest = &out[..];
                prop_assert_eq!(Announcement::read(&mut rest), Ok(announcement));
                prop_assert!(rest.is_empty());
            }
        }

        #[test]
        fn reads_anything_without_panic(bytes in prop::collection::vec(0_u8.., 0..50)) {
            let mut rest = &bytes[..];
            while Announcement::read(&mut rest).is_ok() {}
        }
    }
}
