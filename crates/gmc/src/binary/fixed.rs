//! Numbers of fixed width, up to eight bytes.

/// A number of `width` bytes, with its bytes in reverse order.
pub(crate) fn swap(bits: u64, width: usize) -> u64 {
    bits.swap_bytes() >> (64 - 8 * width)
}

/// Up to eight bytes as a number. Numbers of 2, 4 and 8 bytes are taken as signed.
pub(crate) fn extend(bits: u64, width: usize) -> i64 {
    if matches!(width, 2 | 4 | 8) {
        let shift = 64 - 8 * width;
        return (bits << shift) as i64 >> shift;
    }
    bits as i64
}

/// Up to eight bytes, the highest first, as a number.
pub(crate) fn from_big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

pub(crate) fn from_little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}
