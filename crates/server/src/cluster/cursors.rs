//! Cursors of the state machine, as the local store keeps them.

use groupwire_cluster::Cursor;
use groupwire_store::{Cursor as Stored, Error as StoreError, MemoryStore, Options, Replica};

use crate::error::Error;

pub(super) fn to_stored(shard: u16, cursor: &Cursor) -> Stored {
    let Cursor { sequence, number, .. } = *cursor;
    Stored { shard, sequence, number, state: cursor.to_bytes() }
}

/// The cursors of all shards.
///
/// # Errors
/// A newer version of the server has written one.
pub(super) fn from_stored(stored: &[Stored], shards: u16) -> Result<Vec<Cursor>, Error> {
    let mut cursors = vec![Cursor::default(); usize::from(shards)];
    for Stored { shard, state, .. } in stored {
        let Some(cursor) = cursors.get_mut(usize::from(*shard)) else { continue };
        *cursor = Cursor::parse(state).map_err(|error| Error::Cluster(error.to_string()))?;
    }
    Ok(cursors)
}

/// The base of a shard without rooms.
pub(super) fn empty_base(shard: u16) -> Result<Vec<u8>, StoreError> {
    let empty = MemoryStore::new(Options { is_cache: true, ..Options::default() });
    empty.export_shard(shard, &|_| false).map(|(_, base)| base)
}
