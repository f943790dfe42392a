//! A simulated disk under SQLite: a VFS whose files are in memory, and which forgets, tears and
//! reorders at a power cut what was not synced. It also runs out of space, fails to write or to
//! sync, and flips bits.
//!
//! The code under test is what ships, SQLite included: it opens its database by the name of this
//! VFS.
//!
//! ```
//! use groupwire_disk::Disk;
//! use rusqlite::{Connection, OpenFlags};
//!
//! let disk = Disk::new("/ferry");
//! let open = || Connection::open_with_flags_and_vfs("/ferry/db", OpenFlags::default(), Disk::VFS);
//! let db = open()?;
//! db.pragma_update(None, "journal_mode", "WAL")?;
//! db.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)")?;
//! disk.crash(42);
//! drop(db);
//! let count: u32 = open()?.query_row("SELECT count(*) FROM t", [], |row| row.get(0))?;
//! assert_eq!(count, 1);
//! # Ok::<(), rusqlite::Error>(())
//! ```

mod disk;
mod files;
mod locks;
mod vfs;

pub use disk::{Disk, Fault};
