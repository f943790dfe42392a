//! Storing and reading back, limits, quotas, history.

use std::time::Duration;

use groupwire_store::{Append, Error, Moment, Monitor, NotNow, RoomLog, Usage, limits, wait};
use proptest::prelude::*;

use crate::support::{DAY, Machine, Waiting, append, part, record};

#[test]
fn a_room_is_read_back_as_it_was_stored() {
    for machine in Machine::both() {
        let store = machine.stores();
        let first = Append {
            meta: Some(b"channels".to_vec()),
            reserved: Some(64),
            ..append("board", vec![record(1, "a"), record(2, "")])
        };
        store.add(first).unwrap();
        store.put("board", vec![record(3, vec![9; 70_000])]).unwrap();
        store.save("board", part(2, "state")).unwrap();
        let before = store.get("board");

        let store = machine.reopen(store);
        let loaded = store.get("board");
        assert_eq!(loaded, before);
        assert_eq!((loaded.incarnation, loaded.head, loaded.reserved), (7, 3, 64));
        assert_eq!(loaded.meta, b"channels");
        assert_eq!(loaded.parts, [part(2, "state")]);
        assert_eq!(loaded.records, [record(3, vec![9; 70_000])]);
        assert_eq!(loaded.damage, []);
        assert_eq!(store.log.load("other").unwrap(), None);
    }
}

#[test]
fn covered_records_can_be_read_within_the_time_of_history() {
    let machine = Machine::new();
    let store = machine.open().unwrap();
    store.put("a", (1..=9).map(|p| record(p, vec![0; 100])).collect()).unwrap();
    store.save("a", part(9, "state")).unwrap();
    assert_eq!(store.get("a").records, []);
    let positions = |from, max| {
        store.read("a", from, max).unwrap().iter().map(|r| r.position).collect::<Vec<_>>()
    };
    assert_eq!(positions(1, u64::MAX), (1..=9).collect::<Vec<_>>());
    assert_eq!(positions(4, 250), [4, 5]);
    assert_eq!(positions(4, 1), [4], "at least one");
    machine.pass(DAY);
    wait(|done| store.trim(done)).unwrap();
    assert_eq!(positions(1, u64::MAX), [0_u64; 0]);
    drop(store);
    let loaded = machine.open().unwrap().get("a");
    assert_eq!((loaded.head, loaded.records.len(), loaded.parts.len()), (9, 0, 1));
}

#[test]
fn names_are_any_text_of_256_bytes() {
    for machine in Machine::both() {
        let names = [
            "",
            ".",
            "..",
            "a/b",
            "nul\0in it",
            "'; DROP TABLE log; --",
            &"x".repeat(256),
            "ä\u{10ffff}",
        ];
        let store = machine.stores();
        for name in names {
            store.put(name, vec![record(1, name)]).unwrap();
        }
        let store = machine.reopen(store);
        for name in names {
            assert_eq!(store.get(name).records, [record(1, name)]);
        }
        assert_eq!(store.directory.rooms().len(), names.len());
        let error = store.put(&"x".repeat(257), vec![record(1, "")]);
        assert!(matches!(error, Err(Error::TooLarge { limit: 256, .. })));
    }
}

#[test]
fn records_that_do_not_continue_the_room_are_refused() {
    for machine in Machine::both() {
        let store = machine.stores();
        assert_eq!(
            store.put("a", vec![record(2, "")]),
            Err(Error::Position { expected: 1, found: 2 })
        );
        let reserves = Append { reserved: Some(7), ..append("a", vec![]) };
        assert_eq!(store.add(reserves), Err(Error::NoRoom));
        // An append of nothing is in order, and makes no room.
        assert_eq!(store.put("a", vec![]), Ok(()));
        assert!(!store.directory.contains("a"));
        store.put("a", vec![record(1, "")]).unwrap();
        assert_eq!(
            store.put("a", vec![record(1, "")]),
            Err(Error::Position { expected: 2, found: 1 })
        );
        let gap = vec![record(2, ""), record(4, "")];
        assert_eq!(store.put("a", gap), Err(Error::Position { expected: 3, found: 4 }));
        let stale = Append { incarnation: 6, ..append("a", vec![record(2, "")]) };
        assert_eq!(store.add(stale), Err(Error::Incarnation));
        assert_eq!(store.save("a", part(2, "")), Err(Error::Position { expected: 1, found: 2 }));
        assert_eq!(store.get("a").head, 1);
    }
}

#[test]
fn a_part_that_covers_less_than_the_one_before_is_refused() {
    for machine in Machine::both() {
        let store = machine.stores();
        store.put("a", vec![record(1, "x"), record(2, "y")]).unwrap();
        store.save("a", part(2, "of both")).unwrap();
        // Both records are trimmed now, so that a state of the first one alone loses the second.
        machine.pass(2 * DAY);
        store.save("a", part(2, "of both again")).unwrap();
        let refused = Err(Error::Position { expected: 2, found: 1 });
        assert_eq!(store.save("a", part(1, "of one")), refused);
        assert_eq!(store.get("a").parts[0].bytes, b"of both again");
        // A room that begins anew has no part before.
        store.remove("a").unwrap();
        store.put("a", vec![record(1, "x")]).unwrap();
        store.save("a", part(1, "of one")).unwrap();
    }
}

#[test]
fn a_room_that_is_taken_back_is_not_forgotten_for_its_old_records() {
    for machine in Machine::both() {
        let store = machine.stores();
        store.put("tmp/a", vec![record(1, "old"), record(2, "too")]).unwrap();
        machine.pass(2 * DAY);
        let rules = ["tmp/*=1d".parse().unwrap()];
        assert_eq!(store.directory.inactive(&rules), ["tmp/a"]);
        store.history.take_back("tmp/a", Moment::Position(1), 8).unwrap();
        assert_eq!(store.directory.inactive(&rules), [""; 0]);
    }
}

#[test]
fn rooms_are_listed_begin_again_and_are_deleted() {
    let rooms = Machine::both().map(|machine| {
        let store = machine.stores();
        store.put("tmp/a", vec![record(1, "old")]).unwrap();
        machine.pass(DAY / 2);
        store.put("tmp/b", vec![record(1, "newer"), record(2, "")]).unwrap();
        store.put("c", vec![record(1, "")]).unwrap();
        store.save("c", part(1, "state")).unwrap();
        let rules = ["tmp/*=1d".parse().unwrap()];
        assert_eq!(store.directory.inactive(&rules), [""; 0]);
        machine.pass(DAY / 2);
        assert_eq!(store.directory.inactive(&rules), ["tmp/a"]);
        assert!(store.directory.contains("c") && !store.directory.contains("d"));
        let begin = |room: &str| wait(|done| store.log.begin_again(room.into(), 8, done));
        assert_eq!(begin("d"), Err(Error::NoRoom));
        begin("c").unwrap();
        assert_eq!(store.put("c", vec![record(2, "")]), Err(Error::Incarnation));
        assert_eq!((store.get("c").incarnation, store.get("c").parts.len()), (8, 1));
        let rooms = store.directory.rooms();
        let usage = store.monitor.usage();
        assert_eq!(usage.live, rooms.iter().map(|room| room.bytes).sum::<u64>());
        for room in &rooms {
            store.remove(&room.name).unwrap();
            assert_eq!(store.remove(&room.name), Err(Error::NoRoom));
        }
        assert_eq!((store.monitor.usage().live, store.directory.rooms().len()), (0, 0));
        rooms
    });
    let names: Vec<_> = rooms[0].iter().map(|room| room.name.as_str()).collect();
    assert_eq!(names, ["c", "tmp/a", "tmp/b"]);
    assert_eq!(rooms[0], rooms[1], "both stores count alike");
}

#[test]
fn after_a_refused_append_the_later_ones_of_the_room_in_the_batch_are_refused() {
    let machine = Machine::new();
    let store = machine.open().unwrap();
    // The work of the start is over before commits are counted.
    store.erase_all();
    // The writer is held by a callback, so that what follows becomes one batch.
    let (release, held) = std::sync::mpsc::channel::<()>();
    let (hold, is_held) = std::sync::mpsc::channel::<()>();
    let callback = move |_| {
        hold.send(()).unwrap();
        held.recv().unwrap();
    };
    store.append(append("x", vec![record(1, "")]), Box::new(callback));
    is_held.recv().unwrap();
    let (send, outcomes) = std::sync::mpsc::channel();
    let too_large =
        Append { meta: Some(vec![0; limits::MAX_META + 1]), ..append("a", vec![record(2, "")]) };
    for append in [
        append("a", vec![record(1, "")]),
        too_large,
        append("a", vec![record(3, "")]),
        append("b", vec![record(1, "")]),
    ] {
        let send = send.clone();
        store.append(append, Box::new(move |outcome| send.send(outcome).unwrap()));
    }
    let Usage { commits, syncs, .. } = store.usage();
    release.send(()).unwrap();
    let mut outcomes: Vec<_> = (0..4).map(|_| outcomes.recv().unwrap()).collect();
    outcomes.sort_by_key(Result::is_err);
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 2);
    assert!(outcomes.contains(&Err(Error::Position { expected: 2, found: 3 })));
    assert_eq!(store.usage().commits - commits, 1, "one commit for the batch");
    assert_eq!(store.usage().syncs - syncs, 1, "one sync of the commit");
    assert_eq!((store.get("a").head, store.get("b").head), (1, 1));
}

#[test]
fn appends_that_come_soon_after_a_commit_share_the_next_one() {
    let mut machine = Machine::new();
    machine.options.gather = Duration::from_millis(100);
    let store = machine.open().unwrap();
    store.erase_all();
    store.put("x", vec![record(1, "")]).unwrap();
    // A busy machine may let more time pass between two appends, so this is tried again.
    let is_shared = (1..50).any(|position| {
        let before = store.usage().commits;
        let (send, outcomes) = std::sync::mpsc::channel();
        for room in ["a", "b", "c"] {
            let send = send.clone();
            let append = append(room, vec![record(position, "")]);
            store.append(append, Box::new(move |outcome| send.send(outcome).unwrap()));
            // Alone, each of them would have been committed in this time.
            std::thread::sleep(Duration::from_millis(5));
        }
        outcomes.iter().take(3).collect::<Result<(), _>>().unwrap();
        store.usage().commits - before == 1
    });
    assert!(is_shared, "three appends within the time took a commit each");
}

#[test]
fn above_four_fifths_of_the_quota_only_rooms_that_exist_grow() {
    for mut machine in Machine::both() {
        machine.options.max_bytes = 100_000;
        machine.options.max_rooms = 10;
        let store = machine.stores();
        store.put("a", vec![record(1, vec![0; 10_000])]).unwrap();
        store.put("a", (2..=8).map(|p| record(p, vec![0; 10_000])).collect()).unwrap();
        assert_eq!(store.put("b", vec![record(1, "")]), Err(Error::NotNow(NotNow::Bytes)));
        assert_eq!(store.monitor.refusal(), None, "rooms that exist grow");
        store.put("a", vec![record(9, vec![0; 10_000])]).unwrap();
        assert_eq!(
            store.put("a", vec![record(10, vec![0; 10_000])]),
            Err(Error::NotNow(NotNow::Bytes))
        );
        assert_eq!(store.monitor.refusal(), Some(Error::NotNow(NotNow::Bytes)));
        store.remove("a").unwrap();
        for room in 0..8 {
            store.put(&room.to_string(), vec![record(1, "")]).unwrap();
        }
        assert_eq!(store.monitor.refusal(), None);
        assert_eq!(store.put("b", vec![record(1, "")]), Err(Error::NotNow(NotNow::Rooms)));
        store.put("7", vec![record(2, "")]).unwrap();
    }
}

#[test]
fn a_room_at_its_quota_gives_up_history_first() {
    for mut machine in Machine::both() {
        machine.options.max_room_bytes = 50_000;
        let store = machine.stores();
        store.put("a", (1..=4).map(|p| record(p, vec![0; 10_000])).collect()).unwrap();
        let next = || vec![record(5, vec![0; 10_000])];
        assert_eq!(store.put("a", next()), Err(Error::NotNow(NotNow::Room)));
        store.save("a", part(4, "state")).unwrap();
        assert_eq!(store.put("a", next()), Err(Error::NotNow(NotNow::Room)));
        store.put("a", next()).expect("the records that the snapshot covers were given up");
        assert_eq!(store.get("a").records.len(), 1);
    }
}

#[test]
fn a_large_part_and_a_large_record_are_stored() {
    let machine = Machine::new();
    let store = machine.open().unwrap();
    let large = vec![7; limits::MAX_RECORD];
    store.put("a", vec![record(1, large.clone()), record(2, "")]).unwrap();
    let state: Vec<u8> = (0..(3 << 20) + 5_u32).map(|n| n as u8).collect();
    store.save("a", part(1, state.clone())).unwrap();
    drop(store);
    let store = machine.open().unwrap();
    assert_eq!(store.get("a").parts, [part(1, state)]);
    assert_eq!(store.read("a", 1, 1).unwrap()[0].bytes, large);
    let too_large = part(1, vec![0; limits::MAX_PART + 1]);
    assert!(matches!(store.save("a", too_large), Err(Error::TooLarge { .. })));
}

#[derive(Debug, Clone)]
enum Step {
    Append(u8, u8),
    Save(u8),
    Delete(u8),
    Pass(u8),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..3_u8, 1..9_u8).prop_map(|(room, records)| Step::Append(room, records)),
        2 => (0..3_u8).prop_map(Step::Save),
        1 => (0..3_u8).prop_map(Step::Delete),
        1 => (1..40_u8).prop_map(Step::Pass),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_store_does_what_a_list_does(steps in prop::collection::vec(step(), 1..40)) {
        for machine in Machine::both() {
        let mut store = machine.stores();
        // For each room the head, and the position up to which its snapshot covers it.
        let mut rooms = [(0, 0); 3];
        for step in steps.clone() {
            match step {
                Step::Append(room, records) => {
                    let head = &mut rooms[room as usize].0;
                    let records = (1..=u64::from(records)).map(|n| record(*head + n, vec![room; n as usize]));
                    let records: Vec<_> = records.collect();
                    *head += records.len() as u64;
                    store.put(&room.to_string(), records).unwrap();
                }
                Step::Save(room) => {
                    let (head, covered) = &mut rooms[room as usize];
                    let stored = store.save(&room.to_string(), part(*head, vec![room; 1 + *head as usize]));
                    prop_assert_eq!(stored.is_ok(), *head > 0);
                    *covered = *head;
                }
                Step::Delete(room) => {
                    let removed = store.remove(&room.to_string());
                    prop_assert_eq!(removed.is_ok(), rooms[room as usize].0 > 0);
                    rooms[room as usize] = (0, 0);
                }
                Step::Pass(hours) => machine.pass(DAY / 24 * u32::from(hours)),
                Step::Reopen => store = machine.reopen(store),
            }
            let mut live = 0;
            for (room, (head, covered)) in rooms.iter().enumerate() {
                let Some(loaded) = store.log.load(&room.to_string()).unwrap() else {
                    prop_assert_eq!(*head, 0);
                    continue;
                };
                prop_assert_eq!(loaded.head, *head);
                prop_assert_eq!(&loaded.damage, &[]);
                let positions: Vec<_> = loaded.records.iter().map(|r| r.position).collect();
                prop_assert_eq!(positions, (covered + 1..=*head).collect::<Vec<_>>());
                prop_assert_eq!(loaded.parts.first().map_or(0, |part| part.as_of), *covered);
                live += 1;
            }
            prop_assert_eq!(store.monitor.usage().rooms, live);
            let bytes: u64 = store.directory.rooms().iter().map(|room| room.bytes).sum();
            prop_assert_eq!(store.monitor.usage().live, bytes);
        }
        }
    }
}
