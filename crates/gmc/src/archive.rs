//! The archive: writes and reads a snapshot, which is the model as bytes for a decoder that joins
//! late. (The model is all that both ends have learned from earlier messages.)
//!
//! To "code" a value is to write it when a snapshot is made, and to read it when a snapshot is
//! taken in. Values are coded as yes-or-no decisions by the range coder. Each decision is predicted
//! by its context, a number that stands for the kind of value. These statistics start empty and
//! belong to the archive alone.

use alloc::vec::Vec;

use crate::contexts::ContextTable;
use crate::error::SnapshotError;
use crate::hash::hash;
use crate::history::StringPlace;
use crate::integer::{Contexts, code_signed, code_unsigned};
use crate::literal::{LiteralCoder, Setting};
use crate::pass::Pass;
use crate::range_coder::Coder;

/// Writes or reads a snapshot. The same code does both, so that writer and reader cannot diverge:
/// each method takes the value to write as `given`, and returns the value that was written or read.
pub(crate) struct Archive<'a, C: ?Sized> {
    pub(crate) coder: &'a mut C,
    contexts: ContextTable,
    literals: LiteralCoder,
    /// The place of the string that was coded last. The next string may start with the same bytes.
    last: StringPlace,
    /// All hashes that were coded so far, without repetition.
    names: Vec<u32>,
}

pub(crate) type Result<T> = core::result::Result<T, SnapshotError>;

/// Bytes of memory for the archive's own statistics: enough for a row of probabilities for each
/// context that the archive uses.
const CONTEXTS: usize = 32 << 10;
/// Bytes of memory for the statistics of single bytes, and for earlier strings: enough for a
/// snapshot of a large model.
const BYTE_CONTEXTS: usize = 16 << 10;
const STRINGS: usize = 96 << 10;

impl<'a, C: Coder + ?Sized> Archive<'a, C> {
    pub(crate) fn new(coder: &'a mut C) -> Self {
        Self {
            coder,
            contexts: ContextTable::new(CONTEXTS),
            literals: LiteralCoder::new(BYTE_CONTEXTS, STRINGS),
            last: StringPlace::default(),
            names: Vec::new(),
        }
    }

    fn pass(&mut self) -> Pass<'_, C> {
        Pass::immediate(self.coder, &mut self.contexts)
    }

    /// Whether the archive reads a snapshot. If not, it writes one.
    pub(crate) fn decodes(&self) -> bool {
        self.coder.decodes()
    }

    /// Fails if more was read than the snapshot holds.
    pub(crate) fn check(&self) -> Result<()> {
        if self.coder.is_exhausted() { Err(SnapshotError::Malformed) } else { Ok(()) }
    }

    pub(crate) fn flag(&mut self, context: u32, given: bool) -> bool {
        let mut pass = self.pass();
        let row = pass.single(context);
        pass.bit(row, 0, given)
    }

    /// Codes four bits as a binary tree of decisions, the highest bit first.
    pub(crate) fn nibble(&mut self, context: u32, given: u8) -> u8 {
        let mut pass = self.pass();
        let row = pass.single(context);
        pass.tree(row, 4, given)
    }

    pub(crate) fn number(&mut self, context: u32, given: u64) -> u64 {
        code_unsigned(&mut self.pass(), Contexts::single(context), given)
    }

    pub(crate) fn signed(&mut self, context: u32, given: i64) -> i64 {
        code_signed(&mut self.pass(), Contexts::single(context), given)
    }

    /// Codes a number of at most `most`. A larger one is an error when reading.
    pub(crate) fn up_to(&mut self, context: u32, most: usize, given: usize) -> Result<usize> {
        let number = self.number(context, given as u64);
        usize::try_from(number)
            .ok()
            .filter(|&number| number <= most)
            .ok_or(SnapshotError::Malformed)
    }

    pub(crate) fn byte(&mut self, context: u32, given: u8) -> Result<u8> {
        Ok(self.up_to(context, 255, given.into())? as u8)
    }

    /// Codes `bits` bits, each with a probability of one half.
    pub(crate) fn raw(&mut self, bits: u32, given: u32) -> u32 {
        (0..bits).rev().fold(0, |value, shift| {
            value << 1 | u32::from(self.coder.bit(1 << 15, given >> shift & 1 == 1))
        })
    }

    /// Codes a hash. One that was coded before is coded by its distance in the list of all hashes.
    pub(crate) fn name(&mut self, context: u32, given: u32) -> Result<u32> {
        let at = self.names.iter().rposition(|&name| name == given);
        let back = at.map_or(0, |at| self.names.len() - at);
        let back = self.up_to(context, self.names.len(), back)?;
        if back > 0 {
            return Ok(self.names[self.names.len() - back]);
        }
        let name = self.raw(32, given);
        self.names.push(name);
        Ok(name)
    }

    /// Codes a string. It is cheap if it is similar to an earlier string.
    pub(crate) fn string(&mut self, label: u32, limit: usize, given: &[u8]) -> Result<Vec<u8>> {
        let mut string = Vec::new();
        let setting = Setting {
            label: hash(label, 0x57),
            before: [0; 2],
            like: Some(self.last),
            limit,
            is_fixed: false,
            has_runs: false,
        };
        self.last = self
            .literals
            .code(
                &mut Pass::immediate(self.coder, &mut self.contexts),
                &setting,
                given,
                &mut string,
            )
            .map_err(|_| SnapshotError::Malformed)?;
        Ok(string)
    }

    /// Codes a value as its difference from `guess`.
    pub(crate) fn number_like(&mut self, context: u32, guess: i64, given: i64) -> i64 {
        guess.wrapping_add(self.signed(context, given.wrapping_sub(guess)))
    }
}
