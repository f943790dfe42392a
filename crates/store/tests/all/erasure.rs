//! What was deleted is not on the disk any more, and the disk holds little else than what lives.

use groupwire_disk::Fault;
use groupwire_store::{Error, Monitor, RoomLog, Store, wait};

use crate::support::{DAY, Machine, Waiting, append, part, record};

const MARKER: &[u8] = b"<this must not remain>";

/// Stores rooms that take turns in the log: `secret` ones with the marker in all that they have,
/// and others.
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
            wait(|done| store.trim(done)).unwrap();
        }
    }
    // The last snapshots cover all records up to here. These stay in the log.
    for position in 61..=63 {
        for room in 0..10 {
            let content = if room % 3 == 0 { MARKER } else { b"public" };
            store.put(&name(room), vec![record(position, content.repeat(50))]).unwrap();
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
    store.erase_all();
    assert_eq!(store.usage().garbage, 0);
    assert!(!machine.holds(MARKER), "found after deletion");
    assert_eq!(dirty_gaps(&machine), [0; 0]);
    assert_eq!(store.get("1").head, 63);
    drop(store);
    assert!(!machine.holds(MARKER), "found after closing");
}

/// The numbers of pages with rows whose unallocated gap is not zero. SQLite leaves copies of rows
/// there that moved to other pages.
fn dirty_gaps(machine: &Machine) -> Vec<usize> {
    let files = machine.disk.files();
    let (_, database) = files.iter().find(|(name, _)| name.ends_with("rooms.db")).unwrap();
    let pages = database.chunks(4096).enumerate();
    pages
        .filter(|(_, page)| {
            let number = |at| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
            page[0] == 0x0d && page[8 + 2 * number(3)..number(5)].iter().any(|&byte| byte != 0)
        })
        .map(|(number, _)| number + 1)
        .collect()
}

/// Writes the rows of these rooms, with meta data of a size that depends on `turn`, so that they
/// move to other pages.
fn rewrite(store: &Store, rooms: std::ops::Range<usize>, turn: usize) {
    for room in rooms {
        let text = if room % 3 == 0 { MARKER } else { b"<this may remain, yes>" };
        let mut append = append(&name(room), Vec::new());
        append.meta = Some(text.repeat(2 + (room * 7 + turn * 5) % 30));
        store.add(append).unwrap();
    }
}

#[test]
fn what_is_written_after_an_erasure_holds_nothing_of_it() {
    let machine = Machine::new();
    let store = machine.open().unwrap();
    for room in 0..100 {
        store.put(&name(room), vec![record(1, "")]).unwrap();
    }
    for turn in 0..4 {
        rewrite(&store, 0..100, turn);
    }
    for room in (0..100).step_by(3) {
        store.remove(&name(room)).unwrap();
    }
    store.erase_all();
    assert!(!machine.holds(MARKER), "found after deletion");
    assert_eq!(dirty_gaps(&machine), [0; 0]);
    // These rows share pages with the ones that were deleted.
    for room in (0..100).filter(|room| room % 3 != 0) {
        rewrite(&store, room..room + 1, 9);
    }
    assert!(machine.holds(b"<this may remain, yes>"));
    assert!(!machine.holds(MARKER), "found in what was written later");
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
        store.erase_all();
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
        RoomLog::append(&store, append(&room, records), Box::new(done));
        let busy = (1..=10).map(|n| record(position + n, vec![2; 300])).collect();
        position += 10;
        RoomLog::append(&store, append("busy", busy), Box::new(done));
    }
    store.save("busy", part(position, "state")).unwrap();
    machine.pass(DAY);
    wait(|done| store.trim(done)).unwrap();
    store.erase_all();
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
