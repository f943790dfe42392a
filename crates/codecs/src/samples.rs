//! Messages for the tests of the Lempel-Ziv codecs.

use alloc::vec::Vec;

use proptest::prelude::*;

/// Pseudo-random bytes, the same for the same seed.
pub(crate) fn noise(length: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(747_796_405).wrapping_add(1);
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

/// Pseudo-random bytes mixed with repetitions of all lengths and distances; up to some 100,000
/// bytes.
pub(crate) fn mixed() -> impl Strategy<Value = Vec<u8>> {
    let length = || prop_oneof![4 => 0..20usize, 2 => 0..400usize, 1 => 0..6000usize];
    let distance = prop_oneof![1..20usize, 1..3000usize, 1..70_000usize];
    let piece = (length(), any::<u32>(), distance, length());
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| {
        let mut message = Vec::new();
        for (fresh, seed, distance, repeated) in pieces {
            message.extend(noise(fresh, seed));
            for _ in 0..repeated {
                let from = message.len().saturating_sub(distance);
                message.push(message.get(from).copied().unwrap_or(0));
            }
        }
        message
    })
}
