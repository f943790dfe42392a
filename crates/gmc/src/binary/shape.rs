//! What a binary hole has turned out to hold. Learned from the values, and revised when the stream
//! changes.

mod snapshot;

/// What the values of a hole are taken as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The values are floats on this grid; zero if they lie on none.
    pub(crate) grid: u16,
    /// Flags: see below.
    form: u8,
    /// How often the other byte order would have been cheaper of late.
    order_doubts: u8,
    /// How often the other kind of number would have been cheaper of late.
    kind_doubts: u8,
    /// How often floats have left the grid of late, or could have had one.
    strays: u8,
}

/// The flags of a form. Several bits in a byte, since there are many holes.
const LITTLE_ENDIAN: u8 = 1;
const FLOAT: u8 = 2;
const ZIGZAG: u8 = 4;

/// So many more values against the form than for it, and it changes.
const DOUBTS_MAX: u8 = 8;
/// A value off the grid weighs as much as this many on it.
const STRAY: u8 = 8;
/// A hole that cannot keep a grid is not tried again and again.
const STRAYS_MAX: u8 = 32;
/// So many values on a grid in a row, and a hole that had none gets one.
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

    /// The form, for telling apart what is known about values in different forms.
    pub(crate) fn form(&self) -> u32 {
        u32::from(self.form) | u32::from(self.grid) << 3
    }

    pub(crate) fn has_form_of(&self, other: &Self) -> bool {
        self.form == other.form
    }

    /// Notes what a value takes, in bits, in this form and in the other byte order or as a float.
    pub(crate) fn weigh(&mut self, bits: u32, swapped: u32, float: u32) {
        if doubt(&mut self.order_doubts, bits, swapped) {
            self.form ^= LITTLE_ENDIAN;
            self.kind_doubts = 0;
        } else if doubt(&mut self.kind_doubts, bits, float) {
            self.form |= FLOAT;
        }
    }

    /// Notes what a variable-length integer takes, in bits, in this form and in the other.
    pub(crate) fn weigh_sign(&mut self, bits: u32, other: u32) {
        if doubt(&mut self.kind_doubts, bits, other) {
            self.form ^= ZIGZAG;
        }
    }

    /// Notes whether a float looks like one.
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

    /// Notes a float off the grid, and perhaps on a finer one.
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

    /// Notes whether a float lies on a grid, where none is known.
    pub(crate) fn roam(&mut self, on_grid: bool) {
        self.strays = if on_grid { self.strays + 1 } else { 0 };
        if self.strays == RETURNS {
            self.grid = 1;
            self.strays = 0;
        }
    }
}

/// Whether the doubts have become too many.
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
