//! Sorting in little code.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;

/// Sorts items by a number; items with the same number keep their order. All types share one heap
/// of numbers, whose code is a tenth of the code that the sorting of `core` takes for each type.
pub(crate) fn sort_by_key<T: Copy>(items: &mut Vec<T>, key: impl Fn(&T) -> u64) {
    let keys: Vec<(u64, usize)> =
        items.iter().enumerate().map(|(at, item)| (key(item), at)).collect();
    let sorted = BinaryHeap::from(keys).into_sorted_vec();
    *items = sorted.into_iter().map(|(_, at)| items[at]).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_are_sorted_and_equal_ones_keep_their_order(items: Vec<(u8, u8)>) {
            let (mut sorted, mut expected) = (items.clone(), items);
            sort_by_key(&mut sorted, |(key, _)| u64::from(*key));
            expected.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(sorted, expected);
        }
    }
}
