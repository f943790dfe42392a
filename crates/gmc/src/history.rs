//! The history: the last strings that the literal coder has coded. This coder, which codes what
//! nothing else predicts, finds in the history what followed the same bytes before.

use core::mem::size_of;

use crate::hash::hash_bytes;
use crate::table::{Table, Versioned};

mod snapshot;

/// A ring of bytes with the strings one after the other. Positions count from the start of the
/// stream and wrap around.
#[derive(Clone)]
pub(crate) struct History {
    bytes: Table<u8>,
    /// One bit for each byte: whether a string ends after it.
    ends: Table<u8>,
    /// For the hash of each context, which is [`CONTEXT`] bytes, the position after its last
    /// occurrence.
    index: Table<u32>,
    /// The position of the next byte.
    head: Table<u32>,
}

/// The place of a string in the history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StringPlace {
    pub(crate) start: u32,
    pub(crate) length: u32,
}

/// What follows a position: another byte of the string, or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Byte(u8),
    End,
}

/// Bytes of the context by which an earlier occurrence is found. Three digits are enough to find
/// the fraction of a number.
pub(crate) const CONTEXT: usize = 3;
/// How many of the newest bytes are searched for the end of a string.
const SEARCHED: u32 = 8192;
/// The most bytes of agreement that are counted.
const MATCH_MAX: usize = 16;

impl History {
    pub(crate) fn new(memory: usize) -> Self {
        // Each byte of the ring takes one byte, an eighth for its end bit, and half an index entry
        // of four bytes. Sizes are powers of two, so that positions wrap.
        let space = memory * 8 / (8 + 1 + 8);
        let ring = (space / 2 + 1).next_power_of_two().clamp(256, 1 << 24);
        let index = ((memory.saturating_sub(ring + ring / 8)) / size_of::<u32>()).max(32);
        Self {
            bytes: Table::new(0, ring),
            ends: Table::new(0, ring / 8),
            index: Table::new(0, index),
            head: Table::new(0, 1),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.bytes.memory() + self.ends.memory() + self.index.memory()
    }

    /// Passes each table to `visit`, so that the caller can undo the changes of that table (see
    /// [`Versioned`]).
    pub(crate) fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Versioned)) {
        visit(&mut self.bytes);
        visit(&mut self.ends);
        visit(&mut self.index);
        visit(&mut self.head);
    }

    /// The position of the next byte.
    pub(crate) fn head(&self) -> u32 {
        self.head[0]
    }

    /// Adds the last byte of `string`, which is the part of the present string that is coded so
    /// far.
    pub(crate) fn push(&mut self, string: &[u8]) {
        let Some(&byte) = string.last() else { return };
        let at = self.wrap(self.head());
        *self.bytes.change(at) = byte;
        *self.ends.change(at / 8) &= !(1 << (at % 8));
        let head = self.head().wrapping_add(1);
        *self.head.change(0) = head;
        if let Some(slot) = self.slot(string) {
            *self.index.change(slot) = head;
        }
    }

    /// Marks that a string ends after the newest byte.
    pub(crate) fn end(&mut self) {
        let at = self.wrap(self.head().wrapping_sub(1));
        *self.ends.change(at / 8) |= 1 << (at % 8);
    }

    /// Looks for an earlier occurrence of the last bytes of `string`. Returns the position after
    /// it, and the number of bytes that agree.
    pub(crate) fn find(&self, string: &[u8]) -> Option<(u32, usize)> {
        let position = self.index[self.slot(string)?];
        let mut length = 0;
        for &byte in string.iter().rev().take(MATCH_MAX) {
            let before = position.wrapping_sub(length as u32 + 1);
            if !self.contains(before) || self.bytes[self.wrap(before)] != byte {
                break;
            }
            length += 1;
        }
        (length >= CONTEXT).then_some((position, length))
    }

    /// How far back a string in the ring ends with these bytes, of which there is at least one: the
    /// distance from the next byte to where they begin.
    pub(crate) fn distance(&self, end: &[u8]) -> Option<u32> {
        let searched = self.filled().min(SEARCHED);
        let length = end.len() as u32;
        // How many bytes of the ring follow the last byte of a string.
        let mut behind = 0;
        while behind + length <= searched {
            let last = self.head().wrapping_sub(behind + 1);
            let at = self.wrap(last);
            // No string ends in these eight places, of which those from `at` down are left.
            if self.ends[at / 8] == 0 {
                behind += at as u32 % 8 + 1;
                continue;
            }
            let is_same =
                |(&byte, back): (&u8, u32)| self.at(last.wrapping_sub(back)) == (byte, back == 0);
            if self.ends_after(last) && end.iter().rev().zip(0..).all(is_same) {
                return Some(behind + length);
            }
            behind += 1;
        }
        None
    }

    /// The number of bytes in the ring.
    pub(crate) fn filled(&self) -> u32 {
        self.bytes.len().min(self.head() as usize) as u32
    }

    /// The byte at a position, which must be in the ring, and whether a string ends after it.
    pub(crate) fn at(&self, position: u32) -> (u8, bool) {
        (self.bytes[self.wrap(position)], self.ends_after(position))
    }

    /// What follows `position`: `inside` says that bytes before the position belong to the same
    /// string, which may therefore end there.
    pub(crate) fn next(&self, position: u32, inside: bool) -> Option<Next> {
        if inside && self.ends_after(position.wrapping_sub(1)) {
            return Some(Next::End);
        }
        self.contains(position).then(|| Next::Byte(self.bytes[self.wrap(position)]))
    }

    /// Whether all bytes of the string at this place are still in the ring.
    pub(crate) fn has(&self, place: StringPlace) -> bool {
        place.length as usize <= self.bytes.len()
            && (place.length == 0
                || self.contains(place.start)
                    && self.head().wrapping_sub(place.start) >= place.length)
    }

    /// The bytes of the string at this place, which must still be in the ring: up to the end of the
    /// ring, and from its start on.
    pub(crate) fn bytes(&self, place: StringPlace) -> [&[u8]; 2] {
        let start = self.wrap(place.start);
        let length = place.length as usize;
        let before_end = length.min(self.bytes.len() - start);
        [start..start + before_end, 0..length - before_end].map(|range| self.bytes.slice(range))
    }

    /// Whether the string at this place equals `string`.
    pub(crate) fn equals(&self, place: StringPlace, string: &[u8]) -> bool {
        let [first, second] = self.bytes(place);
        string.strip_prefix(first) == Some(second)
    }

    fn ends_after(&self, position: u32) -> bool {
        let at = self.wrap(position);
        self.ends[at / 8] >> (at % 8) & 1 == 1
    }

    fn contains(&self, position: u32) -> bool {
        let age = self.head().wrapping_sub(position);
        age >= 1 && age as usize <= self.bytes.len()
    }

    fn wrap(&self, position: u32) -> usize {
        position as usize & (self.bytes.len() - 1)
    }

    fn slot(&self, string: &[u8]) -> Option<usize> {
        let context = &string[string.len().checked_sub(CONTEXT)?..];
        let hash = hash_bytes(7, context);
        Some(((u64::from(hash) * self.index.len() as u64) >> 32) as usize)
    }
}
