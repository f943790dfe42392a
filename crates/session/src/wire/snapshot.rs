//! Cuts the parts of a room's snapshot into chunks, and puts chunks together again (wire W32).

use alloc::vec::Vec;

use super::io::{Reader, Write};
use crate::Error;
use crate::ids::Position;
use crate::limits::MAX_BLOCK;
use crate::packing::Packing;

/// The approximate size of a chunk of a snapshot on the wire, in bytes. Chunks are small, so that
/// pings need not wait long behind one (wire W53).
pub(crate) const CHUNK: usize = 16 << 10;

/// Bytes to reserve for the fields of a SNAPSHOT frame before the chunk. Tag, length and four
/// varints take at most 46 bytes.
pub(crate) const HEADER: usize = 64;

/// A piece of a snapshot, with the fields of the SNAPSHOT frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk<'a> {
    /// The number of the part on the transport, as a PART frame states it.
    pub(crate) part: u32,
    /// The part stands for the transactions of its channels up to this position.
    pub(crate) as_of: Position,
    /// The size of the whole part in bytes.
    pub(crate) total: u64,
    /// The position in the part at which this piece begins, in bytes.
    pub(crate) offset: u64,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// The piece of the part's `bytes` that begins at `offset` and fits into a packet with
    /// `remaining` bytes left.
    pub(crate) fn cut(
        (part, as_of): (u32, Position),
        whole: &'a [u8],
        offset: usize,
        remaining: usize,
    ) -> Self {
        let size = CHUNK.min(remaining.saturating_sub(HEADER));
        let bytes = &whole[offset..whole.len().min(offset + size)];
        Chunk { part, as_of, total: whole.len() as u64, offset: offset as u64, bytes }
    }

    /// Unpacks a packed chunk. `limit` is the largest size of a snapshot in bytes (wire W53).
    pub(crate) fn unpacked<'b>(
        &self,
        packing: &'b mut Packing,
        limit: usize,
    ) -> Result<Chunk<'b>, Error> {
        let rest = self.total.min(limit as u64).saturating_sub(self.offset);
        let bytes = packing.unpack(self.bytes, MAX_BLOCK.min(rest as usize))?;
        Ok(Chunk { bytes, ..*self })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.varint(u64::from(self.part));
        out.varint(self.as_of.get());
        out.varint(self.total);
        out.varint(self.offset);
        out.extend_from_slice(self.bytes);
    }

    pub(crate) fn read(r: &mut Reader<'a>) -> Result<Self, Error> {
        Ok(Chunk {
            part: r.varint_u32()?,
            as_of: Position(r.varint()?),
            total: r.varint()?,
            offset: r.varint()?,
            bytes: r.rest(),
        })
    }
}

/// A part of a snapshot of which some chunks have arrived.
#[derive(Debug)]
pub(crate) struct Assembly {
    pub(crate) part: u32,
    pub(crate) as_of: Position,
    total: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Assembly {
    /// Adds a chunk to the incomplete part in `slot`. If the chunk is the last one, returns the
    /// complete part and leaves `slot` empty.
    ///
    /// # Errors
    /// The part is larger than `limit`, or the chunk is not the next one.
    pub(crate) fn add(
        slot: &mut Option<Assembly>,
        chunk: &Chunk<'_>,
        limit: usize,
    ) -> Result<Option<Assembly>, Error> {
        let Chunk { part, as_of, total, offset, bytes } = *chunk;
        if total > limit as u64 {
            let size = usize::try_from(total).unwrap_or(usize::MAX);
            return Err(Error::TooLarge { what: "part of a snapshot", size, limit });
        }
        if offset == 0 {
            *slot = Some(Assembly { part, as_of, total, bytes: Vec::new() });
        }
        let Some(assembly) = slot.as_mut().filter(|assembly| {
            (assembly.part, assembly.as_of) == (part, as_of)
                && assembly.total == total
                && assembly.bytes.len() as u64 == offset
                && bytes.len() as u64 <= total - offset
        }) else {
            return Err(Error::malformed("SNAPSHOT: chunks that do not fit together"));
        };
        assembly.bytes.extend_from_slice(bytes);
        Ok(if assembly.bytes.len() as u64 == total { slot.take() } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use groupwire_codecs::{ALL, Choice, Costs};

    #[test]
    fn w32_chunks_make_the_same_snapshot_again() {
        for size in [0, 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let snapshot: Vec<u8> = (0..size).map(|at| at as u8).collect();
            let (mut slot, mut offset) = (None, 0);
            let whole = loop {
                let chunk = Chunk::cut((3, Position(7)), &snapshot, offset, 1 << 16);
                offset += chunk.bytes.len();
                if let Some(whole) = Assembly::add(&mut slot, &chunk, 1 << 20).unwrap() {
                    break whole;
                }
            };
            assert_eq!((whole.part, whole.as_of, whole.bytes), (3, Position(7), snapshot));
        }
    }

    #[test]
    fn w53_an_unpacked_chunk_fits_the_rest_and_the_limits() {
        let mut packing = Packing::new(ALL, Costs::reference());
        let mut size_of = |bytes: usize, total: usize, offset: usize, limit: usize| {
            let packed = packing.pack(Choice::codec(1), &vec![7; bytes]).unwrap().to_vec();
            let (total, offset) = (total as u64, offset as u64);
            let chunk = Chunk { part: 0, as_of: Position(1), total, offset, bytes: &packed };
            chunk.unpacked(&mut packing, limit).map(|chunk| chunk.bytes.len())
        };
        assert_eq!(size_of(MAX_BLOCK, 1 << 20, 0, 1 << 20), Ok(MAX_BLOCK));
        assert_eq!(size_of(100, 300, 200, 1 << 20), Ok(100));
        for [bytes, total, offset, limit] in [
            [MAX_BLOCK + 1, 1 << 20, 0, 1 << 20],
            [101, 300, 200, 1 << 20],
            [100, 300, 301, 1 << 20],
            [100, usize::MAX, 200, 250],
        ] {
            let refused = size_of(bytes, total, offset, limit);
            assert!(matches!(refused, Err(Error::Compression { .. })), "{bytes}: {refused:?}");
        }
    }

    #[test]
    fn w32_chunks_with_wrong_sizes_are_refused() {
        let whole = Chunk { part: 0, as_of: Position(1), total: 4, offset: 0, bytes: b"ab" };
        for wrong in [
            Chunk { total: 1, ..whole },
            Chunk { offset: 1, ..whole },
            Chunk { total: u64::MAX, ..whole },
        ] {
            assert!(Assembly::add(&mut None, &wrong, 100).is_err(), "{wrong:?}");
        }
        let mut slot = None;
        assert!(Assembly::add(&mut slot, &whole, 100).unwrap().is_none());
        for other in [
            Chunk { as_of: Position(2), offset: 2, ..whole },
            Chunk { part: 1, offset: 2, ..whole },
        ] {
            assert!(Assembly::add(&mut slot, &other, 100).is_err());
        }
        let next = Chunk { offset: 2, ..whole };
        let done = Assembly::add(&mut slot, &next, 100).unwrap().unwrap();
        assert_eq!(done.bytes, vec![b'a', b'b', b'a', b'b']);
    }
}
