//! Flipped bits: what is damaged is named, and the rest is there.

use groupwire_store::{Append, Damage, Error, OpenError, RoomLog, wait};
use oorandom::Rand32;

use crate::support::{Machine, Waiting, append, part, record};

/// Flips a bit in the middle of the first place in the database that holds `marker`.
fn flip(machine: &Machine, marker: &[u8]) {
    let files = machine.disk.files();
    let (_, bytes) = files.iter().find(|(name, _)| name.ends_with("/rooms.db")).unwrap();
    let place = bytes.windows(marker.len()).position(|window| window == marker).unwrap();
    machine.disk.flip("rooms.db", place + marker.len() / 2, 3);
}

#[test]
fn a_damaged_record_is_named_and_the_others_are_there() {
    let machine = Machine::new();
    let store = machine.open().unwrap();
    let records = || vec![record(1, "first"), record(2, "second"), record(3, "third")];
    store.put("a", records()).unwrap();
    store.put("b", vec![record(1, "other")]).unwrap();
    drop(store);
    flip(&machine, b"second");

    let store = machine.open().unwrap();
    let loaded = store.get("a");
    assert_eq!(loaded.damage, [Damage::Record { position: 2 }]);
    assert_eq!(loaded.records, [record(1, "first"), record(3, "third")]);
    assert_eq!(store.get("b").damage, []);
    assert!(matches!(store.read("a", 1, u64::MAX), Err(Error::Damaged(_))));
    // The damaged room takes no appends before it has begun again.
    assert_eq!(store.put("a", vec![record(4, "")]), Err(Error::Incarnation));
    wait(|done| store.begin_again("a".into(), 8, done)).unwrap();
    let next = Append { incarnation: 8, ..append("a", vec![record(4, "fourth")]) };
    store.add(next).unwrap();
    drop(store);

    let loaded = machine.open().unwrap().get("a");
    assert_eq!((loaded.incarnation, loaded.damage), (8, vec![]));
    assert_eq!(loaded.records, [record(1, "first"), record(3, "third"), record(4, "fourth")]);
}

#[test]
fn a_record_that_is_damaged_while_the_store_is_open_is_named() {
    let machine = Machine::new();
    let store = machine.open().unwrap();
    store
        .put("a", (1..=50).map(|p| record(p, format!("record {p} {}", "x".repeat(3000)))).collect())
        .unwrap();
    // Closing moves the log into the database, so that SQLite has nothing of it in memory.
    drop(store);
    let store = machine.open().unwrap();
    flip(&machine, b"record 49 ");
    assert_eq!(store.get("a").damage, [Damage::Record { position: 49 }]);
    wait(|done| store.begin_again("a".into(), 8, done)).unwrap();
    let loaded = store.get("a");
    assert_eq!((loaded.damage.len(), loaded.records.len()), (0, 49));
}

#[test]
fn the_part_before_and_the_log_behind_it_replace_a_damaged_part() {
    let machine = Machine::new();
    let store = machine.open().unwrap();
    store.put("a", (1..=4).map(|p| record(p, "")).collect()).unwrap();
    store.save("a", part(2, "the older state")).unwrap();
    store.save("a", part(4, "the newer state")).unwrap();
    drop(store);
    flip(&machine, b"the newer state");
    let loaded = machine.open().unwrap().get("a");
    assert_eq!(loaded.damage, [Damage::Part { name: "state".into(), as_of: 4, replaced: true }]);
    assert_eq!(loaded.parts, [part(2, "the older state")]);
    assert_eq!(loaded.records, [record(3, ""), record(4, "")]);

    flip(&machine, b"the older state");
    let loaded = machine.open().unwrap().get("a");
    assert_eq!(loaded.parts, []);
    assert_eq!(loaded.records.len(), 4, "nothing was trimmed yet, so the log has everything");
    assert!(
        loaded.damage.iter().all(|damage| matches!(damage, Damage::Part { replaced: true, .. }))
    );
}

/// Flips of one bit each, in a database of some ten pages.
const FLIPS: u64 = 400;

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let machine = Machine::new();
    let store = machine.open().unwrap();
    let rooms = ["a", "b", "c"];
    for position in 1..=30 {
        for room in rooms {
            store.put(room, vec![record(position, vec![position as u8; 40])]).unwrap();
        }
    }
    for room in rooms {
        store.save(room, part(10, vec![10; 500])).unwrap();
    }
    let intact = rooms.map(|room| store.get(room));
    drop(store);
    let files = machine.disk.files();
    let (_, database) = files.iter().find(|(name, _)| name.ends_with("/rooms.db")).unwrap();
    let mut random = Rand32::new(5);
    let (mut refused, mut named, mut harmless) = (0, 0, 0);
    for _ in 0..FLIPS {
        let (byte, bit) =
            (random.rand_range(0..database.len() as u32) as usize, random.rand_range(0..8) as u8);
        machine.disk.flip("rooms.db", byte, bit);
        match machine.open() {
            Err(OpenError::Damaged { .. } | OpenError::Foreign(_) | OpenError::Newer { .. }) => {
                refused += 1
            }
            Err(OpenError::Io { reason, .. }) => {
                assert!(!reason.is_empty());
                refused += 1;
            }
            Err(other) => panic!("{other}"),
            Ok(store) => {
                for (room, intact) in rooms.iter().zip(&intact) {
                    match store.load(room) {
                        Ok(Some(loaded)) if loaded == *intact => harmless += 1,
                        Ok(Some(loaded)) => {
                            assert!(
                                !loaded.damage.is_empty(),
                                "byte {byte}, bit {bit}: room {room} differs"
                            );
                            named += 1;
                        }
                        Ok(None) => panic!("byte {byte}, bit {bit}: room {room} is gone"),
                        Err(_) => named += 1,
                    }
                }
            }
        }
        restore(&machine, database);
    }
    assert!(refused > 0 && named > 0 && harmless > 0, "{refused} {named} {harmless}");
}

#[test]
fn rows_that_a_damaged_page_no_longer_shows_are_missed() {
    let machine = Machine::new();
    let store = machine.open().unwrap();
    for position in 1..=30 {
        store.put("a", vec![record(position, format!("<{position}>{}", " ".repeat(100)))]).unwrap();
    }
    let intact = store.get("a");
    drop(store);
    let files = machine.disk.files();
    let (_, database) = files.iter().find(|(name, _)| name.ends_with("/rooms.db")).unwrap();
    let place = database.windows(4).position(|window| window == b"<30>").unwrap();
    // The fifth byte of a page is the number of its rows.
    for bit in 0..6 {
        machine.disk.flip("rooms.db", place / 4096 * 4096 + 4, bit);
        let unnoticed = machine.open().is_ok_and(|store| {
            store.load("a").is_ok_and(|loaded| {
                loaded.is_none_or(|loaded| loaded != intact && loaded.damage.is_empty())
            })
        });
        assert!(!unnoticed, "bit {bit}");
        restore(&machine, database);
    }
}

/// Puts back the bytes of the database, whatever the store that was opened on the damaged one
/// wrote.
fn restore(machine: &Machine, database: &[u8]) {
    machine.disk.replace("rooms.db", database);
}
