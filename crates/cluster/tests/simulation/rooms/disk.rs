//! The disk of a node: a store in memory, and the records that it was made of, so that a power cut
//! can take the newest ones back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use groupwire_cluster::Cursor;
use groupwire_store::{
    Change, Cursor as Stored, Error, MemoryStore, Options, Replica, parse_changes, wait,
    write_changes,
};

use super::shard_of;
use crate::node::What;

#[derive(Default)]
pub(crate) struct Disk {
    store: Option<Arc<MemoryStore>>,
    journal: Vec<(Stored, What)>,
    /// Of the journal, this much survives a power cut.
    saved: usize,
    /// The node's clock, in milliseconds since 1970.
    clock: Arc<AtomicU64>,
}

impl Disk {
    /// The store as the end of the process has left it.
    pub(super) fn open(&mut self, shards: u16) -> Arc<MemoryStore> {
        if self.journal.len() > self.saved {
            self.journal.truncate(self.saved);
            self.store = None;
        }
        if self.store.is_none() {
            let store = new_store(&self.clock);
            for (cursor, what) in &self.journal {
                carry_out(&store, cursor, what, shards).expect("it was applied before");
            }
            self.store = Some(Arc::new(store));
        }
        Arc::clone(self.store.as_ref().expect("it was made"))
    }

    pub(super) fn set_clock(&self, wall: u64) {
        self.clock.store(wall, Ordering::Relaxed);
    }

    /// Applies a record to the store.
    pub(super) fn apply(
        &mut self,
        (shard, shards): (u16, u16),
        cursor: &Cursor,
        what: &What,
        is_saved: bool,
    ) -> Result<(), Error> {
        let store = self.store.as_ref().expect("the process has opened it");
        let cursor = Stored {
            shard,
            sequence: cursor.sequence,
            number: cursor.number,
            state: cursor.to_bytes(),
        };
        carry_out(store, &cursor, what, shards)?;
        self.journal.push((cursor, what.clone()));
        if is_saved {
            self.saved = self.journal.len();
        }
        Ok(())
    }
}

/// The cursors of all shards of a store.
pub(super) fn cursors(store: &MemoryStore, shards: u16) -> Vec<Cursor> {
    let mut cursors = vec![Cursor::default(); usize::from(shards)];
    for Stored { shard, state, .. } in store.cursors() {
        cursors[usize::from(shard)] = Cursor::parse(&state).expect("a cursor");
    }
    cursors
}

fn new_store(clock: &Arc<AtomicU64>) -> MemoryStore {
    let clock = Arc::clone(clock);
    let clock = Arc::new(move || clock.load(Ordering::Relaxed));
    MemoryStore::new(Options { is_cache: true, clock, ..Options::default() })
}

fn carry_out(store: &MemoryStore, cursor: &Stored, what: &What, shards: u16) -> Result<(), Error> {
    match what {
        What::Changes { payload, time } => {
            let changes = match payload.is_empty() {
                true => Vec::new(),
                false => parse_changes(payload).expect("what the owner wrote"),
            };
            wait(|done| store.apply(cursor.clone(), *time, changes, done))
        }
        What::Base(base) => {
            let of_shard = |room: &str| shard_of(room, usize::from(shards)) == cursor.shard;
            match base {
                Some(base) => store.import_shard(cursor.clone(), base, &of_shard),
                None => {
                    let empty = new_store(&Arc::default());
                    let (_, base) = empty.export_shard(cursor.shard, &|_| false)?;
                    store.import_shard(cursor.clone(), &base, &of_shard)
                }
            }
        }
    }
}

impl What {
    /// True if these are the changes of the record.
    pub(super) fn is_of(&self, changes: &[Change]) -> bool {
        matches!(self, What::Changes { payload, .. } if *payload == write_changes(changes))
    }
}
