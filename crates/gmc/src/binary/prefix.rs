//! Lengths that stand before what they count, such as a string in a binary message of an unknown
//! format.

use alloc::vec::Vec;

use super::varint::{read_varint, varint, varint_end};

/// The format of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    Byte,
    Big16,
    Little16,
    Big32,
    Little32,
    Varint,
    /// Decimal digits, without zeros in front.
    Decimal,
}

/// The most digits of a length as text.
const DIGITS_MAX: usize = 9;

impl Prefix {
    /// The formats of a length before a string, wider ones first: the zero bytes of a wide number
    /// are evidence that it is a length.
    pub(crate) const ALL: [Self; 6] =
        [Self::Big32, Self::Little32, Self::Big16, Self::Little16, Self::Byte, Self::Varint];

    /// The length at `at`, and the position of its end. `None` if the message has none there.
    pub(crate) fn read(self, bytes: &[u8], at: usize) -> Option<(usize, usize)> {
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
            Self::Decimal => {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                if !(1..=DIGITS_MAX).contains(&digits) || digits > 1 && rest[0] == b'0' {
                    return None;
                }
                let digits = &rest[..digits];
                let number = |number, &digit| number * 10 + u64::from(digit - b'0');
                (digits.iter().fold(0, number), digits.len())
            }
        };
        Some((usize::try_from(length).ok()?, at + width))
    }

    /// The range of the string whose length is at `at`. `None` if the message has no such string
    /// there.
    pub(crate) fn string(self, bytes: &[u8], at: usize) -> Option<core::ops::Range<usize>> {
        let (length, start) = self.read(bytes, at)?;
        let end = start.checked_add(length)?;
        (end <= bytes.len()).then_some(start..end)
    }

    /// The largest length that the format can express, in bytes.
    pub(crate) fn limit(self) -> usize {
        match self {
            Self::Byte => 0xff,
            Self::Big16 | Self::Little16 => 0xffff,
            Self::Decimal => 10usize.pow(DIGITS_MAX as u32) - 1,
            _ => usize::MAX,
        }
    }

    /// Inserts the length of the string that begins at `at` and reaches to the end of `out`.
    pub(crate) fn insert(self, out: &mut Vec<u8>, at: usize) {
        self.insert_length(out, at, out.len() - at);
    }

    /// Inserts a length at `at`.
    pub(crate) fn insert_length(self, out: &mut Vec<u8>, at: usize, length: usize) {
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
            Self::Decimal => {
                let mut digits = [0; DIGITS_MAX];
                let mut first = DIGITS_MAX;
                let mut rest = length;
                while first > 0 && (rest > 0 || first == DIGITS_MAX) {
                    first -= 1;
                    digits[first] = b'0' + (rest % 10) as u8;
                    rest /= 10;
                }
                insert(out, at, &[&digits[first..]]);
            }
        }
    }
}

/// Inserts `parts`, one after the other, into `out` at `at`. It puts the bytes of a length before
/// the string that they belong to.
pub(crate) fn insert(out: &mut Vec<u8>, at: usize, parts: &[&[u8]]) {
    let bytes = parts.iter().flat_map(|part| part.iter().copied());
    out.splice(at..at, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_inserted_is_read(length in 0usize..70_000, at in 0usize..5) {
            for prefix in Prefix::ALL.into_iter().chain([Prefix::Decimal]) {
                let length = length.min(prefix.limit());
                let mut out = b"abcde".to_vec();
                prefix.insert_length(&mut out, at, length);
                let end = out.len() - (5 - at);
                prop_assert_eq!(prefix.read(&out, at), Some((length, end)));
            }
        }
    }
}
