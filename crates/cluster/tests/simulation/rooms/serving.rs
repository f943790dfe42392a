//! What a process does with shards and their changes, as the driver of a server does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groupwire_cluster::{Cursor, Output, Owner, ProposeError};
use groupwire_store::{Change, Directory, Done, Error, MemoryStore, Replica};

use super::news::{Inbox, News};
use super::place::Place;
use super::queue::Queue;
use super::{Event, Rooms, room_of, shard_of};
use crate::node::ToApply;
use crate::world::{Event as WorldEvent, World};

pub(crate) struct Serving {
    pub(super) store: Arc<MemoryStore>,
    pub(super) shards: Vec<Shard>,
    pub(super) rooms: BTreeMap<usize, Place>,
    pub(super) inbox: Inbox,
    /// Rooms that were opened so far.
    pub(super) loads: u64,
    /// The tasks of rooms get to nothing before this time, while the driver goes on.
    pub(super) behind_until: Duration,
}

pub(super) struct Shard {
    queue: Queue,
    pub(super) route: Route,
}

/// Where a process takes the rooms of a shard to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Here,
    There(String),
    Nowhere,
}

impl Serving {
    pub(super) fn new(store: Arc<MemoryStore>, cursors: &[Cursor]) -> Self {
        // Owners that are known from before are told about only when they change.
        let route = |cursor: &Cursor| Route::to(cursor.owner.as_ref());
        let shard = |cursor| Shard { queue: Queue::default(), route: route(cursor) };
        Serving {
            store,
            shards: cursors.iter().map(shard).collect(),
            rooms: BTreeMap::new(),
            inbox: Inbox::default(),
            loads: 0,
            behind_until: Duration::ZERO,
        }
    }
}

impl Route {
    fn to(owner: Option<&Owner>) -> Self {
        owner.map_or(Route::Nowhere, |owner| Route::There(owner.node.as_str().to_owned()))
    }
}

impl World<Rooms> {
    pub(super) fn told(&mut self, node: usize, output: &Output) {
        match output {
            Output::Owned { shard, mended, .. } => self.owned(node, *shard, *mended),
            Output::Lost { shard, .. } => {
                self.leave(node, *shard);
                self.shard(node, *shard).queue.give_up_batch();
                self.end_rooms(node, *shard);
            }
            Output::CutOff { shard } => {
                self.leave(node, *shard);
                self.end_rooms(node, *shard);
            }
            Output::Moved { shard, owner } => self.moved_to(node, *shard, owner.as_ref()),
            _ => {}
        }
    }

    fn moved_to(&mut self, node: usize, shard: u16, owner: Option<&Owner>) {
        if self.nodes[node].running().owned[usize::from(shard)].is_none() {
            self.shard(node, shard).route = Route::to(owner);
        }
    }

    fn shard(&mut self, node: usize, shard: u16) -> &mut Shard {
        &mut self.nodes[node].running().service.shards[usize::from(shard)]
    }

    fn owned(&mut self, node: usize, shard: u16, mended: bool) {
        let store = Arc::clone(&self.nodes[node].running().service.store);
        let rooms = if mended { store.rooms() } else { Vec::new() };
        let shards = usize::from(self.shards);
        for room in rooms.into_iter().filter(|room| shard_of(&room.name, shards) == shard) {
            let incarnation = self.random.rand_u64();
            let change = Change::BeginAgain { room: room.name, incarnation };
            self.shard(node, shard).queue.push(change, Box::new(|_| ()));
        }
        self.propose(node, shard);
        self.open_shard(node, shard);
    }

    /// Lets the rooms of a shard open, once nothing is on its way that would change them.
    fn open_shard(&mut self, node: usize, shard: u16) {
        let is_owned = self.nodes[node].running().owned[usize::from(shard)].is_some();
        let shard = self.shard(node, shard);
        if is_owned && shard.queue.is_idle() {
            shard.route = Route::Here;
        }
    }

    fn leave(&mut self, node: usize, shard: u16) {
        let shard = self.shard(node, shard);
        shard.route = Route::Nowhere;
        shard.queue.give_up();
    }

    fn end_rooms(&mut self, node: usize, shard: u16) {
        let shards = usize::from(self.shards);
        let Serving { rooms, inbox, .. } = &self.nodes[node].running().service;
        for (room, place) in rooms.iter().filter(|(room, _)| **room % shards == usize::from(shard))
        {
            inbox.put(News::Moved { room: *room, load: place.load() });
        }
    }

    /// A room asks to store a change.
    pub(super) fn change(&mut self, node: usize, change: Change, done: Done) {
        let room = room_of(change.room());
        let shard = (room % usize::from(self.shards)) as u16;
        if self.nodes[node].running().owned[usize::from(shard)].is_none() {
            return done(Err(Error::Moved));
        }
        self.shard(node, shard).queue.push(change, done);
        self.propose(node, shard);
    }

    /// Proposes the changes of a shard that wait.
    pub(super) fn propose(&mut self, node: usize, shard: u16) {
        let now = self.nodes[node].now(self.now);
        self.nodes[node].disk.set_clock(now.wall);
        let process = self.nodes[node].running();
        let Serving { shards, store, .. } = &mut process.service;
        let queue = &mut shards[usize::from(shard)].queue;
        let Some(mut checked) = queue.next(&**store) else { return };
        let payload = std::mem::take(&mut checked.payload);
        match process.cluster.propose(shard, payload, now) {
            Ok(id) => queue.proposed(id, checked),
            Err(ProposeError::NotNow) => {
                queue.put_back(checked);
                let incarnation = process.incarnation;
                let event = Event::Propose { node, incarnation, shard };
                self.after(50..51, WorldEvent::Service(event));
            }
            Err(_) => checked.refuse(&Error::Moved),
        }
    }

    /// Applies a record to the store of a node, and answers those who proposed it.
    pub(super) fn apply_record(&mut self, node: usize, record: ToApply, is_saved: bool) {
        let ToApply { shard, cursor, what, own } = record;
        let now = self.nodes[node].now(self.now);
        let sequence = cursor.sequence;
        let epoch = cursor.epoch;
        let of_shard = (shard, self.shards);
        let disk = &mut self.nodes[node].disk;
        disk.set_clock(now.wall);
        let applied = disk.apply(of_shard, &cursor, &what, is_saved);
        applied.unwrap_or_else(|error| panic!("{} cannot apply a record: {error}", node));
        let batch = own.and_then(|id| self.shard(node, shard).queue.stored(id));
        let process = self.nodes[node].running();
        if let Some(batch) = batch {
            let log = &self.engine.logs[usize::from(shard)];
            self.checker.confirm_own(log, shard, epoch, process.incarnation);
            assert!(what.is_of(&batch.changes), "the log has another batch than was proposed");
            batch.answers.into_iter().for_each(|done| done(Ok(())));
        }
        process.cluster.applied(shard, sequence, now);
        self.propose(node, shard);
        self.open_shard(node, shard);
    }

    /// Copies the state of a shard for a base.
    pub(super) fn make_base(&mut self, node: usize, shard: u16) {
        let now = self.nodes[node].now(self.now);
        let shards = usize::from(self.shards);
        let Some(process) = &mut self.nodes[node].process else { return };
        if process.owned[usize::from(shard)].is_none() {
            return;
        }
        let of_shard = |room: &str| shard_of(room, shards) == shard;
        let copy = process.service.store.export_shard(shard, &of_shard);
        let (cursor, state) = copy.expect("a store in memory can be read");
        if let Ok(cursor) = Cursor::parse(&cursor.state) {
            // A refusal is tried again by chance, or when it is asked for again.
            let _ = process.cluster.base(shard, cursor, state, now);
        }
    }
}
