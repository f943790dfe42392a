//! Snapshots and cut logs, in cases that were once faults: answers that come late or cross a break,
//! channels opened late, frames that bodies must not overtake.

use groupwire_session::client::{Config as ClientConfig, Event, Outgoing};
use groupwire_session::{Limits, Qos, room};

use crate::support::path::{Paths, Way, document};
use crate::support::{MS, World, errors, tight};

const DRAW: Qos = Qos::transaction();

#[test]
fn a_snapshot_is_asked_of_one_who_knows_all() {
    let mut world = World::new(1, room::Config { limits: tight(), ..room::Config::new("demo", 7) });
    let (ann, bob) = (world.add(), world.add());
    // Ann has not opened "b", the channel of the documents of the others.
    world.channel(ann, "a", DRAW);
    let b = world.channel(bob, "b", DRAW);
    world.channel(bob, "a", DRAW);
    world.run(1000 * MS);
    for n in 0..600 {
        world.send(bob, b, &format!("b{n}"));
        world.run(5 * MS);
    }
    world.settle();
    let cat = world.add();
    world.channel(cat, "b", DRAW);
    world.channel(cat, "a", DRAW);
    world.settle();
    assert!(world.people[cat].saw(|event| matches!(event, Event::Snapshot { .. })));
    assert_eq!(world.people[cat].document.len(), 600);
}

#[test]
fn a_channel_opened_after_the_log_was_cut_is_told() {
    let mut world = World::new(1, room::Config { limits: tight(), ..room::Config::new("demo", 7) });
    let (ann, bob) = (world.add(), world.add());
    let d = world.channel(ann, "draw", DRAW);
    world.channel(bob, "other", DRAW);
    world.run(1000 * MS);
    for n in 0..600 {
        world.send(ann, d, &format!("{n}"));
        world.run(5 * MS);
    }
    world.settle();
    let bd = world.channel(bob, "draw", DRAW);
    world.settle();
    let got = world.people[bob].texts(bd).len();
    let snap = world.people[bob].saw(|e| matches!(e, Event::Snapshot { .. }));
    assert!(
        got == 600 || snap || world.people[bob].holes > 0,
        "got {got} of 600, no snapshot, no gap; synced {}",
        world.people[bob].saw(|e| *e == Event::Synced { channel: Some(bd) })
    );
}

#[test]
fn a_late_snapshot_costs_nothing() {
    let mut world = World::new(1, room::Config { limits: tight(), ..room::Config::new("demo", 7) });
    let (ann, bob) = (world.add(), world.add());
    let d = world.channel(ann, "draw", DRAW);
    world.channel(bob, "draw", DRAW);
    world.run(1000 * MS);
    world.people[ann].delay = 3000 * MS; // a slow path; dead is 5 s
    for n in 0..41 {
        world.send(bob, d, &format!("{n}"));
        world.run(5 * MS);
    }
    world.run(20_000 * MS);
    assert!(errors(&world, ann).is_empty(), "{:?}", errors(&world, ann));
}

#[test]
fn a_gap_is_told_before_what_follows_it() {
    let limits = Limits {
        max_log_bytes: 20_000,
        snapshot_after: usize::MAX,
        snapshot_after_bytes: usize::MAX,
        ..Limits::default()
    };
    let mut world = World::new(1, room::Config { limits, ..room::Config::new("demo", 7) });
    let ann = world.add();
    let names: Vec<String> =
        (0..41).map(|n| format!("a channel with some name number {n:03}")).collect();
    let d = world.channel(ann, &names[0], DRAW);
    world.run(500 * MS);
    for n in 0..500 {
        world.send(ann, d, &format!("{n}"));
        world.run(5 * MS);
    }
    let bob = world.add();
    let bd = world.channel(bob, &names[0], DRAW);
    for n in &names[1..] {
        world.channel(bob, n, DRAW);
    }
    world.run(3000 * MS);
    world.send(ann, d, "last");
    world.run(500 * MS);
    world.cut(bob);
    world.run(10_000 * MS);
    let texts = world.people[bob].texts(bd);
    let mut unique = texts.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(texts.len(), unique.len(), "repeated");
    assert_eq!(world.people[bob].client.position(), world.people[ann].client.position());
}

#[test]
fn a_channel_opened_while_the_snapshot_comes() {
    let limits = Limits { snapshot_after: 100, snapshot_after_bytes: 1 << 20, ..Limits::default() };
    let mut world = World::new(1, room::Config { limits, ..room::Config::new("demo", 7) });
    let ann = world.add();
    let d = world.channel(ann, "draw", DRAW);
    world.run(500 * MS);
    for _ in 0..40 {
        world.send(ann, d, &"x".repeat(30_000));
        world.run(50 * MS);
    }
    world.settle();
    let bob = world.add();
    world.people[bob].delay = 50 * MS;
    world.channel(bob, "draw", DRAW);
    world.run(400 * MS);
    let late = world.channel(bob, "late", DRAW);
    world.run(5000 * MS);
    assert!(world.people[bob].saw(|e| matches!(e, Event::Snapshot { .. })));
    assert!(world.people[bob].saw(|e| *e == Event::Synced { channel: None }));
    assert!(
        world.people[bob].saw(|e| matches!(e, Event::Opened { channel, .. } if *channel == late))
    );
    assert!(world.people[bob].saw(|e| *e == Event::Synced { channel: Some(late) }), "never synced");
}

#[test]
fn a_break_in_the_middle_of_an_upload() {
    let limits = Limits { snapshot_after: 10, ..Limits::default() };
    let mut paths = Paths::new(room::Config { limits, ..room::Config::new("demo", 7) });
    let ann = paths.add(ClientConfig::new("demo"), Way { rate: 1e5, delay: MS });
    paths.people[ann].state = document(1_000_000, 1);
    let draw = paths.channel(ann, "draw", DRAW);
    paths.run(500 * MS);
    for _ in 0..12 {
        let message = Outgoing { bytes: b"x", ..Outgoing::default() };
        paths.people[ann].client.send(paths.now, draw, message).unwrap();
        paths.run(50 * MS);
    }
    paths.run(1000 * MS);
    let [_, up] = paths.people[ann].bytes();
    assert!(up > 50_000, "{up}");
    let is_there =
        |paths: &Paths| paths.log.iter().any(|event| matches!(event, room::Event::Snapshot { .. }));
    assert!(!is_there(&paths));
    paths.cut(ann);
    assert!(paths.run_until(60_000 * MS, is_there));
    assert_eq!(paths.people[ann].errors(), Vec::<String>::new());
}
