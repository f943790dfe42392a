//! Sending a part of the snapshot that the server asked for (wire W32, W53).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use crate::ids::{ChannelNo, Position};
use crate::link::{Link, PING_SIZE};
use crate::packing::{NextChunk, Packing};

/// A part of the snapshot on its way to the server.
pub(super) struct Upload {
    part: u32,
    as_of: Position,
    bytes: Box<[u8]>,
    /// Bytes that were sent.
    offset: usize,
}

impl Upload {
    pub(super) fn new(part: u32, as_of: Position, bytes: &[u8]) -> Self {
        Upload { part, as_of, bytes: bytes.into(), offset: 0 }
    }

    /// Appends the next chunk to `packet`: as many bytes as fit, with space left for a ping.
    pub(super) fn add_chunk(
        &mut self,
        now: Duration,
        link: &mut Link,
        packing: &mut Packing,
        packet: &mut Vec<u8>,
    ) {
        let remaining = link.remaining(packet).saturating_sub(PING_SIZE);
        let Upload { part, as_of, ref bytes, offset } = *self;
        let chunk = NextChunk { part, as_of, first: ChannelNo(0), bytes, offset };
        self.offset += chunk.write(now, remaining, &mut link.choosing, packing, None, packet);
        debug_assert!(self.offset <= self.bytes.len(), "a chunk is a piece of the part");
    }

    /// True if the whole part was sent.
    pub(super) fn is_sent(&self) -> bool {
        self.offset == self.bytes.len()
    }
}
