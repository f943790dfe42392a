//! What was deleted is not on the disk any more, and the disk holds little else than what lives.

use groupwire_disk::Fault;
use groupwire_store::{Error, RoomLog, Store};

use crate::support::{DAY, Machine, Waiting, part, record};

const MARKER: &[u8] = b"<this must not remain>";

/// Stores rooms that take turns in the log: `secret` ones with the marker in all that they have, and others.
fn fill(store: &Store, machine: &Machine) {
    for position in 1..=60 {
        for room in 0..10 {
            let is_secret = room % 3 == 0;
            let padding = [1, 40, 700, 5000, 20_000][(position as usize * 7 + room) % 5];
            let mut content = if is_secret { MARKER.to_vec() } else { b"public".to_vec() };
            content.resize(content.len() + padding, b'.');
            if is_secret {
                content.extend_from_slice(MARKER);
            }
            store.put(&name(room), vec![record(position, content)]).unwrap();
        }
        if position % 20 == 0 {
            for room in 0..10 {
                let state =
                    if room % 3 == 0 { MARKER.repeat(3000) } else { b"public".repeat(3000) };
                store.save(&name(room), part(position, state)).unwrap();
            }
            machine.pass(DAY);
            store.wait(|done| store.trim(done)).unwrap();
        }
    }
}

fn name(room: usize) -> String {
    if room.is_multiple_of(3) {
        format!("{} {room}", str::from_utf8(MARKER).unwrap())
    } else {
        room.to_string()
    }
}

#[test]
fn no_byte_of_a_deleted_room_remains() {
    let mut machine = Machine::new();
    machine.options.checkpoint = 100_000;
    let store = machine.open().unwrap();
    fill(&store, &machine);
    assert!(machine.holds(MARKER));
    for room in [0, 3, 6, 9] {
        store.remove(&name(room)).unwrap();
    }
    store.wait(|done| store.erase(done)).unwrap();
    assert_eq!(store.usage().garbage, 0);
    assert!(!machine.holds(MARKER), "found after deletion");
    assert_eq!(store.get("1").head, 60);
    drop(store);
    assert!(!machine.holds(MARKER), "found after closing");
}

#[test]
fn a_deletion_that_a_crash_interrupts_is_finished() {
    for operations in [2, 5, 12, 30, 80, 200, 500] {
        let machine = Machine::new();
        let store = machine.open().unwrap();
        fill(&store, &machine);
        machine.disk.set_fault(Fault::PowerCut(operations));
        let secret = || [0, 3, 6, 9].map(name);
        let removed = secret().map(|room| store.remove(&room));
        machine.disk.crash(operations);
        drop(store);
        let store = machine.open().unwrap();
        for (room, removed) in secret().iter().zip(removed) {
            let is_there = store.load(room).unwrap().is_some();
            assert!(!(is_there && removed.is_ok()), "{room} is back");
            if is_there {
                store.remove(room).unwrap();
            }
        }
        store.wait(|done| store.erase(done)).unwrap();
        assert!(!machine.holds(MARKER), "found after a power cut at operation {operations}");
    }
}

#[test]
fn the_files_are_at_most_twice_the_live_bytes_and_the_slack() {
    let mut machine = Machine::new();
    machine.options.slack = 512 << 10;
    machine.options.checkpoint = 64 << 10;
    let store = machine.open().unwrap();
    // Quiet rooms have a record among ten of a busy one, which are trimmed later.
    let mut position = 0;
    for quiet in 0..3000_u64 {
        let room = (quiet % 100).to_string();
        let done = |outcome: Result<(), Error>| outcome.unwrap();
        let records = vec![record(quiet / 100 + 1, vec![1; 200])];
        RoomLog::append(&store, crate::support::append(&room, records), Box::new(done));
        let busy = (1..=10).map(|n| record(position + n, vec![2; 300])).collect();
        position += 10;
        RoomLog::append(&store, crate::support::append("busy", busy), Box::new(done));
    }
    store.save("busy", part(position, "state")).unwrap();
    machine.pass(DAY);
    store.wait(|done| store.trim(done)).unwrap();
    store.wait(|done| store.erase(done)).unwrap();
    let bound = 2 * store.usage().live as usize + (512 << 10);
    assert!(machine.size() <= bound, "{} bytes, allowed {bound}", machine.size());
    for room in 0..100 {
        let loaded = store.get(&room.to_string());
        assert_eq!((loaded.records.len(), loaded.damage.len()), (30, 0));
    }
    drop(store);
    let store = machine.open().unwrap();
    assert_eq!(store.get("99").records.len(), 30);
    assert_eq!(store.get("busy").parts.len(), 1);
}
