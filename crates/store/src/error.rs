//! The errors of the store, whose messages say what to do.

use std::path::PathBuf;

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use thiserror::Error;

/// Why a request was not carried out. Nothing of it was stored.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// Try again later: the request is valid, but there is no place for it at the moment.
    #[error("not now: {0}")]
    NotNow(NotNow),
    /// A write or a sync failed, so it is unknown what is on the disk. The store answers nothing
    /// else any more.
    #[error(
        "the store is poisoned, because writing failed: {0}; restart the server, which recovers what was confirmed"
    )]
    Poisoned(String),
    /// The records do not continue the stored ones. An append before this one was refused, or the
    /// room was deleted. For a part of a snapshot: it covers more than the room has, or less than
    /// the newest part of its name.
    #[error("the next position of the room is {expected}, not {found}")]
    Position {
        /// The position that the next record must have.
        expected: u64,
        /// The position that it had.
        found: u64,
    },
    /// The room has begun again, or was deleted and created anew, since the caller loaded it.
    #[error("the room has another incarnation; load it again")]
    Incarnation,
    /// There is no such room.
    #[error("no such room")]
    NoRoom,
    /// The room to be imported is there already.
    #[error("room {0:?} exists; delete it first, or import with --replace")]
    Exists(String),
    /// The room cannot be taken back so far: a part of the snapshot or records of that time are no
    /// longer kept.
    #[error(
        "there is no such snapshot or moment, or it is no longer kept; `groupwire admin snapshots` lists what there is"
    )]
    NotKept,
    /// The request exceeds a limit of [`limits`](crate::limits).
    #[error("{what} is larger than its limit, {limit}")]
    TooLarge {
        /// The name of the item that is too large.
        what: &'static str,
        /// The limit, in bytes or in items.
        limit: u64,
    },
    /// The database is damaged beyond a single record.
    #[error(
        "the store's database is damaged: {0}; stop the server and run `groupwire store repair`, or restore an export"
    )]
    Damaged(String),
    /// A record of a shared log contradicts the store, so that one of them is damaged. Nothing more
    /// of the shard is applied before [`Replica::import_shard`](crate::Replica::import_shard) or
    /// [`Replica::clear`](crate::Replica::clear).
    #[error(
        "shard {shard} of the store contradicts its log at room {room:?}, position {position}: {reason}; the shard has to be built again from the log"
    )]
    Contradiction {
        /// The shard.
        shard: u16,
        /// The name of the room that the change is about.
        room: String,
        /// The position in the room that the change begins at.
        position: u64,
        /// Why the change cannot be carried out.
        reason: String,
    },
    /// Several servers share the rooms, and another one has this room now.
    #[error("another server has the room now; ask that one")]
    Moved,
    /// Several servers share the rooms, and another one has a room that is to be imported.
    #[error(
        "room {room:?} belongs to the server {server}, and nothing was imported: `groupwire admin import` passes all \
         rooms on to their servers"
    )]
    Elsewhere {
        /// The room.
        room: String,
        /// The name of its server.
        server: String,
    },
    /// Reading failed, or a file of an export could not be written.
    #[error("{0}")]
    Io(String),
}

/// Why an append has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotNow {
    /// The disk is full.
    #[error("no space is left on the disk; free some, and the server goes on by itself")]
    Disk,
    /// The store is at its quota of bytes, or above 80 % of it and the room is new.
    #[error("the quota of bytes of all rooms is used up; delete rooms or raise the quota")]
    Bytes,
    /// The store is at its quota of rooms, or above 80 % of it and the room is new.
    #[error("the quota of rooms is used up; delete rooms or raise the quota")]
    Rooms,
    /// The room is at its own quota.
    #[error("the room's quota of bytes is used up; store a snapshot of it, or raise the quota")]
    Room,
    /// The room was written to while it was taken back.
    #[error("the room changed meanwhile; try again")]
    Changed,
    /// More requests wait than the store's queue holds.
    #[error("the disk is slower than the requests; try again")]
    Busy,
}

/// Why a folder could not be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process has the folder.
    #[error(
        "{folder} is in use by process {process}; stop that server, or give this one a folder of its own"
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// The number of the process, or `unknown`.
        process: String,
    },
    /// A newer version of Groupwire wrote the folder.
    #[error(
        "{folder} has format {found}, and this version reads formats up to {known}; install the newer version that wrote it"
    )]
    Newer {
        /// The folder.
        folder: PathBuf,
        /// The format of the folder.
        found: u32,
        /// The newest format that this version reads.
        known: u32,
    },
    /// The database is not one of a store.
    #[error("{0} is not a database of rooms; give the store an empty folder of its own")]
    Foreign(PathBuf),
    /// The database cannot be read.
    #[error(
        "{folder} is damaged: {reason}; run `groupwire store repair`, which keeps all that can be read, or restore an export"
    )]
    Damaged {
        /// The folder.
        folder: PathBuf,
        /// What SQLite found.
        reason: String,
    },
    /// There is no store in the folder.
    #[error("{0} holds no stored rooms; name the folder of `groupwire serve --data`")]
    NoStore(PathBuf),
    /// The file is not that of an export, or cannot be read.
    #[error("{file} is no export of rooms, or it is damaged ({reason}); use another copy")]
    Export {
        /// The file.
        file: PathBuf,
        /// What SQLite found.
        reason: String,
    },
    /// The folder or its disk is read-only.
    #[error(
        "{0} cannot be written; make it writable for this user, and look whether the disk was mounted read-only"
    )]
    ReadOnly(PathBuf),
    /// The file of keys may be read by others, or is not such a file.
    #[error("{path}: {reason}")]
    Keys {
        /// The file.
        path: PathBuf,
        /// The fault, and what to do.
        reason: String,
    },
    /// Any other error of the system or of SQLite.
    #[error("{folder}: {reason}")]
    Io {
        /// The folder.
        folder: PathBuf,
        /// The system's or SQLite's message.
        reason: String,
    },
}

impl OpenError {
    /// The disk has no space for what opening writes.
    pub(crate) fn full(folder: PathBuf) -> Self {
        let reason = "no space is left on the disk; free some, and start it again".into();
        OpenError::Io { folder, reason }
    }
}

/// What an error of SQLite means to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Full,
    Damaged,
    ReadOnly,
    Busy,
    Other,
}

pub(crate) fn kind(error: &rusqlite::Error) -> Kind {
    let rusqlite::Error::SqliteFailure(failure, _) = error else { return Kind::Other };
    match failure.code {
        ErrorCode::DiskFull => Kind::Full,
        // The index of the write-ahead log grows before a commit is written. It is rebuilt at the
        // start, so nothing is lost.
        _ if failure.extended_code == SQLITE_IOERR_SHMSIZE => Kind::Full,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Kind::Damaged,
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Kind::ReadOnly,
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Kind::Busy,
        _ => Kind::Other,
    }
}

/// The answer for a request that only reads.
pub(crate) fn reading(error: rusqlite::Error) -> Error {
    match kind(&error) {
        Kind::Damaged => Error::Damaged(error.to_string()),
        _ => Error::Io(error.to_string()),
    }
}
