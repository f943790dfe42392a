//! Sorting in little code.

use alloc::vec::Vec;

/// Sorts the items. The order of equal items is not defined.
pub(crate) fn sort<T: Ord>(items: &mut Vec<T>) {
    if cfg!(feature = "fast") {
        return items.sort_unstable();
    }
    // A heap's code is a tenth of the code that `sort_unstable` takes for each type.
    let heap = alloc::collections::BinaryHeap::from(core::mem::take(items));
    *items = heap.into_sorted_vec();
}

#[cfg(all(test, not(feature = "fast")))]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_are_sorted(items: alloc::vec::Vec<u8>) {
            let (mut sorted, mut expected) = (items.clone(), items);
            super::sort(&mut sorted);
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }
}
