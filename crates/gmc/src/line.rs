//! The number line of a hole: which numbers can fill the hole, and how each is written. A hole is a
//! place of a message where the value differs from message to message.
//!
//! On a line every number as it is written (a numeral) has an ordinal, its count when all are
//! sorted by value. Every ordinal belongs to one numeral, so that a numeral can be coded by its
//! distance from another one.

use alloc::vec::Vec;

use crate::decimal;
use crate::float_text::{self, Binary, DECIMALS_MAX, DOUBLE, Decimal, SINGLE, Tie, trim};

mod snapshot;

/// A number as it is written in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numeral {
    negative: bool,
    /// The digits, including zeros at the end.
    decimal: Decimal,
}

impl Numeral {
    /// Reads a numeral. `None` if it is too long, starts with needless zeros or is a negative zero.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let negative = text.first() == Some(&b'-');
        let text = &text[usize::from(negative)..];
        let point = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
        if point == 0 || point > 1 && text[0] == b'0' {
            return None;
        }
        let decimals = text.len().saturating_sub(point + 1) as u32;
        let mut digits = 0u64;
        for &byte in text.iter().filter(|&&byte| byte != b'.') {
            digits = digits.checked_mul(10)?.checked_add(u64::from(byte.wrapping_sub(b'0')))?;
        }
        (decimals <= DECIMALS_MAX && !(negative && digits == 0))
            .then_some(Self { negative, decimal: Decimal { digits, decimals } })
    }

    /// Reads a numeral that has a digit other than zero after the point. `None` if it has none, or
    /// cannot be read.
    pub(crate) fn with_fraction(text: &[u8]) -> Option<Self> {
        // Most numbers are whole, and are not read at all.
        let point = text.iter().position(|&byte| byte == b'.')?;
        let has_fraction = text[point..].iter().any(|byte| matches!(byte, b'1'..=b'9'));
        if has_fraction { Self::of(text) } else { None }
    }

    /// The number of digits after the point, as written.
    pub(crate) fn decimals(self) -> u32 {
        self.decimal.decimals
    }

    /// The number multiplied by `scale`, without the part after the point.
    pub(crate) fn times(self, scale: i64) -> i64 {
        let power = 10i128.pow(self.decimal.decimals);
        let product = i128::from(self.decimal.digits) * i128::from(scale) / power;
        let product = i64::try_from(product).unwrap_or(0);
        if self.negative { -product } else { product }
    }

    pub(crate) fn write(self, out: &mut Vec<u8>) {
        let Decimal { mut digits, decimals } = self.decimal;
        // Room for twenty decimals, a digit, a point and a sign, or for twenty digits and a sign.
        let mut text = [0; 23];
        let mut start = text.len();
        let mut count = 0;
        while digits > 0 || count <= decimals {
            if count == decimals && count > 0 {
                start -= 1;
                text[start] = b'.';
            }
            start -= 1;
            text[start] = b'0' + (digits % 10) as u8;
            digits /= 10;
            count += 1;
        }
        if self.negative {
            start -= 1;
            text[start] = b'-';
        }
        out.extend_from_slice(&text[start..]);
    }
}

/// The kind of a line, which tells what numbers are on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    /// Multiples of a power of ten, all written with the same number of decimals.
    #[default]
    Fixed,
    /// Multiples of a power of ten, written without zeros at the end of the fraction.
    Trimmed,
    /// Single precision numbers, written as short as possible.
    Single,
    /// Single precision numbers, written as if they were double precision numbers.
    Widened,
    /// Double precision numbers, written as short as possible.
    Double,
}

/// A number line: its kind, and how its numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct NumberLine {
    kind: Kind,
    /// The most decimals on a line of multiples of a power of ten.
    decimals: u8,
    /// Whether whole numbers are written with `.0`, on lines whose kind does not tell.
    point: bool,
    tie: Tie,
}

/// The most decimals that people write. A fraction with more was computed.
const DECIMALS_HUMAN: u8 = 10;
/// The least `digits` by which a single precision number is recognized: decimals with fewer digits
/// are often exact in single precision by chance.
const SINGLE_DIGITS: u64 = 1_000_000;
/// The largest ordinal on lines of multiples of a power of ten. Larger numbers are not on the line.
const ORDINAL_MAX: u64 = 1 << 60;

impl NumberLine {
    /// The likeliest line of a hole that has this numeral in it. `before` is the line that the hole
    /// had.
    pub(crate) fn with(numeral: Numeral, before: Option<Self>) -> Option<Self> {
        let decimals = numeral.decimals();
        let trimmed = trim(numeral.decimal);
        let is_trimmed = trimmed.decimals == decimals || trimmed.decimals == 0 && decimals == 1;
        let point = if trimmed.decimals > 0 {
            before.is_some_and(|line| line.point)
        } else {
            decimals == 1
        };
        let fixed = Self { kind: Kind::Fixed, decimals: decimals as u8, point, tie: Tie::Even };
        let known = before.unwrap_or(fixed);
        let most = decimals.max(u32::from(known.decimals)) as u8;
        let of = |kind, decimals| Self { kind, decimals, ..known };
        let choices = [
            Self { point, ..known },
            Self { point, tie: Tie::Up, ..known },
            of(Kind::Single, 0),
            of(Kind::Trimmed, most),
            of(Kind::Widened, 0),
            of(Kind::Double, 0),
            of(Kind::Fixed, decimals as u8),
        ];
        let long = decimals > u32::from(DECIMALS_HUMAN);
        choices.into_iter().enumerate().find_map(|(index, line)| {
            let line = Self { point, ..line };
            let likely = match line.kind {
                _ if index < 2 => before.is_some(),
                Kind::Single => before.is_none() && trimmed.digits >= SINGLE_DIGITS,
                Kind::Trimmed => before.is_some() && is_trimmed && most <= DECIMALS_HUMAN,
                Kind::Widened => known.kind != Kind::Double && long,
                Kind::Double => is_trimmed && (long || known.is_binary()),
                Kind::Fixed => true,
            };
            (likely && line.ordinal(numeral).is_some()).then_some(line)
        })
    }

    /// The line of double precision numbers.
    pub(crate) fn doubles() -> Self {
        Self { kind: Kind::Double, ..Self::default() }
    }

    /// Whether an ordinal stands for the same number on both lines.
    pub(crate) fn is_like(self, other: Self) -> bool {
        (self.kind, self.decimals) == (other.kind, other.decimals)
    }

    /// The ordinal of a numeral. `None` if the numeral is not on the line.
    pub(crate) fn ordinal(self, numeral: Numeral) -> Option<i64> {
        let decimal = numeral.decimal;
        let ordinal = match self.binary() {
            Some(_) if self.kind == Kind::Widened => {
                float_text::narrow(DOUBLE.nearest_to_decimal(decimal)?)?
            }
            Some(binary) => binary.nearest_to_decimal(decimal)?,
            None => {
                let missing = u32::from(self.decimals).checked_sub(decimal.decimals)?;
                let ordinal = decimal.digits.checked_mul(10u64.checked_pow(missing)?)?;
                if ordinal > ORDINAL_MAX {
                    return None;
                }
                ordinal as i64
            }
        };
        let ordinal = if numeral.negative { -ordinal } else { ordinal };
        (self.numeral(ordinal) == Some(numeral)).then_some(ordinal)
    }

    /// The numeral with this ordinal, if there is one.
    pub(crate) fn numeral(self, ordinal: i64) -> Option<Numeral> {
        let mut decimal = match self.binary() {
            Some(binary) => {
                if !binary.has(ordinal) {
                    return None;
                }
                let shortest = match self.kind {
                    Kind::Widened => DOUBLE.shortest(float_text::widen(ordinal), self.tie),
                    _ => binary.shortest(ordinal, self.tie),
                };
                if shortest.decimals > DECIMALS_MAX {
                    return None;
                }
                shortest
            }
            None => {
                let digits = ordinal.unsigned_abs();
                if digits > ORDINAL_MAX {
                    return None;
                }
                let decimal = Decimal { digits, decimals: u32::from(self.decimals) };
                if self.kind == Kind::Fixed { decimal } else { trim(decimal) }
            }
        };
        if self.kind != Kind::Fixed && decimal.decimals == 0 && self.point {
            decimal = Decimal { digits: decimal.digits * 10, decimals: 1 };
        }
        Some(Numeral { negative: ordinal < 0, decimal })
    }

    /// Whether the line has binary floating point numbers. Ordinals of these can differ much even
    /// if the numbers are near to each other.
    pub(crate) fn is_binary(self) -> bool {
        self.binary().is_some()
    }

    /// Whether it is as good to code the digits as an integer as to use this line: all numbers have
    /// the same few decimals.
    pub(crate) fn is_plain(self) -> bool {
        self.kind == Kind::Fixed && self.decimals <= decimal::DECIMALS_MAX
    }

    /// The place of the number with this ordinal: its exact value in units of the last decimal, or
    /// as a fixed-point number if the line is binary.
    pub(crate) fn place(self, ordinal: i64) -> i128 {
        self.binary().map_or(i128::from(ordinal), |binary| binary.fixed(ordinal))
    }

    /// The ordinal of the number nearest to a place (see [`NumberLine::place`]).
    pub(crate) fn nearest(self, place: i128) -> Option<i64> {
        match self.binary() {
            Some(binary) => binary.nearest(place),
            None => i64::try_from(place).ok().filter(|place| place.unsigned_abs() <= ORDINAL_MAX),
        }
    }

    fn binary(self) -> Option<Binary> {
        match self.kind {
            Kind::Fixed | Kind::Trimmed => None,
            Kind::Single | Kind::Widened => Some(SINGLE),
            Kind::Double => Some(DOUBLE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use proptest::prelude::*;

    fn line(texts: &[&str]) -> NumberLine {
        texts
            .iter()
            .fold(None, |line, text| {
                let numeral = Numeral::of(text.as_bytes()).expect("a numeral");
                Some(NumberLine::with(numeral, line).expect("some line has it"))
            })
            .expect("a text")
    }

    #[test]
    fn whole_numbers_have_no_fraction() {
        for text in ["12", "-7", "0", "12.0", "3.000", "-0.0"] {
            assert_eq!(Numeral::with_fraction(text.as_bytes()), None, "{text}");
        }
        for text in ["12.5", "-0.01", "7.10"] {
            assert!(Numeral::with_fraction(text.as_bytes()).is_some(), "{text}");
        }
    }

    #[test]
    fn lines_are_found() {
        for (texts, kind, decimals) in [
            (&["12.345", "7.120"][..], Kind::Fixed, 3),
            (&["12.345", "7.12", "7.0"], Kind::Trimmed, 3),
            (&["12.5", "7.1234567", "7"], Kind::Trimmed, 7),
            (&["1303.5", "1476.8333333333333", "5", "2.0"], Kind::Double, 0),
            (&["412.66666", "41.266666", "12.5"], Kind::Single, 0),
            (&["713.3560180664062", "12.5", "3"], Kind::Widened, 0),
            (&["412.6666641235", "7.1000000000"], Kind::Fixed, 10),
        ] {
            let line = line(texts);
            assert_eq!((line.kind, line.decimals), (kind, decimals), "{texts:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        #[test]
        fn what_is_on_a_line_is_written_back(
            first in "-?[0-9]{1,9}(\\.[0-9]{1,16})?",
            text in "-?[0-9]{1,9}(\\.[0-9]{1,16})?",
        ) {
            let line = Numeral::of(first.as_bytes()).and_then(|numeral| NumberLine::with(numeral, None));
            let numeral = Numeral::of(text.as_bytes());
            if let Some((before, numeral)) = line.zip(numeral)
                && let Some(line) = NumberLine::with(numeral, Some(before))
            {
                let ordinal = line.ordinal(numeral).expect("it was made for it");
                let mut out = Vec::new();
                line.numeral(ordinal).expect("it has an ordinal").write(&mut out);
                prop_assert_eq!(String::from_utf8(out).unwrap(), text);
                let place = line.place(ordinal);
                prop_assert_eq!(line.nearest(place), Some(ordinal));
            }
        }

        #[test]
        fn any_ordinal_is_harmless(ordinal: i64, shift in 0u32..64, text in "[1-9][0-9]{0,2}\\.[0-9]{1,16}") {
            let line = Numeral::of(text.as_bytes()).and_then(|numeral| NumberLine::with(numeral, None));
            if let Some(line) = line
                && let Some(numeral) = line.numeral(ordinal >> shift)
            {
                numeral.write(&mut Vec::new());
                // The decimal that names the least number may be below that number, and then has no
                // ordinal.
                if (ordinal >> shift).abs() != 1 {
                    prop_assert_eq!(line.ordinal(numeral), Some(ordinal >> shift));
                }
            }
        }
    }
}
