//! Shapes: how the values of a binary hole are stored. A hole is a place of a message where the
//! value differs from message to message. Its shape is learned from its values, and revised when
//! they change.
//!
//! A grid is the denominator of the floats in a hole, which are then multiples of 1/grid.

mod snapshot;

/// How the values of a hole are stored: as integers or floats, in which byte order, and on which
/// grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The grid of the values if they are floats: each is a multiple of 1/`grid`. Zero if there is
    /// no such number.
    pub(crate) grid: u16,
    /// Flags: [`LITTLE_ENDIAN`], [`FLOAT`], [`ZIGZAG`].
    form: u8,
    /// Evidence that the values have the other byte order: grows when that order would have made a
    /// value cheaper, and falls when the present order did.
    order_doubts: u8,
    /// Evidence that the values are another kind of number: floats instead of integers, or the
    /// other way round.
    kind_doubts: u8,
    /// With a grid: evidence that the floats are not on the grid. Without a grid: how many floats
    /// in a row were multiples of a usual unit, such as 1/1000.
    strays: u8,
}

/// The flags of `form`, which share a byte since there are many holes.
const LITTLE_ENDIAN: u8 = 1;
const FLOAT: u8 = 2;
const ZIGZAG: u8 = 4;

/// The form changes when this many more values speak against it than for it.
const DOUBTS_MAX: u8 = 8;
/// How many values on the grid make up for one value off the grid.
const STRAY: u8 = 8;
/// The value of `strays` at which a hole loses its grid.
const STRAYS_MAX: u8 = 32;
/// The number of floats in a row on a usual grid after which a hole without a grid gets the grid 1
/// again, from which finer ones are found.
const RETURNS: u8 = 16;

impl Shape {
    pub(crate) const INTEGER: Self =
        Self { grid: 1, form: 0, order_doubts: 0, kind_doubts: 0, strays: 0 };

    pub(crate) fn new(little_endian: bool, float: bool) -> Self {
        let order = if little_endian { LITTLE_ENDIAN } else { 0 };
        Self { form: order | if float { FLOAT } else { 0 }, ..Self::INTEGER }
    }

    pub(crate) fn is_little_endian(&self) -> bool {
        self.form & LITTLE_ENDIAN != 0
    }

    pub(crate) fn is_float(&self) -> bool {
        self.form & FLOAT != 0
    }

    /// Whether the lowest bit of a variable-length integer is its sign.
    pub(crate) fn is_zigzag(&self) -> bool {
        self.form & ZIGZAG != 0
    }

    /// A number that is different for each form, so that values in different forms are remembered
    /// separately.
    pub(crate) fn form(&self) -> u32 {
        u32::from(self.form) | u32::from(self.grid) << 3
    }

    pub(crate) fn has_form_of(&self, other: &Self) -> bool {
        self.form == other.form
    }

    /// Notes how many bits the difference from the last value has: `bits` in the present form,
    /// `swapped` in the other byte order, and `float` as a float.
    pub(crate) fn weigh(&mut self, bits: u32, swapped: u32, float: u32) {
        if doubt(&mut self.order_doubts, bits, swapped) {
            self.form ^= LITTLE_ENDIAN;
            self.kind_doubts = 0;
        } else if doubt(&mut self.kind_doubts, bits, float) {
            self.form |= FLOAT;
        }
    }

    /// Notes how many bits the difference from the last value of a variable-length integer has:
    /// `bits` in the present form, and `other` with the sign in the other place.
    pub(crate) fn weigh_sign(&mut self, bits: u32, other: u32) {
        if doubt(&mut self.kind_doubts, bits, other) {
            self.form ^= ZIGZAG;
        }
    }

    /// Notes whether a float is likely to be a measured quantity. After too many that are not, the
    /// values are taken to be integers.
    pub(crate) fn weigh_float(&mut self, is_quantity: bool) {
        if doubt(&mut self.kind_doubts, 2, if is_quantity { 3 } else { 0 }) {
            self.form &= !FLOAT;
            self.grid = 1;
        }
    }

    /// Notes a float that is on the grid.
    pub(crate) fn stay(&mut self) {
        self.strays = self.strays.saturating_sub(1);
    }

    /// Notes a float that is off the grid. If `finer` is a finer grid on which the float is, it
    /// becomes the hole's grid.
    pub(crate) fn stray(&mut self, finer: Option<u16>) {
        if let Some(finer) = finer {
            self.grid = finer;
            self.strays += STRAY / 2;
        } else {
            self.strays += STRAY;
        }
        if self.strays >= STRAYS_MAX {
            self.grid = 0;
            self.strays = 0;
        }
    }

    /// Notes a float of a hole without a grid, and whether it is on a usual grid.
    pub(crate) fn roam(&mut self, on_grid: bool) {
        self.strays = if on_grid { self.strays + 1 } else { 0 };
        if self.strays == RETURNS {
            self.grid = 1;
            self.strays = 0;
        }
    }
}

/// Counts evidence for another form: a value takes `bits` in the present form and `other` in the
/// other one. Returns whether the form is to change.
fn doubt(doubts: &mut u8, bits: u32, other: u32) -> bool {
    if other + 1 < bits {
        *doubts += 1;
    } else if other > bits {
        *doubts = doubts.saturating_sub(1);
    }
    let changes = *doubts >= DOUBTS_MAX;
    if changes {
        *doubts = 0;
    }
    changes
}
