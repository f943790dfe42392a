//! Keeps the database small: gives free pages back to the file system, and moves laggards, which
//! are rows of quiet rooms that are alone in pages whose other rows were trimmed.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use crate::api::OVERHEAD;
use crate::error::Error;
use crate::rows::{LogRow, Result as Sql};
use crate::sweep::{BYTES, ROWS};
use crate::writer::Writer;

/// Pages that one step gives back to the file system.
const PAGES: u32 = 256;

/// The work that is left to keep the database small.
#[derive(Debug, Default)]
pub(crate) struct Compaction {
    /// True if rows were deleted since the sizes were compared.
    compare: bool,
    /// Bytes of rows that were deleted since laggards were moved.
    deleted: u64,
    /// Rows after the first number and before the second one are being moved.
    moving: Option<(i64, i64)>,
}

impl Compaction {
    pub(crate) fn has_work(&self) -> bool {
        self.compare || self.moving.is_some()
    }

    pub(crate) fn note_deletion(&mut self, bytes: u64) {
        self.compare = true;
        self.deleted += bytes;
    }
}

impl Writer {
    /// Does a bounded piece of the work.
    pub(crate) fn compact(&mut self) -> Result<(), Error> {
        match self.sweep.compaction.moving {
            Some((after, before)) => self.move_laggards(after, before),
            None => self.compare_sizes(),
        }
    }

    // Gives free pages back, if there are many, and decides whether laggards are moved.
    fn compare_sizes(&mut self) -> Result<(), Error> {
        let (used, free) = match sizes(&self.db) {
            Ok(sizes) => sizes,
            Err(error) => return Err(self.poison(&error)),
        };
        let (live, next_row) = {
            let state = self.shared.state();
            let waiting = state.outbox.map_or(0, |outbox| outbox.bytes);
            (state.live + waiting, state.next_row)
        };
        let slack = self.shared.options.slack;
        // Appends use free pages again, so some of them stay.
        if free > live / 4 + slack / 4 {
            self.unsaved += u64::from(PAGES) * 4096;
            return self.transaction(give_pages_back);
        }
        let compaction = &mut self.sweep.compaction;
        compaction.compare = false;
        // After a pass over all rows their pages are full, so another pass is useless before many
        // bytes were deleted.
        if used > live + live / 2 + slack / 4 && compaction.deleted > slack / 8 {
            compaction.deleted = 0;
            compaction.moving = Some((0, next_row));
        }
        Ok(())
    }

    // Copies the oldest rows to the end of the log, where they share pages. The index then points
    // to the copies, and the rows become garbage. If the server ends in between, the scan at the
    // start finds both.
    fn move_laggards(&mut self, after: i64, before: i64) -> Result<(), Error> {
        let first = self.shared.state().next_row;
        let mut copied = Copied::default();
        self.transaction(|db| {
            copied = copy_rows(db, after, before, first)?;
            Ok(())
        })?;
        let Copied { rows, rooms, bytes, last } = copied;
        debug_assert!(rows.values().all(|&row| row >= first), "copies get rows that no index has");
        self.unsaved += bytes;
        self.sweep.compaction.moving = last.map(|last| (last, before));
        let mut state = self.shared.state();
        state.next_row += rows.len() as i64;
        for room in state.rooms.values_mut().filter(|room| rooms.contains(&room.id)) {
            room.entries.move_rows(|row| rows.get(&row).copied());
        }
        rows.keys().for_each(|&row| state.garbage.add_row(row, 0));
        Ok(())
    }
}

#[derive(Default)]
struct Copied {
    /// The new row of each copied row.
    rows: HashMap<i64, i64>,
    rooms: HashSet<u32>,
    bytes: u64,
    /// The last row that was read; `None` at the end.
    last: Option<i64>,
}

fn copy_rows(db: &Connection, after: i64, before: i64, mut next: i64) -> Sql<Copied> {
    let mut copied = Copied::default();
    let mut statement =
        db.prepare_cached("SELECT * FROM log WHERE id > ? AND id < ? ORDER BY id LIMIT ?")?;
    let mut rows = statement.query((after, before, ROWS as i64))?;
    while let Some(row) = rows.next()? {
        let row = LogRow::read(row)?;
        copied.last = Some(row.id);
        // A damaged row stays where the damage was found.
        if row.is_intact() {
            row.header.insert(db, next, row.bytes)?;
            copied.rows.insert(row.id, next);
            copied.rooms.insert(row.header.room);
            copied.bytes += row.bytes.len() as u64 + OVERHEAD;
            next += 1;
        }
        if copied.bytes > BYTES {
            break;
        }
    }
    Ok(copied)
}

// Returns the bytes of used pages and of free pages.
fn sizes(db: &Connection) -> Sql<(u64, u64)> {
    let number = |pragma| {
        db.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
    };
    let size = number("page_size")?;
    let free = number("freelist_count")? * size;
    Ok((number("page_count")? * size - free, free))
}

fn give_pages_back(db: &Connection) -> Sql<()> {
    let mut statement = db.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}
