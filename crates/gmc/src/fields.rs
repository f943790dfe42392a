//! The fields: small numbers that travel with each message, first its channel, then its sender.
//!
//! To "code" is to write in the encoder and to read in the decoder.

use alloc::vec::Vec;
use core::mem::size_of;

use crate::config::Config;
use crate::error::DecodeError;
use crate::hash::hash;
use crate::integer::{Contexts, code_signed, code_unsigned};
use crate::pass::Pass;
use crate::range_coder::Coder;
use crate::table::{Table, Versioned};

mod snapshot;

/// The last value of each field in each channel, which predicts the next one.
#[derive(Clone)]
pub(crate) struct Fields {
    count: usize,
    /// A bit for each field, the lowest for the first. It is set if the field is a counter: see
    /// [`Config::counters`].
    counters: u32,
    last: Table<u32>,
    /// The last value of each counter, by channel and sender.
    counted: Table<u32>,
    channel: Table<u32>,
}

/// The number of channels whose fields are remembered separately. If there are more, several share
/// an entry, which only makes the predictions worse.
const CHANNELS: usize = 16;
/// Bytes of memory for each field.
pub(crate) const MEMORY: usize = CHANNELS * size_of::<u32>();
/// The number of combinations of channel and sender whose counters are remembered separately.
const SENDERS: usize = 64;
/// Bytes of memory for each counter.
pub(crate) const COUNTER_MEMORY: usize = SENDERS * size_of::<u32>();

impl Fields {
    pub(crate) fn new(config: &Config) -> Self {
        let count = config.field_count();
        Self {
            count,
            counters: config.counter_bits(),
            last: Table::new(0, count * CHANNELS),
            counted: Table::new(0, config.counter_count() * SENDERS),
            channel: Table::new(0, 1),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.last.memory() + self.counted.memory()
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.last);
        visit(&mut self.counted);
        visit(&mut self.channel);
    }

    /// Codes the fields of a message and appends them to `out`. `is_first` says that it is the
    /// first message of its packet.
    pub(crate) fn code<C: Coder + ?Sized>(
        &mut self,
        pass: &mut Pass<'_, C>,
        is_first: bool,
        given: &[u32],
        out: &mut Vec<u32>,
    ) -> Result<(), DecodeError> {
        // The channel is predicted by the last message's channel, all other fields by the channel
        // and by their last values in it.
        let mut channel = self.channel[0];
        let mut base = 0;
        let mut repeated = true;
        let start = out.len();
        let mut counter = 0;
        // A counter is likely to grow by as much as the counter before it in the same message.
        let mut step = u32::from(is_first);
        for index in 0..self.count {
            if self.counters >> index & 1 == 1 {
                let sender = out.get(start + 1).copied().unwrap_or(0);
                let slot = hash(hash(0xc0de, channel), sender) as usize % SENDERS;
                let slot = counter * SENDERS + slot;
                let last = self.counted[slot];
                let given = given.get(index).copied().unwrap_or(0);
                let general = hash(hash(0xc0f1e1d, index as u32), channel);
                let contexts = Contexts { general, special: hash(general, step) };
                let difference = i64::from(given.wrapping_sub(last) as i32);
                let difference = code_signed(pass, contexts, difference);
                step = i32::try_from(difference).map_err(|_| DecodeError::Malformed)? as u32;
                let value = last.wrapping_add(step);
                *self.counted.change(slot) = value;
                counter += 1;
                out.push(value);
                continue;
            }
            let last = if index == 0 { self.channel[0] } else { self.last[base + index] };
            let given = given.get(index).copied().unwrap_or(0);
            let general = hash(hash(0xf1e1d, index as u32), channel);
            let special = hash(hash(general, last), u32::from(repeated));
            let row = pass.pair(general, special);
            let value = if pass.bit(row, SAME, given == last) {
                repeated = true;
                last
            } else {
                repeated = false;
                let contexts = Contexts { general: hash(general, 1), special: hash(special, 1) };
                let value = code_unsigned(pass, contexts, u64::from(given));
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

/// The index of the decision whether a field is the same as in the channel's last message.
const SAME: usize = 0;
