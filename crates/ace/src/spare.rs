//! The buffers of one stream, which are reused for one block after the other.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::frame::HEADER;

/// The most free buffers that are kept: a busy stream uses about two in each direction at the same
/// time.
const MOST: usize = 4;

/// Reserves capacity for `more` bytes. Doubles the capacity as vectors do, but not beyond `most`,
/// unless `most` is too little.
pub(crate) fn reserve_up_to(buffer: &mut Vec<u8>, more: usize, most: usize) {
    let needed = buffer.len() + more;
    if needed > buffer.capacity() {
        let capacity = (2 * buffer.capacity()).min(most).max(needed);
        buffer.reserve_exact(capacity - buffer.len());
    }
}

/// The most bytes that are copied at once. C libraries copy some thousand bytes or more with one
/// instruction, which takes four times as long on some processors if source and target have about
/// the same offset in a page, as in large buffers (glibc bug 30994).
const COPIED: usize = 1 << 10;

/// Appends bytes to a buffer whose capacity was [reserved](reserve_up_to).
pub(crate) fn append(buffer: &mut Vec<u8>, bytes: &[u8]) {
    for piece in bytes.chunks(COPIED) {
        buffer.extend_from_slice(piece);
    }
}

/// The capacity in bytes for a compressed block, with its header, of `block` plain bytes. Most
/// codecs state that they need no more.
pub(crate) fn packed_capacity(block: usize) -> usize {
    HEADER + block + block / 64 + 256
}

/// The free buffers of one stream.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// Returns an empty buffer.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    /// Keeps a buffer for reuse.
    pub(crate) fn give(&mut self, mut buffer: Vec<u8>) {
        if self.0.len() < MOST && buffer.capacity() > 0 {
            buffer.clear();
            self.0.push(buffer);
        }
    }

    /// Keeps a shared buffer for reuse if this was the last reference to it.
    pub(crate) fn give_shared(&mut self, buffer: Arc<Vec<u8>>) {
        if let Some(buffer) = Arc::into_inner(buffer) {
            self.give(buffer);
        }
    }

    /// Frees all buffers.
    pub(crate) fn free(&mut self) {
        self.0 = Vec::new();
    }

    /// The capacity of all free buffers in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.0.iter().map(Vec::capacity).sum()
    }
}
