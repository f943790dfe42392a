//! Working memory that many streams share, because each needs it only while it is polled.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groupwire_ace::Coders;

use crate::contention::Contention;

/// The most bytes of one read from a socket: the size of a block, so that the system call is a
/// small part of the work on the block.
pub(crate) const CHUNK: usize = 64 << 10;

/// The most free buffers that are kept, 1 MiB together; further ones are freed. No more threads
/// than this are expected to poll streams at the same time.
const SPARE_CHUNKS: usize = 16;

/// Working memory that many streams share: the memory of the codecs, and buffers to receive into.
///
/// A stream borrows it while it is polled, so there is one set for each thread that polls at the
/// same time. Clones refer to the same memory.
#[derive(Clone, Default)]
pub struct Workbench {
    free: Arc<Mutex<Free>>,
}

#[derive(Default)]
struct Free {
    coders: Vec<Coders>,
    chunks: Vec<Chunk>,
    contention: Contention,
}

/// A buffer of [`CHUNK`] bytes with arbitrary content.
pub(crate) type Chunk = Box<[u8]>;

impl Workbench {
    /// A new workbench. Memory is allocated on first use.
    pub fn new() -> Self {
        Self::default()
    }

    /// The size of the free working memory, in bytes.
    pub fn memory(&self) -> usize {
        let free = self.free();
        free.coders.iter().map(Coders::memory).sum::<usize>() + free.chunks.len() * CHUNK
    }

    /// Calls `work` with borrowed coders.
    pub(crate) fn with_coders<T>(&self, work: impl FnOnce(&mut Coders) -> T) -> T {
        let free = self.free().coders.pop();
        let mut coders = free.unwrap_or_default();
        let outcome = work(&mut coders);
        self.free().coders.push(coders);
        outcome
    }

    /// Borrows a buffer, which is to be [put back](Self::put_back).
    pub(crate) fn chunk(&self) -> Chunk {
        let free = self.free().chunks.pop();
        free.unwrap_or_else(|| vec![0; CHUNK].into_boxed_slice())
    }

    pub(crate) fn put_back(&self, chunk: Chunk) {
        let mut free = self.free();
        if free.chunks.len() < SPARE_CHUNKS {
            free.chunks.push(chunk);
        }
    }

    /// Notes a turn of `worked` after which a stream waited for `waited` until its next turn.
    pub(crate) fn note_turn(&self, worked: Duration, waited: Duration) {
        self.free().contention.note(worked, waited);
    }

    /// The factor by which waiting for other streams lengthens the work of a stream; at least 1.
    pub(crate) fn contention(&self) -> f64 {
        self.free().contention.factor()
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Workbench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workbench").field("memory", &self.memory()).finish()
    }
}
