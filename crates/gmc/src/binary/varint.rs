//! Variable-length integers: seven bits in each byte, the low ones first, with the highest bit set
//! in all bytes but the last. A number takes no more bytes than it needs.

/// The end of the variable-length integer at `at`. `None` if there is none of at most 64 bits in
/// its shortest form.
pub(crate) fn varint_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let last = rest.iter().take(10).position(|&byte| byte < 0x80)?;
    let fits = last < 9 || rest[last] == 1;
    (fits && (last == 0 || rest[last] != 0)).then_some(at + last + 1)
}

pub(crate) fn read_varint(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 7 | u64::from(byte & 0x7f))
}

/// The bytes of a variable-length integer, and how many of them are used.
pub(crate) fn varint(mut value: u64) -> ([u8; 10], usize) {
    let mut bytes = [0; 10];
    let mut count = 0;
    loop {
        bytes[count] = value as u8 & 0x7f;
        value >>= 7;
        if value == 0 {
            return (bytes, count + 1);
        }
        bytes[count] |= 0x80;
        count += 1;
    }
}

pub(crate) fn from_zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

pub(crate) fn to_zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}
