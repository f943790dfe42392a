//! The next piece of a snapshot that is on its way.

use alloc::vec::Vec;
use core::time::Duration;

use super::Cache;
use crate::ids::{Counter, Position};
use crate::packing::{Choosing, Packing};
use crate::wire::frame::Frame;
use crate::wire::snapshot::Chunk;

/// Tag, length and varints of a chunk's frame, at most.
const HEADER: usize = 64;

/// What is left of a snapshot from `offset` on.
pub(crate) struct Piece<'a> {
    pub(crate) as_of: Position,
    /// The receiver's own last transaction within; 0 towards the server.
    pub(crate) counter: Counter,
    pub(crate) snapshot: &'a [u8],
    pub(crate) offset: usize,
}

impl Piece<'_> {
    /// Appends a chunk to a packet that has `room` octets left; returns how many of the snapshot it stands for.
    pub(crate) fn write(
        &self,
        now: Duration,
        room: usize,
        choosing: &mut Choosing,
        packing: &mut Packing,
        cache: Option<&mut Cache>,
        packet: &mut Vec<u8>,
    ) -> usize {
        let Piece { as_of, counter, snapshot, offset } = *self;
        let plain = Chunk::cut(as_of, counter, snapshot, offset, room);
        let size = choosing.blocks.chunk(offset).min(snapshot.len() - offset);
        let more = snapshot.len() - offset - size;
        let cached = cache.map(|cache| (cache, (as_of, offset, size)));
        let block = &snapshot[offset..offset + size];
        let packed = choosing.pack_block(now, block, more, packing, cached);
        match packed.filter(|packed| packed.len() + HEADER <= room) {
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
