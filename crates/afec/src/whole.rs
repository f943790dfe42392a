//! Rounding to whole numbers, for numbers whose size is known.

/// From this size on, all 64-bit floats are whole numbers: such a float has 52 bits after its
/// leading bit. Casting it to `i64` and back may change it.
const WHOLE_FROM: f64 = (1_u64 << 52) as f64;

/// The largest whole number that is not above `x`, bit for bit the result of `libm::floor`. It
/// replaces `libm::floor` because simulated sessions spent 15 % of their processor time there.
/// Infinities and NaN stay as they are.
pub(crate) fn floor(x: f64) -> f64 {
    // No range contains NaN.
    if !(-WHOLE_FROM..WHOLE_FROM).contains(&x) {
        return x;
    }
    let towards_zero = x as i64 as f64;
    if towards_zero > x { towards_zero - 1.0 } else { towards_zero.copysign(x) }
}

/// The smallest whole number that is not below `x`, bit for bit the result of `libm::ceil`.
pub(crate) fn ceil(x: f64) -> f64 {
    -floor(-x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn is_like_libm(x: f64) {
        assert_eq!(floor(x).to_bits(), libm::floor(x).to_bits(), "floor of {x:?}");
        assert_eq!(ceil(x).to_bits(), libm::ceil(x).to_bits(), "ceil of {x:?}");
    }

    #[test]
    fn numbers_around_each_power_of_two_are_rounded_like_by_libm() {
        let powers = (-1074..1024).map(|n| libm::exp2(f64::from(n)));
        let near = powers.flat_map(|power| [power.next_down(), power, power.next_up()]);
        let near: Vec<f64> = near.flat_map(|x| [x - 0.5, x, x + 0.5]).collect();
        let special = [0.0, f64::MAX, f64::INFINITY];
        for x in near.into_iter().chain(special) {
            is_like_libm(x);
            is_like_libm(-x);
        }
        assert!(floor(f64::NAN).is_nan() && ceil(f64::NAN).is_nan());
    }

    proptest! {
        /// All numbers that this crate rounds (counts, intervals) are far inside this range.
        #[test]
        fn numbers_are_rounded_like_by_libm(x in -1e15..1e15_f64, small in -100.0..100.0_f64) {
            is_like_libm(x);
            is_like_libm(small);
            is_like_libm(libm::round(small));
        }

        #[test]
        fn all_floats_are_rounded_like_by_libm(bits: u64) {
            let x = f64::from_bits(bits);
            if !x.is_nan() {
                is_like_libm(x);
            }
        }
    }
}
