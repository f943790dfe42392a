//! The stream: ordered bytes, each message behind its length.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::ranges::Ranges;

/// The bytes of the length before each message; real ones are varints of 1 to 3 bytes.
const LENGTH: usize = 2;

#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// The bytes from the first unacknowledged one on.
    buffer: VecDeque<u8>,
    start: u64,
    /// The offset of the first byte that was never sent.
    next: u64,
    acknowledged: Ranges,
    /// The ranges that have to be sent again.
    again: Ranges,
}

impl Outgoing {
    pub(super) fn write(&mut self, message: &[u8]) {
        let length = u16::try_from(message.len()).expect("messages have up to 65,535 bytes");
        self.buffer.extend(length.to_be_bytes());
        self.buffer.extend(message);
    }

    pub(super) fn unsent(&self) -> usize {
        self.buffer.len() - (self.next - self.start) as usize
    }

    pub(super) fn has_data(&self) -> bool {
        self.again.first().is_some() || self.unsent() > 0
    }

    /// The next bytes to be sent, at most `most`.
    pub(super) fn take(&mut self, most: usize) -> Option<(u64, Vec<u8>)> {
        let new = self.next..self.start + self.buffer.len() as u64;
        let range = self.again.first().cloned().unwrap_or(new);
        let range = range.start..range.end.min(range.start + most as u64);
        if range.is_empty() {
            return None;
        }
        self.again.remove(&range);
        self.next = self.next.max(range.end);
        let place = |number: u64| (number - self.start) as usize;
        let bytes = self.buffer.range(place(range.start)..place(range.end)).copied().collect();
        Some((range.start, bytes))
    }

    pub(super) fn acknowledged(&mut self, range: &Range<u64>) {
        self.again.remove(range);
        self.acknowledged.insert(range);
        if let Some(first) = self.acknowledged.first().filter(|first| first.start <= self.start) {
            self.buffer.drain(..(first.end - self.start) as usize);
            self.start = first.end;
        }
    }

    pub(super) fn lost(&mut self, range: &Range<u64>) {
        self.again.insert(range);
        for known in self.acknowledged.as_slice() {
            self.again.remove(known);
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Incoming {
    ready: VecDeque<u8>,
    /// The offset of the end of `ready`.
    next: u64,
    early: BTreeMap<u64, Vec<u8>>,
}

impl Incoming {
    pub(super) fn insert(&mut self, offset: u64, data: &[u8]) {
        if offset + data.len() as u64 > self.next {
            let longer = self.early.get(&offset).is_none_or(|one| one.len() < data.len());
            if longer {
                self.early.insert(offset, data.to_vec());
            }
        }
        while let Some(entry) = self.early.first_entry()
            && *entry.key() <= self.next
        {
            let (offset, data) = entry.remove_entry();
            let known = ((self.next - offset) as usize).min(data.len());
            self.ready.extend(&data[known..]);
            self.next += (data.len() - known) as u64;
        }
    }

    pub(super) fn read(&mut self) -> Option<Vec<u8>> {
        let length = u16::from_be_bytes([*self.ready.front()?, *self.ready.get(1)?]);
        let end = LENGTH + usize::from(length);
        (self.ready.len() >= end).then(|| self.ready.drain(..end).skip(LENGTH).collect())
    }
}
