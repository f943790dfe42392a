//! The [`Format`] of the numbers of a hole in a snapshot. A snapshot is the model (all that both
//! ends have learned) as bytes, for a decoder that joins late; the archive writes and reads it.

use super::Format;
use crate::archive::{Archive, Result};
use crate::error::SnapshotError;
use crate::range_coder::Coder;
use crate::token::DIGITS_MAX;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const SAME: u32 = 0xa00;
const WIDTH: u32 = 0xa01;
const DECIMALS: u32 = 0xa02;
const ZEROS: u32 = 0xa03;

impl Format {
    pub(crate) fn archive<C: Coder + ?Sized>(
        self,
        archive: &mut Archive<'_, C>,
        guess: Self,
    ) -> Result<Self> {
        if archive.flag(SAME, self == guess) {
            return Ok(guess);
        }
        let width = archive.up_to(WIDTH, DIGITS_MAX, self.width.into())? as u8;
        let decimals = archive.up_to(DECIMALS, Self::SPLIT.into(), self.decimals.into())? as u8;
        let zeros = archive.up_to(ZEROS, super::DECIMALS_MAX.into(), self.zeros.into())? as u8;
        if width == 0 { Err(SnapshotError::Malformed) } else { Ok(Self { width, decimals, zeros }) }
    }
}
