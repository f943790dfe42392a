//! Writes the next chunk of a snapshot that is being sent.

use alloc::vec::Vec;
use core::time::Duration;

use super::blocks::Cache;
use super::choosing::Choosing;
use super::codecs::Packing;
use crate::ids::{ChannelNo, Position};
use crate::wire::frame::Frame;
use crate::wire::snapshot::{Chunk, HEADER};

/// A part of a snapshot of which the bytes from `offset` on are still to be sent.
pub(crate) struct NextChunk<'a> {
    /// The number of the part on the transport.
    pub(crate) part: u32,
    pub(crate) as_of: Position,
    /// The part's first channel, by which its packed chunks are found again.
    pub(crate) first: ChannelNo,
    pub(crate) bytes: &'a [u8],
    pub(crate) offset: usize,
}

impl NextChunk<'_> {
    /// Appends the next chunk to `packet`, which has space for `remaining` more bytes. Returns the
    /// chunk's size before packing.
    pub(crate) fn write(
        &self,
        now: Duration,
        remaining: usize,
        choosing: &mut Choosing,
        packing: &mut Packing,
        cache: Option<&mut Cache>,
        packet: &mut Vec<u8>,
    ) -> usize {
        let NextChunk { part, as_of, first, bytes, offset } = *self;
        let plain = Chunk::cut((part, as_of), bytes, offset, remaining);
        let size = choosing.blocks.chunk(offset).min(bytes.len() - offset);
        let more = bytes.len() - offset - size;
        let cached = cache.map(|cache| (cache, ((as_of, first), offset, size)));
        let block = &bytes[offset..offset + size];
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
