//! Finds what was there before, with a table that needs no clearing between messages.
//!
//! A message of 1400 bytes is compressed in little more than the time that clearing a table takes. So entries are
//! counted on from message to message, and whatever is below the start of a message's count is no entry of it.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

pub(crate) use crate::lz77::same;

/// Four bytes are the shortest match.
pub(crate) const MIN_MATCH: usize = 4;

/// No match is found further back in a dictionary.
pub(crate) const DICTIONARY: usize = 65_535;

const TABLE_BITS: u32 = 12;
const TABLE: usize = 1 << TABLE_BITS;

/// After 2^6 places without a match every second one is looked at, and so on: what does not compress is soon passed.
const SKIP: usize = 6;

/// Where four bytes of a hash were last seen.
pub(crate) struct Finder {
    /// In this message, plus the start of its count.
    table: Box<[u32; TABLE]>,
    /// Where the next count starts. Never 0, as empty entries are.
    next: u32,
    /// In the dictionary, which messages follow in their buffers: always the same, and empty without one.
    seen: Vec<u16>,
}

/// A message's count.
#[derive(Clone, Copy, Default)]
pub(crate) struct Base(u32);

impl Finder {
    /// For messages that follow a dictionary of at most [`DICTIONARY`] bytes.
    pub(crate) fn new(dictionary: &[u8]) -> Self {
        let mut seen = Vec::new();
        if dictionary.len() >= MIN_MATCH {
            seen = vec![0; TABLE];
            for at in 0..=dictionary.len() - MIN_MATCH {
                seen[hash(word(dictionary, at))] = at as u16;
            }
        }
        let table = match vec![0; TABLE].into_boxed_slice().try_into() {
            Ok(table) => table,
            Err(_) => Box::new([0; TABLE]),
        };
        Finder { table, next: 1, seen }
    }

    /// Whether there is something in the dictionary to be found.
    pub(crate) fn has_dictionary(&self) -> bool {
        !self.seen.is_empty()
    }

    /// Bytes.
    pub(crate) fn memory(&self) -> usize {
        size_of::<[u32; TABLE]>() + self.seen.len() * size_of::<u16>()
    }

    /// Forgets the last message. The next one's buffer is so long. The table is only cleared where the count would
    /// overflow.
    pub(crate) fn begin(&mut self, length: usize) -> Base {
        let base = self.next;
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        match base.checked_add(length).and_then(|next| next.checked_add(1)) {
            Some(next) => {
                self.next = next;
                Base(base)
            }
            None => {
                self.table.fill(0);
                // Beyond 4 GiB entries are wrong, but what they find is compared before it is believed.
                self.next = length.saturating_add(1);
                Base(1)
            }
        }
    }

    /// The next place from `at` to `last` with a match at most `window` bytes back, and the match. Four bytes follow
    /// `last`; `at` is not the very first place.
    #[inline(always)]
    pub(crate) fn find<const DICTIONARY: bool>(
        &mut self,
        Base(base): Base,
        buffer: &[u8],
        mut at: usize,
        last: usize,
        window: usize,
    ) -> Option<(usize, usize)> {
        let mut tries = 1 << SKIP;
        while at <= last {
            let sought = word(buffer, at);
            let hash = hash(sought);
            let entry = core::mem::replace(&mut self.table[hash], base.wrapping_add(at as u32));
            // Without an entry the first place is looked at: cheaper than a branch that nobody can foresee.
            let mut earlier = entry.saturating_sub(base) as usize;
            if DICTIONARY && entry < base {
                earlier = usize::from(self.seen[hash]);
            }
            if word(buffer, earlier) == sought && earlier < at && at - earlier <= window {
                return Some((at, earlier));
            }
            at += tries >> SKIP;
            tries += 1;
        }
        None
    }

    /// Remembers a place that was passed without being looked at.
    #[inline(always)]
    pub(crate) fn insert(&mut self, Base(base): Base, buffer: &[u8], at: usize) {
        self.table[hash(word(buffer, at))] = base.wrapping_add(at as u32);
    }
}

/// The four bytes at a place.
#[inline(always)]
fn word(buffer: &[u8], at: usize) -> u32 {
    buffer.get(at..at + 4).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
}

#[inline(always)]
fn hash(word: u32) -> usize {
    // The prime next to 2^32 by the golden ratio.
    (word.wrapping_mul(2_654_435_761) >> (32 - TABLE_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_starts_again_before_it_overflows() {
        let mut finder = Finder::new(b"");
        finder.next = u32::MAX - 20;
        for _ in 0..3 {
            let base = finder.begin(10);
            assert_eq!(finder.find::<false>(base, b"abcdeabcde", 1, 6, 10), Some((5, 0)));
        }
        assert!(finder.next < 50);
    }

    #[test]
    fn a_dictionary_is_looked_through() {
        let buffer = b"a dictionary of words: words";
        let mut finder = Finder::new(&buffer[..20]);
        let base = finder.begin(buffer.len());
        assert_eq!(finder.find::<true>(base, buffer, 21, 24, 99), Some((22, 15)));
    }
}
