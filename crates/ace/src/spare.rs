//! Buffers that are used again.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::frame::HEADER;

/// A stream at work has a few buffers at once in each direction; more are not kept.
const MOST: usize = 4;

/// Makes room for `more` octets, growing as vectors do, but to no more than `most` unless that is too little.
pub(crate) fn make_room(buffer: &mut Vec<u8>, more: usize, most: usize) {
    let needed = buffer.len() + more;
    if needed > buffer.capacity() {
        let capacity = (2 * buffer.capacity()).min(most).max(needed);
        buffer.reserve_exact(capacity - buffer.len());
    }
}

/// Octets that are copied at once. From some thousand on C libraries leave it to one instruction, which takes four times
/// as long on some processors if both places have about the same distance from the beginning of a page (glibc bug
/// 30994); in large buffers they do.
const COPIED: usize = 1 << 10;

/// Appends octets to a buffer that has [room](make_room).
pub(crate) fn append(buffer: &mut Vec<u8>, octets: &[u8]) {
    for piece in octets.chunks(COPIED) {
        buffer.extend_from_slice(piece);
    }
}

/// Room for a block of so many octets with its header, whatever codec packs it: most say that they need no more.
pub(crate) fn room_to_pack(block: usize) -> usize {
    HEADER + block + block / 64 + 256
}

/// Buffers of one stream that hold nothing at present.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// An empty buffer.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    /// Takes a buffer back.
    pub(crate) fn give(&mut self, mut buffer: Vec<u8>) {
        if self.0.len() < MOST && buffer.capacity() > 0 {
            buffer.clear();
            self.0.push(buffer);
        }
    }

    /// The same for one that others may still have: then the last of them gives it back.
    pub(crate) fn give_shared(&mut self, buffer: Arc<Vec<u8>>) {
        if let Some(buffer) = Arc::into_inner(buffer) {
            self.give(buffer);
        }
    }

    /// Gives the memory back to the system.
    pub(crate) fn free(&mut self) {
        self.0 = Vec::new();
    }

    /// Octets.
    pub(crate) fn memory(&self) -> usize {
        self.0.iter().map(Vec::capacity).sum()
    }
}
