//! Power cuts of a cache, whose commits are not synced: its rooms are those of its cursors.

use groupwire_disk::Fault;
use groupwire_store::{
    Append, Change, Directory, Error, Monitor, OutboxLimits, Replica, SavePart, wait,
};
use oorandom::Rand32;

use crate::support::{Cache, DAY, Log, Machine, Waiting, append, applied, apply, part, record};

const SIMULATIONS: u64 = 300;

#[test]
fn after_power_cuts_rooms_are_those_of_the_cursor() {
    let (mut lost, mut kept) = (0, 0);
    for seed in 0..SIMULATIONS {
        let mut random = Rand32::new(seed);
        let [mut machine, _] = Machine::caches();
        machine.options.checkpoint = 1 << (12 + random.rand_range(0..6));
        machine.options.outbox = Some(OutboxLimits { max_bytes: 1 << 20, max_age: DAY });
        let mut logs = [Log::new(0), Log::new(1)];
        for round in 0..3 {
            machine.disk.set_fault(Fault::PowerCut(1 + u64::from(random.rand_range(0..300))));
            if let Ok(cache) = machine.open() {
                // What was lost is applied again, and then the log goes on.
                logs.iter_mut().for_each(|log| follow(&cache, log));
                for _ in 0..random.rand_range(1..60) {
                    let log = &mut logs[random.rand_range(0..2) as usize];
                    extend(log, machine.time(), &mut random);
                    follow(&cache, log);
                }
            }
            machine.disk.crash(3 * seed + round);
            let cache = machine.open().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            for log in &logs {
                let number = applied(&cache, log.shard);
                check(&cache, log, number, seed);
                lost += u64::from(number < log.after(0).count() as u64);
                kept += u64::from(number > 0);
            }
        }
    }
    assert!(lost > SIMULATIONS / 4 && kept > SIMULATIONS / 4, "{lost} lost, {kept} kept");
}

// Applies what the cache lacks, as far as the disk works.
fn follow(cache: &impl Cache, log: &Log) {
    let outcomes = log.after(applied(cache, log.shard)).map(|record| apply(cache, record));
    let mut failed = outcomes.filter_map(Result::err);
    assert!(failed.all(|error| matches!(error, Error::Poisoned(_))));
}

// Appends a record whose changes depend on its number alone: each adds to the shard's first room,
// and some to others.
fn extend(log: &mut Log, time: u64, random: &mut Rand32) {
    let number = log.after(0).count() as u64 + 1;
    let name = |room: &str| format!("{}/{room}", log.shard);
    let next = |room: &str, position| Append {
        events: vec![number.to_string().into_bytes()],
        ..append(&name(room), vec![record(position, vec![number as u8; 100])])
    };
    let mut changes = vec![Change::Append(next("always", number))];
    if random.rand_range(0..4) == 0 {
        let (room, incarnation) = (name("always"), 7);
        let part = part(number, vec![number as u8; random.rand_range(0..20_000) as usize]);
        let (meta, events) = (Some(number.to_le_bytes().to_vec()), Vec::new());
        changes.push(Change::SavePart(SavePart { room, incarnation, part, meta, events }));
    }
    // A room that is deleted by each record after the one that made it.
    if number.is_multiple_of(2) {
        changes.push(Change::Delete { room: name("odd") });
    } else {
        changes.push(Change::Append(next("odd", 1)));
    }
    log.append(time, &changes);
}

fn check(cache: &impl Cache, log: &Log, number: u64, seed: u64) {
    let name = |room: &str| format!("{}/{room}", log.shard);
    let always = cache.load(&name("always")).unwrap();
    assert_eq!(always.as_ref().map_or(0, |room| room.head), number, "seed {seed}");
    if let Some(room) = always {
        assert_eq!(room.damage, [], "seed {seed}");
        let covered = room.parts.first().map_or(0, |part| part.as_of);
        let positions: Vec<_> = room.records.iter().map(|one| one.position).collect();
        assert_eq!(positions, (covered + 1..=number).collect::<Vec<_>>(), "seed {seed}");
        assert!(room.records.iter().all(|one| one.bytes == vec![one.position as u8; 100]));
        let saved = covered.to_le_bytes();
        assert!(room.meta == if covered > 0 { &saved[..] } else { &[] }, "seed {seed}");
        assert!(room.parts.iter().all(|part| part.bytes.iter().all(|&b| b == covered as u8)));
    }
    assert_eq!(cache.contains(&name("odd")), number % 2 == 1, "seed {seed}");
    let outbox = cache.shard_outbox(log.shard).unwrap();
    assert_eq!(outbox.next - 1, number + number.div_ceil(2), "seed {seed}");
    let events = cache.shard_events(log.shard, u64::MAX, usize::MAX, usize::MAX).unwrap();
    let of_always = events.iter().filter(|event| event.bytes == event_of(number)).count() as u64;
    assert_eq!(of_always, if number == 0 { 0 } else { 1 + number % 2 }, "seed {seed}");
}

fn event_of(number: u64) -> Vec<u8> {
    number.to_string().into_bytes()
}

#[test]
fn a_commit_of_a_cache_is_not_synced() {
    let [machine, _] = Machine::caches();
    let cache = machine.open().unwrap();
    cache.erase_all();
    let before = cache.usage();
    let mut log = Log::new(0);
    for position in 1..=10 {
        let next = Change::Append(append("a", vec![record(position, "")]));
        apply(&cache, log.append(0, &[next])).unwrap();
    }
    let after = cache.usage();
    assert_eq!(after.commits - before.commits, 10);
    assert!(after.syncs <= before.syncs + 1, "the first commit syncs the header of its log");
}

#[test]
fn on_a_full_disk_no_record_is_skipped() {
    let [machine, _] = Machine::caches();
    let cache = machine.open().unwrap();
    let mut log = Log::new(0);
    let next = |room: &str, size| Change::Append(append(room, vec![record(1, vec![1; size])]));
    apply(&cache, log.append(0, &[next("a", 1)])).unwrap();
    machine.disk.set_fault(Fault::Space(machine.size()));
    let large = log.append(0, &[next("b", 50_000)]);
    assert!(matches!(apply(&cache, large.clone()), Err(Error::NotNow(_))));
    machine.disk.set_fault(Fault::None);
    let later = log.append(0, &[next("c", 1)]);
    assert_eq!(apply(&cache, later.clone()), Err(Error::Position { expected: 2, found: 3 }));
    apply(&cache, large).unwrap();
    apply(&cache, later).unwrap();
    assert_eq!(cache.rooms().len(), 3);
}

#[test]
fn an_import_of_a_shard_is_whole_or_nothing() {
    let [machine, _] = Machine::caches();
    let source = machine.open().unwrap();
    let mut log = Log::new(0);
    let rooms = ["a", "b", "c"];
    let next = |room: &&str| Change::Append(append(room, vec![record(1, vec![1; 3000])]));
    let changes: Vec<_> = rooms.iter().map(next).collect();
    apply(&source, log.append(0, &changes)).unwrap();
    let (cursor, base) = source.export_shard(0, &|_| true).unwrap();
    let mut outcomes = [0; 2];
    for cut in 1..80 {
        let [machine, _] = Machine::caches();
        let cache = machine.open().unwrap();
        let old = Change::Append(append("old", vec![record(1, "")]));
        let mut other = Log::new(0);
        apply(&cache, other.append(0, &[old])).unwrap();
        cache.erase_all();
        machine.disk.set_fault(Fault::PowerCut(cut));
        let _ = cache.import_shard(cursor.clone(), &base, &|_| true);
        drop(cache);
        machine.disk.crash(cut);
        let cache = machine.open().unwrap();
        let names: Vec<_> = cache.rooms().into_iter().map(|room| room.name).collect();
        match applied(&cache, 0) {
            // The commit of the old room may be lost.
            0 => assert_eq!(names, [""; 0]),
            1 if cache.cursors()[0] == cursor && names.len() == 3 => {
                assert_eq!(names, rooms);
                outcomes[1] += 1;
            }
            _ => {
                assert_eq!(names, ["old"], "cut {cut}");
                outcomes[0] += 1;
            }
        }
    }
    assert!(outcomes.iter().all(|&count| count > 0), "{outcomes:?}");
    wait(|done| source.clear(done)).unwrap();
    assert_eq!((source.rooms().len(), source.cursors().len()), (0, 0));
}
