//! Integers in holes: one of a few, or the difference from a prediction.

use crate::budget::Budget;
use crate::cache::Cache;
use crate::category::{Category, identity};
use crate::keys::Seen;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::reference::Reference;
use crate::series::Series;
use crate::table::Versioned;

/// The earlier integers in holes.
#[derive(Clone)]
pub(crate) struct Integers {
    /// The last values, by series and by hole.
    pub(crate) references: Cache<Reference>,
    /// The last different values, by hole.
    pub(crate) categories: Cache<Category>,
}

/// An integer that was coded.
pub(crate) struct Coded {
    /// The last value of the series before this one, if there was one.
    pub(crate) before: Option<i64>,
    pub(crate) value: i64,
    /// What this integer shows of the template's key: the hole that tells to which sender or object the other values
    /// belong (see [`keys`](crate::keys)).
    pub(crate) seen: Seen,
}

impl Integers {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            references: Cache::new(budget.references),
            categories: Cache::new(budget.categories),
        }
    }

    /// Bytes of state.
    pub(crate) fn memory(&self) -> usize {
        self.references.memory() + self.categories.memory()
    }

    /// Calls `visit` with each table whose changes can be taken back.
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
        let (mut reference, at) = self.recall(series);
        let before = reference.last();
        let (value, seen) = self.code_with(pass, series, &mut reference, given);
        self.remember(pass, series, at, reference);
        Coded { before, value, seen }
    }

    /// Codes an integer, given the last values of its series in `reference`, and adds it to them.
    pub(crate) fn code_with<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        series: Series,
        reference: &mut Reference,
        given: i64,
    ) -> (i64, Seen) {
        let label = series.label;
        let known = match self.categories.find(label) {
            Some(category) if category.is_few() => category.code(pass, label, given),
            _ => None,
        };
        let value = match known {
            Some(value) => {
                reference.note(value, pass.stamp());
                value
            }
            None => {
                let any_sender = Reference::any_sender(&self.references, label);
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
            return (value, seen(&self.categories.copied(label)));
        }
        let category = self.categories.entry(label);
        let seen = seen(category);
        category.note(value);
        (value, seen)
    }

    /// The last values of a series, or else of any sender in the hole, and their place in the table.
    pub(crate) fn recall(&self, series: Series) -> (Reference, Option<usize>) {
        Reference::recall(&self.references, series)
    }

    /// Keeps the last values of a series at the place where they were found.
    pub(crate) fn remember<C: Coder + ?Sized>(
        &mut self,
        pass: &Pass<'_, C>,
        series: Series,
        at: Option<usize>,
        reference: Reference,
    ) {
        if !pass.is_read_only() {
            Reference::remember(&mut self.references, series, at, reference);
        }
    }
}
