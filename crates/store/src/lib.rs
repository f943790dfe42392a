//! The durable log of all rooms of a server.
//!
//! A [`Store`] keeps, for each room, an ordered log of [`Record`]s, a snapshot in [`Part`]s that
//! stand for records, and meta data. What is confirmed survives `kill -9` and a power cut. One
//! thread writes: everything that waits goes into one commit with one sync. Rooms are read beside
//! it, on other connections.
//!
//! A store can also have an outbox: events for a receiver outside, which are stored in the commit
//! of the change that they tell of, and kept until they were told or are too old.
//!
//! The store does not look into records, parts, meta data and events. Tokens, addresses and
//! presence are not given to it.
//!
//! ```
//! use groupwire_store::{Append, Options, Record, RoomLog, Store, wait};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let store = Store::open(folder.path(), Options::default())?;
//! let (position, channel, author, recipient, counter) = (1, 0, 5, 0, 1);
//! let bytes = b"hello".to_vec();
//! let record = Record { position, channel, author, recipient, counter, bytes };
//! let (room, records) = ("board".into(), vec![record]);
//! let append = Append { room, incarnation: 7, records, ..Append::default() };
//! wait(|done| store.append(append, done))?;
//! drop(store);
//!
//! let store = Store::open(folder.path(), Options::default())?;
//! let room = store.load("board")?.expect("the room was stored");
//! assert_eq!(room.records[0].bytes, b"hello");
//! # Ok(())
//! # }
//! ```

mod api;
mod batch;
mod change;
mod change_bytes;
mod compact;
mod copy;
mod error;
mod events;
mod export;
mod forget;
mod gap;
mod history;
mod import;
mod index;
mod keys;
mod lifecycle;
pub mod limits;
mod load;
mod lock;
mod memory;
mod options;
mod outbox;
mod plan;
mod private_file;
mod replica;
mod request;
mod restore;
mod room;
mod rows;
mod saving;
mod scan;
mod schema;
mod shard;
mod state;
mod step;
mod store;
mod stores;
mod sweep;
mod times;
mod vfs;
mod wal;
mod writer;

pub use api::{
    Append, Damage, Loaded, Moment, OutboxEvent, OutboxLimits, OutboxState, Part, Record, RoomInfo,
    SnapshotInfo, Snapshots, Summary, Usage,
};
pub use change::{Change, RoomCopy, SavePart};
pub use change_bytes::{ChangesError, parse_changes, write_changes};
pub use error::{Error, NotNow, OpenError};
pub use export::{check, export, repair, set_aside};
pub use forget::{Forget, ForgetError, parse_time};
pub use keys::{Key, Keys};
pub use memory::MemoryStore;
pub use options::{Clock, Options};
pub use private_file::{
    Loose, close_store_to_others, close_to_others, create_private, create_private_folder,
    open_or_create_private, write_private,
};
pub use request::{Done, wait};
pub use shard::Cursor;
pub use store::Store;
pub use stores::{Directory, History, Monitor, Outbox, Replica, RoomLog, Stores, Transfer};
pub use times::Times;
pub use wal::wal_is_damaged;
