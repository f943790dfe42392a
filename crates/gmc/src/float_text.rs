//! Binary floating point numbers and the shortest decimals that identify them, by integer
//! arithmetic alone, so that all machines agree.
//!
//! The numbers of a format are counted: zero is 0, the next larger one is 1, and the negative ones
//! mirror the positive ones. This count is a number's *ordinal*. Numbers that differ only by
//! rounding have neighbouring ordinals. Very large and very small numbers have no ordinal.

/// A decimal numeral without a sign: `digits / 10^decimals`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) digits: u64,
    /// The number of digits after the point: at most [`DECIMALS_MAX`] if the numeral was read from
    /// text.
    pub(crate) decimals: u32,
}

/// The most digits after the point of a numeral that is read: 128 bits divided by 10^20 leave at
/// least 60 bits, more than a double has.
pub(crate) const DECIMALS_MAX: u32 = 20;

/// Which of two shortest decimals that are equally near to a number is printed for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tie {
    /// The one with an even last digit, as by ECMAScript, Python, Java, and libraries built on Ryu.
    #[default]
    Even,
    /// The larger one, as by Rust's standard library.
    Up,
}

/// A binary floating point format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binary {
    /// The number of bits of the significand.
    precision: u32,
    /// The number of significant digits up to which every decimal is the shortest one for some
    /// number.
    digits_sure: u32,
    /// The exponent of the least power of two without an ordinal.
    top: u32,
}

/// IEEE 754 binary64. Numbers from 2^30 on have no ordinal, so that differences of two fit into 128
/// bits: see [`FRACTION_BITS`].
pub(crate) const DOUBLE: Binary = Binary { precision: 53, digits_sure: 15, top: 30 };
/// IEEE 754 binary32. Numbers from 2^24 on have no fraction, and many printers write them with an
/// exponent.
pub(crate) const SINGLE: Binary = Binary { precision: 24, digits_sure: 6, top: 24 };

/// The smallest positive number with an ordinal is 2^-17. Printers write smaller ones with an
/// exponent.
const TINY: u32 = 17;

/// The bits after the binary point of a fixed-point number: enough for every number with an
/// ordinal, and few enough that the difference of two can be multiplied by 2^24 in 128 bits.
pub(crate) const FRACTION_BITS: u32 = TINY + 53;

const POWERS: [u128; 24] = {
    let mut powers = [1; 24];
    let mut index = 1;
    while index < powers.len() {
        powers[index] = powers[index - 1] * 10;
        index += 1;
    }
    powers
};

impl Binary {
    /// The ordinal of the number nearest to a decimal, if it has one.
    pub(crate) fn nearest_to_decimal(self, decimal: Decimal) -> Option<i64> {
        if decimal.digits == 0 {
            return Some(0);
        }
        if decimal.decimals > DECIMALS_MAX {
            return None;
        }
        let power = POWERS[decimal.decimals as usize];
        let shift = u128::from(decimal.digits).leading_zeros();
        let shifted = u128::from(decimal.digits) << shift;
        // A remainder only matters if the quotient is in the middle between two numbers.
        let quotient = (shifted / power) | u128::from(!shifted.is_multiple_of(power));
        self.round(quotient, shift)
    }

    /// The ordinal of the number nearest to a fixed-point number, if it has one.
    pub(crate) fn nearest(self, fixed: i128) -> Option<i64> {
        let ordinal = match fixed {
            0 => 0,
            _ => self.round(fixed.unsigned_abs(), FRACTION_BITS)?,
        };
        Some(if fixed < 0 { -ordinal } else { ordinal })
    }

    /// The fixed-point number with this ordinal.
    pub(crate) fn fixed(self, ordinal: i64) -> i128 {
        if ordinal == 0 {
            return 0;
        }
        let (significand, exponent) = self.split(ordinal.unsigned_abs());
        let fixed = i128::from(significand) << (FRACTION_BITS - exponent);
        if ordinal < 0 { -fixed } else { fixed }
    }

    /// Whether there is a number with this ordinal.
    pub(crate) fn has(self, ordinal: i64) -> bool {
        ordinal.unsigned_abs() <= u64::from(TINY + self.top) << (self.precision - 1)
    }

    /// The shortest decimal to which no other number of the format is nearer. If there are several,
    /// it is the one nearest to the number.
    pub(crate) fn shortest(self, ordinal: i64, tie: Tie) -> Decimal {
        if ordinal == 0 {
            return Decimal { digits: 0, decimals: 0 };
        }
        let (significand, exponent) = self.split(ordinal.unsigned_abs());
        // With at most this many digits, no two decimals are nearest to the same number. So at most
        // one of them identifies this number, and a shorter one can only be the same without zeros
        // at the end.
        let mut decimals = self.decimals_sure(significand, exponent);
        let digits = loop {
            let power = POWERS[decimals as usize];
            let scaled = u128::from(significand) * power;
            let (kept, rest) = (scaled >> exponent, scaled & ((1 << exponent) - 1));
            let odd = u128::from(tie == Tie::Up || kept % 2 == 1);
            let digits = kept + u128::from(2 * rest + odd > 1 << exponent);
            let error = scaled.abs_diff(digits << exponent);
            // Below a power of two the next smaller number is only half as far away.
            let below = digits << exponent < scaled && significand == 1 << (self.precision - 1);
            let reach = if below { 4 * error } else { 2 * error };
            if reach < power || reach == power && significand % 2 == 0 {
                break digits as u64;
            }
            decimals += 1;
        };
        trim(Decimal { digits, decimals })
    }

    /// The number of decimals with which this number has [`Binary::digits_sure`] significant
    /// digits.
    fn decimals_sure(self, significand: u64, exponent: u32) -> u32 {
        let whole = if exponent < 64 { significand >> exponent } else { 0 };
        if whole > 0 {
            return self.digits_sure.saturating_sub(whole.ilog10() + 1);
        }
        let mut zeros = 0;
        while u128::from(significand) * POWERS[zeros as usize + 1] < 1 << exponent {
            zeros += 1;
        }
        self.digits_sure + zeros
    }

    /// The significand of the number with this ordinal, and the exponent of the power of two by
    /// which the significand is divided.
    fn split(self, ordinal: u64) -> (u64, u32) {
        let bits = self.precision - 1;
        let ordinal = ordinal - 1;
        let significand = ordinal & ((1 << bits) - 1) | 1 << bits;
        (significand, TINY + bits - (ordinal >> bits) as u32)
    }

    /// The ordinal of the number nearest to `number / 2^shift`. If `number` itself was rounded, it
    /// must have more bits than the format's significand and an odd last bit.
    fn round(self, number: u128, shift: u32) -> Option<i64> {
        let length = 128 - number.leading_zeros();
        let binade = (length + TINY).checked_sub(shift + 1)?;
        if binade >= TINY + self.top {
            return None;
        }
        let bits = self.precision - 1;
        let significand = match length.checked_sub(self.precision) {
            None | Some(0) => (number as u64) << (self.precision - length),
            Some(excess) => {
                let (kept, rest) = ((number >> excess) as u64, number & ((1 << excess) - 1));
                let half = 1u128 << (excess - 1);
                kept + u64::from(rest > half || rest == half && kept % 2 == 1)
            }
        };
        // If the significand was rounded up to the next power of two, the sum carries into the next
        // binade.
        let ordinal = (u64::from(binade) << bits) + significand - (1 << bits) + 1;
        let ordinal = ordinal as i64;
        self.has(ordinal).then_some(ordinal)
    }
}

/// The bits of the least double precision number with an ordinal, 2^-17.
const DOUBLE_LEAST: u64 = (1023 - TINY as u64) << 52;

/// The ordinal of the double precision number with these bits, if it has one. Negative zero has
/// none.
pub(crate) fn double_ordinal(bits: u64) -> Option<i64> {
    let magnitude = bits & !(1 << 63);
    let ordinal = match magnitude.checked_sub(DOUBLE_LEAST) {
        Some(steps) => i64::try_from(steps + 1).ok().filter(|&ordinal| DOUBLE.has(ordinal))?,
        None if bits == 0 => 0,
        None => return None,
    };
    Some(if bits == magnitude { ordinal } else { -ordinal })
}

/// The bits of the double precision number with this ordinal, if there is one.
pub(crate) fn double_bits(ordinal: i64) -> Option<u64> {
    let magnitude = match ordinal.unsigned_abs() {
        0 => 0,
        steps => DOUBLE_LEAST + steps - 1,
    };
    let sign = u64::from(ordinal < 0) << 63;
    DOUBLE.has(ordinal).then_some(magnitude | sign)
}

/// The extra bits of a double's significand: 2^29 doubles for each single precision number.
const WIDER: u32 = DOUBLE.precision - SINGLE.precision;

/// The ordinal among doubles of the single precision number with ordinal `single`.
pub(crate) fn widen(single: i64) -> i64 {
    if single == 0 { 0 } else { (((single.abs() - 1) << WIDER) + 1) * single.signum() }
}

/// The ordinal among single precision numbers of a positive double, if it is a single precision
/// number.
pub(crate) fn narrow(double: i64) -> Option<i64> {
    let place = double - 1;
    match double {
        0 => Some(0),
        _ if place % (1 << WIDER) == 0 => Some((place >> WIDER) + 1).filter(|&o| SINGLE.has(o)),
        _ => None,
    }
}

/// Removes the zeros at the end of the fraction.
pub(crate) fn trim(mut decimal: Decimal) -> Decimal {
    while decimal.decimals > 0 && decimal.digits.is_multiple_of(10) {
        decimal.digits /= 10;
        decimal.decimals -= 1;
    }
    decimal
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;
    use proptest::prelude::*;

    fn decimal(text: &str) -> Decimal {
        let decimals = text.find('.').map_or(0, |point| text.len() - point - 1);
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        Decimal { digits: digits.parse().unwrap(), decimals: decimals as u32 }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// The standard library prints the shortest decimal, too.
        #[test]
        fn doubles_are_printed_like_anywhere(bits in (1006u64 << 52)..(1053 << 52)) {
            let number = f64::from_bits(bits);
            let text = format!("{number}");
            let ordinal = (bits - (1006 << 52) + 1) as i64;
            if decimal(&text).decimals <= DECIMALS_MAX {
                prop_assert_eq!(DOUBLE.nearest_to_decimal(decimal(&text)), Some(ordinal));
            }
            prop_assert_eq!(DOUBLE.shortest(ordinal, Tie::Up), decimal(&text));
            prop_assert_eq!(DOUBLE.nearest(DOUBLE.fixed(-ordinal)), Some(-ordinal));
        }

        #[test]
        fn ordinals_are_those_of_the_bits(bits in (1000u64 << 52)..(1060 << 52), negative: bool) {
            let bits = bits | u64::from(negative) << 63;
            let number = f64::from_bits(bits);
            let in_range = (7.62939453125e-6..1_073_741_824.0).contains(&number.abs());
            let ordinal = double_ordinal(bits);
            prop_assert_eq!(ordinal.is_some(), in_range);
            if let Some(ordinal) = ordinal {
                prop_assert_eq!(double_bits(ordinal), Some(bits));
                let fixed = (number.abs() * 2f64.powi(FRACTION_BITS as i32)) as i128;
                prop_assert_eq!(DOUBLE.fixed(ordinal).abs(), fixed);
            }
        }

        #[test]
        fn singles_are_printed_like_anywhere(bits in (110u32 << 23)..(151 << 23)) {
            let text = format!("{}", f32::from_bits(bits));
            let ordinal = SINGLE.nearest_to_decimal(decimal(&text)).unwrap();
            prop_assert_eq!(ordinal as u32, bits - (110 << 23) + 1);
            prop_assert_eq!(SINGLE.shortest(ordinal, Tie::Up), decimal(&text));
            prop_assert_eq!(SINGLE.nearest(SINGLE.fixed(ordinal)), Some(ordinal));
        }

        #[test]
        fn any_decimal_is_rounded_like_anywhere(digits: u64, shift in 0u32..64, decimals in 0u32..=20) {
            let digits = digits >> shift;
            let text = format!("{digits}e-{decimals}");
            let number: f64 = text.parse().unwrap();
            let expected = match number {
                0.0 => Some(0),
                _ if !(7.62939453125e-6..=1_073_741_824.0).contains(&number) => None,
                _ => Some((number.to_bits() - (1006 << 52) + 1) as i64),
            };
            prop_assert_eq!(DOUBLE.nearest_to_decimal(Decimal { digits, decimals }), expected);
        }
    }

    #[test]
    fn ties() {
        let ordinal = DOUBLE.nearest_to_decimal(decimal("713.3560180664062")).unwrap();
        assert_eq!(DOUBLE.shortest(ordinal, Tie::Even), decimal("713.3560180664062"));
        assert_eq!(DOUBLE.shortest(ordinal, Tie::Up), decimal("713.3560180664063"));
    }

    #[test]
    fn powers_of_two_are_printed_like_anywhere() {
        for exponent in 1006u64..1053 {
            for bits in [exponent << 52, (exponent << 52) + 1, ((exponent + 1) << 52) - 1] {
                let text = format!("{}", f64::from_bits(bits));
                let ordinal = (bits - (1006 << 52) + 1) as i64;
                assert_eq!(DOUBLE.shortest(ordinal, Tie::Up), decimal(&text));
            }
        }
    }
}
