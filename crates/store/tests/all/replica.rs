//! A store as a cache of logs that several servers share.

use std::sync::mpsc::channel;

use groupwire_store::{
    Append, Change, Directory, Error, Loaded, Moment, Monitor, NotNow, Outbox, OutboxLimits,
    Replica, RoomCopy, RoomLog, SavePart, parse_changes, wait, write_changes,
};
use proptest::prelude::*;

use crate::support::{Cache, DAY, Log, Machine, Waiting, append, applied, apply, part, record};

fn appended(room: &str, position: u64) -> Change {
    Change::Append(append(room, vec![record(position, format!("record {position}"))]))
}

fn saved(room: &str, as_of: u64) -> Change {
    let (room, part) = (room.into(), part(as_of, "state"));
    Change::SavePart(SavePart { room, incarnation: 7, part, meta: None, events: Vec::new() })
}

fn deleted(room: &str) -> Change {
    Change::Delete { room: room.into() }
}

fn load(cache: &dyn Cache, room: &str) -> Loaded {
    cache.load(room).unwrap().unwrap()
}

#[test]
fn changes_are_checked_in_order_and_change_nothing() {
    for machine in Machine::caches() {
        let cache = machine.cache();
        let changes = [
            appended("a", 1),
            appended("a", 3),
            appended("a", 2),
            saved("a", 3),
            saved("a", 2),
            Change::BeginAgain { room: "a".into(), incarnation: 8 },
            appended("a", 3),
            deleted("a"),
            deleted("a"),
            appended("a", 1),
            saved("b", 1),
        ];
        let outcomes = cache.check(&changes);
        let expected = [
            Ok(()),
            Err(Error::Position { expected: 2, found: 3 }),
            Ok(()),
            Err(Error::Position { expected: 2, found: 3 }),
            Ok(()),
            Ok(()),
            Err(Error::Incarnation),
            Ok(()),
            Err(Error::NoRoom),
            Ok(()),
            Err(Error::NoRoom),
        ];
        assert_eq!(outcomes, expected);
        assert_eq!((cache.rooms(), cache.cursors()), (vec![], vec![]));
        let mut log = Log::new(9);
        let accepted = changes.into_iter().zip(outcomes).filter(|(_, outcome)| outcome.is_ok());
        let accepted: Vec<_> = accepted.map(|(change, _)| change).collect();
        apply(&*cache, log.append(5000, &accepted)).unwrap();
        let room = load(&*cache, "a");
        assert_eq!((room.head, room.incarnation, room.active), (1, 7, 5000));
        let cache = machine.reopen_cache(cache);
        assert_eq!(load(&*cache, "a"), room);
        assert_eq!(cache.cursors(), [log.after(0).next().unwrap().0]);
    }
}

#[test]
fn quotas_refuse_when_changes_are_checked_and_not_when_they_are_applied() {
    for mut machine in Machine::caches() {
        machine.options.max_bytes = 10_000;
        machine.options.max_room_bytes = 5_000;
        let cache = machine.cache();
        let large = |position| Change::Append(append("a", vec![record(position, vec![0; 2_400])]));
        let room = Err(Error::NotNow(NotNow::Room));
        assert_eq!(cache.check(&[large(1), large(2), large(3)]), [Ok(()), Ok(()), room.clone()]);
        let mut log = Log::new(0);
        apply(&*cache, log.append(machine.time(), &[large(1), large(2), large(3), saved("a", 3)]))
            .unwrap();
        assert_eq!(cache.check(&[large(4)]), [room]);
        assert_eq!(cache.check(&[large(4)]), [Ok(())], "the room gave up its history");
        apply(&*cache, log.append(machine.time(), &[large(4)])).unwrap();
        let other = |room, size| Change::Append(append(room, vec![record(1, vec![0; size])]));
        let bytes = Err(Error::NotNow(NotNow::Bytes));
        assert_eq!(cache.check(&[other("b", 6_000), other("b", 100)]), [bytes, Ok(())]);
    }
}

#[test]
fn parts_of_one_record_cover_more_and_more() {
    for machine in Machine::caches() {
        let cache = machine.cache();
        let ok = || Ok(());
        let refused = || Err(Error::Position { expected: 2, found: 1 });
        let two = [appended("a", 1), appended("a", 2), saved("a", 2), saved("a", 1)];
        assert_eq!(cache.check(&two), [ok(), ok(), ok(), refused()]);
        apply(&*cache, Log::new(0).append(machine.time(), &two[..3])).unwrap();
        assert_eq!(cache.check(&[saved("a", 1)]), [refused()]);
        let anew = [Change::Delete { room: "a".into() }, appended("a", 1), saved("a", 1)];
        assert_eq!(cache.check(&anew), [ok(), ok(), ok()]);
    }
}

#[test]
fn a_record_is_applied_once_and_none_is_skipped() {
    for machine in Machine::caches() {
        let mut cache = machine.cache();
        let mut log = Log::new(3);
        let records: Vec<_> = (1..=4).map(|n| log.append(1000 * n, &[appended("a", n)])).collect();
        let position = |expected, found| Err(Error::Position { expected, found });
        assert_eq!(apply(&*cache, records[1].clone()), position(1, 2));
        apply(&*cache, records[0].clone()).unwrap();
        apply(&*cache, records[1].clone()).unwrap();
        assert_eq!(apply(&*cache, records[3].clone()), position(3, 4));
        for _ in 0..2 {
            apply(&*cache, records[1].clone()).unwrap();
            apply(&*cache, records[0].clone()).unwrap();
            assert_eq!((load(&*cache, "a").head, cache.cursors()), (2, vec![records[1].0.clone()]));
            cache = machine.reopen_cache(cache);
        }
        let claim = records[2].0.clone();
        wait(|done| cache.move_cursor(claim.clone(), done)).unwrap();
        assert_eq!(cache.cursors(), std::slice::from_ref(&claim));
        let cache = machine.reopen_cache(cache);
        assert_eq!((load(&*cache, "a").head, cache.cursors()), (2, vec![claim]));
    }
}

#[test]
fn a_record_that_contradicts_the_store_stops_its_shard() {
    for machine in Machine::caches() {
        let cache = machine.cache();
        let (mut log, mut other) = (Log::new(0), Log::new(1));
        apply(&*cache, log.append(0, &[appended("a", 1), appended("b", 1)])).unwrap();
        let wrong = log.append(0, &[appended("b", 2), appended("a", 7)]);
        let error = apply(&*cache, wrong).unwrap_err();
        assert!(
            matches!(&error, Error::Contradiction { shard: 0, room, position: 7, .. } if room == "a")
        );
        assert_eq!(load(&*cache, "b").head, 1, "nothing of the record was applied");
        let later = log.append(0, &[appended("b", 2)]);
        assert_eq!(apply(&*cache, later), Err(error));
        apply(&*cache, other.append(0, &[appended("c", 1)])).unwrap();

        // A base heals the shard.
        let source = machine.cache_elsewhere();
        let mut log = Log::new(0);
        apply(&*source, log.append(0, &[appended("a", 1)])).unwrap();
        let (cursor, base) = source.export_shard(0, &|_| true).unwrap();
        let of_shard = |room: &str| room != "c";
        cache.import_shard(cursor.clone(), &base, &of_shard).unwrap();
        let names: Vec<_> = cache.rooms().into_iter().map(|room| room.name).collect();
        assert_eq!(names, ["a", "c"]);
        apply(&*cache, log.append(0, &[appended("a", 2)])).unwrap();
        let moved = groupwire_store::Cursor { number: 2, ..cursor.clone() };
        assert!(matches!(cache.import_shard(moved, &base, &of_shard), Err(Error::Damaged(_))));
        assert!(cache.import_shard(cursor.clone(), &base[..base.len() / 2], &of_shard).is_err());
        assert!(cache.import_shard(cursor, b"no base", &of_shard).is_err());
        assert_eq!(load(&*cache, "a").head, 2);

        wait(|done| cache.clear(done)).unwrap();
        let is_empty = |cache: &dyn Cache| {
            (cache.rooms().len(), cache.cursors().len(), cache.usage().live) == (0, 0, 0)
        };
        assert!(is_empty(&*cache));
        let cache = machine.reopen_cache(cache);
        assert!(is_empty(&*cache));
        log.after(0).for_each(|record| apply(&*cache, record).unwrap());
        assert_eq!(load(&*cache, "a").head, 2);
    }
}

#[test]
fn after_a_contradiction_the_batch_goes_on() {
    let [machine, _] = Machine::caches();
    let cache = machine.open().unwrap();
    cache.erase_all();
    let (mut first, mut second) = (Log::new(0), Log::new(1));
    let records = [
        first.append(0, &[appended("a", 1)]),
        second.append(0, &[appended("b", 1)]),
        first.append(0, &[appended("a", 2), appended("a", 9)]),
        first.append(0, &[appended("c", 1)]),
        second.append(0, &[appended("b", 2)]),
        second.append(0, &[appended("b", 3)]),
    ];
    // The writer is held by a callback, so that all records become one batch.
    let ((release, held), (hold, is_held)) = (channel::<()>(), channel::<()>());
    let callback = move |_| {
        hold.send(()).unwrap();
        held.recv().unwrap();
    };
    cache.trim(Box::new(callback));
    is_held.recv().unwrap();
    let (send, outcomes) = channel();
    for (at, (cursor, time, bytes)) in records.into_iter().enumerate() {
        let (send, changes) = (send.clone(), parse_changes(&bytes).unwrap());
        let done =
            Box::new(move |outcome: Result<(), _>| send.send((at, outcome.is_ok())).unwrap());
        cache.apply(cursor, time, changes, done);
    }
    let before = cache.usage().commits;
    release.send(()).unwrap();
    let mut outcomes: Vec<_> = outcomes.iter().take(6).collect();
    outcomes.sort_unstable();
    let accepted: Vec<_> = outcomes.into_iter().filter(|one| one.1).map(|one| one.0).collect();
    assert_eq!(accepted, [0, 1, 4, 5]);
    assert_eq!(cache.usage().commits - before, 2, "one up to the contradiction, one after it");
    assert_eq!((cache.get("a").head, cache.get("b").head, cache.contains("c")), (1, 3, false));
}

#[test]
fn rooms_are_taken_back_and_imported_by_way_of_the_log() {
    for machine in Machine::caches() {
        let cache = machine.cache();
        let follower = machine.cache_elsewhere();
        let mut log = Log::new(0);
        let mut both = |changes: &[Change]| {
            let record = log.append(7000, changes);
            apply(&*cache, record.clone()).and(apply(&*follower, record)).unwrap();
            assert_eq!(load(&*cache, "a"), load(&*follower, "a"));
        };
        both(&[appended("a", 1), appended("a", 2), saved("a", 1), appended("a", 3)]);
        assert_eq!(cache.taken_back("a", Moment::Position(9), 8), Err(Error::NotKept));
        assert_eq!(cache.taken_back("b", Moment::Position(1), 8), Err(Error::NoRoom));
        let back = cache.taken_back("a", Moment::Position(2), 8).unwrap();
        assert_eq!(load(&*cache, "a").head, 3, "nothing is carried out");
        let changed = Err(Error::NotNow(NotNow::Changed));
        assert_eq!(cache.check(&[appended("a", 4), back.clone()]), [Ok(()), changed]);
        assert_eq!(cache.check(std::slice::from_ref(&back)), [Ok(())]);
        both(&[back]);
        let room = load(&*cache, "a");
        assert_eq!((room.head, room.incarnation, room.records.len()), (2, 8, 1));
        assert_eq!(room.parts, [part(1, "state")]);

        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("export");
        let source = groupwire_store::MemoryStore::new(machine.options.clone());
        for change in [appended("a", 1), appended("x", 1)] {
            let Change::Append(append) = change else { unreachable!() };
            wait(|done| source.append(append, done)).unwrap();
        }
        groupwire_store::Transfer::export(&source, &file, &|_| true).unwrap();
        let mut next = 100;
        let mut incarnation = || {
            next += 1;
            next
        };
        let refused = cache.imported(&file, &|_| true, false, &mut incarnation);
        assert_eq!(refused, Err(Error::Exists("a".into())));
        let imported = cache.imported(&file, &|_| true, true, &mut incarnation).unwrap();
        both(&imported);
        assert_eq!((load(&*cache, "a").head, load(&*cache, "a").incarnation), (1, 101));
        assert_eq!(load(&*follower, "x").incarnation, 102);
        let wrong = RoomCopy { room: "a".into(), head: 1, ..RoomCopy::default() };
        let part = (0, part(2, ""));
        let wrong = Change::Put(Box::new(RoomCopy { parts: vec![part], ..wrong }));
        assert_eq!(cache.check(&[wrong]), [Err(Error::Position { expected: 1, found: 2 })]);
    }
}

#[test]
fn events_have_the_same_numbers_on_all_servers() {
    for mut machine in Machine::caches() {
        machine.options.outbox = Some(OutboxLimits { max_bytes: 50_000, max_age: DAY });
        let now = machine.time();
        let cache = machine.cache();
        let mut logs = [Log::new(0), Log::new(63)];
        let event = |room: &str, text: &str| {
            let (room, events) = (room.into(), vec![text.as_bytes().to_vec()]);
            Change::Append(Append { room, events, ..Append::default() })
        };
        let texts = |cache: &dyn Cache, shard| {
            let events = cache.shard_events(shard, u64::MAX, 99, 999).unwrap().into_iter();
            let text = |bytes| String::from_utf8(bytes).unwrap();
            events.map(|event| (event.number, text(event.bytes))).collect::<Vec<_>>()
        };
        let pair = |number, text: &str| (number, text.to_owned());
        apply(&*cache, logs[0].append(now, &[event("a", "one"), event("b", "two")])).unwrap();
        apply(&*cache, logs[1].append(now + 1, &[event("c", "else")])).unwrap();
        apply(&*cache, logs[0].append(now + 2, &[event("a", "three")])).unwrap();
        assert_eq!(texts(&*cache, 0), [pair(1, "one"), pair(2, "two"), pair(3, "three")]);
        assert_eq!(texts(&*cache, 63), [pair(1, "else")]);
        assert_eq!(cache.shard_events(0, 2, 99, 999).unwrap().len(), 2);
        assert_eq!(cache.shard_events(0, 9, 1, 999).unwrap().len(), 1);
        let told = |number| Change::EventsTold { shard: 0, number, time: now };
        assert_eq!(
            cache.check(&[told(2), told(4)]),
            [Ok(()), Err(Error::Position { expected: 3, found: 4 })]
        );
        apply(&*cache, logs[0].append(now + 3, &[told(2)])).unwrap();
        let cache = machine.reopen_cache(cache);
        assert_eq!(texts(&*cache, 0), [pair(3, "three")]);
        let state = cache.shard_outbox(0).unwrap();
        assert_eq!((state.told, state.told_time, state.waiting, state.next), (2, now, 1, 4));
        assert_eq!(cache.outbox().unwrap().waiting, 2);

        // A deletion erases the room's events, and numbers go on.
        apply(&*cache, logs[0].append(now + 4, &[appended("a", 1), deleted("a")])).unwrap();
        apply(&*cache, logs[0].append(now + 5, &[event("b", "next")])).unwrap();
        assert_eq!(texts(&*cache, 0), [pair(4, "next")]);
        assert_eq!(cache.shard_outbox(0).unwrap().dropped, 1);

        // A server that has no outbox counts the events all the same.
        let mut plain = Machine::new();
        plain.options.is_cache = true;
        let without = plain.cache();
        logs[0].after(0).for_each(|record| apply(&*without, record).unwrap());
        assert_eq!((without.shard_outbox(0), texts(&*without, 0)), (None, vec![]));
        plain.options.outbox = machine.options.outbox;
        drop(without);
        let with = plain.cache();
        apply(&*with, logs[0].append(now + 6, &[event("b", "seen")])).unwrap();
        assert_eq!(texts(&*with, 0), [pair(5, "seen")]);
    }
}

#[test]
fn the_oldest_events_of_all_shards_are_dropped() {
    for mut machine in Machine::caches() {
        machine.options.outbox = Some(OutboxLimits { max_bytes: 50_000, max_age: DAY });
        let cache = machine.cache();
        let mut logs = [Log::new(1), Log::new(0)];
        for round in 0..20 {
            machine.pass(DAY / 480);
            let now = machine.time();
            let log = &mut logs[round / 10];
            let (room, events) = (log.shard.to_string(), vec![vec![7; 4_936]]);
            let event = Change::Append(Append { room, events, ..Append::default() });
            apply(&*cache, log.append(now, &[event])).unwrap();
        }
        cache.erase_all();
        let outbox = cache.outbox().unwrap();
        assert!(outbox.bytes <= 50_000 && outbox.bytes > 40_000, "{outbox:?}");
        let [older, newer] = [1, 0].map(|shard| cache.shard_outbox(shard).unwrap());
        assert_eq!((older.waiting, newer.waiting), (0, 10));
        assert_eq!((older.dropped, newer.dropped), (10, 0));
        machine.pass(2 * DAY);
        cache.erase_all();
        cache.erase_all();
        let events = cache.shard_events(0, u64::MAX, 99, 999_999).unwrap();
        assert!(events.is_empty() || machine.is_in_memory(), "{events:?}");
    }
}

#[test]
fn a_store_that_is_no_cache_has_no_cursors() {
    let mut machine = Machine::new();
    machine.options.outbox = Some(OutboxLimits { max_bytes: 50_000, max_age: DAY });
    let store = machine.open().unwrap();
    store.put("a", vec![record(1, "")]).unwrap();
    drop(store);
    assert!(!machine.holds(b"TABLE shards"), "no table is made");
    machine.options.is_cache = true;
    let cache = machine.open().unwrap();
    let mut log = Log::new(0);
    let events = vec![b"of a shard".to_vec()];
    let event = Append { room: "b".into(), events, ..Append::default() };
    let changes = [appended("b", 1), Change::Append(event)];
    apply(&cache, log.append(machine.time(), &changes)).unwrap();
    assert_eq!(cache.outbox().unwrap().waiting, 1);
    drop(cache);
    machine.options.is_cache = false;
    let store = machine.open().unwrap();
    assert_eq!((store.cursors(), store.rooms().len()), (vec![], 2));
    let outbox = store.outbox().unwrap();
    assert_eq!((outbox.waiting, outbox.bytes, outbox.next), (0, 0, 1));
    store.put("b", vec![record(2, "")]).unwrap();
    drop(store);
    machine.options.is_cache = true;
    assert_eq!(machine.open().unwrap().cursors(), []);
    assert_eq!(applied(&machine.open().unwrap(), 0), 0);
}

/// The time of a machine at its start. An older part is trimmed whenever a store has time for it.
const NOW: u64 = 1_710_000_000_000;

fn any_change() -> impl Strategy<Value = Change> {
    let room = || prop::sample::select(vec!["a", "b"]).prop_map(str::to_owned);
    let kept =
        || (prop::collection::btree_set(1..5_u64, 0..4), prop::collection::vec(0..5_u64, 0..3));
    prop_oneof![
        4 => (room(), 1..5_u64, 0..3_u64, 7..9_u64, any::<bool>()).prop_map(
            |(room, first, count, incarnation, has_meta)| {
                let records = (first..first + count).map(|position| record(position, "text"));
                let meta = has_meta.then(|| vec![1; first as usize]);
                let events = vec![b"event".to_vec()];
                Change::Append(Append { incarnation, meta, events, ..append(&room, records.collect()) })
            },
        ),
        2 => (room(), 0..5).prop_map(|(room, as_of)| saved(&room, as_of as u64)),
        1 => room().prop_map(|room| deleted(&room)),
        1 => (room(), 7..9_u64)
            .prop_map(|(room, incarnation)| Change::BeginAgain { room, incarnation }),
        2 => (room(), 7..9_u64, 0..5_u64, kept(), prop::option::of((7..9_u64, 0..5_u64))).prop_map(
            |(room, incarnation, head, (records, parts), replaces)| {
                let records = records.into_iter().map(|position| (5, record(position, "copy")));
                let parts = parts.into_iter().map(|as_of| (NOW, part(as_of, "part")));
                let (records, parts) = (records.collect(), parts.collect());
                let copy = RoomCopy { room, incarnation, head, records, parts, replaces, ..RoomCopy::default() };
                Change::Put(Box::new(copy))
            },
        ),
        1 => (0..9_u64).prop_map(|number| Change::EventsTold { shard: 0, number, time: 1 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_was_accepted_can_be_applied(
        records in prop::collection::vec(prop::collection::vec(any_change(), 0..8), 1..8),
    ) {
        let caches = Machine::caches().map(|mut machine| {
            machine.options.outbox = Some(OutboxLimits { max_bytes: 1 << 20, max_age: DAY });
            let cache = machine.cache();
            (machine, cache)
        });
        let mut log = Log::new(0);
        for changes in records {
            let [outcomes, in_memory] = [0, 1].map(|at| caches[at].1.check(&changes));
            prop_assert_eq!(&outcomes, &in_memory);
            let accepted = changes.into_iter().zip(outcomes).filter(|(_, outcome)| outcome.is_ok());
            let accepted: Vec<_> = accepted.map(|(change, _)| change).collect();
            let record = log.append(caches[0].0.time(), &accepted);
            caches.iter().for_each(|(_, cache)| apply(&**cache, record.clone()).unwrap());
            for room in ["a", "b"] {
                prop_assert_eq!(caches[0].1.load(room).unwrap(), caches[1].1.load(room).unwrap());
            }
            prop_assert_eq!(caches[0].1.rooms(), caches[1].1.rooms());
            prop_assert_eq!(caches[0].1.shard_outbox(0), caches[1].1.shard_outbox(0));
        }
    }
}

#[test]
fn what_no_log_of_a_shard_has_is_refused() {
    for machine in Machine::caches() {
        let cache = machine.cache();
        let told = |shard, number| Change::EventsTold { shard, number, time: 0 };
        let too_large = |outcome: &Result<(), Error>| {
            assert!(matches!(outcome, Err(Error::TooLarge { limit: 32_000, .. })), "{outcome:?}");
        };
        too_large(&cache.check(&[told(u16::MAX, 0)])[0]);
        too_large(&apply(&*cache, Log::new(u16::MAX).append(0, &[])));
        assert_eq!(cache.shard_events(u16::MAX, u64::MAX, 9, 9).unwrap(), []);
        let of_another = apply(&*cache, Log::new(0).append(0, &[told(1, 0)]));
        assert!(matches!(of_another, Err(Error::Contradiction { shard: 0, .. })));
    }
    let store = Machine::new().open().unwrap();
    let mut log = Log::new(0);
    let no_cache = Err(Error::Io("the store was not opened as a cache".into()));
    assert_eq!(apply(&store, log.append(0, &[appended("a", 1)])), no_cache);
    assert_eq!(wait(|done| store.clear(done)), no_cache);
    assert_eq!(store.refusal(), None);
}

#[test]
fn a_cursor_that_is_damaged_is_found() {
    let [machine, _] = Machine::caches();
    let cache = machine.open().unwrap();
    let mut log = Log::new(0);
    let record = log.append(0, &[appended("a", 1)]);
    assert_eq!(parse_changes(&record.2), parse_changes(&write_changes(&[appended("a", 1)])));
    let cursor = groupwire_store::Cursor { state: b"the state".to_vec(), ..record.0 };
    apply(&cache, (cursor, record.1, record.2)).unwrap();
    drop(cache);
    let (_, bytes) = machine.disk.files().into_iter().find(|(n, _)| n.ends_with(".db")).unwrap();
    let at = bytes.windows(9).position(|window| window == b"the state").unwrap();
    machine.disk.flip("rooms.db", at, 0);
    assert!(matches!(machine.open(), Err(groupwire_store::OpenError::Damaged { .. })));
}
