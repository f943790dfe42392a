//! The interface of the coders of holes.

use alloc::vec::Vec;

use crate::error::DecodeError;
use crate::keys::Seen;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::series::Series;
use crate::template::Hole;

/// Codes the values of one kind of hole.
pub(crate) trait HoleCoder {
    /// Codes a value and appends its bytes to `out`. Returns what the value tells about keys, or `None` if this kind of
    /// hole takes no part in the search for keys.
    fn code<C: Coder + ?Sized>(
        self,
        pass: &mut Pass<'_, C>,
        value: Value<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Seen>, DecodeError>;
}

/// A value to be coded, and the hole that it fills.
pub(crate) struct Value<'a> {
    /// The hole, whose shape may change with the value.
    pub(crate) hole: &'a mut Hole,
    /// Stands for the sender of the message.
    pub(crate) sender: u32,
    /// The bytes of the value; empty if they are decoded.
    pub(crate) given: &'a [u8],
    /// The most bytes that a value of varying length may have.
    pub(crate) limit: usize,
}

impl Value<'_> {
    /// The sender's values in this hole.
    pub(crate) fn series(&self) -> Series {
        Series { label: self.hole.label, sender: self.sender }
    }
}
