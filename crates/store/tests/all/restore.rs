//! Taking a room back to a snapshot before, or to an earlier moment.

use std::time::Duration;

use groupwire_store::{Append, Error, Loaded, Moment, NotNow, Record, Stores};

use crate::support::{DAY, Machine, Waiting, append, part, record};

fn positions(room: &Loaded) -> Vec<u64> {
    room.records.iter().map(|one| one.position).collect()
}

fn records(from: u64, to: u64) -> Vec<Record> {
    (from..=to).map(|position| record(position, format!("record {position}"))).collect()
}

/// A room with 30 records and snapshots at 10 and 20.
fn room(store: &Stores) {
    store.put("a", records(1, 15)).unwrap();
    store.save("a", part(10, "good")).unwrap();
    store.put("a", records(16, 30)).unwrap();
    store.save("a", part(20, "bad")).unwrap();
}

#[test]
fn a_bad_snapshot_is_replaced_by_the_one_before_and_the_log_behind_it() {
    for machine in Machine::both() {
        let store = machine.stores();
        room(&store);
        let known = store.history.snapshots("a").unwrap();
        assert_eq!((known.head, known.oldest, known.snapshots.len()), (30, 0, 2));
        assert!(!known.snapshots[0].is_newest && known.snapshots[1].is_newest);
        store.history.take_back("a", Moment::Snapshot(known.snapshots[0].id), 8).unwrap();
        let check = |store: &Stores| {
            let room = store.get("a");
            assert_eq!((room.incarnation, room.head, &room.damage[..]), (8, 30, &[][..]));
            assert_eq!(room.parts, [part(10, "good")]);
            assert_eq!(positions(&room), (11..=30).collect::<Vec<_>>());
            assert_eq!(room.records[0].bytes, b"record 11");
        };
        check(&store);
        // An append with the room's earlier incarnation is refused.
        assert_eq!(store.put("a", records(31, 31)), Err(Error::Incarnation));
        let store = machine.reopen(store);
        check(&store);
        let next = Append { incarnation: 8, ..append("a", records(31, 31)) };
        store.add(next).unwrap();
        store.erase_all();
        assert_eq!(store.get("a").head, 31);
    }
}

#[test]
fn a_room_is_taken_back_to_any_moment_that_is_kept() {
    let each = |position| Machine::both().map(|machine| (position, machine));
    for (position, machine) in [1, 9, 10, 14, 20, 25, 30].into_iter().flat_map(each) {
        let store = machine.stores();
        room(&store);
        store.put("b", records(1, 3)).unwrap();
        store.history.take_back("a", Moment::Position(position), 8).unwrap();
        let store = machine.reopen(store);
        let room = store.get("a");
        let covered = [20, 10].into_iter().find(|as_of| *as_of <= position).unwrap_or(0);
        assert_eq!((room.head, room.incarnation), (position, 8));
        assert_eq!(positions(&room), (covered + 1..=position).collect::<Vec<_>>());
        assert_eq!(room.parts.first().map_or(0, |part| part.as_of), covered);
        assert_eq!(positions(&store.get("b")), [1, 2, 3]);
    }
}

#[test]
fn what_is_no_longer_kept_is_refused_and_changes_nothing() {
    for machine in Machine::both() {
        let store = machine.stores();
        room(&store);
        // The first snapshot is the base, and the second one the next base.
        machine.pass(DAY + Duration::from_millis(1));
        store.put("a", records(31, 40)).unwrap();
        store.save("a", part(35, "newest")).unwrap();
        let known = store.history.snapshots("a").unwrap();
        assert_eq!(known.oldest, 20);
        for position in [0, 5, 19, 41] {
            assert_eq!(
                store.history.take_back("a", Moment::Position(position), 8),
                Err(Error::NotKept)
            );
        }
        assert_eq!(store.history.take_back("a", Moment::Snapshot(999), 8), Err(Error::NotKept));
        assert_eq!(store.history.take_back("none", Moment::Position(1), 8), Err(Error::NoRoom));
        assert_eq!((store.get("a").incarnation, store.get("a").head), (7, 40));
        store.history.take_back("a", Moment::Position(20), 8).unwrap();
        assert_eq!(store.get("a").parts, [part(20, "bad")]);
    }
}

#[test]
fn a_room_that_is_written_to_meanwhile_is_not_taken_back() {
    for machine in Machine::both() {
        let store = machine.stores();
        store.put("a", records(1, 1)).unwrap();
        let (mut changed, mut next, mut incarnation) = (0, 2, 7);
        for _ in 0..20 {
            std::thread::scope(|scope| {
                let after = incarnation + 1;
                let store = &store;
                let taking =
                    scope.spawn(move || store.history.take_back("a", Moment::Position(1), after));
                let put = Append { incarnation, ..append("a", records(next, next)) };
                let written = store.add(put);
                let taken = taking.join().unwrap();
                match (&written, &taken) {
                    // The append came before the take-back, or too late and was refused.
                    (_, Ok(())) => (next, incarnation) = (2, incarnation + 1),
                    (Ok(()), Err(Error::NotNow(NotNow::Changed))) => {
                        (next, changed) = (next + 1, changed + 1)
                    }
                    other => panic!("{other:?}"),
                }
            });
            // All records that were confirmed and not taken back are there.
            assert_eq!(store.get("a").head, next - 1);
        }
        eprintln!("{changed} of 20 were refused");
    }
}
