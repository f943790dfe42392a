//! A node's beat: the bytes that it stores each second to show that it lives.

use alloc::vec::Vec;

use crate::bytes::{Malformed, Reader, put_sized};
use crate::limits::{MAX_ADDRESS, MAX_BEAT, MAX_SHARDS};

const VERSION: u8 = 1;

/// What a node says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Beat {
    pub(crate) incarnation: u64,
    /// Beats of this process so far: of two processes with one name, the older one has more.
    pub(crate) count: u64,
    pub(crate) draining: bool,
    pub(crate) address: Vec<u8>,
    /// The shards that the node cannot claim.
    pub(crate) unfit: Vec<Unfit>,
}

/// A shard that a node cannot claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfit {
    pub(crate) shard: u16,
    /// The number of the last record that the node has applied.
    pub(crate) number: u64,
    /// True if the log does not continue there; false if the node only has not read it all.
    pub(crate) is_stuck: bool,
    /// True if the log has lost records that the node had applied, and nobody has mended it since.
    pub(crate) has_lost: bool,
}

impl Beat {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.len() > MAX_BEAT {
            return Err(Malformed);
        }
        let mut reader = Reader(bytes);
        if reader.u8()? != VERSION {
            return Err(Malformed);
        }
        let (incarnation, count) = (reader.u64()?, reader.u64()?);
        let (draining, address) = (reader.flag()?, reader.sized(MAX_ADDRESS)?.into());
        let shards = reader.u16()?;
        if shards > MAX_SHARDS {
            return Err(Malformed);
        }
        let unfit = (0..shards).map(|_| Unfit::read(&mut reader)).collect::<Result<_, _>>()?;
        reader.end()?;
        Ok(Self { incarnation, count, draining, address, unfit })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.push(VERSION);
        out.extend_from_slice(&self.incarnation.to_le_bytes());
        out.extend_from_slice(&self.count.to_le_bytes());
        out.push(u8::from(self.draining));
        put_sized(&mut out, &self.address);
        let shards = u16::try_from(self.unfit.len()).expect("there are at most 1024 shards");
        out.extend_from_slice(&shards.to_le_bytes());
        for unfit in &self.unfit {
            out.extend_from_slice(&unfit.shard.to_le_bytes());
            out.extend_from_slice(&unfit.number.to_le_bytes());
            out.push(u8::from(unfit.is_stuck));
            out.push(u8::from(unfit.has_lost));
        }
        out
    }
}

impl Unfit {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            shard: reader.u16()?,
            number: reader.u64()?,
            is_stuck: reader.flag()?,
            has_lost: reader.flag()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn a_written_beat_is_read_and_a_cut_one_is_not() {
        let beat = Beat {
            incarnation: 7,
            count: 8,
            draining: true,
            address: vec![1, 2, 3],
            unfit: vec![Unfit { shard: 3, number: 1 << 40, is_stuck: true, has_lost: true }],
        };
        let bytes = beat.to_bytes();
        assert_eq!(Beat::parse(&bytes), Ok(beat));
        for end in 0..bytes.len() {
            assert_eq!(Beat::parse(&bytes[..end]), Err(Malformed));
        }
    }
}
