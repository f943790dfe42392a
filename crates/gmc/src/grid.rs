//! The grid on which the numbers of a hole lie, found from the numbers seen. A hole is a place of a
//! message where the value differs from message to message; a series is the numbers that one sender
//! puts into one hole.
//!
//! Coordinates that were scaled and shifted, such as `477.30555555555554`, look like noise but lie
//! on a grid: each is a scale times a whole number (its index), plus an offset. A grid is
//! determined by two numbers on it that are far apart, and by the count of steps between them. The
//! place of every other number is interpolated between the two, and is exact up to the rounding
//! with which the app made the number.
//!
//! If a new number is not a whole number of steps away, either the steps are a multiple of the true
//! ones, which Euclid's algorithm finds from the remainder, or the grid has changed.
//!
//! All numbers that can be in a hole form its line, sorted by value (see [`line`](crate::line)).
//! The ordinal of a number is its count on this line; the place of a number is its exact value as
//! an integer in a small unit.

use crate::cache::Cache;
use crate::float_text::FRACTION_BITS;
use crate::line::{NumberLine, Numeral};
use crate::series::Series;

mod snapshot;

/// What is known about the grid of a series of numbers with fractions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Grid {
    /// Ordinals of two numbers on the grid: the ends between which others are interpolated.
    low: i64,
    high: i64,
    /// The ordinal of the last number of the series.
    last: i64,
    /// The index of `low`. The indices of numbers do not change when `low` and `high` are moved to
    /// other numbers.
    low_index: i32,
    /// The count of steps from `low` to `high`. Zero if there is no grid.
    steps: u32,
    line: NumberLine,
    /// The belief: how improbable it is, in bits, that the numbers so far are on the grid by
    /// chance.
    belief: u8,
    /// The grain: the places of all numbers on the grid so far are multiples of two to this power.
    /// Numbers that were calculated from larger ones, for example as a difference, keep the coarser
    /// rounding of these.
    grain: u8,
    /// The greatest common divisor of the changes of the index in the present period (see
    /// [`PERIOD`]); 0 before any change.
    common: u8,
    /// The number of changes of the index in the present period.
    changes: u8,
}

/// The unit in which a hole's numbers are predicted and coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// The digits of the number as an integer, as in a hole without a grid.
    Plain,
    /// Steps of the grid: the number's index.
    Step,
    /// Ordinals: the number's count on the line of the hole.
    Ordinal,
}

/// A number on a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Point {
    pub(crate) index: i64,
    /// The distance of the number from the grid, in units of its last place. It comes from
    /// rounding.
    pub(crate) error: i64,
}

/// The least belief, in bits, at which numbers are coded by the grid: a compromise between using a
/// false grid and using a true one too late.
const BELIEVED: u8 = 12;
/// The largest belief, in bits. A grid with this belief is given up at the second number that is
/// not on it, as after a change of zoom.
const BELIEF_MAX: u8 = 40;
/// The shortest step, in multiples of the rounding error. Shorter steps save too little.
const STEP_MIN: i128 = 16;
/// The largest distance of an index from that of `low`, so that a difference of places multiplied
/// by an index fits into 128 bits.
const INDEX_MAX: i64 = 1 << 24;
/// The most steps from `low` to `high`. More would not make the grid more precise.
const STEPS_MAX: i64 = 1 << 20;
/// The largest grain: that of the largest doubles that have an ordinal. The number zero, which is a
/// multiple of everything, gets this grain too.
const GRAIN_MAX: u32 = FRACTION_BITS + 30 - 53;
/// The number of changes of the index in a period. In this many changes a movement by hand has, as
/// a rule, one of a single true step.
const PERIOD: u8 = 32;
/// The largest factor by which a step is shortened at once. The first step that is assumed is the
/// difference of two numbers, which is hardly ever longer than this many of the true steps.
const FACTOR_MAX: i64 = 1024;

const _: () = assert!(Cache::<Grid>::ENTRY == 48);
/// Bytes of the smallest table of grids: one set of eight entries.
pub(crate) const MEMORY_MIN: usize = 8 * Cache::<Grid>::ENTRY;

impl Grid {
    /// The grid of a series, if it has one. The grid of another sender is no help, since its scale
    /// may differ.
    pub(crate) fn recall(grids: &Cache<Self>, series: Series) -> Option<Self> {
        grids.find(series.key()).copied()
    }

    pub(crate) fn remember(self, grids: &mut Cache<Self>, series: Series) {
        *grids.entry(series.key()) = self;
    }

    /// The state of a series that begins with this number, which has a fraction.
    pub(crate) fn starting(numeral: Numeral) -> Option<Self> {
        let line = NumberLine::with(numeral, None)?;
        Some(Self { line, last: line.ordinal(numeral)?, ..Self::default() })
    }

    /// The state of a series of double precision numbers that begins with the number of this
    /// ordinal.
    pub(crate) fn of_doubles(ordinal: i64) -> Self {
        Self { line: NumberLine::doubles(), last: ordinal, ..Self::default() }
    }

    pub(crate) fn line(&self) -> NumberLine {
        self.line
    }

    /// Whether the steps of a grid of doubles are more than three times as long as 1/`multiples`;
    /// true if `multiples` is 0. Multiples are exact, while interpolated numbers may be off by
    /// rounding. That costs more than steps of half the length, for which the coder learns that all
    /// are even.
    pub(crate) fn has_longer_steps(&self, multiples: u16) -> bool {
        multiples == 0 || self.step() * i128::from(multiples) > 3 << FRACTION_BITS
    }

    /// The unit in which the next number of the series is predicted best.
    pub(crate) fn unit(&self) -> Unit {
        if self.belief >= BELIEVED {
            Unit::Step
        } else if self.line.is_plain() {
            Unit::Plain
        } else {
            Unit::Ordinal
        }
    }

    /// The last number of the series in this unit. With [`Unit::Plain`] it is multiplied by
    /// `scale`.
    pub(crate) fn last_in(&self, unit: Unit, scale: i64) -> i64 {
        match unit {
            Unit::Plain => self.line.numeral(self.last).map_or(0, |last| last.times(scale)),
            Unit::Step => self.nearest_index(self.last).unwrap_or(0),
            Unit::Ordinal => self.last,
        }
    }

    /// The point of the grid at which an ordinal is. `None` if the ordinal is not on the grid.
    pub(crate) fn locate(&self, ordinal: i64) -> Option<Point> {
        let index = self.index(ordinal)?;
        let (expected, unit) = self.expected(index)?;
        let error = (self.line.place(ordinal) - expected) / unit;
        let point = Point { index, error: error as i64 };
        let located = self.line.nearest(expected + unit * i128::from(point.error));
        (located == Some(ordinal)).then_some(point)
    }

    /// The ordinal of the number at a point of the grid, if there is one.
    pub(crate) fn ordinal(&self, point: Point) -> Option<i64> {
        let (expected, unit) = self.expected(point.index)?;
        self.line.nearest(expected + unit * i128::from(point.error))
    }

    /// The place at which the number with this index is expected, and the unit to which numbers are
    /// rounded near it.
    fn expected(&self, index: i64) -> Option<(i128, i128)> {
        let place = self.place(index)?;
        let grain = 1i128 << self.grain;
        let ordinal = self.line.nearest((place + grain / 2) & -grain)?.abs();
        let unit = self.line.place(ordinal + 1) - self.line.place(ordinal);
        let unit = unit.max(grain);
        Some(((place + unit / 2) & -unit, unit))
    }

    /// The index of an ordinal. `None` unless the ordinal is on the grid within the expected
    /// rounding error.
    fn index(&self, ordinal: i64) -> Option<i64> {
        let index = self.nearest_index(ordinal)?;
        let distance = (self.line.place(ordinal) - self.place(index)?).abs();
        let allowed = self.tolerance(ordinal, index);
        let span = self.line.place(self.high) - self.line.place(self.low);
        // This tests whether a step would be shorter than [`STEP_MIN`], without a division.
        let is_long = allowed * STEP_MIN * i128::from(self.steps.max(1)) <= span;
        (distance <= allowed && is_long).then_some(index)
    }

    /// Learns from a number. Returns whether the unit of [`Grid::unit`], or what numbers in this
    /// unit mean, has changed.
    pub(crate) fn learn(&mut self, numeral: Numeral) -> bool {
        if let Some(ordinal) = self.line.ordinal(numeral) {
            return self.learn_ordinal(ordinal);
        }
        if let Some(line) = NumberLine::with(numeral, Some(self.line)) {
            let last = line.ordinal(numeral).unwrap_or(0);
            if line.is_like(self.line) {
                self.line = line;
                return self.learn_ordinal(last);
            }
            *self = Self { line, last, ..Self::default() };
        }
        true
    }

    /// Learns from a number, given its ordinal. Returns the same as [`Grid::learn`].
    pub(crate) fn learn_ordinal(&mut self, ordinal: i64) -> bool {
        let (before, unit) = (self.last, self.unit());
        self.last = ordinal;
        let moved = ordinal != before && self.follow(before, ordinal);
        moved && self.unit() == Unit::Step || self.unit() != unit
    }

    /// Learns from a number that differs from the number before it. Returns whether indices have
    /// changed.
    fn follow(&mut self, before: i64, ordinal: i64) -> bool {
        if self.steps == 0 {
            self.restart(before, ordinal);
            return true;
        }
        if let Some(index) = self.index(ordinal) {
            let chance = (self.step() / self.tolerance(ordinal, index)).ilog2() - 1;
            self.belief = (self.belief + chance as u8).min(BELIEF_MAX);
            self.extend(ordinal, index);
            return self.coarsen(before, ordinal, index);
        }
        if let Some((factor, belief)) = self.refinement(ordinal) {
            self.steps *= factor;
            self.low_index *= factor as i32;
            self.belief = belief.min(BELIEF_MAX);
            if let Some(index) = self.index(ordinal) {
                self.extend(ordinal, index);
            }
            return true;
        }
        if self.belief / 2 >= BELIEVED {
            self.belief /= 2;
            return false;
        }
        if self.shift(before, ordinal).is_none() {
            self.restart(before, ordinal);
        }
        true
    }

    /// Makes the steps longer if all changes of the index in a period were multiples of a number: a
    /// single number off the grid may have made the steps too short. Returns whether it did.
    fn coarsen(&mut self, before: i64, ordinal: i64, index: i64) -> bool {
        self.changes += 1;
        if self.common != 1 {
            let change = self.nearest_index(before).unwrap_or(index).abs_diff(index);
            let common = gcd(change, u64::from(self.common));
            self.common = u8::try_from(common).unwrap_or(0);
            let steps = u32::try_from(change / common.max(1)).unwrap_or(0);
            if self.changes >= PERIOD && self.common > 1 && steps > 0 {
                let belief = self.belief;
                self.restart(before, ordinal);
                (self.steps, self.belief) = (steps, belief);
                return true;
            }
        }
        if self.changes >= PERIOD {
            (self.changes, self.common) = (0, 0);
        }
        false
    }

    /// Starts a grid of which only the two numbers `a` and `b` are known.
    fn restart(&mut self, a: i64, b: i64) {
        let line = self.line;
        *self = Self { low: a.min(b), high: a.max(b), last: b, steps: 1, line, ..Self::default() };
        self.grain = self.grain_of(a).min(self.grain_of(b));
    }

    /// Moves the grid so that `a` is on it, without a change of its step, if `a` and `b`, the last
    /// two numbers, are a whole number of steps apart. `None`, and no change, if they are not. `b`
    /// is not on the grid so far.
    fn shift(&mut self, a: i64, b: i64) -> Option<()> {
        let place = self.line.place(a);
        let span = self.line.place(self.high) - self.line.place(self.low);
        let mut shifted = Self { low: a, high: self.line.nearest(place + span)?, ..*self };
        shifted.low_index = 0;
        shifted.grain = self.grain_of(a);
        let index = shifted.index(b).filter(|_| self.belief > 0)?;
        shifted.belief = BELIEVED;
        shifted.extend(b, index);
        *self = shifted;
        Some(())
    }

    /// Notes a number on the grid. A number beyond `low` or `high` replaces it.
    fn extend(&mut self, ordinal: i64, index: i64) {
        self.grain = self.grain.min(self.grain_of(ordinal));
        let from_low = index - i64::from(self.low_index);
        let steps = i64::from(self.steps);
        if from_low < 0 && steps - from_low <= STEPS_MAX {
            self.low = ordinal;
            self.low_index = index as i32;
            self.steps = (steps - from_low) as u32;
        } else if from_low > steps && from_low <= STEPS_MAX {
            self.high = ordinal;
            self.steps = from_low as u32;
        }
    }

    /// The divisor of the steps with which this number is on the grid, and how improbable it is, in
    /// bits, that so small a divisor exists by chance.
    fn refinement(&self, ordinal: i64) -> Option<(u32, u8)> {
        let index = self.nearest_index(ordinal)?;
        let step = self.step();
        let rest = (self.line.place(ordinal) - self.place(index)?).abs();
        let noise = self.tolerance(ordinal, index);
        // The divisors are the denominators of the convergents of rest / step: with them `factor *
        // rest` is nearly a whole number of steps.
        let (mut long, mut short) = (step, rest);
        let (mut before, mut factor) = (0i64, 1i64);
        while short > noise * i128::from(factor) {
            let quotient = long / short;
            (long, short) = (short, long % short);
            let next = i128::from(factor).checked_mul(quotient)? + i128::from(before);
            if next > i128::from(FACTOR_MAX) {
                return None;
            }
            (before, factor) = (factor, next as i64);
            // The sum of the last two factors may be good enough: its remainder is the difference
            // of their remainders.
            if long - short <= noise * i128::from(factor + before) && short > 0 {
                factor += before;
                break;
            }
        }
        let steps = i64::from(self.steps) * factor;
        let tolerated = noise * i128::from(factor * factor) * i128::from(factor);
        let belief = (step / tolerated.max(1)).checked_ilog2()?;
        let enough = if self.belief < BELIEVED {
            step >= noise * STEP_MIN * i128::from(factor)
        } else {
            belief >= u32::from(BELIEVED)
        };
        (factor > 1
            && enough
            && steps <= STEPS_MAX
            && i64::from(self.low_index).abs() * factor <= STEPS_MAX)
            .then_some((factor as u32, belief.min(255) as u8))
    }

    /// The index of the grid point nearest to an ordinal.
    fn nearest_index(&self, ordinal: i64) -> Option<i64> {
        let low = self.line.place(self.low);
        let span = self.line.place(self.high) - low;
        if self.steps == 0 || span <= 0 {
            return None;
        }
        let distance = (self.line.place(ordinal) - low).checked_mul(i128::from(self.steps))?;
        let index = divide(distance + span / 2, span);
        (index.abs() <= i128::from(INDEX_MAX)).then(|| index as i64 + i64::from(self.low_index))
    }

    /// The place that belongs to an index, by interpolation between `low` and `high`.
    fn place(&self, index: i64) -> Option<i128> {
        let from_low = index.checked_sub(i64::from(self.low_index))?;
        if from_low.abs() > INDEX_MAX || self.steps == 0 {
            return None;
        }
        let low = self.line.place(self.low);
        let span = self.line.place(self.high) - low;
        Some(low + divide(span * i128::from(from_low), self.steps.into()))
    }

    fn step(&self) -> i128 {
        divide(self.line.place(self.high) - self.line.place(self.low), self.steps.max(1).into())
    }

    /// The largest rounding error to be expected of a number, as a difference of places: about the
    /// distance between two ordinals at the largest number involved, for each time that a number
    /// was rounded, and more outside of `low` and `high`.
    fn tolerance(&self, ordinal: i64, index: i64) -> i128 {
        let largest = [self.low, self.high, ordinal].map(i64::abs).into_iter().max().unwrap_or(0);
        let noise = self.line.place(largest + 1) - self.line.place(largest);
        let outside = index.abs_diff(i64::from(self.low_index)) / u64::from(self.steps.max(1));
        noise * (2 + 2 * i128::from(outside))
    }

    /// The exponent of the largest power of two of which the place of an ordinal is a multiple, if
    /// rounding was binary.
    fn grain_of(&self, ordinal: i64) -> u8 {
        let zeros = self.line.place(ordinal).trailing_zeros();
        if self.line.is_binary() { zeros.min(GRAIN_MAX) as u8 } else { 0 }
    }
}

/// The quotient, rounded down, of a number and a positive one. Most are small, and division of 128
/// bits takes long.
fn divide(number: i128, by: i128) -> i128 {
    match (i64::try_from(number), i64::try_from(by)) {
        (Ok(number), Ok(by)) if cfg!(feature = "fast") => number.div_euclid(by).into(),
        _ => number.div_euclid(by),
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
