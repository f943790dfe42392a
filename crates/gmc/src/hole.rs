//! What fills the holes of templates: one model for the holes of all templates of a stream.

use alloc::vec::Vec;

use crate::budget::Budget;
use crate::cache::Cache;
use crate::category::Category;
use crate::error::DecodeError;
use crate::grid::Grid;
use crate::hash::hash;
use crate::keys::Seen;
use crate::model::Rows;
use crate::range_coder::Coder;
use crate::reference::Reference;
use crate::series::Whose;
use crate::table::Versioned;
use crate::template::{Hole, HoleKind};
use crate::text::Texts;

#[derive(Clone)]
pub(crate) struct Holes {
    pub(crate) rows: Rows,
    pub(crate) references: Cache<Reference>,
    pub(crate) grids: Cache<Grid>,
    pub(crate) texts: Texts,
    pub(crate) categories: Cache<Category>,
    /// What filled the holes of the present message.
    pub(crate) seen: Vec<Seen>,
}

impl Holes {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            rows: Rows::new(budget.rows),
            references: Cache::new(budget.references),
            grids: Cache::new(budget.grids),
            texts: Texts::new(budget),
            categories: Cache::new(budget.categories),
            seen: Vec::new(),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.rows.memory()
            + self.references.memory()
            + self.grids.memory()
            + self.texts.memory()
            + self.categories.memory()
    }

    /// Whether what becomes of values is forgotten at once.
    pub(crate) fn set_quiet(&mut self, quiet: bool) {
        self.references.set_quiet(quiet);
        self.grids.set_quiet(quiet);
        self.texts.set_quiet(quiet);
        self.categories.set_quiet(quiet);
    }

    /// Visits all that has versions.
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        self.rows.visit(visit);
        self.references.visit(visit);
        self.grids.visit(visit);
        self.texts.visit(visit);
        self.categories.visit(visit);
    }

    /// Codes what fills a hole and appends it to `out`, at most `limit` bytes if it is text.
    pub(crate) fn code<C: Coder + ?Sized>(
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
                let seen = self.texts.code(coder, &mut self.rows, whose, given, limit, out)?;
                self.seen.push(seen);
                Ok(())
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
    pub(crate) fn code_value<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        whose: Whose,
        given: i64,
    ) -> (Option<i64>, i64) {
        let (mut reference, at) = Reference::recall(&self.references, whose);
        let before = reference.last();
        let value = self.code_integer(coder, whose, &mut reference, given);
        Reference::remember(&mut self.references, whose, at, reference);
        (before, value)
    }

    /// Codes a whole number: one of a few, or as the difference from what was expected.
    pub(crate) fn code_integer<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        whose: Whose,
        reference: &mut Reference,
        given: i64,
    ) -> i64 {
        let Self { categories, rows, references, .. } = self;
        let known = match categories.find(whose.label) {
            Some(category) if category.is_few() => category.code(coder, rows, whose.label, given),
            _ => None,
        };
        let value = match known {
            Some(value) => {
                reference.note(value, rows.packet);
                value
            }
            None => {
                let anybody = Reference::anybody(references, whose.label);
                reference.code(coder, rows, whose, &anybody, given)
            }
        };
        let category = categories.entry(whose.label);
        let is_few = category.is_few();
        let is_key = category.is_key();
        category.note(value);
        self.seen.push(Seen {
            label: whose.label,
            identity: hash(value as u32, (value >> 32) as u32),
            is_key,
            number: (!is_few).then_some(value),
        });
        value
    }
}
