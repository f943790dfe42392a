//! Copies rooms to one file, and out of a damaged database. The file is a database with the same
//! tables, so the same code reads and checks it. Keys of sessions are not in the database, and so
//! not in the file.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use rusqlite::{Connection, Row};

use crate::api::Summary;
use crate::error::{Error, Kind, OpenError, kind};
use crate::lock::{Lock, io_error};
use crate::outbox;
use crate::rows::{LogRow, PartRow, Result as Sql, RoomRow, corrupt, insert_part};
use crate::scan::check_structure;
use crate::schema;
use crate::shard::Shard;
use crate::store::{check_wal, sync_folder};

/// Copies rooms of the store in `folder` to a new file, also while a server uses the folder.
/// `wanted` says which rooms, by name. The copy shows one moment. While it lasts the server's
/// write-ahead log grows.
///
/// A server that has the store open exports with this function, too.
pub fn export(
    folder: impl AsRef<Path>,
    file: impl AsRef<Path>,
    wanted: impl Fn(&str) -> bool,
) -> Result<Summary, Error> {
    let copy = |unfinished: &Path| {
        copy(folder.as_ref(), unfinished, Structure::Intact, wanted, |stored| stored)
    };
    write_export(file.as_ref(), copy)
}

/// Lets `write` make the file of an export under another name, and gives it its own once all of it
/// is on the disk.
pub(crate) fn write_export(
    file: &Path,
    write: impl FnOnce(&Path) -> Result<Summary, OpenError>,
) -> Result<Summary, Error> {
    if file.exists() {
        return Err(Error::Io(format!(
            "{} exists; choose another name or remove it",
            file.display()
        )));
    }
    let temporary = file.with_extension("unfinished");
    let _ = fs::remove_file(&temporary);
    let written = write(&temporary).map_err(|error| Error::Io(error.to_string()));
    let outcome = written.and_then(|summary| publish(&temporary, file).map(|()| summary));
    if outcome.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    outcome
}

/// Reads everything in the store in `folder`, or in the file of an export, and says what is there
/// and what is damaged.
pub fn check(path: impl AsRef<Path>) -> Result<Summary, OpenError> {
    let path = path.as_ref();
    let is_folder = path.is_dir();
    let describe = |error| match is_folder {
        true => schema::describe(path, error),
        false => schema::of_export(path, &error),
    };
    let db = match is_folder {
        true => schema::open_stored(path, false)?,
        false => schema::open_export(path)?,
    };
    // A server may restart its write-ahead log while it is read. That looks like damage, but not
    // three times in a row.
    if is_folder && !(0..3).any(|_| check_wal(path).is_ok()) {
        check_wal(path)?;
    }
    check_structure(&db).map_err(describe)?;
    db.execute_batch("BEGIN").map_err(describe)?;
    walk(&db, Structure::Intact, |_| true, &mut Nothing).map_err(describe)
}

/// Makes a new database of all that can be read in the store in `folder`, which no server may use
/// meanwhile. Each room gets the incarnation that `incarnation` gives, because confirmed records
/// may be missing. The damaged files stay in the folder as `rooms.damaged`, until somebody deletes
/// them.
pub fn repair(
    folder: impl AsRef<Path>,
    mut incarnation: impl FnMut() -> u64,
) -> Result<Summary, OpenError> {
    let folder = folder.as_ref();
    schema::check_exists(folder)?;
    let _lock = Lock::take(folder)?;
    let repaired = folder.join("rooms.repaired");
    let _ = fs::remove_file(&repaired);
    let summary = copy(folder, &repaired, Structure::Damaged, |_| true, |_| incarnation())
        .inspect_err(|_| _ = fs::remove_file(&repaired))?;
    let replace = || -> std::io::Result<()> {
        File::open(&repaired)?.sync_all()?;
        rename_damaged(folder)?;
        fs::rename(&repaired, folder.join(schema::DATABASE))?;
        sync_folder(folder)
    };
    replace().map_err(|error| io_error(folder, &error))?;
    Ok(summary)
}

/// Takes the store out of `folder`, which no server may use meanwhile, so that it begins empty
/// again: for a cache that is damaged. The damaged files stay in the folder as `rooms.damaged`,
/// until somebody deletes them, or until the next time.
pub fn set_aside(folder: impl AsRef<Path>) -> Result<(), OpenError> {
    let folder = folder.as_ref();
    let _lock = Lock::take(folder)?;
    let set_aside = rename_damaged(folder).and_then(|()| sync_folder(folder));
    set_aside.map_err(|error| io_error(folder, &error))
}

fn rename_damaged(folder: &Path) -> std::io::Result<()> {
    // SQLite finds the write-ahead log by its name.
    for end in ["-wal", ""] {
        let to = folder.join(format!("rooms.damaged{end}"));
        match fs::rename(folder.join(format!("{}{end}", schema::DATABASE)), &to) {
            // The log of another database must not stay beside this one.
            Err(error) if error.kind() == ErrorKind::NotFound => _ = fs::remove_file(to),
            renamed => renamed?,
        }
    }
    let _ = fs::remove_file(folder.join(format!("{}-shm", schema::DATABASE)));
    Ok(())
}

fn copy(
    folder: &Path,
    file: &Path,
    structure: Structure,
    wanted: impl Fn(&str) -> bool,
    incarnation: impl FnMut(u64) -> u64,
) -> Result<Summary, OpenError> {
    let from = schema::open_stored(folder, structure == Structure::Damaged)?;
    let describe = |error| schema::describe(folder, error);
    let of_file = |error| schema::describe(file, error);
    from.execute_batch("BEGIN").map_err(describe)?;
    let to = schema::create_export(file).map_err(of_file)?;
    to.execute_batch("BEGIN").map_err(of_file)?;
    let summary =
        walk(&from, structure, wanted, &mut Copy { to: &to, incarnation }).map_err(|error| {
            match kind(&error) {
                Kind::Full => of_file(error),
                _ => describe(error),
            }
        })?;
    to.execute_batch("COMMIT").map_err(of_file)?;
    to.close().map_err(|(_, error)| of_file(error))?;
    Ok(summary)
}

// The file gets its name when all of it is on the disk.
fn publish(temporary: &Path, file: &Path) -> Result<(), Error> {
    let publish = || -> std::io::Result<()> {
        File::open(temporary)?.sync_all()?;
        fs::rename(temporary, file)?;
        match file.parent() {
            Some(folder) if cfg!(unix) && !folder.as_os_str().is_empty() => {
                File::open(folder)?.sync_all()
            }
            _ => Ok(()),
        }
    };
    publish().map_err(|error| Error::Io(format!("{}: {error}", file.display())))
}

/// Copies the rooms and the events of a shard, and its place in its log, to another database.
/// `from` shows one moment.
pub(crate) fn copy_shard(
    from: &Connection,
    to: &Connection,
    shard: &Shard,
    wanted: impl Fn(&str) -> bool,
) -> Sql<()> {
    let copied =
        walk(from, Structure::Intact, wanted, &mut Copy { to, incarnation: |stored| stored })?;
    if copied.damaged > 0 {
        return Err(corrupt("something of the store"));
    }
    outbox::put_shard(to, shard.cursor.shard, &outbox::of_shard(from, shard.cursor.shard)?)?;
    shard.put(to)
}

/// The visitor of the intact rows.
trait Visit {
    fn room(&mut self, row: &RoomRow) -> Sql<()>;
    fn part(&mut self, row: &PartRow, content: &[u8]) -> Sql<()>;
    fn record(&mut self, row: &LogRow<'_>) -> Sql<()>;
}

struct Nothing;

struct Copy<'a, F> {
    to: &'a Connection,
    /// Maps the stored incarnation of a room to that of the copy.
    incarnation: F,
}

impl Visit for Nothing {
    fn room(&mut self, _: &RoomRow) -> Sql<()> {
        Ok(())
    }

    fn part(&mut self, _: &PartRow, _: &[u8]) -> Sql<()> {
        Ok(())
    }

    fn record(&mut self, _: &LogRow<'_>) -> Sql<()> {
        Ok(())
    }
}

impl<F: FnMut(u64) -> u64> Visit for Copy<'_, F> {
    fn room(&mut self, row: &RoomRow) -> Sql<()> {
        RoomRow { incarnation: (self.incarnation)(row.incarnation), ..row.clone() }.put(self.to)
    }

    fn part(&mut self, row: &PartRow, content: &[u8]) -> Sql<()> {
        insert_part(self.to, row, content)
    }

    fn record(&mut self, row: &LogRow<'_>) -> Sql<()> {
        row.header.insert(self.to, row.id, row.bytes)
    }
}

/// How damage of the database itself, beyond single rows, is treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Structure {
    /// Reading fails.
    Intact,
    /// Reading goes on with the next row that can be found.
    Damaged,
}

// Reads all rows of the wanted rooms.
fn walk(
    db: &Connection,
    structure: Structure,
    wanted: impl Fn(&str) -> bool,
    visit: &mut impl Visit,
) -> Sql<Summary> {
    let mut summary = Summary::default();
    let mut rooms = HashSet::new();
    let mut gaps = each(db, "rooms", structure, |row| {
        match RoomRow::read(row)? {
            (row, true) if wanted(&row.name) => {
                rooms.insert(row.id);
                summary.rooms += 1;
                visit.room(&row)?;
            }
            (_, true) => {}
            (_, false) => summary.damaged += 1,
        }
        Ok(())
    })?;
    gaps += each(db, "parts", structure, |row| {
        let (row, intact) = PartRow::read(row)?;
        if intact && !rooms.contains(&row.room) {
            return Ok(());
        }
        match row.content(db) {
            Ok(Some(content)) if intact => {
                summary.parts += 1;
                visit.part(&row, &content)?;
            }
            Err(error) if structure == Structure::Intact => return Err(error),
            _ => summary.damaged += 1,
        }
        Ok(())
    })?;
    gaps += each(db, "log", structure, |row| {
        let row = LogRow::read(row)?;
        if !row.is_intact() {
            summary.damaged += 1;
        } else if rooms.contains(&row.header.room) {
            summary.records += 1;
            visit.record(&row)?;
        }
        Ok(())
    })?;
    summary.damaged += gaps;
    Ok(summary)
}

// Calls `visit` with each row of a table. Returns the number of places where rows could not be
// read.
fn each(
    db: &Connection,
    table: &str,
    structure: Structure,
    mut visit: impl FnMut(&Row<'_>) -> Sql<()>,
) -> Sql<u64> {
    let query = format!("SELECT * FROM {table} WHERE id > ? ORDER BY id");
    let (mut after, mut skip, mut gaps) = (0_i64, 1_i64, 0);
    loop {
        let mut statement = db.prepare(&query)?;
        let mut rows = statement.query([after])?;
        let error = loop {
            match rows.next() {
                Ok(Some(row)) => {
                    after = after.max(row.get(0)?);
                    skip = 1;
                    visit(row)?;
                }
                Ok(None) => return Ok(gaps),
                Err(error) => break error,
            }
        };
        if structure == Structure::Intact || kind(&error) != Kind::Damaged {
            return Err(error);
        }
        // The rows of the damaged page are skipped in ever larger steps, until another page is
        // found.
        gaps += u64::from(skip == 1);
        after = after.saturating_add(skip);
        skip = skip.saturating_mul(2);
        if after == i64::MAX {
            return Ok(gaps);
        }
    }
}
