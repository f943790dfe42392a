//! A store in memory as a cache of shared logs.

use std::path::Path;

use super::MemoryStore;
use super::events::fitting;
use crate::api::{Moment, OutboxEvent, OutboxState};
use crate::change::Change;
use crate::error::{Error, reading};
use crate::import::Export;
use crate::outbox;
use crate::replica::Base;
use crate::request::Done;
use crate::rows::Result as Sql;
use crate::scan::seconds;
use crate::schema;
use crate::shard::{Cursor, Logged, Shard};
use crate::stores::Replica;

impl Replica for MemoryStore {
    fn check(&self, changes: &[Change]) -> Vec<Result<(), Error>> {
        let mut memory = self.memory();
        let outcomes = memory.state.check(&self.options, changes, self.now());
        memory.drop_garbage();
        outcomes
    }

    fn apply(&self, cursor: Cursor, time: u64, changes: Vec<Change>, done: Done) {
        let logged = Logged { cursor, time };
        let outcome = self.memory().apply(&logged, changes, self.options.history_ms());
        done(outcome);
    }

    fn cursors(&self) -> Vec<Cursor> {
        self.memory().state.cursors()
    }

    fn export_shard(
        &self,
        shard: u16,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(Cursor, Vec<u8>), Error> {
        let memory = self.memory();
        let shard = memory.state.shards.get(&shard).cloned().unwrap_or_else(|| Shard::new(shard));
        let export = || -> Sql<_> {
            let db = schema::create_base()?;
            memory.write(&db, wanted)?;
            let events = memory.events.iter().flat_map(|all| all.of_shard(shard.cursor.shard));
            let events: Vec<_> = events.map(|(room, event)| (room.to_owned(), event)).collect();
            outbox::put_shard(&db, shard.cursor.shard, &events)?;
            shard.put(&db)?;
            Ok((shard.cursor, db.serialize("main")?.to_vec()))
        };
        export().map_err(reading)
    }

    fn import_shard(
        &self,
        cursor: Cursor,
        base: &[u8],
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(), Error> {
        let Base { export, shard, events } = Base::open(cursor.clone(), base, wanted, self.now())?;
        let copies = export.copies(|room| (room.incarnation, room.active))?;
        let mut memory = self.memory();
        for room in memory.state.names(wanted) {
            memory.carry_out(None, Change::Delete { room: room.into() }, 0, 0)?;
        }
        for copy in copies {
            memory.carry_out(None, copy, 0, 0)?;
        }
        memory.state.shards.insert(cursor.shard, shard);
        if let Some(all) = &mut memory.events {
            all.erase_shard(cursor.shard);
            for (room, OutboxEvent { number, time, bytes }) in events {
                all.put(&room, &[bytes], Some(outbox::row_of(cursor.shard, number)), time);
            }
        }
        Ok(())
    }

    fn clear(&self, done: Done) {
        let mut memory = self.memory();
        for room in memory.state.names(&|_| true) {
            // A room that is listed can be deleted.
            let _ = memory.carry_out(None, Change::Delete { room: room.into() }, 0, 0);
        }
        for shard in std::mem::take(&mut memory.state.shards).into_keys() {
            memory.events.iter_mut().for_each(|all| all.erase_shard(shard));
        }
        drop(memory);
        done(Ok(()));
    }

    fn shard_events(
        &self,
        shard: u16,
        last: u64,
        max_events: usize,
        max_bytes: usize,
    ) -> Result<Vec<OutboxEvent>, Error> {
        let memory = self.memory();
        let events = memory.events.iter().flat_map(|all| all.of_shard(shard));
        let events = events.map(|(_, event)| event).take_while(|event| event.number <= last);
        Ok(fitting(events, max_events, max_bytes))
    }

    fn shard_outbox(&self, shard: u16) -> Option<OutboxState> {
        let memory = self.memory();
        let events = memory.events.as_ref()?.of_shard(shard);
        let mut outbox = memory.state.shard_outbox(shard);
        events.for_each(|(_, event)| outbox.add(&[event.bytes], event.time));
        let dropped = outbox.next - 1 - outbox.told - outbox.waiting;
        Some(OutboxState { dropped, ..outbox })
    }

    fn taken_back(&self, name: &str, to: Moment, incarnation: u64) -> Result<Change, Error> {
        self.memory().taken_back(name, to, incarnation, self.now())
    }

    fn imported(
        &self,
        file: &Path,
        wanted: &dyn Fn(&str) -> bool,
        replace: bool,
        incarnation: &mut dyn FnMut() -> u64,
    ) -> Result<Vec<Change>, Error> {
        let export = Export::open(file, wanted, self.now())?;
        export.check(&self.memory().state, &self.options, replace)?;
        export.copies(|_| (incarnation(), seconds(self.now())))
    }
}
