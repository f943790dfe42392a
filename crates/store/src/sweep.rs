//! The work of the writer between commits, in steps of some milliseconds: storing pieces of
//! snapshots, erasing garbage, moving laggards, giving free pages back, checkpoints.

use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::compact::Compaction;
use crate::error::{Error, Kind, NotNow, kind};
use crate::request::Answer;
use crate::rows::{PIECES, Result as Sql};
use crate::schema::FORMAT;
use crate::writer::Writer;

/// The most rows that one step deletes or moves, and their most bytes.
pub(crate) const ROWS: usize = 1000;
pub(crate) const BYTES: u64 = 1 << 20;
/// Rooms are trimmed once in this time, in milliseconds; the times of history are a hundred times
/// longer.
const TRIM_EVERY: u64 = 10 * 60 * 1000;

/// The time between attempts to truncate the write-ahead log while somebody reads it, and to write
/// to a full disk. These are measured by the machine, not by the clock of the options, which may
/// stand still in tests.
const RETRY: Duration = Duration::from_millis(200);

/// The longest wait for a request. The clock is checked after it, because rooms are trimmed by the
/// clock.
const IDLE: Duration = Duration::from_secs(60);

/// What remains to be done between commits.
#[derive(Default)]
pub(crate) struct Sweep {
    /// Requests that are answered once no deleted content is on the disk any more.
    pub(crate) erasing: Vec<Answer>,
    /// True if the write-ahead log may hold deleted content.
    truncate: bool,
    /// The write-ahead log is not truncated before this time.
    retry_at: Option<Instant>,
    pub(crate) compaction: Compaction,
    last_trim: u64,
    /// After a step that found no space on the disk, nothing is tried before this time.
    pause_until: Option<Instant>,
}

impl Sweep {
    pub(crate) fn erase_soon(&mut self) {
        self.truncate = true;
    }
}

impl Writer {
    /// True if a step has something to do at once.
    pub(crate) fn has_work(&self) -> bool {
        let state = self.shared.state();
        if state.poisoned.is_some() || !is_over(self.sweep.pause_until) {
            return false;
        }
        let garbage = !state.garbage.is_empty();
        let sweep = &self.sweep;
        let truncating = (sweep.truncate || !sweep.erasing.is_empty()) && is_over(sweep.retry_at);
        drop(state);
        !self.saving.is_empty()
            || garbage
            || truncating
            || sweep.compaction.has_work()
            || self.outbox_is_over()
    }

    /// How long the writer waits for a request.
    pub(crate) fn patience(&self) -> Duration {
        let Sweep { truncate, retry_at, pause_until, .. } = &self.sweep;
        let waits = (*truncate && retry_at.is_some())
            || !self.sweep.erasing.is_empty()
            || !is_over(*pause_until);
        if waits { RETRY } else { IDLE }
    }

    /// Does a bounded piece of the work that waits.
    pub(crate) fn step(&mut self) {
        let now = self.shared.now();
        if self.shared.state().check_poison().is_err() {
            return;
        }
        if now.saturating_sub(self.sweep.last_trim) >= TRIM_EVERY || now < self.sweep.last_trim {
            self.sweep.last_trim = now;
            self.trim();
        }
        if self.has_work() && self.work() == Err(Error::NotNow(NotNow::Disk)) {
            self.sweep.pause_until = Some(Instant::now() + RETRY);
        }
        if self.unsaved >= self.shared.options.checkpoint {
            let _ = self.checkpoint("PASSIVE");
        }
    }

    fn work(&mut self) -> Result<(), Error> {
        if !self.saving.is_empty() {
            self.continue_saving();
        }
        if self.outbox_is_over() {
            self.drop_events()?;
        }
        if !self.shared.state().garbage.is_empty() {
            return self.erase_garbage();
        }
        if self.sweep.compaction.has_work() {
            return self.compact();
        }
        if (self.sweep.truncate || !self.sweep.erasing.is_empty()) && is_over(self.sweep.retry_at) {
            self.truncate();
        }
        Ok(())
    }

    // Deletes rows that no index has any more. SQLite overwrites them with zeros.
    fn erase_garbage(&mut self) -> Result<(), Error> {
        let (mut rows, mut parts, mut bytes) = (Vec::new(), Vec::new(), 0);
        {
            let garbage = &self.shared.state().garbage;
            for &(row, cost) in garbage.rows.iter().take(ROWS) {
                rows.push(row);
                bytes += cost;
                if bytes > BYTES {
                    break;
                }
            }
            if bytes < BYTES {
                parts.extend(garbage.parts.front().copied());
            }
        }
        let mut is_last_piece = true;
        self.transaction(|db| {
            for row in &rows {
                db.prepare_cached("DELETE FROM log WHERE id = ?")?.execute([row])?;
            }
            for &(part, _) in &parts {
                // The part's row goes first, so that it never lacks pieces.
                db.prepare_cached("DELETE FROM parts WHERE id = ?")?.execute([part])?;
                is_last_piece = delete_piece(db, part)?;
            }
            Ok(())
        })?;
        let mut state = self.shared.state();
        let mut erased = 0;
        for _ in &rows {
            erased += state.garbage.rows.pop_front().map_or(0, |(_, cost)| cost);
        }
        if is_last_piece && !parts.is_empty() {
            erased += state.garbage.parts.pop_front().map_or(0, |(_, cost)| cost);
        }
        state.garbage.bytes = state.garbage.bytes.saturating_sub(erased);
        self.unsaved += erased;
        self.sweep.compaction.note_deletion(erased);
        Ok(())
    }

    // Empties the write-ahead log, which may hold deleted content, and answers the requests that
    // wait for that.
    fn truncate(&mut self) {
        // A power cut can undo the shortening of the database's file, so that content beyond its
        // end is back. The checkpoint of any commit shortens the file again, so this makes one.
        if self.transaction(|db| db.pragma_update(None, "user_version", FORMAT)).is_err() {
            self.sweep.retry_at = Some(Instant::now() + RETRY);
            return;
        }
        match self.checkpoint("TRUNCATE") {
            Ok(true) => {
                // The pages in SQLite's cache may still have gaps (`gap.rs`) with deleted content,
                // which the next commit that changes such a page would write to the log. On the
                // disk they are cleared.
                if let Err(error) = self.db.execute_batch("PRAGMA shrink_memory") {
                    self.poison(&error);
                    return;
                }
                self.sweep.truncate = false;
                self.sweep.retry_at = None;
                for answer in self.sweep.erasing.drain(..) {
                    answer.send(Ok(()));
                }
            }
            // A reader still uses the log, or there is no space.
            Ok(false) => self.sweep.retry_at = Some(Instant::now() + RETRY),
            Err(_) => {}
        }
    }

    /// Copies the write-ahead log into the database. Returns false if that has to be tried again.
    pub(crate) fn checkpoint(&mut self, mode: &str) -> Result<bool, Error> {
        let query = format!("PRAGMA wal_checkpoint({mode})");
        let outcome = self.db.query_row(&query, [], |row| row.get::<_, i64>(0));
        self.count_syncs();
        match outcome {
            Ok(busy) => {
                self.unsaved = 0;
                Ok(busy == 0)
            }
            Err(error) if matches!(kind(&error), Kind::Full | Kind::Busy) => {
                self.unsaved = 0;
                Ok(false)
            }
            // A sync failed: the system may have dropped what it did not write.
            Err(error) => Err(self.poison(&error)),
        }
    }
}

fn is_over(pause: Option<Instant>) -> bool {
    pause.is_none_or(|until| Instant::now() >= until)
}

// Deletes the last piece of a part, and says whether it was the only one.
fn delete_piece(db: &Connection, part: i64) -> Sql<bool> {
    let mut statement = db.prepare_cached(
        "SELECT id FROM pieces WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 2",
    )?;
    let pieces = statement
        .query_map([part * PIECES, (part + 1) * PIECES], |row| row.get::<_, i64>(0))?
        .collect::<Sql<Vec<_>>>()?;
    if let Some(last) = pieces.first() {
        db.prepare_cached("DELETE FROM pieces WHERE id = ?")?.execute([last])?;
    }
    Ok(pieces.len() <= 1)
}
