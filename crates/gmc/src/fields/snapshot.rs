//! The last fields of messages (small numbers such as channel and sender) in a snapshot. A snapshot
//! is the model as bytes, for a decoder that joins late; the archive writes and reads it.

use alloc::vec::Vec;

use super::{CHANNELS, Fields};
use crate::archive::{Archive, Result};
use crate::error::SnapshotError;
use crate::range_coder::Coder;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const CHANNEL: u32 = 0xf00;
const LAST: u32 = 0xf10;
const COUNTED: u32 = 0xf01;

impl Fields {
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
    ) -> Result<()> {
        self.channel.put(0, number(archive, CHANNEL, self.channel[0])?);
        for index in 0..self.last.len() {
            let context = LAST + (index % self.count) as u32;
            self.last.put(index, number(archive, context, self.last[index])?);
        }
        for index in 0..self.counted.len() {
            self.counted.put(index, number(archive, COUNTED, self.counted[index])?);
        }
        Ok(())
    }

    /// The channel and the sender of each message whose fields are remembered.
    pub(crate) fn known(&self) -> Vec<(u32, u32)> {
        let field =
            |base: usize, index| if index < self.count { self.last[base + index] } else { 0 };
        (0..CHANNELS)
            .map(|channel| channel * self.count)
            .map(|base| (field(base, 0), field(base, 1)))
            .collect()
    }
}

fn number<C: Coder + ?Sized>(
    archive: &mut Archive<'_, C>,
    context: u32,
    given: u32,
) -> Result<u32> {
    u32::try_from(archive.number(context, given.into())).map_err(|_| SnapshotError::Malformed)
}
