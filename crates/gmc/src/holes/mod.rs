//! What fills the holes of templates. A template is an earlier message, and its holes are the
//! places where other messages of the type differ. There is a coder for each kind of hole, which
//! uses the values seen in the hole before.

mod coder;
mod field;
mod float;
mod integers;
mod number;
mod scalar;
mod strings;
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

use coder::HoleCoder;
use field::FieldCoder;
use integers::Integers;
use number::NumberCoder;
use scalar::ScalarCoder;
use strings::{OpaqueCoder, PrefixedCoder, TextCoder};
use varint::VarintCoder;

pub(crate) use coder::Value;

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

    /// Codes a value with the coder of its kind of hole, and appends its bytes to `out`. It is
    /// written in the encoder and read in the decoder.
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        value: Value<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Seen>, DecodeError> {
        let Self { integers, grids, texts } = self;
        match value.hole.kind {
            HoleKind::Text | HoleKind::Bytes => TextCoder { texts }.code(pass, value, out),
            HoleKind::Number => {
                let literals = &mut texts.literals;
                NumberCoder { integers, grids, literals }.code(pass, value, out)
            }
            HoleKind::Field => FieldCoder { integers }.code(pass, value, out),
            HoleKind::Opaque => OpaqueCoder { texts }.code(pass, value, out),
            HoleKind::String(prefix) => PrefixedCoder { prefix, texts }.code(pass, value, out),
            HoleKind::Varint => VarintCoder { integers }.code(pass, value, out),
            HoleKind::Scalar(format) => {
                ScalarCoder { format, integers, grids, texts }.code(pass, value, out)
            }
            // The message coder codes nested messages, and lengths follow from what they count.
            _ => Err(DecodeError::Malformed),
        }
    }
}
