//! What fills the holes of templates: one model for the holes of all templates of a stream.

use alloc::vec::Vec;

use crate::cache::Cache;
use crate::config::Budget;
use crate::error::DecodeError;
use crate::model::Rows;
use crate::range_coder::Coder;
use crate::reference::Reference;
use crate::template::{Hole, HoleKind};
use crate::text::Texts;

pub(crate) struct Holes {
    pub(crate) rows: Rows,
    pub(crate) references: Cache<Reference>,
    pub(crate) texts: Texts,
}

/// Where a value is: the hole's name and the sender of the message.
#[derive(Clone, Copy)]
pub(crate) struct Whose {
    pub(crate) label: u32,
    pub(crate) sender: u32,
}

impl Holes {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            rows: Rows::new(budget.rows),
            references: Cache::new(budget.references),
            texts: Texts::new(budget),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.rows.memory() + self.references.memory() + self.texts.memory()
    }

    /// Codes what fills a hole and appends it to `out`, at most `limit` bytes if it is text.
    pub(crate) fn code<C: Coder>(
        &mut self,
        coder: &mut C,
        hole: &mut Hole,
        sender: u32,
        given: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let whose = Whose { label: hole.label, sender };
        match hole.kind {
            HoleKind::Text | HoleKind::Bytes => {
                self.texts.code(coder, &mut self.rows, whose, given, limit, out)
            }
            HoleKind::Number => self.code_number(coder, whose, given, out),
            HoleKind::Field => {
                self.code_field(coder, hole, sender, given, out);
                Ok(())
            }
            HoleKind::Opaque => self.code_opaque(coder, hole, sender, given, out),
            HoleKind::String(prefix) => self.code_prefixed(coder, prefix, whose, given, limit, out),
            HoleKind::Varint => {
                self.code_varint(coder, hole, sender, given, out);
                Ok(())
            }
            HoleKind::Scalar(_) => self.code_scalar(coder, hole, sender, given, limit, out),
        }
    }

    /// Codes a number. Returns the one before it, if any, and it.
    pub(crate) fn code_value<C: Coder>(
        &mut self,
        coder: &mut C,
        whose: Whose,
        given: i64,
    ) -> (Option<i64>, i64) {
        let mut reference = Reference::recall(&self.references, whose);
        let before = reference.last();
        let value = reference.code(coder, &mut self.rows, whose, given);
        Reference::remember(&mut self.references, whose, reference);
        (before, value)
    }
}
