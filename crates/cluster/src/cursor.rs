//! A position in a shard's log, with all that is needed to continue there.

use alloc::vec::Vec;

use thiserror::Error;

use crate::bytes::{Malformed, Reader};
use crate::owner::Owner;

const VERSION: u8 = 1;

/// A position in a shard's log: everything up to it is applied.
///
/// The driver saves it in the same commit as what it applied, and gives it to
/// [`Cluster::new`](crate::Cluster::new) when it starts again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The engine's sequence of the last record; 0 before the first one.
    pub sequence: u64,
    /// The number of the last record; 0 before the first one.
    pub number: u64,
    /// The epoch of the last claim.
    pub epoch: u64,
    /// The CRC of the last record, which the next one repeats.
    pub crc: u32,
    /// The end of the newest base; zeros without a base.
    pub base: Place,
    /// The process that claimed the shard last, unless it has released it.
    pub owner: Option<Owner>,
}

/// A place in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The engine's sequence.
    pub sequence: u64,
    /// The record's number.
    pub number: u64,
}

/// The bytes are not a cursor that this version wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the saved cursor of a shard is damaged, or a newer version wrote it")]
pub struct CursorError;

impl Cursor {
    /// The cursor of bytes that [`Self::to_bytes`] gave.
    pub fn parse(bytes: &[u8]) -> Result<Self, CursorError> {
        let mut reader = Reader(bytes);
        let cursor = Self::read(&mut reader).map_err(|Malformed| CursorError)?;
        reader.end().map_err(|Malformed| CursorError)?;
        Ok(cursor)
    }

    /// The cursor in bytes, for the driver to save.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    pub(crate) fn place(&self) -> Place {
        Place { sequence: self.sequence, number: self.number }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        if reader.u8()? != VERSION {
            return Err(Malformed);
        }
        Ok(Self {
            sequence: reader.u64()?,
            number: reader.u64()?,
            epoch: reader.u64()?,
            crc: reader.u32()?,
            base: Place { sequence: reader.u64()?, number: reader.u64()? },
            owner: if reader.flag()? { Some(Owner::read(reader)?) } else { None },
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        for field in [self.sequence, self.number, self.epoch] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        out.extend_from_slice(&self.crc.to_le_bytes());
        out.extend_from_slice(&self.base.sequence.to_le_bytes());
        out.extend_from_slice(&self.base.number.to_le_bytes());
        out.push(u8::from(self.owner.is_some()));
        if let Some(owner) = &self.owner {
            owner.write(out);
        }
    }
}
