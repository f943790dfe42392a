//! What fills the holes of templates. A template is an earlier message, and its holes are the
//! places where other messages of the type differ. There is a coder for each kind of hole, which
//! uses the values seen in the hole before.

mod field;
mod float;
mod integers;
mod number;
mod scalar;
mod strings;
mod value;
mod varint;

use alloc::vec::Vec;

use crate::budget::Budget;
use crate::cache::Cache;
use crate::error::DecodeError;
use crate::grid::Grid;
use crate::keys::Seen;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::table::Versioned;
use crate::template::HoleKind;
use crate::text::Texts;

use field::code_field;
use integers::Integers;
use number::NumberCoder;
use scalar::ScalarCoder;
use strings::{code_opaque, code_prefixed, code_text};
pub(crate) use value::Value;
use varint::code_varint;

/// The earlier values in the holes of all templates.
#[derive(Clone)]
pub(crate) struct Holes {
    pub(crate) integers: Integers,
    /// The grids (scale and offset) of numbers with fractions, by series: the values of one sender
    /// in one hole.
    pub(crate) grids: Cache<Grid>,
    pub(crate) texts: Texts,
}

impl Holes {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            integers: Integers::new(budget),
            grids: Cache::new(budget.grids),
            texts: Texts::new(budget),
        }
    }

    /// The memory of these tables, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.integers.memory() + self.grids.memory() + self.texts.memory()
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        self.integers.visit(visit);
        self.grids.visit(visit);
        self.texts.visit(visit);
    }

    /// Codes a value by its kind of hole, and appends its bytes to `out`: it is written in the
    /// encoder and read in the decoder. Returns what the value tells about keys (holes that tell to
    /// which sender or object the other values belong). Returns `None` if this kind of hole takes
    /// no part in the search for keys.
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        value: Value<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Seen>, DecodeError> {
        let Self { integers, grids, texts } = self;
        match value.hole.kind {
            HoleKind::Text | HoleKind::Bytes => code_text(texts, pass, value, out),
            HoleKind::Number => {
                let literals = &mut texts.literals;
                NumberCoder { integers, grids, literals }.code(pass, value, out)
            }
            HoleKind::Field => code_field(integers, pass, value, out),
            HoleKind::Opaque => code_opaque(texts, pass, value, out),
            HoleKind::String(prefix) => code_prefixed(prefix, texts, pass, value, out),
            HoleKind::Varint => code_varint(integers, pass, value, out),
            HoleKind::Scalar(format) => {
                ScalarCoder { format, integers, grids, texts }.code(pass, value, out)
            }
            // The message coder codes nested messages, and lengths follow from what they count.
            _ => Err(DecodeError::Malformed),
        }
    }
}
