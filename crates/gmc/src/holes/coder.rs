//! The interface of the coders of holes. A hole is a place of a message where the value differs
//! from message to message; to "code" a value is to write it in the encoder and to read it in the
//! decoder.

use alloc::vec::Vec;

use crate::error::DecodeError;
use crate::keys::Seen;
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::series::Series;
use crate::template::Hole;

/// Codes the values of one kind of hole.
pub(crate) trait HoleCoder {
    /// Codes a value and appends its bytes to `out`. Returns what the value tells about keys (holes
    /// that tell to which sender or object the other values belong). Returns `None` if this kind of
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
