use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::error::Error;
use crate::reader::{MAX_NUMBER, Reader};
use crate::writer;

/// The deletions of one client in an update.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) client: u64,
    /// The offset of the ranges in the update.
    at: usize,
    count: u64,
}

/// Checks the deletions of an update. Returns a block for each client.
pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Vec<Block>, Error> {
    let mut blocks = Vec::new();
    for _ in 0..reader.count()? {
        let client = reader.number()?;
        let at = reader.at();
        let count = reader.count()?;
        if count == 0 {
            return Err(Error::Malformed { what: "a client without deletions", at });
        }
        let at = reader.at();
        for _ in 0..count {
            let at = reader.at();
            let (clock, length) = (reader.number()?, reader.number()?);
            if length == 0 || clock + length > MAX_NUMBER {
                return Err(Error::Malformed { what: "a deletion", at });
            }
        }
        blocks.push(Block { client, at, count });
    }
    Ok(blocks)
}

/// What was deleted of a document: for each client, ranges of clocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeleteSet {
    /// The greatest client first.
    clients: Vec<(u64, Vec<(u64, u64)>)>,
}

impl DeleteSet {
    /// The deletions in these updates together.
    pub(crate) fn of(blocks: &mut [(&[u8], Block)]) -> Self {
        let mut clients = Vec::new();
        each(blocks, |client, ranges| clients.push((client, ranges.to_vec())));
        DeleteSet { clients }
    }

    /// The ranges of each client: the first clock, and the clock after the last one. They are
    /// ascending, and do not touch.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[(u64, u64)])> {
        self.clients.iter().map(|(client, ranges)| (*client, ranges.as_slice()))
    }

    /// True if the set holds no deletion.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }
}

/// Writes the deletions in these updates together.
pub(crate) fn write(blocks: &mut [(&[u8], Block)], out: &mut Vec<u8>) {
    let mut body = Vec::new();
    let mut count = 0;
    each(blocks, |client, ranges| {
        count += 1;
        write_client(client, ranges, &mut body);
    });
    writer::number(out, count);
    out.append(&mut body);
}

/// Writes the deletions of one client.
pub(crate) fn write_client(client: u64, ranges: &[(u64, u64)], out: &mut Vec<u8>) {
    writer::number(out, client);
    writer::number(out, ranges.len() as u64);
    for (start, end) in ranges {
        writer::number(out, *start);
        writer::number(out, end - start);
    }
}

/// Calls `take` with the ranges of each client, joined.
fn each(blocks: &mut [(&[u8], Block)], mut take: impl FnMut(u64, &[(u64, u64)])) {
    blocks.sort_by_key(|(_, block)| Reverse(block.client));
    let mut ranges = Vec::new();
    for alike in blocks.chunk_by(|(_, a), (_, b)| a.client == b.client) {
        ranges.clear();
        for (bytes, block) in alike {
            let mut reader = Reader::new(bytes, block.at);
            for _ in 0..block.count {
                // This cannot fail: `read` has checked these numbers.
                let (Ok(clock), Ok(length)) = (reader.number(), reader.number()) else { break };
                ranges.push((clock, clock + length));
            }
        }
        ranges.sort_unstable();
        ranges.dedup_by(|next, last| {
            let touches = next.0 <= last.1;
            if touches {
                last.1 = last.1.max(next.1);
            }
            touches
        });
        if let (Some((_, first)), false) = (alike.first(), ranges.is_empty()) {
            take(first.client, &ranges);
        }
    }
}
