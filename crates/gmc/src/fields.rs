//! The small numbers that travel with each message.

use alloc::vec::Vec;
use core::mem::size_of;

use crate::error::DecodeError;
use crate::hash::hash;
use crate::integer::{Contexts, code_unsigned};
use crate::model::Rows;
use crate::range_coder::Coder;
use crate::table::{Table, Versioned};

mod snapshot;

/// The last values of each field in each channel.
#[derive(Clone)]
pub(crate) struct Fields {
    count: usize,
    last: Table<u32>,
    channel: Table<u32>,
}

/// Channels remembered apart. More share: the values are only expectations.
const CHANNELS: usize = 16;
/// Bytes of state for each field.
pub(crate) const MEMORY: usize = CHANNELS * size_of::<u32>();

impl Fields {
    pub(crate) fn new(count: usize) -> Self {
        Self { count, last: Table::new(0, count * CHANNELS), channel: Table::new(0, 1) }
    }

    pub(crate) fn memory(&self) -> usize {
        self.last.memory()
    }

    /// Visits all that has versions.
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.last);
        visit(&mut self.channel);
    }

    /// Codes the fields of a message and appends them to `out`.
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        coder: &mut C,
        rows: &mut Rows,
        given: &[u32],
        out: &mut Vec<u32>,
    ) -> Result<(), DecodeError> {
        // The channel depends on the channel before, all other fields on the channel and on
        // themselves.
        let mut channel = self.channel[0];
        let mut base = 0;
        let mut repeated = true;
        for index in 0..self.count {
            let last = if index == 0 { self.channel[0] } else { self.last[base + index] };
            let given = given.get(index).copied().unwrap_or(0);
            let general = hash(hash(0xf1e1d, index as u32), channel);
            let special = hash(hash(general, last), u32::from(repeated));
            let row = rows.pair(general, special);
            let value = if rows.bit(coder, row, SAME, given == last) {
                repeated = true;
                last
            } else {
                repeated = false;
                let contexts = Contexts { general: hash(general, 1), special: hash(special, 1) };
                let value = code_unsigned(coder, rows, contexts, u64::from(given));
                u32::try_from(value).map_err(|_| DecodeError::Malformed)?
            };
            if index == 0 {
                channel = value;
                *self.channel.change(0) = value;
                base = value as usize % CHANNELS * self.count;
            }
            *self.last.change(base + index) = value;
            out.push(value);
        }
        Ok(())
    }
}

/// The decision whether a field is what it was in the channel's last message.
const SAME: usize = 0;
