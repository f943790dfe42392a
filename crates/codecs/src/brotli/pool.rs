//! Memory for the crate `brotli`, reused from one message to the next.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;

use brotli::enc::BrotliAlloc;
use brotli::{Allocator, SliceWrapper, SliceWrapperMut};

/// A pool that holds more than this is emptied after a message, so that a large message does not
/// keep its memory. Bytes.
const MAX_KEPT: usize = 2 << 20;

/// Vectors for reuse, and the memory of all vectors.
#[derive(Default)]
pub(super) struct Pool {
    /// Vectors of various element types that are not in use.
    free: Vec<Box<dyn Any + Send>>,
    /// Bytes of all vectors, free or in use.
    bytes: usize,
    /// The largest value of `bytes` so far.
    peak: usize,
    /// The most elements of one vector; 0 for no limit.
    largest: usize,
    /// Whether a larger vector was asked for since [`Pool::allow`].
    refused: bool,
}

impl Pool {
    /// Refuses vectors that are larger than the ring buffer for an original of `limit` bytes.
    pub(super) fn allow(&mut self, limit: usize) {
        // The ring buffer is the next power of two and some bytes; all other vectors are small.
        self.largest = limit.saturating_mul(2).saturating_add(WINDOW_SLACK);
        self.refused = false;
    }

    /// Whether a larger vector than allowed was asked for.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// Frees the memory if it is more than [`MAX_KEPT`]. To be called between messages.
    pub(super) fn shrink(&mut self) {
        if self.bytes > MAX_KEPT {
            self.free.clear();
            self.bytes = 0;
        }
    }

    /// The most bytes that were in use or kept so far.
    pub(super) fn memory(&self) -> usize {
        self.peak
    }

    fn take<T: Clone + Default + Send + 'static>(&mut self, length: usize) -> Vec<T> {
        if self.largest != 0 && length > self.largest {
            self.refused = true;
            return Vec::new();
        }
        let fits = |free: &Box<dyn Any + Send>| {
            free.downcast_ref::<Vec<T>>()
                .is_some_and(|vector| (length..=2 * length).contains(&vector.capacity()))
        };
        if let Some(at) = self.free.iter().position(fits)
            && let Ok(mut vector) = self.free.swap_remove(at).downcast::<Vec<T>>()
        {
            vector.clear();
            vector.resize(length, T::default());
            return *vector;
        }
        self.bytes += length * size_of::<T>();
        self.peak = self.peak.max(self.bytes);
        vec![T::default(); length]
    }
}

/// Elements that a ring buffer may have beyond twice the original. Generous: the crate adds some
/// hundred bytes, and tables of fixed size have to pass.
const WINDOW_SLACK: usize = 64 << 10;

/// The crate's allocator interface over a pool, for one message.
pub(super) struct PoolAllocator<'a>(pub(super) &'a mut Pool);

impl<T: Clone + Default + Send + 'static> Allocator<T> for PoolAllocator<'_> {
    type AllocatedMemory = Cell<T>;

    fn alloc_cell(&mut self, length: usize) -> Cell<T> {
        Cell(if length == 0 { Vec::new() } else { self.0.take(length) })
    }

    fn free_cell(&mut self, cell: Cell<T>) {
        if cell.0.capacity() > 0 {
            self.0.free.push(Box::new(cell.0));
        }
    }
}

impl BrotliAlloc for PoolAllocator<'_> {}

/// A vector with the crate's slice traits.
pub(super) struct Cell<T>(Vec<T>);

impl<T> Default for Cell<T> {
    fn default() -> Self {
        Cell(Vec::new())
    }
}

impl<T> SliceWrapper<T> for Cell<T> {
    fn slice(&self) -> &[T] {
        &self.0
    }
}

impl<T> SliceWrapperMut<T> for Cell<T> {
    fn slice_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}
