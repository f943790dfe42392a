//! The start of a killed server with many stored rooms or a large log, when no part of them is in
//! memory.

use std::fs::{self, File};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use groupwire_store::{Append, Loaded, Options as StoreOptions, RoomLog, Store};

use super::kill::{await_confirmed, settle};
use super::people::{self, DurableState, Pace, Seat, Stage};
use super::row;
use super::texts::Texts;
use super::verdict::{Told, Verdict};
use super::{Mode, Part, Plan};
use crate::host::{Folder, serve};
use crate::{Result, Row, Update};

/// The approximate bytes that a record takes on the disk, besides its content.
const OVERHEAD: usize = 40;
/// The content of a room of the large log. A server loads the whole log of a room that was never
/// replaced by a snapshot.
const LOG_OF_ROOM: usize = 1 << 20;
/// Transactions under way in the room of which all others are copies.
const AHEAD: usize = 64;
/// Appends under way while rooms are stored.
const APPENDS: usize = 256;
/// Confirmations before the server is killed.
const CONFIRMED: u64 = 100;

/// The rooms that the server finds in its store when it starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content {
    pub(super) part: Part,
    pub(super) rooms: usize,
    /// The number of records in each room.
    pub(super) records: u64,
}

impl Content {
    /// Rooms with one transaction each.
    pub(super) fn rooms(rooms: usize) -> Self {
        Content { part: Part::Rooms, rooms, records: 1 }
    }

    /// A log of `mib` MiB on the disk, in rooms of one MiB.
    pub(super) fn log(mib: usize, bytes: usize) -> Self {
        let records = (LOG_OF_ROOM / (bytes + OVERHEAD)).max(1) as u64;
        Content { part: Part::Log, rooms: mib, records }
    }
}

/// Kills a server with this content and starts it again. Returns the row.
pub(super) fn measure(
    content: Content,
    plan: &Plan<'_>,
    emit: &mut dyn FnMut(Update),
) -> Result<Row> {
    plan.begun(emit, format!("{}: storing {} rooms", content.part, content.rooms));
    let folder = Folder::new(&plan.data)?;
    let (template, order) = template(content.records, plan)?;
    fill(folder.path(), &template, content.rooms)?;
    plan.begun(emit, format!("{}: killing the server", content.part));
    let empty = Folder::new(&plan.data)?;
    let start =
        |folder: &Folder, port| serve(&plan.program, Some(folder.path()), plan.options.tick, port);
    let alone = start(&empty, 0)?.memory();

    let server = start(&folder, 0)?;
    let (seed, port) = (plan.options.common.seed, server.port);
    let shared = DurableState::new(Texts::new(plan.options.bytes, seed), seed);
    thread::scope(|scope| {
        let seat = Seat { room: room(0), port, number: 0, pace: Pace::Ahead(5) };
        let people = people::run(scope, &shared, vec![seat]);
        let started = shared.await_ready(1).and_then(|()| {
            shared.enter(Stage::Writing);
            await_confirmed(&shared, CONFIRMED)?;
            drop(server);
            let disk = folder.size();
            let cache = cool(folder.path(), plan.options.common.quick);
            let begin = Instant::now();
            let server = start(&folder, port)?;
            let (listen, memory) = (begin.elapsed(), server.memory());
            let found = people::read(&shared, port, &room(content.rooms - 1))?;
            let recover = begin.elapsed();
            settle(&shared, 1);
            let continued = people::read(&shared, port, &room(0))?;
            Ok((disk, cache, listen, recover, memory, [found, continued]))
        });
        shared.enter(Stage::Over);
        let kept = people.join().unwrap_or_default();
        let (disk, cache, listen, recover, memory, [found, continued]) = started?;
        let mut verdict = Verdict::of(&found, std::slice::from_ref(&order));
        verdict.confirmed = 0;
        let told: Vec<Told> = kept.into_iter().map(|(_, kept)| kept.told).collect();
        verdict += Verdict::of(&continued, &told);
        let more = memory.zip(alone).map(|(memory, alone)| memory.saturating_sub(alone));
        let row = row::row(content.part, Mode::Local, plan.options)
            .with("rooms", content.rooms)
            .with("rounds", 1)
            .with("transactions", content.rooms as u64 * order.lines.len() as u64)
            .with("listen_s", listen.as_secs_f64())
            .with("recover_s", recover.as_secs_f64())
            .with("disk_mb", disk as f64 / 1e6)
            .with("cache", cache)
            .with("rss_mb", memory.map(|memory| memory as f64 / 1e6))
            .with("memory_bytes_per_room", more.map(|more| more as f64 / content.rooms as f64))
            .with("goals", content.goals());
        Ok(row::with_verdict(row, &verdict, shared.failure()))
    })
}

impl Content {
    /// The goals: fields and the most that they should be. They are for the content of a full run.
    fn goals(self) -> std::collections::BTreeMap<&'static str, f64> {
        match self.part {
            Part::Rooms => [("listen_s", 2.0), ("memory_bytes_per_room", 200.0)].into(),
            _ => [("listen_s", 10.0)].into(),
        }
    }
}

fn room(number: usize) -> String {
    format!("room/{number:06}")
}

/// Lets a server store a room with at least `records` transactions. Returns the stored room, and
/// what its clients were told.
fn template(records: u64, plan: &Plan<'_>) -> Result<(Loaded, Told)> {
    let folder = Folder::new(&plan.data)?;
    // Without a tick the server writes the room quickly.
    let server = serve(&plan.program, Some(folder.path()), 0, 0)?;
    let seed = plan.options.common.seed;
    let shared = DurableState::new(Texts::new(plan.options.bytes, seed), seed);
    let ahead = AHEAD.min(records as usize);
    let kept = thread::scope(|scope| {
        // No other client writes texts of this author.
        let (room, pace) = (room(0), Pace::Ahead(ahead));
        let seat = Seat { room, port: server.port, number: 1, pace };
        let people = people::run(scope, &shared, vec![seat]);
        let written = shared.await_ready(1).and_then(|()| {
            shared.enter(Stage::Writing);
            await_confirmed(&shared, records)?;
            settle(&shared, 1);
            Ok(())
        });
        shared.enter(Stage::Over);
        let kept = people.join().unwrap_or_default();
        written.map(|()| kept)
    })?;
    drop(server);
    let told = kept.into_iter().next().map(|(_, kept)| kept.told).unwrap_or_default();
    let store = Store::open(folder.path(), StoreOptions::default()).map_err(|e| e.to_string())?;
    let loaded = store.load(&room(0)).map_err(|error| error.to_string())?;
    Ok((loaded.ok_or("the server stored no room")?, told))
}

/// Stores copies of a room.
fn fill(folder: &Path, template: &Loaded, rooms: usize) -> Result<()> {
    let options =
        StoreOptions { max_rooms: usize::MAX, max_bytes: u64::MAX >> 8, ..StoreOptions::default() };
    let store = Store::open(folder, options).map_err(|error| error.to_string())?;
    let (done, outcomes) = mpsc::channel();
    for number in 0..rooms {
        let append = Append {
            room: room(number),
            incarnation: template.incarnation,
            records: template.records.clone(),
            meta: Some(template.meta.clone()),
            reserved: Some(template.reserved),
            ..Append::default()
        };
        let done = done.clone();
        store.append(append, Box::new(move |outcome| drop(done.send(outcome))));
        if number >= APPENDS {
            outcomes.recv()?.map_err(|error| error.to_string())?;
        }
    }
    drop(done);
    outcomes.iter().collect::<std::result::Result<(), _>>().map_err(|error| error.to_string())?;
    Ok(())
}

/// Drops the system's page cache, and returns the method. A quick run spares the other programs of
/// the machine.
fn cool(folder: &Path, quick: bool) -> &'static str {
    let files = || fs::read_dir(folder).into_iter().flatten().flatten();
    // The page cache keeps pages that were not written yet, so the files are synced first.
    let files: Vec<File> = files().filter_map(|file| File::open(file.path()).ok()).collect();
    files.iter().for_each(|file| drop(file.sync_all()));
    if !quick && fs::write("/proc/sys/vm/drop_caches", "1").is_ok() {
        return "drop_caches";
    }
    match files.iter().all(forget) {
        true => "fadvise",
        false => "warm",
    }
}

#[cfg(target_os = "linux")]
fn forget(file: &File) -> bool {
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn forget(_: &File) -> bool {
    false
}
