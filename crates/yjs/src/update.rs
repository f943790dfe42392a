use alloc::vec::Vec;

use crate::deletes::{self, DeleteSet};
use crate::error::Error;
use crate::limits::MAX_UPDATE;
use crate::reader::{Id, Reader};
use crate::state_vector::StateVector;
use crate::structs::{Body, Struct};

/// An update of a document, in version 1, that has been checked.
#[derive(Debug, Clone)]
pub struct Update<'a> {
    pub(crate) bytes: &'a [u8],
    /// The structs of each client.
    pub(crate) blocks: Vec<Block>,
    pub(crate) deletes: Vec<deletes::Block>,
}

/// The structs of one client in an update.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) client: u64,
    /// The clock of the first struct.
    clock: u64,
    /// The offset of the structs in the update.
    at: usize,
    count: u64,
}

impl<'a> Update<'a> {
    /// Checks an update. See *What is checked* in the documentation of the crate.
    ///
    /// # Errors
    /// The bytes are no update, or one that Yjs would not write.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        if bytes.len() > MAX_UPDATE {
            return Err(Error::TooLarge { bytes: bytes.len(), limit: MAX_UPDATE });
        }
        let mut reader = Reader::new(bytes, 0);
        let mut blocks = Vec::new();
        for _ in 0..reader.count()? {
            let at = reader.at();
            let count = reader.count()?;
            if count == 0 {
                return Err(Error::Malformed { what: "a client without structs", at });
            }
            let id = reader.id()?;
            let at = reader.at();
            let mut clock = id.clock;
            for _ in 0..count {
                clock = Struct::read(&mut reader, Id { clock, ..id })?.end();
            }
            blocks.push(Block { client: id.client, clock: id.clock, at, count });
        }
        // Of a client that comes twice, Yjs forgets the first structs.
        let mut clients: Vec<u64> = blocks.iter().map(|block| block.client).collect();
        clients.sort_unstable();
        if clients.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(Error::Malformed { what: "a client that comes twice", at: 0 });
        }
        let deletes = deletes::read(&mut reader)?;
        match reader.left() {
            0 => Ok(Update { bytes, blocks, deletes }),
            _ => Err(Error::TooLong { at: reader.at() }),
        }
    }

    /// The greatest clock after a struct of the update.
    #[must_use]
    pub fn end(&self) -> u64 {
        let ends = self.blocks.iter().filter_map(|block| self.structs(block).last());
        ends.map(|last| last.end()).max().unwrap_or(0)
    }

    /// Whether the update changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.deletes.is_empty()
    }

    /// The content that this update alone gives: for each client, the structs from clock 0 on, up
    /// to the first gap.
    #[must_use]
    pub fn state_vector(&self) -> StateVector {
        let mut vector = StateVector::default();
        for block in self.blocks.iter().filter(|block| block.clock == 0) {
            let there = self.structs(block).take_while(|one| !matches!(one.body, Body::Skip));
            if let Some(last) = there.last() {
                vector.insert(block.client, last.end());
            }
        }
        vector
    }

    /// The deletions in the update.
    #[must_use]
    pub fn delete_set(&self) -> DeleteSet {
        let mut blocks: Vec<_> = self.deletes.iter().map(|&block| (self.bytes, block)).collect();
        DeleteSet::of(&mut blocks)
    }

    /// The structs of a client.
    pub(crate) fn structs(&self, block: &Block) -> Structs<'a> {
        Structs {
            reader: Reader::new(self.bytes, block.at),
            next: Id { client: block.client, clock: block.clock },
            left: block.count,
        }
    }
}

/// The structs of one client in an update, read once more.
#[derive(Debug, Clone)]
pub(crate) struct Structs<'a> {
    reader: Reader<'a>,
    next: Id,
    left: u64,
}

impl Structs<'_> {
    /// The clock of the next struct; `None` at the end.
    pub(crate) fn clock(&self) -> Option<u64> {
        (self.left > 0).then_some(self.next.clock)
    }
}

impl<'a> Iterator for Structs<'a> {
    type Item = Struct<'a>;

    fn next(&mut self) -> Option<Struct<'a>> {
        self.left = self.left.checked_sub(1)?;
        // This cannot fail: `parse` has read all structs.
        let one = Struct::read(&mut self.reader, self.next).ok()?;
        self.next.clock = one.end();
        Some(one)
    }
}
