//! Packet numbers: 32 bits that wrap around, of which only the low ones travel.

/// The number nearest to `near` whose low `bits` bits are `low`.
pub(crate) fn nearest(near: u32, low: u32, bits: u32) -> u32 {
    first_from(near.wrapping_sub(1 << (bits - 1)), low, bits)
}

/// The first number from `start` on whose low `bits` bits are `low`.
pub(crate) fn first_from(start: u32, low: u32, bits: u32) -> u32 {
    let mask = (1 << bits) - 1;
    start.wrapping_add(low.wrapping_sub(start) & mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_low_bits_tell_the_number(near: u32, away in -128i32..128) {
            let number = near.wrapping_add_signed(away);
            prop_assert_eq!(nearest(near, number & 0xff, 8), number);
            prop_assert_eq!(first_from(near, near.wrapping_add(200) & 0xff, 8), near.wrapping_add(200));
        }
    }
}
