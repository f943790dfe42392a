//! What many streams share, because each needs it only for a moment.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groupwire_ace::Coders;

use crate::contention::Contention;

/// The most bytes that are taken from a socket at once: as many as a block has, so that a system call is a small part
/// of the work.
pub(crate) const CHUNK: usize = 64 << 10;

/// Buffers that are kept for the next who needs one; more are given back to the system.
const SPARE_CHUNKS: usize = 16;

/// Working memory that many streams share: that of the codecs, and buffers to receive into.
///
/// A stream borrows it while it is polled, so there is as much of it as threads poll at the same time. Clones share.
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

/// [`CHUNK`] bytes, whatever is in them.
pub(crate) type Chunk = Box<[u8]>;

impl Workbench {
    /// A workbench of its own. Nothing is allocated yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes that are held for the next who needs them.
    pub fn memory(&self) -> usize {
        let free = self.free();
        free.coders.iter().map(Coders::memory).sum::<usize>() + free.chunks.len() * CHUNK
    }

    /// Borrows coders for as long as `work` takes.
    pub(crate) fn with_coders<T>(&self, work: impl FnOnce(&mut Coders) -> T) -> T {
        let free = self.free().coders.pop();
        let mut coders = free.unwrap_or_default();
        let outcome = work(&mut coders);
        self.free().coders.push(coders);
        outcome
    }

    /// A buffer to receive into, to be [put back](Self::put_back).
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

    /// A stream waited so long for its turn, after one of this length.
    pub(crate) fn note_turn(&self, worked: Duration, waited: Duration) {
        self.free().contention.note(worked, waited);
    }

    /// How many times longer packing takes than it would if there were but one stream.
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
