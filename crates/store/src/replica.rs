//! A store on a disk as a cache of shared logs.

use std::path::Path;

use crate::api::{Moment, OutboxEvent, OutboxState};
use crate::change::{Change, RoomCopy};
use crate::error::{Error, reading};
use crate::export::copy_shard;
use crate::import::Export;
use crate::load::with_room;
use crate::outbox;
use crate::request::{Done, Request, Task};
use crate::restore::kept;
use crate::room::Room;
use crate::rows::Result as Sql;
use crate::scan::seconds;
use crate::schema;
use crate::shard::{self, Cursor, Logged, Shard, Shards};
use crate::state::State;
use crate::store::Store;
use crate::stores::Replica;
use crate::writer::Writer;

impl Replica for Store {
    fn check(&self, changes: &[Change]) -> Vec<Result<(), Error>> {
        let now = self.shared().now();
        self.shared().state().check(&self.shared().options, changes, now)
    }

    fn apply(&self, cursor: Cursor, time: u64, changes: Vec<Change>, done: Done) {
        let task = Task { changes, logged: Some(Logged { cursor, time }) };
        self.send(done, |answer| Request::Apply(task, answer));
    }

    fn cursors(&self) -> Vec<Cursor> {
        self.shared().state().cursors()
    }

    fn export_shard(
        &self,
        shard: u16,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(Cursor, Vec<u8>), Error> {
        let vfs = self.shared().options.vfs.as_deref();
        let export = || -> Sql<_> {
            let from = schema::open_reader(&self.shared().folder, vfs)?;
            from.execute_batch("BEGIN")?;
            let shard = shard::find(&from, shard)?;
            let to = schema::create_base()?;
            copy_shard(&from, &to, &shard, wanted)?;
            Ok((shard.cursor, to.serialize("main")?.to_vec()))
        };
        export().map_err(reading)
    }

    fn import_shard(
        &self,
        cursor: Cursor,
        base: &[u8],
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(), Error> {
        let Base { export, mut shard, events } =
            Base::open(cursor.clone(), base, wanted, self.shared().now())?;
        let mut copies = Vec::new();
        for (name, room) in &export.rooms {
            match self.copy_room(&export.db, name, room, room.incarnation) {
                Ok((row, mut copy)) => {
                    copy.active = room.active;
                    copies.push((row, copy));
                }
                Err(error) => {
                    self.drop_copies(copies.into_iter().map(|(_, room)| room));
                    return Err(error);
                }
            }
        }
        let surplus: Vec<_> = copies.iter().map(|(_, room)| room.clone()).collect();
        let names = self.shared().state().names(wanted);
        let finish = move |writer: &mut Writer| {
            writer.check_cache()?;
            let has_outbox = writer.shared.state().outbox.is_some();
            writer.replace_rooms(&names, copies, |db, _| {
                if has_outbox {
                    outbox::erase_shard(db, cursor.shard)?;
                    outbox::put_shard(db, cursor.shard, &events)?;
                    shard.count_events(db)?;
                }
                shard.put(db)
            })?;
            writer.note_shards([(cursor.shard, shard)].into());
            Ok(())
        };
        self.on_writer(finish).inspect_err(|_| self.drop_copies(surplus))
    }

    fn clear(&self, done: Done) {
        let call = |writer: &mut Writer| writer.clear();
        self.send(done, |answer| Request::Call(Box::new(call), answer));
    }

    fn shard_events(
        &self,
        shard: u16,
        last: u64,
        max_events: usize,
        max_bytes: usize,
    ) -> Result<Vec<OutboxEvent>, Error> {
        let Some(OutboxState { told, next, .. }) = self.shard_outbox(shard) else {
            return Ok(Vec::new());
        };
        let row = |number| outbox::row_of(shard, number).cast_signed();
        let rows = (row(told), row(last.min(next - 1)));
        let read = |db: &_| outbox::read(db, rows, row(0), max_events, max_bytes);
        self.shared().with_reader(|db| read(db).map_err(reading))
    }

    fn shard_outbox(&self, shard: u16) -> Option<OutboxState> {
        let state = self.shared().state();
        state.outbox.and(Some(state.shard_outbox(shard)))
    }

    fn taken_back(&self, name: &str, to: Moment, incarnation: u64) -> Result<Change, Error> {
        let now = seconds(self.shared().now());
        let copy = with_room(self.shared(), name, |db, room| {
            let copy = RoomCopy::read(db, name, &kept(&room, to)?, incarnation, now)?;
            Ok(RoomCopy { replaces: Some((room.incarnation, room.head)), ..copy })
        })?;
        Ok(Change::Put(Box::new(copy.ok_or(Error::NoRoom)?)))
    }

    fn imported(
        &self,
        file: &Path,
        wanted: &dyn Fn(&str) -> bool,
        replace: bool,
        incarnation: &mut dyn FnMut() -> u64,
    ) -> Result<Vec<Change>, Error> {
        let now = self.shared().now();
        let export = Export::open(file, wanted, now)?;
        export.check(&self.shared().state(), &self.shared().options, replace)?;
        export.copies(|_| (incarnation(), seconds(now)))
    }
}

/// The base of a shard.
pub(crate) struct Base {
    pub(crate) export: Export,
    /// The shard, which counts no event as waiting yet.
    pub(crate) shard: Shard,
    /// The events that wait, with their rooms.
    pub(crate) events: Vec<(String, OutboxEvent)>,
}

impl Base {
    /// Refuses a base that is damaged, or that was made at another place of the log.
    pub(crate) fn open(
        cursor: Cursor,
        bytes: &[u8],
        wanted: &dyn Fn(&str) -> bool,
        now: u64,
    ) -> Result<Self, Error> {
        let export = Export::read(schema::open_base(bytes)?, wanted, now)?;
        let mut shard = shard::find(&export.db, cursor.shard).map_err(reading)?;
        if (shard.cursor.sequence, shard.cursor.number) != (cursor.sequence, cursor.number) {
            let why = "the base of a shard is of another place of its log";
            return Err(Error::Damaged(why.into()));
        }
        if let Some((name, _)) = export.rooms.iter().find(|(_, room)| room.is_damaged()) {
            return Err(Error::Damaged(format!("the base's room {name:?}")));
        }
        let events = outbox::of_shard(&export.db, cursor.shard).map_err(reading)?;
        shard.cursor = cursor;
        shard.outbox = OutboxState { waiting: 0, bytes: 0, oldest: None, ..shard.outbox };
        Ok(Base { export, shard, events })
    }
}

impl Export {
    /// The changes that put the rooms of the export, with the incarnation and the time in seconds
    /// since 1970 that `of` gives for each.
    pub(crate) fn copies(
        &self,
        mut of: impl FnMut(&Room) -> (u64, u32),
    ) -> Result<Vec<Change>, Error> {
        let mut copy = |name: &str, room: &Room| {
            let (incarnation, active) = of(room);
            let copy = RoomCopy::read(&self.db, name, room, incarnation, active)?;
            Ok(Change::Put(Box::new(copy)))
        };
        self.rooms.iter().map(|(name, room)| copy(name, room)).collect()
    }
}

impl Writer {
    /// Refuses to make a cache of a store that is none.
    pub(crate) fn check_cache(&self) -> Result<(), Error> {
        match self.shared.options.is_cache {
            true => Ok(()),
            false => Err(Error::Io("the store was not opened as a cache".into())),
        }
    }

    fn clear(&mut self) -> Result<(), Error> {
        self.check_cache()?;
        let names = self.shared.state().names(&|_| true);
        self.replace_rooms(&names, Vec::new(), |db, _| {
            // A room whose name is damaged may be in no index.
            db.execute_batch("DELETE FROM rooms; DELETE FROM shards")?;
            outbox::erase_all(db)
        })?;
        let mut state = self.shared.state();
        state.count_nameless();
        state.shards.clear();
        drop(state);
        self.note_shards(Shards::new());
        Ok(())
    }
}

impl State {
    pub(crate) fn cursors(&self) -> Vec<Cursor> {
        let cursors = self.shards.values().map(|shard| &shard.cursor);
        cursors.filter(|cursor| cursor.number > 0).cloned().collect()
    }

    pub(crate) fn shard_outbox(&self, shard: u16) -> OutboxState {
        let known = self.shards.get(&shard);
        let outbox = known.map_or_else(|| Shard::new(shard).outbox, |shard| shard.outbox);
        let dropped = outbox.next - 1 - outbox.told - outbox.waiting;
        OutboxState { dropped, ..outbox }
    }

    /// Stops a shard whose log contradicts the store.
    pub(crate) fn stop(&mut self, shard: u16, error: &Error) {
        if matches!(error, Error::Contradiction { .. }) {
            let shard = self.shards.entry(shard).or_insert_with(|| Shard::new(shard));
            shard.stopped = Some(error.clone());
        }
    }

    pub(crate) fn names(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<Box<str>> {
        self.rooms.keys().filter(|name| wanted(name)).cloned().collect()
    }
}
