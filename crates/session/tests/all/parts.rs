//! Parts of the room's snapshot: a part covers some channels. A participant that has these open
//! makes it, and newcomers that receive all of them are sent it (wire W32, W33, W95, W96).

use std::time::Duration;

use groupwire_session::client::{ChannelId, ChannelOptions, Event, Outgoing};
use groupwire_session::room::{self, Room};
use groupwire_session::{
    Access, Authority, Durability, Grant, Limits, OpenRequest, PartRequest, Qos,
};

use crate::support::{MS, World, errors, noise};

const DRAW: Qos = Qos::transaction();

/// A room that wants a part after 20 transactions of its channels.
fn config() -> room::Config {
    let limits = Limits { snapshot_after: 20, snapshot_after_bytes: 1 << 20, ..Limits::default() };
    room::Config { limits, ..room::Config::new("demo", 7) }
}

/// The parts that a person was told of, with their positions.
fn told(world: &World, person: usize) -> Vec<(String, u64)> {
    let events = world.people[person].events.iter();
    let parts = events.filter_map(|event| match event {
        Event::Snapshot { part, as_of, .. } => Some((part.clone(), as_of.get())),
        _ => None,
    });
    parts.collect()
}

/// Sends this many transactions, one each tick.
fn draw(world: &mut World, person: usize, channel: ChannelId, count: usize) {
    for nth in 0..count {
        world.send(person, channel, &format!("{}.{nth}", channel.0));
        world.run(45 * MS);
    }
}

#[test]
fn w95_each_part_is_made_by_who_has_its_channels_and_goes_to_who_receives_them() {
    let mut world = World::new(1, config());
    let (ann, bob) = (world.add(), world.add());
    // Nobody has all channels: Ann has `shapes`, Bob has `chat`.
    let shapes = world.channel(ann, "shapes", DRAW);
    let chat = world.channel(bob, "chat", DRAW);
    world.run(500 * MS);
    draw(&mut world, ann, shapes, 300);
    draw(&mut world, bob, chat, 300);
    world.settle();
    let (cat, dan) = (world.add(), world.add());
    let all = [world.channel(cat, "shapes", DRAW), world.channel(cat, "chat", DRAW)];
    world.channel(dan, "chat", DRAW);
    world.settle();
    let names =
        |parts: Vec<(String, u64)>| parts.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(told(&world, cat)), ["chat", "shapes"]);
    assert_eq!(names(told(&world, dan)), ["chat"]);
    assert_eq!([world.people[cat].holes, world.people[dan].holes], [0, 0]);
    // Her document is that of the first channel. What no part stands for came as messages.
    assert_eq!(world.people[cat].document.len(), 300);
    draw(&mut world, ann, shapes, 3);
    draw(&mut world, bob, chat, 3);
    world.run(500 * MS);
    assert_eq!(world.people[cat].document.len(), 303);
    let (of_cat, of_dan) = (world.people[cat].texts(all[1]), world.people[dan].texts(ChannelId(0)));
    assert_eq!(of_cat[of_cat.len() - 3..], of_dan[of_dan.len() - 3..]);
    assert_eq!(errors(&world, cat), Vec::<String>::new());
}

#[test]
fn w95_a_channel_in_no_part_loses_nothing_and_holds_up_no_part() {
    let mut world = World::new(1, config());
    let ann = world.add();
    let shapes = world.channel(ann, "shapes", DRAW);
    let notes = world.channel(ann, "notes", DRAW);
    world.run(500 * MS);
    // The channels take turns, so that their transactions alternate.
    for nth in 0..400 {
        world.send(ann, shapes, &format!("shape {nth}"));
        world.send(ann, notes, &format!("note {nth}"));
        world.run(45 * MS);
    }
    world.settle();
    let bob = world.add();
    world.channel(bob, "shapes", DRAW);
    let notes = world.channel(bob, "notes", DRAW);
    world.settle();
    let parts = told(&world, bob);
    assert!(parts.len() == 1 && parts[0].1 > 700, "{parts:?}");
    assert_eq!(world.people[bob].document.len(), 400);
    let wanted: Vec<String> = (0..400).map(|nth| format!("note {nth}")).collect();
    assert_eq!(world.people[bob].texts(notes), wanted);
    assert_eq!(world.people[bob].holes, 0);
}

#[test]
fn w18_a_channel_that_is_opened_late_brings_its_part_and_that_tells_of_its_other_channels_anew() {
    let mut world = World::new(1, config());
    let (ann, bob) = (world.add(), world.add());
    let shapes = world.channel(ann, "shapes", DRAW);
    let styles = world.channel(ann, "styles", DRAW);
    world.people[ann].client.provide("shapes", &[shapes, styles]).unwrap();
    let of_bob = world.channel(bob, "shapes", DRAW);
    world.run(500 * MS);
    for nth in 0..320 {
        world.send(ann, if nth % 2 == 0 { shapes } else { styles }, &format!("{nth}"));
        world.run(45 * MS);
    }
    world.settle();
    // He saw all shapes as they came, and is further than the part that stands for both.
    let before = world.people[bob].texts(of_bob);
    assert_eq!(before.len(), 160);
    let styles = world.channel(bob, "styles", DRAW);
    world.settle();
    let parts = told(&world, bob);
    assert!(parts.len() == 1 && parts[0].1 > 280, "{parts:?}");
    // After the part the rest of both channels, in the room's order.
    let at =
        world.people[bob].events.iter().rposition(|event| matches!(event, Event::Snapshot { .. }));
    assert!(at.is_some());
    let again: Vec<String> = world.people[bob]
        .messages
        .iter()
        .skip(160)
        .map(|one| {
            assert!(one.state && one.position.get() > parts[0].1);
            String::from_utf8(one.bytes.clone()).unwrap()
        })
        .collect();
    let wanted: Vec<String> = (parts[0].1..320).map(|nth| nth.to_string()).collect();
    assert_eq!(again, wanted);
    assert!(world.people[bob].saw(|event| *event == Event::Synced { channel: Some(styles) }));
    draw(&mut world, ann, shapes, 2);
    world.run(500 * MS);
    assert_eq!(world.people[bob].texts(of_bob).last().unwrap(), "0.1");
    assert_eq!(errors(&world, bob), Vec::<String>::new());
}

#[test]
fn w96_transactions_that_a_part_took_along_are_confirmed_once() {
    let mut world = World::new(1, config());
    let (ann, bob) = (world.add(), world.add());
    let shapes = world.channel(ann, "shapes", DRAW);
    let notes = world.channel(ann, "notes", DRAW);
    let of_bob = world.channel(bob, "shapes", DRAW);
    world.run(500 * MS);
    // Bob's transport breaks after the room took his transactions, before he is told.
    world.people[bob].delay = 100 * MS;
    world.send(bob, of_bob, "mine");
    world.run(120 * MS);
    world.people[bob].reachable = false;
    world.cut(bob);
    for nth in 0..400 {
        world.send(ann, shapes, &format!("shape {nth}"));
        world.send(ann, notes, &format!("note {nth}"));
        world.run(20 * MS);
    }
    assert_eq!(world.people[bob].client.pending(), 1);
    world.people[bob].reachable = true;
    world.settle();
    assert_eq!(world.people[bob].client.pending(), 0);
    assert_eq!(world.people[bob].ordered, ["mine"]);
    // The transaction is in the part, at the place that the room gave it.
    let document = &world.people[bob].document;
    assert_eq!(document.iter().filter(|text| *text == "mine").count(), 1, "{document:?}");
    assert_eq!(*document, world.people[ann].document);
}

#[test]
fn w96_own_transactions_of_a_channel_that_is_only_written_are_confirmed_though_the_room_dropped_them()
 {
    let limits = Limits { max_log_bytes: 3000, ..config().limits };
    let mut world = World::new(1, room::Config { limits, ..config() });
    let (ann, bob) = (world.add(), world.add());
    world.channel(bob, "shapes", DRAW);
    let options = ChannelOptions {
        access: Access { publish: true, subscribe: false },
        ..ChannelOptions::default()
    };
    let shapes = world.people[ann].client.channel_with("shapes", DRAW, options).unwrap();
    world.run(500 * MS);
    // At its next tick, the room has dropped both transactions.
    for nth in 0..2 {
        world.send(ann, shapes, &noise(nth, 4000));
    }
    world.run(2000 * MS);
    assert_eq!(world.people[ann].client.pending(), 0);
    assert_eq!(world.people[bob].holes, 1);
}

#[test]
fn w32_who_uploads_slowly_is_given_the_time_and_nobody_else_is_asked() {
    let mut world = World::new(1, config());
    let (ann, bob) = (world.add(), world.add());
    let shapes = world.channel(ann, "shapes", DRAW);
    world.run(500 * MS);
    for nth in 0..20 {
        world.send(ann, shapes, &format!("{nth} {}", noise(nth, 20_000)));
        world.run(45 * MS);
    }
    world.channel(bob, "shapes", DRAW);
    // 400 KB at 20 KB a second take four times the longest silence that is permitted.
    world.people[ann].per_byte = 50 * MS / 1000;
    world.send(ann, shapes, "and one more");
    world.run(Duration::from_secs(60));
    let wanted = |person: usize| {
        let events = world.people[person].events.iter();
        events.filter(|event| matches!(event, Event::SnapshotWanted { .. })).count()
    };
    assert_eq!([wanted(ann), wanted(bob)], [1, 0]);
    let parts = world.log.iter().filter(|event| matches!(event, room::Event::Snapshot { .. }));
    assert_eq!(parts.count(), 1);
}

/// An authority that lets nobody make the part "secret".
struct Keeper;

impl Authority for Keeper {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        Ok(Grant { access: Access::FULL, qos: request.qos })
    }

    fn part(&self, request: &PartRequest<'_>) -> Result<(), String> {
        assert_eq!(request.channels, ["shapes"]);
        if request.part == "secret" { Err("not you".into()) } else { Ok(()) }
    }
}

#[test]
fn w95_the_server_may_refuse_a_part_and_a_channel_is_in_one_part_at_most() {
    let mut world = World::new(1, config());
    world.room = Room::new(config(), Box::new(Keeper));
    let ann = world.add();
    let shapes = world.channel(ann, "shapes", DRAW);
    world.people[ann].client.provide("secret", &[shapes]).unwrap();
    world.run(500 * MS);
    draw(&mut world, ann, shapes, 40);
    let refused = errors(&world, ann);
    assert!(
        refused.len() == 1 && refused[0].contains("secret: ") && refused[0].contains("not you")
    );
    // The part "shapes" exists now.
    let bob = world.add();
    world.channel(bob, "shapes", DRAW);
    world.people[bob].client.provide("other", &[ChannelId(0)]).unwrap();
    world.run(500 * MS);
    let refused = errors(&world, bob);
    assert!(refused.len() == 1 && refused[0].contains("another part"), "{refused:?}");
}

#[test]
fn w93_a_channel_in_no_part_that_is_full_takes_nothing_and_the_others_go_on() {
    let limits = Limits { max_partless_bytes: 4000, ..config().limits };
    let mut world = World::durable(1, room::Config { limits, ..config() }, 5);
    let (ann, bob) = (world.add(), world.add());
    let shapes = world.channel(ann, "shapes", DRAW);
    world.channel(bob, "shapes", DRAW);
    let notes = world.channel(bob, "notes", DRAW);
    world.run(500 * MS);
    for nth in 0..40 {
        let long = format!("{nth} {}", "x".repeat(200));
        let outgoing = Outgoing { bytes: long.as_bytes(), text: true, ..Outgoing::default() };
        let now = world.now;
        world.people[bob].client.send(now, notes, outgoing).unwrap();
        world.send(ann, shapes, &format!("{nth}"));
        world.run(60 * MS);
    }
    world.run(Duration::from_secs(5));
    // Bob's notes wait: none is lost, and Ann is not affected.
    let pending = world.people[bob].client.pending();
    assert!((20..40).contains(&pending), "{pending}");
    assert_eq!(world.people[ann].client.pending(), 0);
    assert_eq!(world.people[ann].document.len(), 40);
    // Bob is told once why, and on which channel.
    let told: Vec<_> = world.people[bob]
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Error { error, channel, fatal } => Some((error.to_string(), *channel, *fatal)),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].0.contains("no part of a snapshot stands for it"), "{told:?}");
    assert_eq!((told[0].1, told[0].2), (Some(notes), false));
    // Bob begins to make a part of the channel.
    world.people[bob].client.provide("notes", &[notes]).unwrap();
    world.settle();
    assert_eq!(world.people[bob].client.pending(), 0);
    assert_eq!(world.people[bob].texts(notes).len(), 40);
    assert_eq!(world.people[bob].client.durability(), Durability::Local);
}
