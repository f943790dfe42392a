//! Power cuts: the machine stops at a random write or sync of a random script, an arbitrary part of
//! what was not synced remains, and then everything that was confirmed has to be there.
//!
//! `SIMULATIONS=100000 cargo test --release --package groupwire-store --test all crashes` runs many
//! more, and `FIRST_SEED=7` begins with that one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use groupwire_disk::Fault;
use groupwire_store::{
    Directory, Error, Monitor, NotNow, Record, RoomLog, Store, wait, wal_is_damaged,
};
use oorandom::Rand32;

use crate::support::{DAY, Machine, Waiting, append, part, record};

/// The simulations of a default run.
const SIMULATIONS: u64 = 1000;

#[test]
fn what_was_confirmed_survives_power_cuts() {
    let number = |name| std::env::var(name).ok().map(|number| number.parse().unwrap());
    let simulations = number("SIMULATIONS").unwrap_or(SIMULATIONS);
    let first = number("FIRST_SEED").unwrap_or(0);
    let outcomes: Vec<_> = (first..first + simulations).map(simulate).collect();
    // The simulations are worth something only if they reach these cases.
    let count =
        |what: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| what(outcome)).count() as u64;
    // This outcome is rare: the power has to fail after a commit's last write, which on a busy
    // machine happens in 1 % of simulations.
    assert!(count(|o| o.unconfirmed_survived) > 0, "no append was stored and not confirmed");
    assert!(count(|o| o.unconfirmed_lost) > simulations / 20, "no append was lost");
    assert!(count(|o| o.trimmed) > simulations / 20, "no records were trimmed");
}

#[derive(Default)]
struct Outcome {
    unconfirmed_survived: bool,
    unconfirmed_lost: bool,
    trimmed: bool,
}

/// What a room must and may hold.
#[derive(Debug, Clone, Default)]
struct Expected {
    incarnation: u64,
    /// All records that were sent, by position; nothing else may be found.
    sent: Vec<Record>,
    confirmed: u64,
    reserved: u32,
    /// The position of the newest confirmed part, and of the newest one that was sent.
    covered: (u64, u64),
    /// True if a deletion was sent and not confirmed: then the room may be there or not.
    deleting: bool,
}

type World = Arc<Mutex<BTreeMap<String, Expected>>>;

fn simulate(seed: u64) -> Outcome {
    let mut random = Rand32::new(seed);
    let mut machine = Machine::new();
    machine.options.checkpoint = 1 << (12 + random.rand_range(0..6));
    let world = World::default();
    let mut outcome = Outcome::default();
    // The disk fails a second time, after it was recovered from the first one.
    for round in 0..2 {
        machine.disk.set_fault(Fault::PowerCut(1 + u64::from(random.rand_range(0..220))));
        if let Ok(store) = machine.open() {
            script(&store, &machine, &world, &mut random);
        }
        machine.disk.crash(seed * 2 + round);
        assert!(!wal_is_damaged(&wal(&machine)), "seed {seed}: a torn tail was taken for damage");
        let store = machine.open().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        check(seed, &store, &world, &mut outcome);
    }
    outcome
}

// Sends appends, parts and deletions of some rooms, waits for some of them, and notes what was
// confirmed.
fn script(store: &Store, machine: &Machine, world: &World, random: &mut Rand32) {
    for _ in 0..random.rand_range(5..40) {
        let name = random.rand_range(0..3).to_string();
        match random.rand_range(0..12) {
            0 if world.lock().unwrap().contains_key(&name) => remove(store, world, &name),
            1 | 2 => save(store, world, &name, random),
            3 | 4 => {
                machine.pass(DAY / 2);
                store.trim(Box::new(|_| ()));
            }
            5 if random.rand_range(0..3) == 0 => drop(wait(|done| store.erase(done))),
            _ => send(store, world, &name, random),
        }
    }
    // All requests before this one are answered.
    let _ = wait(|done| store.trim(done));
}

fn send(store: &Store, world: &World, name: &str, random: &mut Rand32) {
    let mut rooms = world.lock().unwrap();
    let room = rooms.entry(name.into()).or_insert_with(|| Expected {
        incarnation: u64::from(random.rand_u32()),
        ..Expected::default()
    });
    let first = room.sent.len() as u64 + 1;
    let records: Vec<_> = (first..first + u64::from(random.rand_range(1..4)))
        .map(|position| {
            let size = if random.rand_range(0..10) == 0 { 9000 } else { random.rand_range(0..300) };
            record(position, vec![random.rand_u32() as u8; size as usize])
        })
        .collect();
    room.sent.extend(records.iter().cloned());
    let mut request = append(name, records);
    request.incarnation = room.incarnation;
    let (world, name, last) = (world.clone(), name.to_owned(), room.sent.len() as u64);
    if random.rand_range(0..4) == 0 {
        request.reserved = Some(last as u32 * 10);
        request.meta = Some(last.to_le_bytes().to_vec());
    }
    let reserved = request.reserved.unwrap_or(0);
    let incarnation = room.incarnation;
    drop(rooms);
    store.append(
        request,
        Box::new(move |outcome| {
            let mut rooms = world.lock().unwrap();
            let Some(room) = rooms.get_mut(&name).filter(|r| r.incarnation == incarnation) else {
                return;
            };
            match outcome {
                Ok(()) => {
                    room.confirmed = last;
                    room.reserved = room.reserved.max(reserved);
                }
                Err(Error::Poisoned(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }),
    );
}

fn save(store: &Store, world: &World, name: &str, random: &mut Rand32) {
    let mut rooms = world.lock().unwrap();
    let Some(room) = rooms.get_mut(name).filter(|room| room.confirmed > 0) else { return };
    let as_of = room.confirmed;
    room.covered.1 = as_of;
    let state = part(as_of, vec![as_of as u8; random.rand_range(0..20_000) as usize]);
    let incarnation = room.incarnation;
    drop(rooms);
    let outcome =
        wait(|done| store.save_part(name.into(), incarnation, state, None, Vec::new(), done));
    if outcome.is_ok() {
        world.lock().unwrap().get_mut(name).unwrap().covered.0 = as_of;
    }
}

fn remove(store: &Store, world: &World, name: &str) {
    world.lock().unwrap().get_mut(name).unwrap().deleting = true;
    match wait(|done| store.delete(name.into(), done)) {
        Ok(()) | Err(Error::NoRoom) => drop(world.lock().unwrap().remove(name)),
        Err(_) => {}
    }
}

fn check(seed: u64, store: &Store, world: &World, outcome: &mut Outcome) {
    let mut rooms = world.lock().unwrap();
    for listed in store.rooms() {
        assert!(rooms.contains_key(&listed.name), "seed {seed}: room {} is back", listed.name);
    }
    rooms.retain(|name, expected| {
        let Some(loaded) = store.load(name).unwrap() else {
            assert!(
                expected.confirmed == 0 || expected.deleting,
                "seed {seed}: room {name} is lost"
            );
            outcome.unconfirmed_lost |= !expected.sent.is_empty();
            return false;
        };
        assert_eq!(loaded.damage, [], "seed {seed}, room {name}");
        assert_eq!(loaded.incarnation, expected.incarnation, "seed {seed}, room {name}");
        let head = loaded.head;
        assert!(
            head >= expected.confirmed,
            "seed {seed}, room {name}: {head} < {}",
            expected.confirmed
        );
        assert!(head <= expected.sent.len() as u64, "seed {seed}, room {name}: never sent");
        assert!(loaded.reserved >= expected.reserved, "seed {seed}, room {name}: reserved numbers");
        let covered = loaded.parts.first().map_or(0, |part| part.as_of);
        assert!(
            (expected.covered.0..=expected.covered.1.max(expected.covered.0)).contains(&covered)
        );
        for part in &loaded.parts {
            assert!(part.bytes.iter().all(|&byte| byte == part.as_of as u8), "seed {seed}: part");
        }
        assert_eq!(
            loaded.records,
            expected.sent[covered as usize..head as usize],
            "seed {seed}, room {name}"
        );
        let all = store.read(name, 1, u64::MAX).unwrap();
        let first = all.first().map_or(head, |record| record.position - 1);
        assert_eq!(
            all,
            expected.sent[first as usize..head as usize],
            "seed {seed}, history of {name}"
        );
        outcome.trimmed |= first > 0;
        outcome.unconfirmed_survived |= head > expected.confirmed;
        outcome.unconfirmed_lost |= head < expected.sent.len() as u64;
        // The records that were found are confirmed from now on: they have to survive the next
        // crash.
        expected.sent.truncate(head as usize);
        expected.confirmed = head;
        expected.reserved = loaded.reserved;
        expected.covered = (covered, covered);
        expected.deleting = false;
        true
    });
}

/// The write-ahead log; empty if there is none.
fn wal(machine: &Machine) -> Vec<u8> {
    let files = machine.disk.files().into_iter();
    files
        .filter(|(name, _)| name.ends_with("-wal"))
        .map(|(_, bytes)| bytes)
        .next()
        .unwrap_or_default()
}

#[test]
fn damage_inside_the_write_ahead_log_is_no_torn_tail() {
    let machine = Machine::new();
    let store = machine.open().unwrap();
    for position in 1..=20 {
        store.put("a", vec![record(position, "")]).unwrap();
    }
    let wal = wal(&machine);
    assert!(!wal_is_damaged(&wal));
    for length in 0..wal.len() {
        assert!(!wal_is_damaged(&wal[..length]), "cut at {length}");
    }
    // A commit has at most three pages here, and the last one may be torn.
    for byte in (0..wal.len() - 6 * 4120).step_by(61) {
        let mut damaged = wal.clone();
        damaged[byte] ^= 1 << (byte % 8);
        assert!(wal_is_damaged(&damaged), "byte {byte} of {}", wal.len());
    }
}

#[test]
fn a_sync_that_fails_poisons_the_store() {
    let machine = Machine::new();
    let store = machine.open().unwrap();
    store.put("a", vec![record(1, "kept")]).unwrap();
    for fault in [Fault::Sync, Fault::Write] {
        machine.disk.set_fault(fault);
        let poisoned = |outcome| matches!(outcome, Err(Error::Poisoned(_)));
        assert!(poisoned(store.put("a", vec![record(2, "lost")])));
        // The device works again, and the store does not go on as if nothing had happened.
        machine.disk.set_fault(Fault::None);
        assert!(poisoned(store.put("a", vec![record(2, "lost")])));
        assert!(matches!(store.load("a"), Err(Error::Poisoned(_))));
        assert!(matches!(store.refusal(), Some(Error::Poisoned(_))));
    }
    drop(store);
    machine.disk.crash(1);
    let store = machine.open().unwrap();
    assert_eq!(store.get("a").records[0], record(1, "kept"));
}

#[test]
fn a_full_disk_is_not_now_and_heals() {
    let machine = Machine::new();
    let store = machine.open().unwrap();
    store.put("a", vec![record(1, "x")]).unwrap();
    machine.disk.set_fault(Fault::Space(machine.size()));
    let next = || vec![record(2, vec![1; 50_000])];
    for _ in 0..3 {
        assert_eq!(store.put("a", next()), Err(Error::NotNow(NotNow::Disk)));
        assert_eq!(store.get("a").records.len(), 1, "reading goes on");
    }
    assert_eq!(store.save("a", part(1, vec![0; 50_000])), Err(Error::NotNow(NotNow::Disk)));
    assert_eq!(store.refusal(), Some(Error::NotNow(NotNow::Disk)));
    machine.disk.set_fault(Fault::None);
    store.put("a", next()).unwrap();
    assert_eq!(store.refusal(), None);
    drop(store);
    machine.disk.crash(3);
    assert_eq!(machine.open().unwrap().get("a").head, 2);
}
