//! The format of a record in a shard's log.
//!
//! ```text
//! record  = version u8, kind u8, shard u16, epoch u64, number u64, time u64, previous u32, body,
//!           crc u32
//! body    = claim: mends u8, owner | release: name | changes: payload | blob: blob
//!         | base: blob, cursor
//! blob    = name, length u32, crc u32
//! owner   = name, incarnation u64, address
//! ```
//!
//! Integers are little-endian; names and addresses stand behind a u16 with their length. `crc` is
//! the CRC-32C of all bytes before it, in this and in all later versions, and `previous` repeats
//! the `crc` of the record before: together they make a chain that tells whether a record follows
//! the one that its writer knew. `time` is the writer's wall clock, which nobody compares.

use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use crate::bytes::{Malformed, Reader, put_sized};
use crate::crc::crc32c;
use crate::cursor::Cursor;
use crate::limits::{MAX_BLOB_NAME, MAX_INLINE, MAX_RECORD};
use crate::owner::{NodeName, Owner};

/// The version of records that this crate writes.
pub const VERSION: u8 = 1;

const CRC_BYTES: usize = 4;

/// A record of a shard's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The shard.
    pub shard: u16,
    /// The number of claims so far; a claim raises it.
    pub epoch: u64,
    /// The record's number: dense within a shard, from 1.
    pub number: u64,
    /// The writer's wall clock in milliseconds since 1970.
    pub time: u64,
    /// The CRC of the record before; 0 in the first one.
    pub previous: u32,
    /// What the record says.
    pub body: Body,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A process takes the shard.
    Claim {
        /// The process.
        owner: Owner,
        /// True if records before this one are damaged or lost, and the claim continues with what
        /// the process had applied.
        mends: bool,
    },
    /// The owner gives the shard up for another node to claim.
    Release {
        /// The node.
        to: NodeName,
    },
    /// Changes of rooms.
    Changes(Vec<u8>),
    /// Changes that are too large for a record.
    Blob(BlobRef),
    /// The blob holds everything up to the cursor, so that a node can begin there.
    Base {
        /// The blob.
        blob: BlobRef,
        /// Where the blob ends; a few records may stand between it and this one.
        cursor: Cursor,
    },
}

/// The name of a blob, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobRef {
    /// The name, which begins with shard and number.
    pub name: String,
    /// Bytes of the blob.
    pub length: u32,
    /// The CRC-32C of the blob.
    pub crc: u32,
}

/// The reason why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The bytes are damaged: their checksum differs, or they are too short for one.
    #[error("the checksum of a record of {0} bytes is wrong: the engine or its disk damaged it")]
    Checksum(usize),
    /// A newer version of the program wrote the record.
    #[error("a record has version {0}, which this program cannot read: update it")]
    Newer(u8),
    /// The checksum is right and the fields are not: something else writes to this log.
    #[error("the fields of a record are malformed: something else writes to this log")]
    Malformed,
    /// The record is larger than any that is written.
    #[error("a record has {0} bytes, which is above the limit")]
    TooLarge(usize),
}

impl From<Malformed> for RecordError {
    fn from(Malformed: Malformed) -> Self {
        Self::Malformed
    }
}

impl Record {
    /// The record that `bytes` are.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordError> {
        if bytes.len() > MAX_RECORD {
            return Err(RecordError::TooLarge(bytes.len()));
        }
        let Some((fields, crc)) = bytes.split_last_chunk::<CRC_BYTES>() else {
            return Err(RecordError::Checksum(bytes.len()));
        };
        if crc32c(fields) != u32::from_le_bytes(*crc) {
            return Err(RecordError::Checksum(bytes.len()));
        }
        let mut reader = Reader(fields);
        match reader.u8()? {
            VERSION => {}
            0 => return Err(RecordError::Malformed),
            newer => return Err(RecordError::Newer(newer)),
        }
        let kind = reader.u8()?;
        let record = Self {
            shard: reader.u16()?,
            epoch: reader.u64()?,
            number: reader.u64()?,
            time: reader.u64()?,
            previous: reader.u32()?,
            body: Body::read(kind, &mut reader)?,
        };
        reader.end()?;
        Ok(record)
    }

    /// The record in bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.body.payload().len());
        out.push(VERSION);
        out.push(self.body.kind());
        out.extend_from_slice(&self.shard.to_le_bytes());
        for field in [self.epoch, self.number, self.time] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        out.extend_from_slice(&self.previous.to_le_bytes());
        self.body.write(&mut out);
        let crc = crc32c(&out);
        out.extend_from_slice(&crc.to_le_bytes());
        out
    }
}

/// The CRC at the end of a record.
pub(crate) fn crc_of(record: &[u8]) -> u32 {
    record.last_chunk::<CRC_BYTES>().map_or(0, |crc| u32::from_le_bytes(*crc))
}

impl Body {
    fn kind(&self) -> u8 {
        match self {
            Self::Claim { .. } => 1,
            Self::Release { .. } => 2,
            Self::Changes(_) => 3,
            Self::Blob(_) => 4,
            Self::Base { .. } => 5,
        }
    }

    fn payload(&self) -> &[u8] {
        if let Self::Changes(payload) = self { payload } else { &[] }
    }

    fn read(kind: u8, reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match kind {
            1 => Self::Claim { mends: reader.flag()?, owner: Owner::read(reader)? },
            2 => Self::Release { to: NodeName::read(reader)? },
            3 if reader.0.len() > MAX_INLINE => return Err(Malformed),
            3 => Self::Changes(reader.take(reader.0.len())?.into()),
            4 => Self::Blob(BlobRef::read(reader)?),
            5 => Self::Base { blob: BlobRef::read(reader)?, cursor: Cursor::read(reader)? },
            _ => return Err(Malformed),
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Claim { owner, mends } => {
                out.push(u8::from(*mends));
                owner.write(out);
            }
            Self::Release { to } => to.write(out),
            Self::Changes(payload) => out.extend_from_slice(payload),
            Self::Blob(blob) => blob.write(out),
            Self::Base { blob, cursor } => {
                blob.write(out);
                cursor.write(out);
            }
        }
    }
}

impl BlobRef {
    /// The reference to `bytes` under `name`.
    pub(crate) fn new(name: String, bytes: &[u8]) -> Self {
        let length = u32::try_from(bytes.len()).expect("payloads have a limit");
        Self { name, length, crc: crc32c(bytes) }
    }

    /// True if `bytes` are the blob.
    pub(crate) fn is_of(&self, bytes: &[u8]) -> bool {
        u32::try_from(bytes.len()) == Ok(self.length) && crc32c(bytes) == self.crc
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let name = core::str::from_utf8(reader.sized(MAX_BLOB_NAME)?).map_err(|_| Malformed)?;
        Ok(Self { name: name.into(), length: reader.u32()?, crc: reader.u32()? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_sized(out, self.name.as_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        out.extend_from_slice(&self.crc.to_le_bytes());
    }
}

#[cfg(test)]
mod tests;
