//! Probabilities in a snapshot, and what compaction leaves of them.

use super::{Bit, ByteContexts, ROW, Rows, USES};
use crate::archive::{Archive, Result};
use crate::hash::hash;
use crate::range_coder::Coder;

/// The probabilities that compaction rounds to, in 1/4096: finer where a small difference costs
/// much. They are symmetric around one half.
const LEVELS: [u16; 16] =
    [16, 48, 110, 220, 400, 680, 1080, 1640, 2455, 3015, 3415, 3695, 3875, 3985, 4047, 4079];
/// What compaction makes of how often a probability was adapted. Once is as good as never; and what
/// was settled long ago adapts a little faster again, since rounding made it less precise.
const AGES: [u16; 16] = [0, 0, 3, 3, 3, 6, 6, 6, 6, 6, 13, 13, 13, 13, 13, 13];
/// What compaction makes of how much a row is used.
const ROUND_USES: [u16; 8] = [0, 2, 5, 10, 16, 22, 27, USES];

// Contexts.
const ROW_USED: u32 = 0x100;
const ROW_USES: u32 = 0x101;
const EVEN: u32 = 0x200;
const AGE: u32 = 0x300;
const LEVEL: u32 = 0x400;
const ROUNDED: u32 = 0x500;
const REST: u32 = 0x501;
const EMPTY: u32 = 0x502;
const LETTER: u32 = 0x503;

fn level(p: u16) -> usize {
    let upper = LEVELS.iter().position(|&level| level >= p).unwrap_or(LEVELS.len() - 1);
    if upper > 0 && p.abs_diff(LEVELS[upper - 1]) < p.abs_diff(LEVELS[upper]) {
        upper - 1
    } else {
        upper
    }
}

impl Bit {
    /// Codes the state of a decision: whether it was never taken, else its age and its level.
    pub(crate) fn archive<C: Coder + ?Sized>(
        self,
        archive: &mut Archive<'_, C>,
        context: u32,
    ) -> Self {
        if archive.flag(hash(EVEN, context), self == Self::EVEN) {
            return Self::EVEN;
        }
        let age = archive.nibble(AGE, self.age() as u8);
        let p = self.0 >> 4;
        let level = archive.nibble(hash(LEVEL, u32::from(age)), level(p) as u8);
        let rounded = LEVELS[usize::from(level)];
        let p = if archive.flag(ROUNDED, p == rounded) {
            rounded
        } else {
            archive.number_like(REST, rounded.into(), p.into()) as u16 & 0xfff
        };
        Self(p << 4 | u16::from(age))
    }

    /// What compaction makes of it.
    pub(crate) fn rounded(self) -> Self {
        match AGES[self.age()] {
            0 => Self::EVEN,
            age => Self(LEVELS[level(self.0 >> 4)] << 4 | age),
        }
    }
}

impl Rows {
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
    ) -> Result<()> {
        for first in (0..self.cells.len()).step_by(ROW) {
            let is_used = !archive.coder.decodes()
                && (first..first + ROW).any(|cell| self.cells[cell] != Bit(0));
            if !archive.flag(ROW_USED, is_used) {
                continue;
            }
            let tag = self.cells[first].0;
            let uses = archive.up_to(ROW_USES, usize::from(USES), (tag & USES).into())? as u16;
            let check = (archive.raw(11, u32::from(tag >> 5)) as u16) << 5;
            self.cells.put(first, Bit(check | uses));
            let mut even = false;
            for cell in 1..ROW {
                let bit =
                    self.cells[first + cell].archive(archive, cell as u32 * 2 + u32::from(even));
                self.cells.put(first + cell, bit);
                even = bit == Bit::EVEN;
            }
            archive.check()?;
        }
        Ok(())
    }

    /// Rounds, and forgets rows that are used less than so much.
    pub(crate) fn compact(&mut self, least: u16) {
        for first in (0..self.cells.len()).step_by(ROW) {
            let tag = self.cells[first].0;
            let uses = tag & USES;
            if uses < least {
                for cell in first..first + ROW {
                    self.cells.put(cell, Bit(0));
                }
                continue;
            }
            let rounded = ROUND_USES.iter().rev().find(|&&rounded| rounded <= uses);
            self.cells.put(first, Bit(tag & !USES | rounded.copied().unwrap_or(0)));
            for cell in first + 1..first + ROW {
                let bit = self.cells[cell].rounded();
                self.cells.put(cell, bit);
            }
        }
    }
}

impl ByteContexts {
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
    ) -> Result<()> {
        if archive.flag(EMPTY, self.bits.iter().all(|&bit| bit == Bit::EVEN)) {
            return Ok(());
        }
        for index in 0..self.bits.len() {
            let bit = self.bits[index].archive(archive, LETTER);
            self.bits.put(index, bit);
            archive.check()?;
        }
        Ok(())
    }

    /// Rounds, or forgets everything.
    pub(crate) fn compact(&mut self, keeps: bool) {
        for index in 0..self.bits.len() {
            let bit = if keeps { self.bits[index].rounded() } else { Bit::EVEN };
            self.bits.put(index, bit);
        }
    }
}
