//! The hash of all tables: fixed, so that both ends and all machines agree. If an attacker makes
//! values collide, his own messages become larger and nothing else happens: tables do not grow, and
//! no list of colliding entries is searched.

/// Mixes `b` into `a`. The high bits are the best mixed.
#[inline]
pub(crate) fn hash(a: u32, b: u32) -> u32 {
    let x = (a.rotate_left(11) ^ b).wrapping_mul(0x9e37_79b1);
    (x ^ x >> 15).wrapping_mul(0x85eb_ca77)
}

/// Mixes bytes into `a`.
pub(crate) fn hash_bytes(a: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(a, |a, &byte| hash(a, u32::from(byte)))
}

/// Mixes many bytes into `a`, four at a time. For whole messages.
pub(crate) fn hash_message(a: u32, bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<4>();
    let a = words.iter().fold(a, |a, word| hash(a, u32::from_le_bytes(*word)));
    hash_bytes(a, rest)
}
