//! What programs do that are no participants: they look into channels, publish as the room itself,
//! and reset channels (wire W101, W102).

use std::time::Duration;

use groupwire_session::client::{ChannelId, Event, GapReason};
use groupwire_session::room::{
    self, Newest, NotPublished, NotReset, Publication, Published, RequestKey,
};
use groupwire_session::{Limits, Order, ParticipantId, Position, Qos};

use crate::support::{MS, World, demo};

const DRAW: Qos = Qos::transaction();

fn key(nth: u8) -> Option<RequestKey> {
    Some(RequestKey { key: [nth; 16], content: [1; 8] })
}

fn say(channel: &str, nth: u8) -> Publication<'_> {
    Publication { channel, bytes: b"from the room", text: true, key: None, request: key(nth) }
}

/// Publishes as the room, and runs until the message has taken effect.
fn publish(world: &mut World, publication: &Publication<'_>) -> Result<Published, NotPublished> {
    let now = world.now;
    let outcome = world.room.publish(now, publication);
    world.run(200 * MS);
    outcome
}

fn at(position: u64, repeated: bool) -> Result<Published, NotPublished> {
    Ok(Published::Transaction { position: Position(position), repeated })
}

/// People with the channels `draw` and `pointer`, and `notes`, which only the first one has.
fn people(world: &mut World, count: usize) -> Vec<usize> {
    let people: Vec<usize> = (0..count).map(|_| world.add()).collect();
    for &person in &people {
        world.channel(person, "draw", DRAW);
        world.channel(person, "pointer", Qos::awareness());
    }
    world.channel(people[0], "notes", DRAW);
    world.run(1000 * MS);
    people
}

const FIRST: ChannelId = ChannelId(0);
const POINTER: ChannelId = ChannelId(1);
const NOTES: ChannelId = ChannelId(2);

fn resets(world: &World, person: usize) -> Vec<ChannelId> {
    let reset = |event: &Event| match event {
        Event::Gap { reason: GapReason::Reset, missing: Some((channel, _)), .. } => Some(*channel),
        _ => None,
    };
    world.people[person].events.iter().filter_map(reset).collect()
}

fn holes(world: &World, person: usize) -> usize {
    let is_hole =
        |event: &&Event| matches!(event, Event::Gap { reason, .. } if *reason != GapReason::Reset);
    world.people[person].events.iter().filter(is_hole).count()
}

#[test]
fn w101_the_room_itself_publishes_with_number_0_and_stands_in_the_one_order() {
    // Alone, over a shared stream, and with datagrams.
    for (count, max) in [(2, 0), (12, 0), (12, 1200)] {
        let mut world = World::new(5, demo());
        let everybody = people(&mut world, count);
        world.give_datagrams(&everybody, max);
        world.send(everybody[0], FIRST, "one");
        world.run(100 * MS);
        assert_eq!(publish(&mut world, &say("draw", 1)), at(2, false));
        world.send(everybody[1], FIRST, "three");
        let value = Publication { request: None, key: Some(b"lamp"), ..say("pointer", 0) };
        assert_eq!(publish(&mut world, &value), Ok(Published::Awareness));
        assert_eq!(publish(&mut world, &value), Ok(Published::Awareness));
        let late = world.add();
        world.channel(late, "draw", DRAW);
        world.channel(late, "pointer", Qos::awareness());
        world.run(2000 * MS);
        for person in everybody.into_iter().chain([late]) {
            let one = &world.people[person];
            assert_eq!(one.document, ["one", "from the room", "three"], "{count} {max}");
            let own = one.messages.iter().filter(|one| one.sender == ParticipantId(0));
            let own: Vec<_> = own.map(|one| (one.channel, one.position.get())).collect();
            let values = if person == late { 1 } else { 2 };
            assert_eq!(own.iter().filter(|one| **one == (POINTER, 0)).count(), values);
            assert!(own.contains(&(FIRST, 2)), "{own:?}");
            assert!(one.events.iter().all(|event| !matches!(event, Event::Error { .. })));
        }
    }
}

#[test]
fn w101_a_request_that_is_repeated_publishes_nothing_also_after_crashes() {
    for seed in 0..24 {
        let mut world = World::durable(seed, demo(), 30);
        let everybody = people(&mut world, 2);
        world.send(everybody[0], FIRST, "one");
        world.run(500 * MS);
        let mut answers = Vec::new();
        for nth in 1..=3 {
            let now = world.now;
            let first = world.room.publish(now, &say("draw", nth));
            // The server is killed before or after the transaction is durable, and the request is
            // repeated.
            world.run(Duration::from_millis(seed % 40));
            world.restart();
            world.run(1500 * MS);
            let again = publish(&mut world, &say("draw", nth));
            assert!(matches!(first, Ok(Published::Transaction { repeated: false, .. })));
            answers.push(again.clone());
            // Now it is durable for sure.
            world.restart();
            world.run(1500 * MS);
            let Ok(Published::Transaction { position, .. }) = again else { panic!("{again:?}") };
            assert_eq!(publish(&mut world, &say("draw", nth)), at(position.get(), true));
        }
        // All people are back after the longest waiting time.
        world.run(6000 * MS);
        for &person in &everybody {
            let own = world.people[person].document.iter().filter(|text| *text == "from the room");
            assert_eq!(own.count(), 3, "seed {seed}: {answers:?}");
            assert_eq!(holes(&world, person), 0);
        }
        let other = RequestKey { key: [1; 16], content: [2; 8] };
        let other = Publication { request: Some(other), ..say("draw", 1) };
        assert_eq!(publish(&mut world, &other), Err(NotPublished::OtherContent));
    }
}

#[test]
fn w101_keys_outlive_the_part_of_a_snapshot_that_stands_for_their_transactions() {
    let limits = Limits { snapshot_after: 5, ..demo().limits };
    let mut world = World::durable(2, room::Config { limits, ..demo() }, 2);
    let everybody = people(&mut world, 2);
    assert_eq!(publish(&mut world, &say("draw", 9)), at(1, false));
    for nth in 0..300 {
        world.send(everybody[nth % 2], FIRST, &nth.to_string());
        world.run(20 * MS);
    }
    world.run(8000 * MS);
    assert!(world.room.channels()[0].part.as_ref().is_some_and(|part| part.as_of > Position(1)));
    for _ in 0..2 {
        world.restart();
        world.run(2000 * MS);
        assert_eq!(publish(&mut world, &say("draw", 9)), at(1, true));
    }
    // The counter of the room's own transactions goes on, too: nobody finds a hole.
    assert!(matches!(publish(&mut world, &say("draw", 10)), Ok(Published::Transaction { .. })));
    for person in everybody {
        assert_eq!(world.people[person].document.last().unwrap(), "from the room");
        assert_eq!(holes(&world, person), 0);
    }
}

#[test]
fn what_cannot_be_published_is_refused() {
    let limits = Limits { max_volatile_bytes: 1 << 20, ..demo().limits };
    let mut world = World::durable(4, room::Config { limits, ..demo() }, 2);
    people(&mut world, 1);
    let refused = |world: &mut World, publication: &Publication<'_>| {
        publish(world, publication).expect_err("it cannot be published")
    };
    assert_eq!(refused(&mut world, &say("none", 1)), NotPublished::NoChannel);
    let keyless = Publication { request: None, ..say("draw", 1) };
    assert_eq!(refused(&mut world, &keyless), NotPublished::NoRequestKey);
    let large = vec![b'a'; 70_000];
    let large = Publication { bytes: &large, ..say("draw", 1) };
    assert!(matches!(refused(&mut world, &large), NotPublished::Failed(_)));
    let damaged = Publication { bytes: &[0xff], ..say("draw", 1) };
    assert!(matches!(refused(&mut world, &damaged), NotPublished::Failed(_)));
    world.disk.as_mut().unwrap().is_stuck = true;
    let bytes = vec![b'a'; 50_000];
    let now = world.now;
    let full = (0..100)
        .map(|nth| world.room.publish(now, &Publication { bytes: &bytes, ..say("draw", nth) }));
    assert!(full.collect::<Vec<_>>().contains(&Err(NotPublished::NotNow)));
    assert_eq!(world.room.channels().len(), 3);
}

#[test]
fn channels_can_be_looked_into_page_by_page() {
    let mut world = World::durable(6, demo(), 2);
    let everybody = people(&mut world, 2);
    for nth in 1..=10 {
        world.send(everybody[0], FIRST, &format!("line {nth}"));
        world.run(50 * MS);
        world.send_key(everybody[1], POINTER, &(nth % 3).to_string(), "here");
        world.run(50 * MS);
    }
    world.run(500 * MS);
    world.disk.as_mut().unwrap().is_stuck = true;
    world.send(everybody[0], FIRST, "not durable");
    world.run(500 * MS);
    let channels = world.room.channels();
    let names: Vec<_> = channels.iter().map(|one| (&*one.name, one.receivers)).collect();
    assert_eq!(names, [("draw", 2), ("pointer", 2), ("notes", 1)]);
    assert_eq!((channels[0].transactions.0, channels[0].values.0), (11, 0));
    assert_eq!((channels[1].transactions.0, channels[1].values), (0, (3, 12)));
    let all = Newest { transactions_before: None, values_before: None, limit: 4, max_bytes: 5 };
    let (first, values) = world.room.newest(world.now, "draw", &all).unwrap();
    assert!(values.is_empty());
    let positions: Vec<_> = first.iter().map(|one| one.position.get()).collect();
    assert_eq!(positions, [10, 9, 8, 7]);
    assert_eq!((&*first[0].bytes, first[0].size), (&b"line "[..], 7));
    let rest = Newest { transactions_before: Some(first[3].position), limit: 100, ..all };
    let (rest, _) = world.room.newest(world.now, "draw", &rest).unwrap();
    assert_eq!(rest.iter().map(|one| one.position.get()).collect::<Vec<_>>(), [6, 5, 4, 3, 2, 1]);
    let (_, values) = world.room.newest(world.now, "pointer", &Newest { limit: 2, ..all }).unwrap();
    let keys: Vec<_> = values.iter().map(|one| one.key.clone().unwrap()).collect();
    assert_eq!(keys, [b"1", b"0"], "the newest value first");
    let before = Newest { values_before: Some(values[1].order), ..all };
    let (_, rest) = world.room.newest(world.now, "pointer", &before).unwrap();
    assert_eq!(rest[0].key.clone().unwrap(), b"2");
    assert!(rest[0].order > Order(0) && rest.len() == 1);
    assert!(world.room.newest(world.now, "none", &all).is_none());
}

#[test]
fn w102_a_reset_channel_is_empty_and_everybody_who_had_something_of_it_is_told() {
    for (count, is_durable) in [(2, false), (2, true), (12, false), (12, true)] {
        let mut world = World::stored_if(is_durable, 8, demo(), 10);
        let everybody = people(&mut world, count);
        let (ada, away) = (everybody[0], everybody[1]);
        world.send(ada, FIRST, "old");
        world.send(ada, NOTES, "stays");
        world.send_key(ada, POINTER, "a", "there");
        world.run(500 * MS);
        world.people[away].reachable = false;
        world.cut(away);
        world.run(500 * MS);
        let now = world.now;
        let refused = world.room.reset(now, &["none".to_owned()]);
        assert_eq!(refused, Err(NotReset::NoChannel("none".to_owned())));
        let both = ["draw".to_owned(), "pointer".to_owned()];
        assert_eq!(world.room.reset(now, &both), Ok(Position(4)));
        // This message is sent during the reset, and stays.
        world.send(ada, FIRST, "new");
        world.run(1000 * MS);
        let late = world.add();
        world.channel(late, "draw", DRAW);
        world.channel(late, "pointer", Qos::awareness());
        world.channel(late, "notes", DRAW);
        world.people[away].reachable = true;
        world.run(9000 * MS);
        for &person in &everybody {
            let mut told = resets(&world, person);
            told.sort_by_key(|channel| channel.0);
            assert_eq!(told, [FIRST, POINTER], "{count} {is_durable} {person}");
            assert_eq!(world.people[person].document, ["old", "new"], "the app forgets it itself");
        }
        assert_eq!(world.people[late].document, ["new"]);
        assert!(resets(&world, late).is_empty() && holes(&world, late) == 0);
        assert_eq!(world.people[late].texts(POINTER), [""; 0]);
        assert_eq!(world.people[late].texts(NOTES), ["stays"]);
        assert_eq!(world.people[ada].client.pending(), 0);
        let channels = world.room.channels();
        let held: Vec<_> = channels.iter().map(|one| one.transactions.0 + one.values.0).collect();
        assert_eq!(held, [1, 0, 1]);
        assert_eq!(channels[0].reset, Position(3));
    }
}

#[test]
fn w102_a_reset_survives_crashes_at_any_moment_or_never_took_place() {
    let mut survived = 0;
    for seed in 0..24 {
        let limits = Limits { snapshot_after: 5, ..demo().limits };
        let mut world = World::durable(seed, room::Config { limits, ..demo() }, 30);
        let everybody = people(&mut world, 2);
        for nth in 0..20 {
            world.send(everybody[0], FIRST, &format!("old {nth}"));
            world.run(60 * MS);
        }
        world.run(7000 * MS);
        assert!(world.room.channels()[0].part.is_some(), "seed {seed}");
        let now = world.now;
        world.room.reset(now, &["draw".to_owned()]).unwrap();
        world.run(Duration::from_millis(2 * seed));
        world.restart();
        world.run(2000 * MS);
        let contents = &world.room.channels()[0];
        let is_reset = contents.reset > Position(0);
        survived += usize::from(is_reset);
        assert_eq!(contents.part.is_none(), is_reset, "seed {seed}: {contents:?}");
        for &person in &everybody {
            let told = resets(&world, person).len();
            assert_eq!(told, usize::from(is_reset), "seed {seed}");
        }
        // And again, after more was stored.
        world.send(everybody[0], FIRST, "new");
        world.run(1000 * MS);
        world.restart();
        world.run(2000 * MS);
        let late = world.add();
        world.channel(late, "draw", DRAW);
        world.run(1000 * MS);
        let document = &world.people[late].document;
        assert_eq!(document.last().unwrap(), "new");
        assert_eq!(document.len(), if is_reset { 1 } else { 21 }, "seed {seed}: {document:?}");
        assert_eq!(holes(&world, late), 0);
    }
    assert!((4..24).contains(&survived), "{survived}");
}

#[test]
fn w102_channels_of_one_part_are_reset_together_and_no_older_part_comes_back() {
    let limits = Limits { snapshot_after: 5, ..demo().limits };
    let mut world = World::durable(9, room::Config { limits, ..demo() }, 2);
    let person = world.add();
    world.channel(person, "draw", DRAW);
    world.channel(person, "notes", DRAW);
    world.run(1000 * MS);
    world.people[person].client.provide("draw", &[ChannelId(0), ChannelId(1)]).unwrap();
    for nth in 0..20 {
        world.send(person, FIRST, &format!("old {nth}"));
        world.run(60 * MS);
    }
    world.run(7000 * MS);
    let now = world.now;
    let alone = world.room.reset(now, &["draw".to_owned()]);
    assert_eq!(alone, Err(NotReset::SharesPart(vec!["notes".to_owned()])));
    world.room.reset(now, &["draw".to_owned(), "notes".to_owned()]).unwrap();
    world.run(1000 * MS);
    assert!(world.room.channels().iter().all(|one| one.part.is_none()));
    // A new part of the same name takes the place of the reset in the store.
    for nth in 0..20 {
        world.send(person, FIRST, &format!("new {nth}"));
        world.run(60 * MS);
    }
    world.run(7000 * MS);
    world.restart();
    world.run(2000 * MS);
    let contents = &world.room.channels()[0];
    assert!(contents.part.as_ref().is_some_and(|part| part.as_of > contents.reset), "{contents:?}");
}

#[test]
fn w102_no_part_has_a_name_that_resets_are_stored_under() {
    let mut world = World::new(1, demo());
    let person = people(&mut world, 1)[0];
    assert!(world.people[person].client.provide("\0reset 1", &[FIRST]).is_err());
    // A program that sends it all the same: PART with number 1, counter 0, the name and the channel
    // 1.
    world.inject(person, &[0x29, 7, 1, 0, 3, 0, b'r', b'x', 1]);
    world.run(100 * MS);
    assert!(
        world.people[person].saw(|event| matches!(event, Event::Error { .. } | Event::Status(_)))
    );
    assert!(
        world.people[person].events.iter().any(|event| format!("{event:?}").contains("U+0000"))
    );
}

/// A room that everybody has left.
fn left_by(mut world: World, people: &[usize]) -> World {
    for &person in people {
        world.people[person].client.leave();
    }
    world.run(1000 * MS);
    assert!(world.room.is_empty());
    world
}

#[test]
fn what_stays_when_everybody_has_left_is_content_and_presence_and_awareness_are_not() {
    let begin = || {
        let mut world = World::new(5, demo());
        let everybody = people(&mut world, 2);
        assert!(!world.room.has_content());
        world.send(everybody[0], POINTER, "3;4");
        world.run(200 * MS);
        assert!(world.room.has_content(), "a value is there with its sender");
        (world, everybody)
    };
    let (world, everybody) = begin();
    assert!(!left_by(world, &everybody).room.has_content());
    let (mut world, everybody) = begin();
    world.send(everybody[0], FIRST, "a transaction");
    world.run(200 * MS);
    assert!(left_by(world, &everybody).room.has_content());
    let (mut world, everybody) = begin();
    let value = Publication { request: None, ..say("pointer", 1) };
    assert_eq!(publish(&mut world, &value), Ok(Published::Awareness));
    assert!(left_by(world, &everybody).room.has_content(), "the room's own value");
    let (mut world, everybody) = begin();
    publish(&mut world, &say("draw", 1)).unwrap();
    assert!(left_by(world, &everybody).room.has_content());
}
