//! The store of a server whose rooms are shared: what rooms ask to be stored goes through the log
//! of their shard, and comes back into the local store, which all reading uses.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groupwire_store::{
    Append, Change, Directory, Done, Error, Forget, History, Loaded, Moment, Monitor, Outbox,
    OutboxEvent, OutboxState, Part, Replica, RoomInfo, RoomLog, SavePart, Snapshots, Stores,
    Summary, Times, Transfer, Usage, wait,
};
use tokio::sync::mpsc::UnboundedSender;

use super::event::Event;
use super::routes::{Node, Route, Routes};

/// See the [module](self).
pub(super) struct SharedStore {
    pub(super) local: Stores,
    pub(super) replica: Arc<dyn Replica>,
    pub(super) routes: Arc<Routes>,
    /// Changes for the task that appends them to the logs. The queue has no limit of its own,
    /// because a room waits for the answer to a change before it sends the next one.
    pub(super) changes: UnboundedSender<Event>,
    /// The shard whose events are being told.
    pub(super) telling: Mutex<Option<u16>>,
}

impl SharedStore {
    fn change(&self, change: Change, done: Done) {
        let shard = match &change {
            Change::EventsTold { shard, .. } => *shard,
            // Events that belong to no room are in any shard of this server.
            _ if change.room().is_empty() => match self.routes.any_here() {
                Some(shard) => shard,
                None => return done(Err(Error::Moved)),
            },
            _ => self.routes.shard_of(change.room()),
        };
        if let Err(lost) = self.changes.send(Event::Change { shard, change, done })
            && let Event::Change { done, .. } = lost.0
        {
            done(Err(Error::Moved));
        }
    }

    /// The shard whose events are told next: the one before, as long as it has events.
    fn told_next(&self) -> Option<(u16, OutboxState)> {
        let waiting = |shard: u16| {
            let state = self.routes.has(shard).then(|| self.replica.shard_outbox(shard))??;
            (state.waiting > 0).then_some((shard, state))
        };
        let mut telling = self.telling();
        let next = telling.and_then(waiting).or_else(|| self.routes.here().find_map(waiting));
        *telling = next.map(|(shard, _)| shard);
        next
    }

    fn telling(&self) -> MutexGuard<'_, Option<u16>> {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RoomLog for SharedStore {
    fn append(&self, append: Append, done: Done) {
        self.change(Change::Append(append), done);
    }

    fn save_part(
        &self,
        room: String,
        incarnation: u64,
        part: Part,
        meta: Option<Vec<u8>>,
        events: Vec<Vec<u8>>,
        done: Done,
    ) {
        self.change(Change::SavePart(SavePart { room, incarnation, part, meta, events }), done);
    }

    /// A damaged room is not begun again, because other servers have it.
    fn load(&self, room: &str) -> Result<Option<Loaded>, Error> {
        let damage = match self.local.log.load(room) {
            Ok(Some(loaded)) if !loaded.damage.is_empty() => loaded.damage[0].to_string(),
            Err(Error::Damaged(why)) => why,
            loaded => return loaded,
        };
        let _ = self.changes.send(Event::Damaged(format!("room {room:?}: {damage}")));
        Err(Error::Moved)
    }

    fn begin_again(&self, room: String, incarnation: u64, done: Done) {
        self.change(Change::BeginAgain { room, incarnation }, done);
    }
}

impl Directory for SharedStore {
    fn rooms(&self) -> Vec<RoomInfo> {
        self.local.directory.rooms()
    }

    fn contains(&self, room: &str) -> bool {
        self.local.directory.contains(room)
    }

    /// Each server forgets the rooms that it has itself.
    fn inactive(&self, rules: &[Forget]) -> Vec<String> {
        let mut rooms = self.local.directory.inactive(rules);
        rooms.retain(|room| self.routes.is_here(room));
        rooms
    }

    fn delete(&self, room: String, done: Done) {
        if !self.contains(&room) {
            return done(Err(Error::NoRoom));
        }
        self.change(Change::Delete { room }, done);
    }

    fn erase(&self, done: Done) {
        self.local.directory.erase(done);
    }
}

impl Outbox for SharedStore {
    fn put_events(&self, room: &str, events: Vec<Vec<u8>>, done: Done) {
        let append = Append { room: room.to_owned(), events, ..Append::default() };
        self.change(Change::Append(append), done);
    }

    fn events(
        &self,
        last: u64,
        max_events: usize,
        max_bytes: usize,
    ) -> Result<Vec<OutboxEvent>, Error> {
        let Some(shard) = *self.telling() else { return Ok(Vec::new()) };
        self.replica.shard_events(shard, last, max_events, max_bytes)
    }

    fn events_told(&self, number: u64, done: Done) {
        let Some(shard) = *self.telling() else { return done(Ok(())) };
        let time = self.replica.shard_outbox(shard).and_then(|state| state.oldest);
        let time = time.unwrap_or_default();
        self.change(Change::EventsTold { shard, number, time }, done);
    }

    fn outbox(&self) -> Option<OutboxState> {
        // Numbers count within a shard, so that the shard is a part of what makes them unique.
        match self.told_next() {
            Some((shard, state)) => Some(OutboxState { id: u64::from(shard) + 1, ..state }),
            None => self.replica.shard_outbox(0).map(|state| OutboxState {
                waiting: 0,
                bytes: 0,
                oldest: None,
                ..state
            }),
        }
    }
}

impl History for SharedStore {
    fn snapshots(&self, room: &str) -> Option<Snapshots> {
        self.local.history.snapshots(room)
    }

    fn take_back(&self, room: &str, to: Moment, incarnation: u64) -> Result<(), Error> {
        let change = self.replica.taken_back(room, to, incarnation)?;
        wait(|done| self.change(change, done))
    }
}

impl Transfer for SharedStore {
    fn export(&self, file: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Summary, Error> {
        self.local.transfer.export(file, wanted)
    }

    fn import(
        &self,
        file: &Path,
        wanted: &dyn Fn(&str) -> bool,
        replace: bool,
        incarnation: &mut dyn FnMut() -> u64,
    ) -> Result<Vec<String>, Error> {
        let changes = self.replica.imported(file, wanted, replace, incarnation)?;
        for room in changes.iter().map(Change::room) {
            match self.routes.route(room) {
                Route::Here => {}
                Route::There(Node { name: server, .. }) => {
                    return Err(Error::Elsewhere { room: room.to_owned(), server });
                }
                Route::Nowhere => return Err(Error::Moved),
            }
        }
        let mut rooms = Vec::new();
        for change in changes {
            let room = change.room().to_owned();
            wait(|done| self.change(change, done))?;
            rooms.push(room);
        }
        Ok(rooms)
    }
}

impl Monitor for SharedStore {
    fn usage(&self) -> Usage {
        self.local.monitor.usage()
    }

    fn refusal(&self) -> Option<Error> {
        self.local.monitor.refusal()
    }

    fn max_bytes(&self) -> u64 {
        self.local.monitor.max_bytes()
    }

    fn disk_bytes(&self) -> u64 {
        self.local.monitor.disk_bytes()
    }

    fn commit_times(&self) -> &Times {
        self.local.monitor.commit_times()
    }

    fn sync_times(&self) -> &Times {
        self.local.monitor.sync_times()
    }
}
