//! Number lines (which numbers can be at a place of a message, and how they are written) in a
//! snapshot. A snapshot is the model as bytes, for a decoder that joins late; the archive writes
//! and reads it.

use super::{Kind, NumberLine, ORDINAL_MAX};
use crate::archive::{Archive, Result};
use crate::error::SnapshotError;
use crate::float_text::{DECIMALS_MAX, Tie};
use crate::range_coder::Coder;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const SAME: u32 = 0xc00;
const KIND: u32 = 0xc01;
const DECIMALS: u32 = 0xc02;
const POINT: u32 = 0xc03;
const TIE: u32 = 0xc04;

const KINDS: [Kind; 5] = [Kind::Fixed, Kind::Trimmed, Kind::Single, Kind::Widened, Kind::Double];

impl NumberLine {
    pub(crate) fn archive<C: Coder + ?Sized>(
        self,
        archive: &mut Archive<'_, C>,
        guess: Self,
    ) -> Result<Self> {
        if archive.flag(SAME, self == guess) {
            return Ok(guess);
        }
        let kind = KINDS.iter().position(|&kind| kind == self.kind).unwrap_or(0);
        let kind = KINDS[archive.up_to(KIND, KINDS.len() - 1, kind)?];
        let most = usize::try_from(DECIMALS_MAX).map_err(|_| SnapshotError::Malformed)?;
        let decimals = archive.up_to(DECIMALS, most, self.decimals.into())? as u8;
        let point = archive.flag(POINT, self.point);
        let tie = if archive.flag(TIE, self.tie == Tie::Up) { Tie::Up } else { Tie::Even };
        Ok(Self { kind, decimals, point, tie })
    }

    /// Whether a number on this line has this ordinal: its count when the numbers are sorted.
    pub(crate) fn has(self, ordinal: i64) -> bool {
        match self.binary() {
            Some(binary) => binary.has(ordinal),
            None => ordinal.unsigned_abs() <= ORDINAL_MAX,
        }
    }
}
