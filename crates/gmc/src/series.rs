//! Series of values: those that one sender puts into one hole. A hole is a place of a message where
//! the value differs from message to message, and its label is a number that names it.

use crate::hash::hash;

/// A series of values, each of which helps to predict the next.
#[derive(Clone, Copy)]
pub(crate) struct Series {
    /// The label of the hole.
    pub(crate) label: u32,
    /// A hash that stands for the sender of the message. If some hole of the message identifies the
    /// sender or object better, the hash stands for the value of that hole too.
    pub(crate) sender: u32,
}

impl Series {
    /// The key of the series in tables of values.
    pub(crate) fn key(self) -> u32 {
        hash(self.label, self.sender)
    }

    /// The series of the same sender under another label.
    pub(crate) fn with_label(self, label: u32) -> Self {
        Self { label, ..self }
    }
}
