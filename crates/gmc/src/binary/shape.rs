//! How the values of a binary hole are stored: learned from the values, and revised when the stream changes.

mod snapshot;

/// How the values of a hole are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The grid of the values, which are floats: multiples of 1/`grid`. Zero if they are on no grid.
    pub(crate) grid: u16,
    /// Flags: [`LITTLE_ENDIAN`], [`FLOAT`], [`ZIGZAG`].
    form: u8,
    /// How often the other byte order would have been cheaper lately.
    order_doubts: u8,
    /// How often the other kind of number would have been cheaper lately.
    kind_doubts: u8,
    /// How often floats were off the grid lately; without a grid, how many in a row were on a usual grid, such as
    /// 1/1000.
    strays: u8,
}

/// The flags of a form, in one byte since there are many holes.
const LITTLE_ENDIAN: u8 = 1;
const FLOAT: u8 = 2;
const ZIGZAG: u8 = 4;

/// The form changes after this many more values against it than for it.
const DOUBTS_MAX: u8 = 8;
/// A value off the grid counts as much as this many on it.
const STRAY: u8 = 8;
/// The count of values off the grid at which a hole gives its grid up.
const STRAYS_MAX: u8 = 32;
/// Values in a row on a usual grid after which a hole gets a grid again.
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

    /// A number that differs between forms, so that values in different forms are remembered apart.
    pub(crate) fn form(&self) -> u32 {
        u32::from(self.form) | u32::from(self.grid) << 3
    }

    pub(crate) fn has_form_of(&self, other: &Self) -> bool {
        self.form == other.form
    }

    /// Notes the bits of a difference in this form, in the other byte order, and as a float.
    pub(crate) fn weigh(&mut self, bits: u32, swapped: u32, float: u32) {
        if doubt(&mut self.order_doubts, bits, swapped) {
            self.form ^= LITTLE_ENDIAN;
            self.kind_doubts = 0;
        } else if doubt(&mut self.kind_doubts, bits, float) {
            self.form |= FLOAT;
        }
    }

    /// Notes the bits of a difference of variable-length integers in this form and in the other one.
    pub(crate) fn weigh_sign(&mut self, bits: u32, other: u32) {
        if doubt(&mut self.kind_doubts, bits, other) {
            self.form ^= ZIGZAG;
        }
    }

    /// Notes whether a float is a likely quantity. After too many that are not, the values are taken to be integers.
    pub(crate) fn weigh_float(&mut self, is_quantity: bool) {
        if doubt(&mut self.kind_doubts, 2, if is_quantity { 3 } else { 0 }) {
            self.form &= !FLOAT;
            self.grid = 1;
        }
    }

    /// Notes a float on the grid.
    pub(crate) fn stay(&mut self) {
        self.strays = self.strays.saturating_sub(1);
    }

    /// Notes a float off the grid. `finer` is a finer grid that has the float, if there is one; it becomes the hole's
    /// grid.
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

    /// Notes whether a float of a hole without a grid is on a usual one.
    pub(crate) fn roam(&mut self, on_grid: bool) {
        self.strays = if on_grid { self.strays + 1 } else { 0 };
        if self.strays == RETURNS {
            self.grid = 1;
            self.strays = 0;
        }
    }
}

/// Counts the doubts in a form. Returns whether the form changes.
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
