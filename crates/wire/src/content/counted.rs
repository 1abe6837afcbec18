//! Memory of brotli's windows and tables, counted against what the process may take.

use brotli_decompressor::{Allocator, SliceWrapper, SliceWrapperMut};
use stdx::MemoryShare;

/// Allocates, and notes that there was no room: brotli's code has no way to go on without memory.
#[derive(Debug, Default)]
pub(super) struct CountedAlloc {
    is_refused: bool,
}

impl CountedAlloc {
    /// Whether more was taken than there is room for: the stream must end.
    pub(super) const fn is_refused(&self) -> bool {
        self.is_refused
    }
}

/// Memory and its share.
#[derive(Debug, Default)]
pub(super) struct CountedSlice<T> {
    items: Box<[T]>,
    _share: MemoryShare,
}

impl<T> SliceWrapper<T> for CountedSlice<T> {
    fn slice(&self) -> &[T] {
        &self.items
    }
}

impl<T> SliceWrapperMut<T> for CountedSlice<T> {
    fn slice_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<T: Clone + Default> Allocator<T> for CountedAlloc {
    type AllocatedMemory = CountedSlice<T>;

    fn alloc_cell(&mut self, len: usize) -> CountedSlice<T> {
        let mut share = MemoryShare::default();
        self.is_refused |= share.resize(len * size_of::<T>()).is_err();
        CountedSlice { items: vec![T::default(); len].into_boxed_slice(), _share: share }
    }

    fn free_cell(&mut self, _: CountedSlice<T>) {}
}
