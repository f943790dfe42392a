//! Writes the next chunk of a snapshot that is being sent.

use alloc::vec::Vec;
use core::time::Duration;

use super::blocks::Cache;
use super::choosing::Choosing;
use super::codecs::Packing;
use crate::ids::{Counter, Position};
use crate::wire::frame::Frame;
use crate::wire::snapshot::{Chunk, HEADER};

/// A snapshot of which the bytes from `offset` on are still to be sent.
pub(crate) struct NextChunk<'a> {
    pub(crate) as_of: Position,
    /// The counter of the receiver's own last transaction in the snapshot; 0 if a client sends the snapshot to the
    /// server.
    pub(crate) counter: Counter,
    pub(crate) snapshot: &'a [u8],
    pub(crate) offset: usize,
}

impl NextChunk<'_> {
    /// Appends the next chunk to `packet`, which has space for `remaining` more bytes. Returns the chunk's size before
    /// packing.
    pub(crate) fn write(
        &self,
        now: Duration,
        remaining: usize,
        choosing: &mut Choosing,
        packing: &mut Packing,
        cache: Option<&mut Cache>,
        packet: &mut Vec<u8>,
    ) -> usize {
        let NextChunk { as_of, counter, snapshot, offset } = *self;
        let plain = Chunk::cut(as_of, counter, snapshot, offset, remaining);
        let size = choosing.blocks.chunk(offset).min(snapshot.len() - offset);
        let more = snapshot.len() - offset - size;
        let cached = cache.map(|cache| (cache, (as_of, offset, size)));
        let block = &snapshot[offset..offset + size];
        let packed = choosing.pack_block(now, block, more, packing, cached);
        match packed.filter(|packed| packed.len() + HEADER <= remaining) {
            Some(packed) => {
                Frame::PackedSnapshot(Chunk { bytes: packed, ..plain }).write(packet);
                size
            }
            None => {
                Frame::Snapshot(plain).write(packet);
                plain.bytes.len()
            }
        }
    }
}
