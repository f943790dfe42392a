//! Grids (scale and offset of the numbers in a hole, a place of a message where values differ) in a
//! snapshot. A snapshot is the model as bytes, for a decoder that joins late; the archive writes
//! and reads it.

use super::{BELIEF_MAX, GRAIN_MAX, Grid, PERIOD, STEPS_MAX};
use crate::archive::{Archive, Result};
use crate::error::SnapshotError;
use crate::range_coder::Coder;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const LOW: u32 = 0xb00;
const SPAN: u32 = 0xb01;
const LAST: u32 = 0xb02;
const INDEX: u32 = 0xb03;
const STEPS: u32 = 0xb04;
const BELIEF: u32 = 0xb05;
const GRAIN: u32 = 0xb06;
const COMMON: u32 = 0xb07;
const CHANGES: u32 = 0xb08;

impl Grid {
    /// Writes or reads a grid. It takes few bits if it resembles `guess`, another grid.
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
        guess: &Self,
    ) -> Result<()> {
        self.line = self.line.archive(archive, guess.line)?;
        self.low = archive.number_like(LOW, guess.low, self.low);
        self.high = archive.number_like(SPAN, self.low, self.high);
        self.last = archive.number_like(LAST, self.low, self.last);
        self.low_index = archive.signed(INDEX, self.low_index.into()) as i32;
        self.steps = archive.up_to(STEPS, STEPS_MAX as usize, self.steps as usize)? as u32;
        self.belief = archive.up_to(BELIEF, BELIEF_MAX.into(), self.belief.into())? as u8;
        self.grain = archive.up_to(GRAIN, GRAIN_MAX as usize, self.grain.into())? as u8;
        self.common = archive.byte(COMMON, self.common)?;
        self.changes = archive.up_to(CHANGES, usize::from(PERIOD) - 1, self.changes.into())? as u8;
        if self.is_sound() { Ok(()) } else { Err(SnapshotError::Malformed) }
    }

    /// Whether the grid can be the result of learning. The methods of [`Grid`] rely on this.
    fn is_sound(&self) -> bool {
        let ends = [self.low, self.high, self.last];
        ends.into_iter().all(|ordinal| self.line.has(ordinal))
            && i64::from(self.low_index).abs() <= 2 * STEPS_MAX
            && (self.steps == 0 || self.low < self.high)
    }
}
