//! The history (the last strings coded byte by byte, in a ring) in a snapshot, and what compaction
//! keeps of it.
//!
//! A snapshot is the model as bytes, for a decoder that joins late; the archive writes and reads
//! it. Compaction makes a model small by rounding and forgetting.

use alloc::vec::Vec;

use super::{History, StringPlace};
use crate::archive::{Archive, Result};
use crate::error::SnapshotError;
use crate::range_coder::Coder;

// Contexts: each selects the statistics that the archive keeps for one kind of value.
const HEAD: u32 = 0x600;
const STRING: u32 = 0x601;
const STALE: u32 = 0x602;
const WHOLE: u32 = 0x603;
const NUMBER: u32 = 0x604;
const AGE: u32 = 0x605;
const LENGTH: u32 = 0x606;

impl History {
    /// Writes or reads all strings in the ring. The index is not stored but made anew from the
    /// strings.
    pub(crate) fn archive<C: Coder + ?Sized>(
        &mut self,
        archive: &mut Archive<'_, C>,
    ) -> Result<()> {
        let head = archive.number(HEAD, self.head().into());
        let head = u32::try_from(head).map_err(|_| SnapshotError::Malformed)?;
        let strings = if archive.decodes() { Vec::new() } else { self.strings() };
        let mut given = strings.iter();
        let mut left = self.bytes.len().min(head as usize);
        *self.head.change(0) = head.wrapping_sub(left as u32);
        while left > 0 {
            let given: Vec<u8> =
                given.next().map_or(Vec::new(), |&place| self.bytes(place).concat());
            let string = archive.string(STRING, left, &given)?;
            if string.is_empty() {
                return Err(SnapshotError::Malformed);
            }
            archive.check()?;
            left -= string.len();
            self.add(&string);
        }
        Ok(())
    }

    /// Writes or reads the place of a string: a flag if the string is no longer in the ring; or the
    /// number of strings after it; or, if it is not exactly one of the strings in the ring, its age
    /// and length in bytes.
    pub(crate) fn archive_place<C: Coder + ?Sized>(
        &self,
        archive: &mut Archive<'_, C>,
        strings: &[StringPlace],
        given: StringPlace,
    ) -> Result<StringPlace> {
        if archive.flag(STALE, !self.has(given)) {
            return Ok(self.stale());
        }
        let number = strings.iter().rev().position(|&string| string == given);
        if archive.flag(WHOLE, number.is_some()) {
            let number = archive.up_to(NUMBER, strings.len(), number.unwrap_or(0))?;
            let string = strings.iter().rev().nth(number);
            return string.copied().ok_or(SnapshotError::Malformed);
        }
        let age = archive.number(AGE, self.head().wrapping_sub(given.start).into());
        let length = archive.number(LENGTH, given.length.into());
        let place = StringPlace {
            start: self.head().wrapping_sub(age as u32),
            length: u32::try_from(length).map_err(|_| SnapshotError::Malformed)?,
        };
        if self.has(place) { Ok(place) } else { Err(SnapshotError::Malformed) }
    }

    /// The places of the strings in the ring, the oldest first. Of the oldest string perhaps only
    /// the end is left.
    pub(crate) fn strings(&self) -> Vec<StringPlace> {
        let head = self.head();
        let filled = self.bytes.len().min(head as usize) as u32;
        let mut strings = Vec::new();
        let mut start = head.wrapping_sub(filled);
        for back in (0..filled).rev() {
            let next = head.wrapping_sub(back);
            let at = self.wrap(next.wrapping_sub(1));
            if self.ends[at / 8] >> (at % 8) & 1 == 1 || back == 0 {
                strings.push(StringPlace { start, length: next.wrapping_sub(start) });
                start = next;
            }
        }
        strings
    }

    /// Keeps only the strings at these places, in this order. Returns their new places.
    pub(crate) fn keep(&mut self, places: &[StringPlace]) -> Vec<StringPlace> {
        let strings: Vec<Vec<u8>> =
            places.iter().map(|&place| self.bytes(place).concat()).collect();
        for index in 0..self.bytes.len() {
            self.bytes.put(index, 0);
        }
        for index in 0..self.ends.len() {
            self.ends.put(index, 0);
        }
        for index in 0..self.index.len() {
            self.index.put(index, 0);
        }
        *self.head.change(0) = 0;
        strings.iter().map(|string| self.add(string)).collect()
    }

    /// A place that stands for a string which is not in the ring, now or later.
    pub(crate) fn stale(&self) -> StringPlace {
        let behind = self.bytes.len() as u32 + 1;
        StringPlace { start: self.head().wrapping_sub(behind), length: 1 }
    }

    fn add(&mut self, string: &[u8]) -> StringPlace {
        let start = self.head();
        for end in 1..=string.len() {
            self.push(&string[..end]);
        }
        if !string.is_empty() {
            self.end();
        }
        StringPlace { start, length: string.len() as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_those_that_were_added() {
        let mut history = History::new(1024);
        for index in 0..100u8 {
            history.add(&[b'a' + index % 20; 7]);
        }
        let strings = history.strings();
        assert!(strings.len() > 10);
        assert!(strings[1..].iter().all(|place| place.length == 7 && history.has(*place)));
        let last = *strings.last().expect("there are some");
        assert_eq!(history.bytes(last).concat(), [b'a' + 99 % 20; 7]);
        assert!(!history.has(history.stale()));
        let kept = history.keep(&strings[5..8]);
        assert_eq!(history.strings(), kept);
    }
}
