//! Shapes (how the values at one place of binary messages are stored) in a snapshot. A snapshot is
//! the state that both ends have learned, as bytes for a decoder that joins late. The archive
//! writes and reads snapshots.

use super::{DOUBTS_MAX, FLOAT, LITTLE_ENDIAN, RETURNS, STRAYS_MAX, Shape, ZIGZAG};
use crate::archive::{Archive, Result};
use crate::binary::float::GRID_MAX;
use crate::range_coder::Coder;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const SAME: u32 = 0x800;
const GRID: u32 = 0x801;
const FORM: u32 = 0x802;
const DOUBTS: u32 = 0x803;
const STRAYS: u32 = 0x804;

impl Shape {
    pub(crate) fn archive<C: Coder + ?Sized>(
        archive: &mut Archive<'_, C>,
        guess: Self,
        given: Self,
    ) -> Result<Self> {
        if archive.flag(SAME, given == guess) {
            return Ok(guess);
        }
        let grid = archive.up_to(GRID, GRID_MAX.into(), given.grid.into())? as u16;
        let form =
            archive.up_to(FORM, (LITTLE_ENDIAN | FLOAT | ZIGZAG).into(), given.form.into())?;
        let most = usize::from(DOUBTS_MAX - 1);
        let order_doubts = archive.up_to(DOUBTS, most, given.order_doubts.into())? as u8;
        let kind_doubts = archive.up_to(DOUBTS, most, given.kind_doubts.into())? as u8;
        let most = usize::from(if grid == 0 { RETURNS } else { STRAYS_MAX } - 1);
        let strays = archive.up_to(STRAYS, most, given.strays.into())? as u8;
        Ok(Self { grid, form: form as u8, order_doubts, kind_doubts, strays })
    }
}
