//! Finds matches for the LZ4 compressor and the zstd compressor in Rust, in the message and in a
//! dictionary.
//!
//! Compressing a message of 1400 bytes takes little longer than clearing the hash table would. So
//! the table is not cleared: positions continue from message to message, and entries below a
//! message's first position are ignored.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

pub(crate) use crate::lz77::same;

/// The shortest match. Bytes.
pub(crate) const MIN_MATCH: usize = 4;

/// The part of a dictionary that is searched: its last 65,535 bytes, the reach of LZ4's offsets and
/// of 16-bit entries.
pub(crate) const DICTIONARY: usize = 65_535;

/// The logarithm of the number of slots: 16 KiB, which leave half of a first-level cache to the
/// message.
const TABLE_BITS: u32 = 12;
const TABLE: usize = 1 << TABLE_BITS;

/// After 2^6 positions without a match every second one is tried, then every third, and so on:
/// incompressible input is passed quickly.
const SKIP_BITS: usize = 6;

/// A hash table of the last position of each four-byte sequence.
pub(crate) struct Finder {
    /// Positions in the message, each plus the message's base.
    table: Box<[u32; TABLE]>,
    /// The base of the next message. Never 0, which marks an empty slot.
    next: u32,
    /// Positions in the dictionary, which precedes each message in its buffer. Empty without a
    /// dictionary.
    in_dictionary: Vec<u16>,
}

/// The number that is added to a message's positions.
#[derive(Clone, Copy, Default)]
pub(crate) struct Base(u32);

impl Finder {
    /// A finder for messages that follow a dictionary of at most [`DICTIONARY`] bytes.
    pub(crate) fn new(dictionary: &[u8]) -> Self {
        debug_assert!(dictionary.len() <= DICTIONARY, "positions in a dictionary have 16 bits");
        let mut in_dictionary = Vec::new();
        if dictionary.len() >= MIN_MATCH {
            in_dictionary = vec![0; TABLE];
            for at in 0..=dictionary.len() - MIN_MATCH {
                in_dictionary[hash(word(dictionary, at))] = at as u16;
            }
        }
        let table = match vec![0; TABLE].into_boxed_slice().try_into() {
            Ok(table) => table,
            Err(_) => Box::new([0; TABLE]),
        };
        Finder { table, next: 1, in_dictionary }
    }

    /// Whether there is a dictionary of at least [`MIN_MATCH`] bytes.
    pub(crate) fn has_dictionary(&self) -> bool {
        !self.in_dictionary.is_empty()
    }

    /// Working memory, bytes.
    pub(crate) fn memory(&self) -> usize {
        size_of::<[u32; TABLE]>() + self.in_dictionary.len() * size_of::<u16>()
    }

    /// Begins a message; its buffer, dictionary included, has `length` bytes. The table is only
    /// cleared where positions would overflow.
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
                // Beyond 4 GiB entries are wrong, but every match is compared before it is used.
                self.next = length.saturating_add(1);
                Base(1)
            }
        }
    }

    /// The next position from `at` to `last` that has a match at most `window` bytes before, and
    /// the match's position. At least four bytes begin at `last`; `at` is not 0.
    #[inline(always)]
    pub(crate) fn find<const DICTIONARY: bool>(
        &mut self,
        Base(base): Base,
        buffer: &[u8],
        mut at: usize,
        last: usize,
        window: usize,
    ) -> Option<(usize, usize)> {
        debug_assert!(at > 0 && base > 0, "position 0 and entry 0 mean that there is no match");
        debug_assert!(at > last || last + MIN_MATCH <= buffer.len(), "four bytes follow `last`");
        let mut tries = 1 << SKIP_BITS;
        while at <= last {
            let sought = word(buffer, at);
            let hash = hash(sought);
            let entry = core::mem::replace(&mut self.table[hash], base.wrapping_add(at as u32));
            // Without an entry position 0 is compared: cheaper than a branch that the processor
            // cannot predict.
            let mut earlier = entry.saturating_sub(base) as usize;
            if DICTIONARY && entry < base {
                earlier = usize::from(self.in_dictionary[hash]);
            }
            if word(buffer, earlier) == sought && earlier < at && at - earlier <= window {
                return Some((at, earlier));
            }
            at += tries >> SKIP_BITS;
            tries += 1;
        }
        None
    }

    /// Records a position that [`Finder::find`] did not visit.
    #[inline(always)]
    pub(crate) fn insert(&mut self, Base(base): Base, buffer: &[u8], at: usize) {
        self.table[hash(word(buffer, at))] = base.wrapping_add(at as u32);
    }
}

/// The four bytes at a position.
#[inline(always)]
fn word(buffer: &[u8], at: usize) -> u32 {
    buffer.get(at..at + 4).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word))
}

#[inline(always)]
fn hash(word: u32) -> usize {
    // The prime next to 2^32 divided by the golden ratio.
    (word.wrapping_mul(2_654_435_761) >> (32 - TABLE_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_restart_before_they_overflow() {
        let mut finder = Finder::new(b"");
        finder.next = u32::MAX - 20;
        for _ in 0..3 {
            let base = finder.begin(10);
            assert_eq!(finder.find::<false>(base, b"abcdeabcde", 1, 6, 10), Some((5, 0)));
        }
        assert!(finder.next < 50);
    }

    #[test]
    fn matches_in_a_dictionary_are_found() {
        let buffer = b"a dictionary of words: words";
        let mut finder = Finder::new(&buffer[..20]);
        let base = finder.begin(buffer.len());
        assert_eq!(finder.find::<true>(base, buffer, 21, 24, 99), Some((22, 15)));
    }
}
