//! Categories (the last different numbers of a hole) in a snapshot, and what compaction keeps of
//! them.
//!
//! A hole is a place of a message where the value differs from message to message. A snapshot is
//! the model as bytes, for a decoder that joins late; the archive writes and reads it. Compaction
//! makes a model small by rounding and forgetting.

use super::{Category, Novelty, identity};
use crate::archive::{Archive, Result};
use crate::range_coder::Coder;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const USED: u32 = 0xe00;
const RANK: u32 = 0xe01;
const NOVELTY: u32 = 0xe02;
const VALUE: u32 = 0xe03;

impl Category {
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
    ) -> Result<()> {
        self.novelty = self.novelty.archive(archive)?;
        let used = archive.up_to(USED, Self::VALUES, self.used.into())?;
        self.used = used as u8;
        self.rank = archive.up_to(RANK, Self::VALUES - 1, self.rank.into())? as u8;
        let mut before = 0;
        for rank in 0..used {
            let value = archive.number_like(VALUE, before, self.value(rank));
            self.values[rank] = value as i32;
            self.unsigned |= u8::from(value > i32::MAX.into()) << rank;
            before = value;
        }
        Ok(())
    }

    /// Rounds the share of new values. Forgets the values unless the hole has one of a few values
    /// as a rule.
    pub(crate) fn compact(&mut self) {
        self.novelty = self.novelty.rounded();
        if !self.is_few() {
            self.values = [0; Self::VALUES];
            self.unsigned = 0;
            self.used = 0;
            self.rank = 0;
        }
    }

    /// The identities of the known values: the hashes that [`Seen::identity`](crate::keys::Seen)
    /// has for them.
    pub(crate) fn identities(&self) -> impl Iterator<Item = u32> + '_ {
        self.known().map(identity)
    }
}

impl Novelty {
    pub(crate) fn archive<C: Coder + ?Sized>(self, archive: &mut Archive<'_, C>) -> Result<Self> {
        Ok(Self(archive.byte(NOVELTY, self.0)?))
    }

    /// Rounds the share of new values. A share below [`Novelty::LOW`] stays below it.
    pub(crate) fn rounded(self) -> Self {
        match self.0 {
            0..8 => Self(0),
            8..Self::LOW => Self(16),
            Self::LOW..128 => Self(64),
            128..224 => Self(128),
            _ => Self(255),
        }
    }
}
