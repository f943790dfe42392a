//! The database file: its tables, its format version, and how connections to it are set up.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::{Error, Kind, OpenError, kind, reading};
use crate::options::Options;
use crate::private_file::create_private;
use crate::{gap, outbox, shard, vfs};

/// The name of the database in the store's folder.
pub(crate) const DATABASE: &str = "rooms.db";

/// The version of the tables below. A folder of an older version is converted when it is opened;
/// one of a newer version is refused.
pub(crate) const FORMAT: u32 = 1;

/// Marks the file as ours: "GrpW".
const APPLICATION: u32 = 0x4772_7057;

/// SQLite's cache of a connection, in KiB. Small for the scan at the start and for readers, which
/// read each page once; larger for the writer, so that a commit's pages stay in it.
const CACHE_KIB: i32 = 256;
const WRITER_CACHE_KIB: i32 = 2048;

/// All tables are append-only with integer keys, so that a commit writes few pages. `log` has no
/// index by room: the index is in memory (`index.rs`). `pieces.id` is the part's id times
/// [`PIECES`](crate::rows::PIECES) plus the number of the piece.
const TABLES: &str = "
    CREATE TABLE rooms (id INTEGER PRIMARY KEY, name TEXT NOT NULL, incarnation INTEGER NOT NULL, reserved INTEGER NOT NULL,
        head INTEGER NOT NULL, active INTEGER NOT NULL, meta BLOB NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE log (id INTEGER PRIMARY KEY, room INTEGER NOT NULL, position INTEGER NOT NULL, channel INTEGER NOT NULL,
        author INTEGER NOT NULL, recipient INTEGER NOT NULL, counter INTEGER NOT NULL, time INTEGER NOT NULL,
        bytes BLOB NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE parts (id INTEGER PRIMARY KEY, room INTEGER NOT NULL, name TEXT NOT NULL, channels BLOB NOT NULL,
        as_of INTEGER NOT NULL, taken INTEGER NOT NULL, size INTEGER NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE pieces (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL, crc INTEGER NOT NULL);
";

/// Opens the database of `folder` for writing, and creates it if the folder is empty.
pub(crate) fn open_writer(folder: &Path, options: &Options) -> Result<Connection, OpenError> {
    let open_error = |error| describe(folder, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = open(folder, options.vfs.as_deref(), flags).map_err(open_error)?;
    if check_format(&connection, folder)? == 0 {
        create(&connection).map_err(open_error)?;
    }
    set_up_writer(&connection, options.is_cache).map_err(open_error)?;
    Ok(connection)
}

/// Gives the writer its cache, after the scan.
pub(crate) fn enlarge_cache(writer: &Connection) -> rusqlite::Result<()> {
    writer.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)
}

/// Opens the database of `folder` for reading.
pub(crate) fn open_reader(folder: &Path, vfs: Option<&str>) -> rusqlite::Result<Connection> {
    open(folder, vfs, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Opens the database of `folder`, which a server may use meanwhile, to read all of it.
/// `even_if_damaged`: only the format of a newer version is refused.
pub(crate) fn open_stored(folder: &Path, even_if_damaged: bool) -> Result<Connection, OpenError> {
    check_exists(folder)?;
    let connection = open_reader(folder, None).map_err(|error| describe(folder, error))?;
    match check_format(&connection, folder) {
        Err(error) if !even_if_damaged || matches!(error, OpenError::Newer { .. }) => Err(error),
        _ => Ok(connection),
    }
}

/// Refuses a folder without a database.
pub(crate) fn check_exists(folder: &Path) -> Result<(), OpenError> {
    let exists = folder.join(DATABASE).exists();
    if exists { Ok(()) } else { Err(OpenError::NoStore(folder.to_owned())) }
}

/// Creates an empty database in a new file for an export.
pub(crate) fn create_export(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let vfs = vfs::clearing_gaps(None)?;
    // If that fails, SQLite says why.
    let _ = create_private(file);
    let connection = Connection::open_with_flags_and_vfs(file, flags, vfs.as_str())?;
    // The file gets its name only when it is complete and synced, so no journal is needed.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch(TABLES)?;
    mark(&connection)?;
    Ok(connection)
}

/// Creates an empty database in memory for the rooms of a shard.
pub(crate) fn create_base() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(TABLES)?;
    mark(&connection)?;
    shard::create_table(&connection)?;
    outbox::create_tables(&connection)?;
    Ok(connection)
}

/// Opens a database that was created by [`create_base`].
pub(crate) fn open_base(bytes: &[u8]) -> Result<Connection, Error> {
    let open = || {
        let mut connection = Connection::open_in_memory()?;
        connection.deserialize_read_exact("main", bytes, bytes.len(), true)?;
        Ok(connection)
    };
    let connection = open().map_err(reading)?;
    match check_format(&connection, Path::new("the base of a shard")) {
        Ok(FORMAT) => Ok(connection),
        Ok(_) => Err(Error::Damaged("the base of a shard is not of this format".into())),
        Err(error) => Err(Error::Damaged(error.to_string())),
    }
}

/// Opens a file of an export for reading.
pub(crate) fn open_export(file: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(|e| of_export(file, &e))?;
    match check_format(&connection, file) {
        Err(error @ OpenError::Newer { .. }) => Err(error),
        Ok(FORMAT) => Ok(connection),
        _ => Err(OpenError::Export { file: file.to_owned(), reason: "not of this format".into() }),
    }
}

/// What an error of reading an export means to the user.
pub(crate) fn of_export(file: &Path, error: &rusqlite::Error) -> OpenError {
    OpenError::Export { file: file.to_owned(), reason: error.to_string() }
}

/// What an error of opening means to the user.
pub(crate) fn describe(folder: &Path, error: rusqlite::Error) -> OpenError {
    let folder = folder.to_owned();
    match kind(&error) {
        Kind::Damaged => OpenError::Damaged { folder, reason: error.to_string() },
        Kind::ReadOnly => OpenError::ReadOnly(folder),
        Kind::Full => OpenError::full(folder),
        // SQLite makes files beside the database even for reading.
        _ if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            OpenError::ReadOnly(folder)
        }
        _ => OpenError::Io { folder, reason: error.to_string() },
    }
}

fn open(folder: &Path, vfs: Option<&str>, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let path = folder.join(DATABASE);
    // Each connection is used by one thread at a time, which Rust's types prove.
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let vfs = vfs::clearing_gaps(vfs)?;
    let connection = Connection::open_with_flags_and_vfs(path, flags, vfs.as_str())?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    Ok(connection)
}

/// The format of the database; 0 if it is empty.
fn check_format(connection: &Connection, folder: &Path) -> Result<u32, OpenError> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0));
    let open_error = |error| describe(folder, error);
    let (format, application) = (
        number("user_version").map_err(open_error)?,
        number("application_id").map_err(open_error)?,
    );
    if format > FORMAT && application == APPLICATION {
        return Err(OpenError::Newer { folder: folder.to_owned(), found: format, known: FORMAT });
    }
    let tables: u32 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(open_error)?;
    if application != APPLICATION && (tables > 0 || format > 0) {
        return Err(OpenError::Foreign(folder.to_owned()));
    }
    Ok(format)
}

fn create(connection: &Connection) -> rusqlite::Result<()> {
    // Free pages are given back to the file system step by step (`sweep.rs`); this has to be set
    // before there are tables.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    connection.execute_batch(TABLES)?;
    mark(connection)?;
    connection.execute_batch("COMMIT")
}

fn mark(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", FORMAT)
}

fn set_up_writer(connection: &Connection, is_cache: bool) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Each COMMIT syncs the write-ahead log before it returns. That of a cache does not: after a
    // power cut the newest commits may be missing, and are applied again.
    connection.pragma_update(None, "synchronous", if is_cache { "NORMAL" } else { "FULL" })?;
    // Checkpoints are made by `sweep.rs`, because SQLite's own ones hide their errors.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // Deleted rows are overwritten with zeros. The bytes of rows that moved to other pages are not:
    // `gap.rs` does that.
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.pragma_update(None, "max_page_count", gap::MAX_PAGES)?;
    // Without this, a cell that a damaged page holds is noticed only by chance.
    connection.pragma_update(None, "cell_size_check", "ON")?;
    // The log of the process before is finished, so that `wal.rs` never sees the torn tails of two
    // processes in one log. It is no fault if there is no space for that.
    match connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
        Err(error) if kind(&error) == Kind::Full => Ok(()),
        outcome => outcome,
    }
}
