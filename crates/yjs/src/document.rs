use alloc::vec::Vec;
use core::mem;

use crate::deletes::write_client;
use crate::error::Error;
use crate::merge::{diff, merge, write_structs};
use crate::ranges::Ranges;
use crate::reader::Id;
use crate::state_vector::StateVector;
use crate::structs::Body;
use crate::update::Update;
use crate::writer;

/// The most updates since the last merge.
const MAX_APART: usize = 1024;

/// Updates are merged because of their size only if they have more bytes than this.
const FEW_BYTES: usize = 64 << 10;

/// A document as a server holds it: its updates, and the sets of its structs and deletions. Its
/// content is not interpreted.
///
/// ```
/// use groupwire_yjs::{Document, StateVector, Update};
///
/// // Client 1 wrote "hi" into the text "t".
/// let update = [1, 1, 1, 0, 4, 1, 1, b't', 2, b'h', b'i', 0];
/// let mut document = Document::default();
/// let news = document.news(&Update::parse(&update)?).expect("the document lacks it");
/// document.add(news)?;
/// assert_eq!(document.news(&Update::parse(&update)?), None, "it is there now");
/// assert_eq!(document.diff(&StateVector::default()), update);
/// # Ok::<(), groupwire_yjs::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The update into which all updates up to the last merge were merged; empty if there was none.
    merged: Vec<u8>,
    /// The updates since then.
    updates: Vec<Vec<u8>>,
    /// The bytes of `updates`.
    apart: usize,
    structs: Ranges,
    deletes: Ranges,
}

impl Document {
    /// A document of these updates.
    ///
    /// # Errors
    /// One of them is no update.
    pub fn of<'a>(updates: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, Error> {
        let updates: Vec<_> = updates.into_iter().map(Update::parse).collect::<Result<_, _>>()?;
        let mut document = Document::default();
        updates.iter().for_each(|update| document.note(update));
        document.merged = merge(&updates);
        Ok(document)
    }

    /// The part of an update that is new to the document; `None` if nothing is.
    #[must_use]
    pub fn news(&self, update: &Update<'_>) -> Option<Vec<u8>> {
        let mut deleted = Vec::new();
        let mut clients = 0;
        let mut missing = Vec::new();
        for (client, ranges) in update.delete_set().iter() {
            missing.clear();
            for &(clock, end) in ranges {
                self.deletes.missing(Id { client, clock }, end, &mut missing);
            }
            if !missing.is_empty() {
                clients += 1;
                write_client(client, &missing, &mut deleted);
            }
        }
        let is_there = |client| move |(clock, end)| self.structs.covers(Id { client, clock }, end);
        let has_structs = update.blocks.iter().any(|block| {
            let items = update.structs(block).filter(|one| !matches!(one.body, Body::Skip));
            !items.map(|one| (one.id.clock, one.end())).all(is_there(block.client))
        });
        if !has_structs && clients == 0 {
            return None;
        }
        let mut news = Vec::new();
        if has_structs {
            let mut there = StateVector::default();
            for block in &update.blocks {
                there.insert(block.client, self.structs.up_to(block.client));
            }
            write_structs(core::slice::from_ref(update), &there, None, &mut news);
        } else {
            writer::number(&mut news, 0);
        }
        writer::number(&mut news, clients);
        news.append(&mut deleted);
        Some(news)
    }

    /// Adds an update. The document may have it already.
    ///
    /// # Errors
    /// The bytes are no update.
    pub fn add(&mut self, update: Vec<u8>) -> Result<(), Error> {
        self.note(&Update::parse(&update)?);
        self.apart += update.len();
        self.updates.push(update);
        Ok(())
    }

    /// The state vector of the document, from which others know what to send.
    #[must_use]
    pub fn state_vector(&self) -> StateVector {
        let mut vector = StateVector::default();
        for (client, clock) in self.structs.all_from_zero() {
            vector.insert(client, clock);
        }
        vector
    }

    /// The part of the document that a client with the state vector `since` lacks.
    #[must_use]
    pub fn diff(&mut self, since: &StateVector) -> Vec<u8> {
        match Update::parse(self.merge()) {
            Ok(update) => diff(&update, since),
            // No update was added yet.
            Err(_) => merge(&[]),
        }
    }

    /// The document as one update; empty bytes if nothing was ever added.
    pub fn merge(&mut self) -> &[u8] {
        if !self.updates.is_empty() {
            let updates = mem::take(&mut self.updates);
            self.apart = 0;
            let merged = mem::take(&mut self.merged);
            let all = [&merged].into_iter().chain(&updates).filter(|bytes| !bytes.is_empty());
            // All updates were parsed before, so none fails.
            let all: Vec<_> = all.filter_map(|bytes| Update::parse(bytes).ok()).collect();
            self.merged = merge(&all);
        }
        &self.merged
    }

    /// Whether there are enough updates to merge them, so that merging takes little time for each
    /// of them.
    #[must_use]
    pub fn is_scattered(&self) -> bool {
        self.updates.len() >= MAX_APART || self.apart > self.merged.len().max(FEW_BYTES)
    }

    /// The bytes of the document's updates.
    #[must_use]
    pub fn size(&self) -> usize {
        self.merged.len() + self.apart
    }

    /// An estimate of the bytes of memory that the document takes.
    #[must_use]
    pub fn memory(&self) -> usize {
        // A range is three numbers in a tree, and an update has its place in a list.
        self.size() + 40 * (self.structs.len() + self.deletes.len()) + 40 * self.updates.len()
    }

    /// Whether both documents have the same structs and deletions.
    #[must_use]
    pub fn is_alike(&self, other: &Document) -> bool {
        self.structs == other.structs && self.deletes == other.deletes
    }

    /// Adds the structs and deletions of an update to the sets.
    fn note(&mut self, update: &Update<'_>) {
        for block in &update.blocks {
            for one in update.structs(block).filter(|one| !matches!(one.body, Body::Skip)) {
                self.structs.insert(one.id, one.end());
            }
        }
        for (client, ranges) in update.delete_set().iter() {
            for &(clock, end) in ranges {
                self.deletes.insert(Id { client, clock }, end);
            }
        }
    }
}
