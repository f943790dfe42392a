//! The unallocated gap of a page, which SQLite does not clear.
//!
//! `secure_delete` overwrites rows that are deleted. But when rows move to other pages, because a
//! page became too full or too empty (`balance_nonroot` and `rebuildPage` in SQLite's sources),
//! their old bytes remain in the gap between a page's list of cells and its cells, and are still
//! there when the rows are deleted later. So the gap is cleared here, each time that a page is
//! written to the database.
//!
//! The format is in the section "B-tree Pages" of SQLite's "Database File Format".

use std::ops::Range;

/// The first byte of a page with rows of a table. Pages of overflow and free pages begin with a
/// page's number, so that their first byte is smaller in a database of at most [`MAX_PAGES`] pages;
/// pages that map pointers begin with a number from 1 to 5.
const LEAF: u8 = 0x0d;

/// The most pages of a database in which each page's kind can be told from its first byte: 872 GB.
pub(crate) const MAX_PAGES: u32 = ((LEAF as u32) << 24) - 1;

/// The header of a page with rows, in bytes; a list of places of cells follows, two bytes each.
const HEADER: usize = 8;

/// Returns a copy of the page with a cleared gap, or `None` if there is nothing to clear.
pub(crate) fn clear(page: &[u8]) -> Option<Vec<u8>> {
    let gap = find(page)?;
    if page[gap.clone()].iter().all(|&byte| byte == 0) {
        return None;
    }
    let mut page = page.to_vec();
    page[gap].fill(0);
    Some(page)
}

// The gap of a page with rows. Page 1, which begins with the database's header, has only the names
// of our tables.
fn find(page: &[u8]) -> Option<Range<usize>> {
    if page.len() < 512 || page[0] != LEAF {
        return None;
    }
    let number = |at: usize| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
    let begin = HEADER + 2 * number(3);
    let end = match number(5) {
        0 => 1 << 16,
        end => end,
    };
    (begin <= end && end <= page.len()).then_some(begin..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(first: u8, cells: u16, content: u16) -> Vec<u8> {
        let mut page = vec![7; 4096];
        page[0] = first;
        page[3..5].copy_from_slice(&cells.to_be_bytes());
        page[5..7].copy_from_slice(&content.to_be_bytes());
        page
    }

    #[test]
    fn what_is_between_the_list_and_the_cells_is_cleared() {
        let dirty = page(LEAF, 3, 4000);
        let clean = clear(&dirty).unwrap();
        assert_eq!(clean[..14], dirty[..14]);
        assert!(clean[14..4000].iter().all(|&byte| byte == 0));
        assert_eq!(clean[4000..], dirty[4000..]);
        assert_eq!(clear(&clean), None);
    }

    #[test]
    fn other_pages_stay_as_they_are() {
        for first in (0..=255).filter(|&first| first != LEAF) {
            assert_eq!(clear(&page(first, 3, 4000)), None);
        }
    }

    proptest! {
        #[test]
        fn a_damaged_page_is_no_panic(page in prop::collection::vec(any::<u8>(), 0..600), leaf in any::<bool>()) {
            let mut page = page;
            if let (Some(first), true) = (page.first_mut(), leaf) {
                *first = LEAF;
            }
            clear(&page);
        }
    }
}
