//! A value, and the hole that it fills.

use crate::series::Series;
use crate::template::Hole;

/// A value to be coded, and the hole that it fills.
pub(crate) struct Value<'a> {
    /// The hole. Its shape, which says how values are stored, may change with the value.
    pub(crate) hole: &'a mut Hole,
    /// A hash that stands for the sender of the message.
    pub(crate) sender: u32,
    /// The bytes of the value in the encoder; empty in the decoder.
    pub(crate) given: &'a [u8],
    /// The most bytes that a value of varying length may have.
    pub(crate) limit: usize,
}

impl Value<'_> {
    /// The series to which the value belongs: the values of this sender in this hole.
    pub(crate) fn series(&self) -> Series {
        Series { label: self.hole.label, sender: self.sender }
    }
}
