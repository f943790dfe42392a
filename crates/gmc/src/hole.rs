//! What fills the holes of templates: one model for the holes of all templates of a stream.

use alloc::vec::Vec;

use crate::cache::Cache;
use crate::config::Budget;
use crate::error::DecodeError;
use crate::grid::Grid;
use crate::model::Rows;
use crate::range_coder::Coder;
use crate::reference::Reference;
use crate::template::{Hole, HoleKind};
use crate::text::Texts;

pub(crate) struct Holes {
    pub(crate) rows: Rows,
    pub(crate) references: Cache<Reference>,
    pub(crate) grids: Cache<Grid>,
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
            grids: Cache::new(budget.grids),
            texts: Texts::new(budget),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.rows.memory() + self.references.memory() + self.grids.memory() + self.texts.memory()
    }

    /// Codes what fills a hole and appends it to `out`, at most `limit` bytes if it is text.
    pub(crate) fn code<C: Coder>(
        &mut self,
        coder: &mut C,
        hole: &Hole,
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
            HoleKind::BigEndian => {
                let width = hole.range().len();
                let value = self.code_value(coder, whose, from_big_endian(given));
                out.extend_from_slice(&value.to_be_bytes()[8 - width..]);
                Ok(())
            }
            HoleKind::LittleEndian => {
                let width = hole.range().len();
                let value = self.code_value(coder, whose, from_little_endian(given));
                out.extend_from_slice(&value.to_le_bytes()[..width]);
                Ok(())
            }
        }
    }

    fn code_value<C: Coder>(&mut self, coder: &mut C, whose: Whose, given: i64) -> i64 {
        let mut reference = Reference::recall(&self.references, whose);
        let value = reference.code(coder, &mut self.rows, whose, given);
        Reference::remember(&mut self.references, whose, reference);
        value
    }
}

/// Up to eight bytes as a number.
fn from_big_endian(bytes: &[u8]) -> i64 {
    bytes.iter().fold(0, |value, &byte| value << 8 | i64::from(byte))
}

fn from_little_endian(bytes: &[u8]) -> i64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | i64::from(byte))
}
