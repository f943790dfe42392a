//! A random history of changes leaves the same rooms in a store that is changed directly, in the
//! cache of the server that owns a shard, in those of servers that follow, and in one that begins
//! from a base.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_store::{Append, Change, Loaded, Moment, OutboxLimits, SavePart, Stores, wait};
use proptest::prelude::*;

use crate::support::{Cache, DAY, Log, Machine, Waiting, append, applied, apply, part, record};

/// The rooms are named by numbers, of which the even ones are of shard 0.
const ROOMS: u64 = 4;

#[derive(Debug, Clone)]
enum Step {
    /// Changes that one record of the log has.
    Changes(Vec<RoomChange>),
    Pass(u8),
    /// The follower applies what the log has, and some of it again.
    Follow(u8),
    Reopen,
}

#[derive(Debug, Clone)]
enum RoomChange {
    Append { room: u64, records: u64, meta: bool, reserved: bool, events: u64 },
    Save { room: u64, is_behind: bool, meta: bool },
    Delete(u64),
    BeginAgain(u64),
    TakeBack(u64, u64),
    Told,
}

fn change() -> impl Strategy<Value = RoomChange> {
    let appended = (0..ROOMS, 0..6_u64, any::<(bool, bool)>(), 0..3_u64);
    let append = appended.prop_map(|(room, records, (meta, reserved), events)| {
        RoomChange::Append { room, records, meta, reserved, events }
    });
    let saved = (0..ROOMS, any::<(bool, bool)>());
    let save =
        saved.prop_map(|(room, (is_behind, meta))| RoomChange::Save { room, is_behind, meta });
    prop_oneof![
        8 => append,
        3 => save,
        1 => (0..ROOMS).prop_map(RoomChange::Delete),
        1 => (0..ROOMS).prop_map(RoomChange::BeginAgain),
        1 => (0..ROOMS, 1..9_u64).prop_map(|(room, back)| RoomChange::TakeBack(room, back)),
        1 => Just(RoomChange::Told),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => prop::collection::vec(change(), 1..5).prop_map(Step::Changes),
        1 => (1..40_u8).prop_map(Step::Pass),
        2 => (0..9_u8).prop_map(Step::Follow),
        1 => Just(Step::Reopen),
    ]
}

/// The servers, and the logs of both shards.
struct World {
    machines: [Machine; 3],
    /// A store that is changed by its own methods.
    direct: Stores,
    owner: Box<dyn Cache>,
    follower: Box<dyn Cache>,
    logs: [Log; 2],
    incarnation: u64,
}

impl World {
    fn new(owner_in_memory: bool, history: Duration) -> Self {
        let [disk, memory] = Machine::caches();
        let [mut owner, mut follower] =
            if owner_in_memory { [memory, disk] } else { [disk, memory] };
        let mut direct = Machine::new();
        let limits = OutboxLimits { max_bytes: 1 << 30, max_age: 100 * DAY };
        for machine in [&mut direct, &mut owner, &mut follower] {
            machine.options.outbox = Some(limits);
            machine.options.history = history;
        }
        World {
            direct: direct.stores(),
            owner: owner.cache(),
            follower: follower.cache(),
            machines: [direct, owner, follower],
            logs: [Log::new(0), Log::new(1)],
            incarnation: 7,
        }
    }

    fn now(&self) -> u64 {
        self.machines[0].time()
    }

    fn load(&self, room: u64) -> Option<Loaded> {
        self.direct.log.load(&room.to_string()).unwrap()
    }

    /// Makes the changes in the direct store, and appends those that it took to the logs, one
    /// record for each shard. The owner has to accept the same ones.
    fn carry_out(&mut self, wanted: &[RoomChange]) {
        let mut records: BTreeMap<usize, Vec<Change>> = BTreeMap::new();
        for wanted in wanted {
            // A copy of a room is made of what the owner has applied.
            if matches!(wanted, RoomChange::TakeBack(..)) {
                self.log(std::mem::take(&mut records));
            }
            let Some((change, is_accepted)) = self.direct(wanted) else { continue };
            let shard = change.room().parse::<usize>().unwrap_or(0) % 2;
            let changes = records.entry(shard).or_default();
            changes.push(change);
            let checked = self.owner.check(changes);
            assert_eq!(checked.last().unwrap().is_ok(), is_accepted, "{wanted:?}: {checked:?}");
            assert!(checked.iter().rev().skip(1).all(Result::is_ok));
            if !is_accepted {
                changes.pop();
            }
        }
        self.log(records);
    }

    fn log(&mut self, records: BTreeMap<usize, Vec<Change>>) {
        for (shard, changes) in records {
            let record = self.logs[shard].append(self.now(), &changes);
            apply(&*self.owner, record).unwrap();
        }
    }

    /// Carries out a change in the direct store. Returns it, and whether it was accepted.
    fn direct(&mut self, wanted: &RoomChange) -> Option<(Change, bool)> {
        let store = &self.direct;
        Some(match *wanted {
            RoomChange::Append { room, records, meta, reserved, events } => {
                let found = self.load(room);
                let (head, incarnation) = found.map_or((0, 7), |one| (one.head, one.incarnation));
                let text = |n: u64| record(head + n, format!("{room} {head} {n}").repeat(20));
                let append = Append {
                    incarnation,
                    meta: meta.then(|| format!("meta {head}").into_bytes()),
                    reserved: reserved.then_some(head as u32),
                    events: (0..events).map(|n| format!("event {n}").into_bytes()).collect(),
                    ..append(&room.to_string(), (1..=records).map(text).collect())
                };
                let outcome = store.add(append.clone());
                (Change::Append(append), outcome.is_ok())
            }
            RoomChange::Save { room, is_behind, meta } => {
                let Loaded { head, incarnation, .. } = self.load(room)?;
                let part = part(head - u64::from(is_behind && head > 0), format!("part {head}"));
                let (room, meta) = (room.to_string(), meta.then(|| b"with the part".to_vec()));
                let events = vec![b"snapshot".to_vec()];
                let save = SavePart { room, incarnation, part, meta, events };
                let SavePart { room, incarnation, part, meta, events } = save.clone();
                let call = |done| store.log.save_part(room, incarnation, part, meta, events, done);
                let outcome = wait(call);
                (Change::SavePart(save), outcome.is_ok())
            }
            RoomChange::Delete(room) => {
                let room = room.to_string();
                let outcome = store.remove(&room);
                (Change::Delete { room }, outcome.is_ok())
            }
            RoomChange::BeginAgain(room) => {
                self.incarnation += 1;
                let (room, incarnation) = (room.to_string(), self.incarnation);
                let outcome = wait(|done| store.log.begin_again(room.clone(), incarnation, done));
                (Change::BeginAgain { room, incarnation }, outcome.is_ok())
            }
            // What a room can be taken back to depends on when each store trimmed it.
            RoomChange::TakeBack(..) if self.machines[0].options.history == DAY => return None,
            RoomChange::TakeBack(room, back) => {
                let to = Moment::Position(self.load(room)?.head.saturating_sub(back));
                self.incarnation += 1;
                let (room, incarnation) = (room.to_string(), self.incarnation);
                let outcome = store.history.take_back(&room, to, incarnation);
                let change = self.owner.taken_back(&room, to, incarnation);
                assert_eq!(change.as_ref().err(), outcome.as_ref().err());
                (change.ok()?, true)
            }
            RoomChange::Told => {
                let outbox = self.owner.shard_outbox(0).unwrap();
                let events = self.owner.shard_events(0, u64::MAX, 2, 999).unwrap();
                let last = events.last()?;
                assert!(last.number > outbox.told && last.number < outbox.next);
                (Change::EventsTold { shard: 0, number: last.number, time: last.time }, true)
            }
        })
    }

    fn follow(&mut self, again: u8) {
        for log in &self.logs {
            let from = applied(&*self.follower, log.shard).saturating_sub(u64::from(again));
            log.after(from).for_each(|record| apply(&*self.follower, record).unwrap());
        }
    }

    fn reopen(mut self) -> Self {
        let [direct, owner, follower] = &self.machines;
        self.direct = direct.reopen(self.direct);
        self.owner = owner.reopen_cache(self.owner);
        self.follower = follower.reopen_cache(self.follower);
        self
    }

    fn compare(&mut self) {
        self.follow(2);
        let from_base = Machine::caches().map(|mut machine| {
            machine.options.outbox = self.machines[1].options.outbox;
            let cache = machine.cache();
            for log in &self.logs {
                let is_of_shard = |room: &str| room.parse::<u16>().unwrap() % 2 == log.shard;
                let (cursor, base) = self.owner.export_shard(log.shard, &is_of_shard).unwrap();
                assert_eq!(cursor.number, log.after(0).count() as u64);
                cache.import_shard(cursor, &base, &is_of_shard).unwrap();
            }
            (machine, cache)
        });
        let from_base = from_base.iter().map(|(_, cache)| cache);
        for cache in [&self.owner, &self.follower].into_iter().chain(from_base) {
            for room in 0..ROOMS {
                assert_eq!(room_of(&**cache, room), self.load(room).map(timeless), "room {room}");
            }
            assert_eq!(cache.cursors(), self.owner.cursors());
            for shard in 0..2 {
                let events = |cache: &dyn Cache| {
                    cache.shard_events(shard, u64::MAX, usize::MAX, usize::MAX).unwrap()
                };
                assert_eq!(events(&**cache), events(&*self.owner));
                assert_eq!(cache.shard_outbox(shard), self.owner.shard_outbox(shard));
            }
            let bytes: u64 = cache.rooms().iter().map(|room| room.bytes).sum();
            assert_eq!(cache.usage().live, bytes);
        }
    }
}

fn room_of(cache: &dyn Cache, room: u64) -> Option<Loaded> {
    cache.load(&room.to_string()).unwrap().map(timeless)
}

// After a start the time of a room is also that of its newest part and meta data.
fn timeless(room: Loaded) -> Loaded {
    Loaded { active: 0, ..room }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_servers_hold_the_same_rooms(
        steps in prop::collection::vec(step(), 1..30),
        owner_in_memory: bool,
        is_trimmed: bool,
    ) {
        let history = if is_trimmed { DAY } else { 1000 * DAY };
        let mut world = World::new(owner_in_memory, history);
        for step in steps {
            match step {
                Step::Changes(changes) => world.carry_out(&changes),
                Step::Pass(hours) => {
                    let time = DAY / 24 * u32::from(hours);
                    world.machines.iter().for_each(|machine| machine.pass(time));
                }
                Step::Follow(again) => world.follow(again),
                Step::Reopen => world = world.reopen(),
            }
        }
        world.compare();
        world = world.reopen();
        world.compare();
    }
}
