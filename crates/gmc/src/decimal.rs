//! Decimal numbers as they are written: digits, a point and zeros. They are the values of a hole,
//! which is a place of a message where the value differs from message to message.

use alloc::vec::Vec;

use crate::token::DIGITS_MAX;

mod snapshot;

/// How the numbers of a hole are written, so that each can be coded as an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    /// The least number of digits before the point. Shorter numbers are written with zeros in
    /// front.
    pub(crate) width: u8,
    /// The number of digits after the point that become the last digits of the integer, or
    /// [`Format::SPLIT`].
    pub(crate) decimals: u8,
    /// The number of zeros that follow these digits in every number, such as 1 where all numbers
    /// end with `.0`.
    pub(crate) zeros: u8,
}

impl Default for Format {
    fn default() -> Self {
        Self { width: 1, decimals: 0, zeros: 0 }
    }
}

impl Format {
    /// The value of `decimals` if the part after the point is coded separately. A hole that needs
    /// this once keeps it, since such fractions come and go from number to number.
    pub(crate) const SPLIT: u8 = DECIMALS_MAX + 1;

    /// The exponent of the power of ten by which a number is multiplied to get the integer.
    pub(crate) fn scale(self) -> i32 {
        if self.decimals == Self::SPLIT { 0 } else { i32::from(self.decimals) }
    }

    /// Whether a number in this format can have a point.
    pub(crate) fn has_point(self) -> bool {
        self.decimals + self.zeros > 0
    }

    /// The power of ten by which a number is multiplied to get the integer.
    pub(crate) fn factor(self) -> i64 {
        10i64.pow(self.scale().unsigned_abs())
    }
}

/// The most decimals of a number that is coded as one integer. Longer fractions are rarely the
/// digits of a decimal quantity, and differences between them would be noise.
pub(crate) const DECIMALS_MAX: u8 = 4;

/// A number as text, split into its parts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Parts<'a> {
    pub(crate) negative: bool,
    /// The digits before the point, and their value.
    integer: &'a [u8],
    whole: i64,
    /// The point and the digits after it. Empty if there is no point.
    pub(crate) fraction: &'a [u8],
}

impl<'a> Parts<'a> {
    pub(crate) fn of(digits: &'a [u8]) -> Self {
        let negative = digits.first() == Some(&b'-');
        let digits = &digits[usize::from(negative)..];
        let mut whole = 0i64;
        let mut point = 0;
        while let Some(&digit) = digits.get(point)
            && digit != b'.'
        {
            whole = whole.wrapping_mul(10).wrapping_add(i64::from(digit) - i64::from(b'0'));
            point += 1;
        }
        Self { negative, integer: &digits[..point], whole, fraction: &digits[point..] }
    }

    /// The format of this number: `before`, the format of the number before it, if that is
    /// possible.
    pub(crate) fn format(&self, before: Format) -> Format {
        let zeros = self.integer.iter().take_while(|&&digit| digit == b'0').count();
        let natural = (self.integer.len() - zeros).max(1) as u8;
        let length = self.integer.len() as u8;
        let width = match length.cmp(&natural) {
            core::cmp::Ordering::Greater => length,
            _ if before.width <= length => before.width,
            _ => 1,
        };
        let digits = self.fraction.len().saturating_sub(1);
        if before.decimals == Format::SPLIT
            || digits > usize::from(DECIMALS_MAX)
            || digits + self.integer.len() > DIGITS_MAX
        {
            return Format { width, decimals: Format::SPLIT, zeros: 0 };
        }
        let digits = digits as u8;
        let mut zeros =
            self.fraction.iter().rev().take_while(|&&digit| digit == b'0').count() as u8;
        if digits == before.decimals + before.zeros {
            zeros = zeros.min(before.zeros);
        }
        Format { width, decimals: digits - zeros, zeros }
    }

    /// The number as an integer in this format. Digits that the format leaves out are not part of
    /// the integer.
    pub(crate) fn value(&self, format: Format) -> i64 {
        let fraction = match format.decimals {
            0 | Format::SPLIT => &[],
            decimals => &self.fraction[1..=usize::from(decimals)],
        };
        let append = |value, &digit| value * 10 + i64::from(digit - b'0');
        let value = fraction.iter().fold(self.whole, append);
        if self.negative { -value } else { value }
    }
}

/// Writes a number in this format.
pub(crate) fn write(mut value: u64, negative: bool, format: Format, out: &mut Vec<u8>) {
    let decimals = format.scale() as usize;
    let mut digits = [b'0'; DIGITS_MAX + DECIMALS_MAX as usize];
    let mut count = 0;
    while value > 0 || count < decimals + usize::from(format.width) {
        count += 1;
        digits[DIGITS_MAX + DECIMALS_MAX as usize - count] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    let digits = &digits[digits.len() - count..];
    let (integer, fraction) = digits.split_at(count - decimals);
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(integer);
    if decimals + usize::from(format.zeros) > 0 {
        out.push(b'.');
        out.extend_from_slice(fraction);
        out.extend(core::iter::repeat_n(b'0', usize::from(format.zeros)));
    }
}
