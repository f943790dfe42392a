//! Series of values: those that one sender puts into one hole.

use crate::hash::hash;

/// A series of values, each of which helps to predict the next.
#[derive(Clone, Copy)]
pub(crate) struct Series {
    /// The label of the hole.
    pub(crate) label: u32,
    /// A hash that stands for the sender of the message, and for the value of the template's key if it has one.
    pub(crate) sender: u32,
}

impl Series {
    /// The key of the series in tables.
    pub(crate) fn key(self) -> u32 {
        hash(self.label, self.sender)
    }

    /// The same sender's values under another label.
    pub(crate) fn with_label(self, label: u32) -> Self {
        Self { label, ..self }
    }
}
