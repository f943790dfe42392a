//! Integers in holes: one of a few known values, or the difference from a prediction. A hole is a
//! place of a message where the value differs from message to message; a series is the values of
//! one sender in one hole.
//!
//! To "code" is to write in the encoder and to read in the decoder.

use crate::budget::Budget;
use crate::cache::Cache;
use crate::category::{Category, identity};
use crate::keys::Seen;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::reference::{Places, Reference};
use crate::series::Series;
use crate::table::Versioned;

/// The earlier integers in holes, which predict the next ones.
#[derive(Clone)]
pub(crate) struct Integers {
    /// The last values, by series, and by hole for all senders together.
    pub(crate) references: Cache<Reference>,
    /// The last different values, by hole.
    pub(crate) categories: Cache<Category>,
}

/// An integer that was coded.
pub(crate) struct Coded {
    /// The last value of the series before this one, if there was one.
    pub(crate) before: Option<i64>,
    pub(crate) value: i64,
    /// What this integer tells about the template's key: the hole that tells to which sender or
    /// object the other values belong (see [`keys`](crate::keys)).
    pub(crate) seen: Seen,
}

impl Integers {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            references: Cache::new(budget.references),
            categories: Cache::new(budget.categories),
        }
    }

    /// The memory of these tables, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.references.memory() + self.categories.memory()
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        self.references.visit(visit);
        self.categories.visit(visit);
    }

    /// Codes an integer, which becomes the last one of its series.
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        series: Series,
        given: i64,
    ) -> Coded {
        let (mut reference, places) = self.recall(series);
        let before = reference.last();
        let (value, seen) = self.code_with(pass, series, places, &mut reference, given);
        self.remember(pass, series, places, reference);
        Coded { before, value, seen }
    }

    /// Codes an integer, given the last values of its series in `reference`, and adds it to them.
    #[cfg_attr(feature = "fast", inline(always))]
    pub(crate) fn code_with<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        series: Series,
        places: Places,
        reference: &mut Reference,
        given: i64,
    ) -> (i64, Seen) {
        let label = series.label;
        let at = self.categories.index(label);
        let known = match at.map(|at| self.categories.at(at)) {
            Some(category) if category.is_few() => category.code(pass, label, given),
            _ => None,
        };
        let value = match known {
            Some(value) => {
                reference.note(value, pass.stamp());
                value
            }
            None => {
                let any_sender = Reference::any_sender(&self.references, places);
                reference.code(pass, series, &any_sender, given)
            }
        };
        let seen = |category: &Category| Seen {
            label,
            identity: identity(value),
            is_key: category.is_key(),
            number: (!category.is_few()).then_some(value),
        };
        if pass.is_read_only() {
            let category = at.map(|at| *self.categories.at(at)).unwrap_or_default();
            return (value, seen(&category));
        }
        let category = self.categories.entry_at(label, at);
        let seen = seen(category);
        category.note(value);
        (value, seen)
    }

    /// The last values of a series, or if there are none, those of any sender in the hole; and
    /// where they are in the table.
    #[cfg_attr(feature = "fast", inline(always))]
    pub(crate) fn recall(&self, series: Series) -> (Reference, Places) {
        Reference::recall(&self.references, series)
    }

    /// Stores the last values of a series. `places` says where it was found in the table.
    #[cfg_attr(feature = "fast", inline(always))]
    pub(crate) fn remember<C: Coder + ?Sized>(
        &mut self,
        pass: &Pass<'_, C>,
        series: Series,
        places: Places,
        reference: Reference,
    ) {
        if !pass.is_read_only() {
            Reference::remember(&mut self.references, series, places, reference);
        }
    }
}
