//! A stored room in memory: about 100 bytes and the index of its records.

use crate::api::OVERHEAD;
use crate::index::{Entries, Entry};
use crate::rows::PartRow;

/// The facts of a room that are known without reading the disk.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    pub(crate) id: u32,
    pub(crate) reserved: u32,
    /// Seconds since 1970.
    pub(crate) active: u32,
    /// The bytes of the meta data.
    meta: u32,
    pub(crate) incarnation: u64,
    pub(crate) head: u64,
    /// Bytes that count for quotas: records, parts, meta data and overhead.
    pub(crate) bytes: u64,
    pub(crate) entries: Entries,
    /// Fields that few rooms have, behind a pointer, because 100,000 rooms stay in memory.
    more: Option<Box<More>>,
}

#[derive(Debug, Clone, Default)]
struct More {
    /// The parts in the order in which they were stored.
    parts: Vec<PartRow>,
    damaged: Damaged,
}

/// The rows of a room that were found damaged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Damaged {
    /// Rows of the log, and the positions that they seem to have had.
    pub(crate) records: Vec<(i64, u64)>,
    /// The damaged rows of parts.
    pub(crate) parts: Vec<PartRow>,
    /// True if the room's own row is damaged.
    pub(crate) meta: bool,
}

impl Room {
    pub(crate) fn new(id: u32, incarnation: u64, name: &str) -> Self {
        let bytes = name.len() as u64 + OVERHEAD;
        let entries = Entries::default();
        Self {
            id,
            reserved: 0,
            active: 0,
            incarnation,
            head: 0,
            meta: 0,
            bytes,
            entries,
            more: None,
        }
    }

    /// The bytes of everything that the room has, for checks.
    pub(crate) fn counted(&self, name: &str) -> u64 {
        let parts: u64 = self.parts().iter().map(PartRow::cost).sum();
        let records: u64 = self.entries.iter().map(|entry| entry.cost()).sum();
        name.len() as u64 + OVERHEAD + u64::from(self.meta) + parts + records
    }

    pub(crate) fn meta_size(&self) -> u32 {
        self.meta
    }

    pub(crate) fn set_meta_size(&mut self, size: usize) {
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        self.bytes = self.bytes - u64::from(self.meta) + u64::from(size);
        self.meta = size;
    }

    pub(crate) fn parts(&self) -> &[PartRow] {
        self.more.as_ref().map_or(&[], |more| &more.parts)
    }

    /// The position up to which the newest part of this name covers the room; 0 without one.
    pub(crate) fn covered(&self, part: &str) -> u64 {
        self.parts().iter().rfind(|one| &*one.name == part).map_or(0, |newest| newest.as_of)
    }

    pub(crate) fn push_part(&mut self, part: PartRow) {
        self.bytes += part.cost();
        self.head = self.head.max(part.as_of);
        self.more.get_or_insert_default().parts.push(part);
    }

    pub(crate) fn damaged(&self) -> Option<&Damaged> {
        self.more.as_ref().map(|more| &more.damaged)
    }

    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged().is_some_and(|damaged| *damaged != Damaged::default())
    }

    pub(crate) fn damaged_mut(&mut self) -> &mut Damaged {
        &mut self.more.get_or_insert_default().damaged
    }

    /// Adds a record to the index.
    pub(crate) fn push(&mut self, entry: Entry, time: u32) {
        self.entries.push(entry);
        self.bytes += entry.cost();
        self.head = self.head.max(entry.position);
        self.active = self.active.max(time);
    }

    /// Keeps the entries that `keep` wants and returns the others.
    pub(crate) fn remove_entries(&mut self, mut keep: impl FnMut(&Entry) -> bool) -> Vec<Entry> {
        let (kept, removed): (Vec<_>, Vec<_>) = self.entries.iter().partition(|entry| keep(entry));
        if !removed.is_empty() {
            self.entries = kept.into_iter().collect();
            self.bytes -= removed.iter().map(Entry::cost).sum::<u64>();
        }
        removed
    }

    /// Keeps the parts that `keep` wants and returns the others.
    pub(crate) fn remove_parts(&mut self, mut keep: impl FnMut(&PartRow) -> bool) -> Vec<PartRow> {
        let Some(more) = &mut self.more else { return Vec::new() };
        let (kept, removed): (Vec<_>, Vec<_>) = more.parts.drain(..).partition(|part| keep(part));
        more.parts = kept;
        self.bytes -= removed.iter().map(PartRow::cost).sum::<u64>();
        removed
    }
}
