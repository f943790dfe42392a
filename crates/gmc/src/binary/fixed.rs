//! Numbers of a fixed number of bytes, up to eight.

/// Reverses the order of the lowest `width` bytes of `bits`.
pub(crate) fn swap(bits: u64, width: usize) -> u64 {
    bits.swap_bytes() >> (64 - 8 * width)
}

/// Takes the lowest `width` bytes of `bits` as a number: a signed one if the width is 2, 4 or 8.
pub(crate) fn extend(bits: u64, width: usize) -> i64 {
    if matches!(width, 2 | 4 | 8) {
        let shift = 64 - 8 * width;
        return (bits << shift) as i64 >> shift;
    }
    bits as i64
}

/// Reads up to eight bytes, the most significant first, as a number.
pub(crate) fn from_big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

pub(crate) fn from_little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}
