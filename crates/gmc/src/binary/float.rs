//! IEEE 754 floats as whole numbers, without floating point arithmetic, so that all machines agree.
//!
//! The floats of an app are mostly decimals or fractions of a small unit: coordinates with two
//! digits after the point, thirds, halves of pixels. Such a float is the nearest one to `steps /
//! grid`, where `steps` is a whole number and `grid`, also called the float's grid, is the same for
//! all values at one place of the message. Steps can be predicted like other whole numbers. Floats
//! without a grid are coded by their bits, in the order of their values.

use crate::integer::size;

/// The width of a float in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    Half,
    Single,
    Double,
}

/// The finest grid, 1/32,767: fine enough for four decimals, and small enough for all grids to fit
/// into 16 bits.
pub(crate) const GRID_MAX: u16 = 0x7fff;
/// The most steps: a double represents all smaller integers exactly.
pub(crate) const STEPS_MAX: u64 = 1 << 53;
/// The common grids: those of decimals, and one of halves, quarters and so on. They need less proof
/// than others.
const COMMON: [u16; 6] = [1, 10, 100, 1000, 10_000, 256];
/// How many bits shorter than the mantissa the steps and the grid together must be for the grid to
/// be accepted.
const PROOF: u32 = 4;
/// How many bits shorter than the mantissa the steps must be for one of the [`COMMON`] grids to be
/// accepted.
const PROOF_COMMON: u32 = 2;
/// Measured quantities are between 2^-42 and 2^42 with few exceptions. The bits of small integers
/// and of characters, read as floats, are outside of this range.
const EXPONENT: i32 = 42;

impl Width {
    pub(crate) fn of_bytes(bytes: usize) -> Option<Self> {
        match bytes {
            2 => Some(Self::Half),
            4 => Some(Self::Single),
            8 => Some(Self::Double),
            _ => None,
        }
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Half => 2,
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    /// The number of bits of the mantissa that are stored.
    fn mantissa(self) -> u32 {
        match self {
            Self::Half => 10,
            Self::Single => 23,
            Self::Double => 52,
        }
    }

    /// The number of bits of the exponent.
    fn exponent(self) -> u32 {
        self.bytes() as u32 * 8 - 1 - self.mantissa()
    }

    /// The stored exponent of the float 1.0.
    fn bias(self) -> i32 {
        (1 << (self.exponent() - 1)) - 1
    }

    fn sign(self) -> u64 {
        1 << (self.bytes() * 8 - 1)
    }
}

/// A finite float that is zero or normal: `mantissa * 2^power`, or the negative of that.
struct Parts {
    negative: bool,
    mantissa: u64,
    power: i32,
}

impl Parts {
    fn of(bits: u64, width: Width) -> Option<Self> {
        let stored = (bits >> width.mantissa()) as i32 & ((1 << width.exponent()) - 1);
        let negative = bits & width.sign() != 0;
        let mantissa = bits & ((1 << width.mantissa()) - 1);
        if stored == 0 && mantissa == 0 {
            return Some(Self { negative, mantissa: 0, power: 0 });
        }
        if stored == 0 || stored == (1 << width.exponent()) - 1 {
            return None;
        }
        Some(Self {
            negative,
            mantissa: mantissa | 1 << width.mantissa(),
            power: stored - width.bias() - width.mantissa() as i32,
        })
    }
}

/// The bits of a float as a double. `None` unless it is zero or normal.
pub(crate) fn widen(bits: u64, width: Width) -> Option<u64> {
    convert(bits, width, Width::Double)
}

/// The bits of a double as a narrower float of the same value, if there is one that is zero or
/// normal.
pub(crate) fn narrow(bits: u64, width: Width) -> Option<u64> {
    convert(bits, Width::Double, width)
}

fn convert(bits: u64, from: Width, to: Width) -> Option<u64> {
    let Parts { negative, mantissa, power } = Parts::of(bits, from)?;
    let sign = if negative { to.sign() } else { 0 };
    if mantissa == 0 {
        return Some(sign);
    }
    let stored = power + from.mantissa() as i32 + to.bias();
    let is_normal = stored > 0 && stored < (1 << to.exponent()) - 1;
    // The mantissa is aligned with that of a double. The format does not store its highest bit.
    let mantissa = mantissa << (Width::Double.mantissa() - from.mantissa());
    let dropped = Width::Double.mantissa() - to.mantissa();
    let is_exact = mantissa.trailing_zeros() >= dropped;
    let fraction = mantissa >> dropped & ((1 << to.mantissa()) - 1);
    (is_normal && is_exact).then_some(sign | (stored as u64) << to.mantissa() | fraction)
}

/// A float by its place on a grid. [`render`] restores its bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) steps: i64,
    /// The distance from the float nearest to `steps / grid`, as a count of representable floats.
    /// It is not always zero, since the result of a calculation may have been rounded several
    /// times.
    pub(crate) error: i8,
}

/// The largest error that a [`Point`] may have. Only for doubles: other widths are too imprecise to
/// show a grid in spite of errors.
const ERROR_MAX: i64 = 2;

/// The point of `grid` at which a float is. `None` if the float is not on the grid.
pub(crate) fn locate(bits: u64, width: Width, grid: u16) -> Option<Point> {
    let Parts { negative, mantissa, power } = Parts::of(bits, width)?;
    let product = u128::from(mantissa) * u128::from(grid);
    let steps = match power {
        0.. => product.checked_shl(power.min(60) as u32).filter(|_| power <= 53)?,
        -68..0 => (product + (1 << (-power - 1))) >> -power,
        _ => 0,
    };
    let steps = u64::try_from(steps).ok().filter(|&steps| steps < STEPS_MAX)? as i64;
    let steps = if negative { -steps } else { steps };
    let nearest = nearest(steps, grid, width);
    if nearest == bits {
        return Some(Point { steps, error: 0 });
    }
    let error = (bits as i64).wrapping_sub(nearest as i64);
    let is_point =
        width == Width::Double && steps != 0 && (-ERROR_MAX..=ERROR_MAX).contains(&error);
    is_point.then_some(Point { steps, error: error as i8 })
}

/// The bits of the float at `point`. Its steps must be fewer than [`STEPS_MAX`], and `grid` must
/// not be zero.
pub(crate) fn render(point: Point, grid: u16, width: Width) -> u64 {
    debug_assert!(grid != 0 && point.steps.unsigned_abs() < STEPS_MAX);
    let bits = nearest(point.steps, grid, width);
    (bits as i64).wrapping_add(i64::from(point.error)) as u64
}

/// The bits of the float nearest to `steps / grid`. Of two equally near ones it is the one with an
/// even mantissa.
fn nearest(steps: i64, grid: u16, width: Width) -> u64 {
    let sign = if steps < 0 { width.sign() } else { 0 };
    let numerator = steps.unsigned_abs();
    if numerator == 0 {
        return 0;
    }
    let length = |number: u64| 64 - number.leading_zeros() as i32;
    // The quotient has two or three bits more than the mantissa. Its last bit is also set if the
    // division has a remainder.
    let shift = width.mantissa() as i32 + 3 - length(numerator) + length(u64::from(grid));
    let quotient = if shift >= 0 {
        divide(u128::from(numerator) << shift, grid)
    } else {
        let low = numerator & ((1 << -shift) - 1);
        divide(u128::from(numerator >> -shift), grid) | u64::from(low != 0)
    };
    let spare = length(quotient) - (width.mantissa() as i32 + 1);
    let half = 1u64 << (spare - 1);
    let mut mantissa = quotient >> spare;
    let rest = quotient & ((1 << spare) - 1);
    if rest > half || rest == half && mantissa & 1 == 1 {
        mantissa += 1;
    }
    let exponent = spare - shift + width.mantissa() as i32 + width.bias();
    if exponent < 1 {
        return sign;
    }
    // If the mantissa was rounded up to a power of two, the addition carries into the exponent.
    let magnitude = ((exponent as u64 - 1) << width.mantissa()) + mantissa;
    sign | magnitude.min((width.sign() - 1) & !((1 << width.mantissa()) - 1))
}

/// The quotient `numerator / grid`. Its last bit is also set if the division has a remainder.
fn divide(numerator: u128, grid: u16) -> u64 {
    if let Ok(numerator) = u64::try_from(numerator) {
        let grid = u64::from(grid);
        return (numerator / grid) | u64::from(!numerator.is_multiple_of(grid));
    }
    let grid = u128::from(grid);
    (numerator / grid) as u64 | u64::from(!numerator.is_multiple_of(grid))
}

/// Finds a grid that has this float and, if `before` is not zero, also all floats of the grid
/// `before`.
pub(crate) fn find_grid(bits: u64, width: Width, before: u16) -> Option<u16> {
    let Parts { mantissa, power, .. } = Parts::of(bits, width)?;
    let believed = |grid: u16, proof: u32| {
        let grid = common_multiple(before.max(1), grid)?;
        let Point { steps, error } = locate(bits, width, grid)?;
        let size = 64 - steps.unsigned_abs().leading_zeros() + 3 * u32::from(error != 0);
        (grid == 1 || size + proof <= width.mantissa() + 1).then_some(grid)
    };
    for grid in COMMON {
        if let Some(grid) = believed(grid, PROOF_COMMON) {
            return Some(grid);
        }
    }
    // The candidates for the grid are the denominators of the convergents of a continued fraction:
    // that of the part after the point.
    let places = u32::try_from(-power).ok().filter(|places| (1..63).contains(places))?;
    let (mut high, mut low) = (1u64 << places, mantissa & ((1 << places) - 1));
    let (mut older, mut grid) = (0u64, 1u64);
    while low != 0 {
        let quotient = high / low;
        (high, low) = (low, high % low);
        (older, grid) = (grid, quotient.checked_mul(grid)?.checked_add(older)?);
        let candidate = u16::try_from(grid).ok().filter(|&grid| grid <= GRID_MAX)?;
        let size = 64 - u64::from(candidate).leading_zeros();
        if let Some(found) = believed(candidate, PROOF + size) {
            return Some(found);
        }
    }
    None
}

fn common_multiple(a: u16, b: u16) -> Option<u16> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b).filter(|&grid| grid <= GRID_MAX)
}

/// Maps the bits of a float to an integer, so that larger floats have larger integers.
pub(crate) fn ordered(bits: u64, width: Width) -> i64 {
    let shift = 64 - width.bytes() * 8;
    let signed = (bits << shift) as i64 >> shift;
    signed ^ (signed >> 63 & i64::MAX)
}

/// The inverse of [`ordered`]. The result is in the low bits.
pub(crate) fn from_ordered(number: i64, width: Width) -> u64 {
    let signed = number ^ (number >> 63 & i64::MAX);
    let shift = 64 - width.bytes() * 8;
    (signed as u64) << shift >> shift
}

/// The number of bits of the difference of two floats: of their steps if both are on the grid 1 or
/// 100, otherwise of their [`ordered`] integers. `None` unless both look like measured quantities.
pub(crate) fn distance(a: u64, b: u64, width: Width) -> Option<u32> {
    if !is_quantity(a, width) || !is_quantity(b, width) {
        return None;
    }
    for grid in [1, 100] {
        if let (Some(a), Some(b)) = (locate(a, width, grid), locate(b, width, grid)) {
            return Some(size(a.steps.wrapping_sub(b.steps)));
        }
    }
    let zeros = a.trailing_zeros().min(b.trailing_zeros()).min(width.mantissa());
    Some(size(ordered(a, width).wrapping_sub(ordered(b, width))).saturating_sub(zeros))
}

/// Whether bits of an unknown type are probably a float.
pub(crate) fn is_likely(bits: u64, width: Width) -> bool {
    bits != 0 && is_quantity(bits, width)
}

fn is_quantity(bits: u64, width: Width) -> bool {
    Parts::of(bits, width).is_some_and(|parts| {
        parts.mantissa == 0
            || (parts.power + width.mantissa() as i32).abs() <= EXPONENT.min(width.bias())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_converted_exactly() {
        for bits in (0..=u32::MAX).step_by(65_521) {
            let number = f32::from_bits(bits);
            if number == 0.0 || number.is_normal() {
                let double = f64::from(number).to_bits();
                assert_eq!(widen(bits.into(), Width::Single), Some(double));
                assert_eq!(narrow(double, Width::Single), Some(bits.into()));
            }
        }
        for bits in 0..=u64::from(u16::MAX) {
            if let Some(double) = widen(bits, Width::Half) {
                assert_eq!(narrow(double, Width::Half), Some(bits));
            }
        }
        assert_eq!(widen(0x3e00, Width::Half), Some(1.5_f64.to_bits()));
        assert_eq!(narrow(0.1_f64.to_bits(), Width::Single), None);
        assert_eq!(narrow(1e300_f64.to_bits(), Width::Single), None);
    }
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rendering_is_division(steps in -(1i64 << 53) + 1..1 << 53, shift in 0u32..53, grid in 1..=GRID_MAX) {
            let steps = steps >> shift;
            let exact = steps as f64 / f64::from(grid);
            prop_assert_eq!(nearest(steps, grid, Width::Double), if steps == 0 { 0 } else { exact.to_bits() });
            if steps.abs() < 1 << 24 {
                let single = steps as f32 / f32::from(grid);
                prop_assert_eq!(nearest(steps, grid, Width::Single), if steps == 0 { 0 } else { u64::from(single.to_bits()) });
            }
        }

        #[test]
        fn decimals_have_a_grid(number in -9_000_000i32..9_000_000, decimals in 0usize..=4) {
            let float = f64::from(number) / f64::powi(10.0, decimals as i32);
            let grid = find_grid(float.to_bits(), Width::Double, 1);
            prop_assert!(number == 0 || grid.is_some_and(|grid| f64::from(grid) <= f64::powi(10.0, decimals as i32)));
        }

        #[test]
        fn any_bits(bits: u64, grid in 1..=GRID_MAX) {
            for width in [Width::Half, Width::Single, Width::Double] {
                let bits = bits >> (64 - width.bytes() * 8);
                prop_assert_eq!(from_ordered(ordered(bits, width), width), bits);
                if let Some(point) = locate(bits, width, grid) {
                    prop_assert_eq!(render(point, grid, width), bits);
                }
                if let Some(found) = find_grid(bits, width, grid) {
                    prop_assert!(found % grid == 0 && locate(bits, width, found).is_some());
                }
            }
        }

        #[test]
        fn order_is_kept(a: f32, b: f32) {
            let order = |float: f32| ordered(float.to_bits().into(), Width::Single);
            if !a.is_nan() && !b.is_nan() && a != b {
                prop_assert_eq!(a < b, order(a) < order(b));
            }
        }
    }

    #[test]
    fn fractions_have_a_grid() {
        for (float, grid) in [(676.1944444444445f64, 36), (1476.8333333333333, 6), (0.125, 1000)] {
            assert_eq!(find_grid(float.to_bits(), Width::Double, 1), Some(grid));
        }
        assert_eq!(find_grid(core::f64::consts::PI.to_bits(), Width::Double, 1), None);
        assert_eq!(find_grid(412.66f32.to_bits().into(), Width::Single, 1), Some(100));
        assert_eq!(find_grid(core::f32::consts::PI.to_bits().into(), Width::Single, 1), None);
    }
}
