//! Memory for the crate `brotli`, kept from one message to the next.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;

use brotli::enc::BrotliAlloc;
use brotli::{Allocator, SliceWrapper, SliceWrapperMut};

/// More is given back after a message.
const KEPT: usize = 2 << 20;

/// What nobody uses now.
#[derive(Default)]
pub(super) struct Pool {
    /// Vectors of many types.
    free: Vec<Box<dyn Any + Send>>,
    /// Bytes of all that is free or in use.
    bytes: usize,
    /// The most that there were.
    most: usize,
    /// No more elements at once; 0 for no such limit.
    largest: usize,
    refused: bool,
}

impl Pool {
    /// Ring buffers for originals of so many bytes are given out, and no larger ones.
    pub(super) fn allow(&mut self, limit: usize) {
        // A ring buffer is a power of two above what it is for, with some bytes more; what else is taken is small.
        self.largest = limit.saturating_mul(2).saturating_add(SMALL);
        self.refused = false;
    }

    /// Whether more was asked for than is allowed.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// Gives back what is too much to be kept. To be called between messages.
    pub(super) fn shrink(&mut self) {
        if self.bytes > KEPT {
            self.free.clear();
            self.bytes = 0;
        }
    }

    /// The most bytes that there were.
    pub(super) fn memory(&self) -> usize {
        self.most
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
        self.most = self.most.max(self.bytes);
        vec![T::default(); length]
    }
}

const SMALL: usize = 64 << 10;

/// A pool at work for one message.
pub(super) struct Lent<'a>(pub(super) &'a mut Pool);

impl<T: Clone + Default + Send + 'static> Allocator<T> for Lent<'_> {
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

impl BrotliAlloc for Lent<'_> {}

/// A vector, as the crate sees it.
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
