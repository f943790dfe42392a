//! Closing channels (wire W85): pending messages go first, only the closing client's part ends, and
//! the name can be opened again.

use std::time::Duration;

use groupwire_session::client::{
    ChannelId, ChannelOptions, Config as ClientConfig, Event, Outgoing,
};
use groupwire_session::{
    Access, Authority, ChannelNo, Error, Grant, OpenRequest, Qos, Room, Timing, room,
};

use crate::support::{Air, MS, Random, World, errors};

const POINTER: Qos = Qos::awareness();
const DRAW: Qos = Qos::transaction();

fn is_closed(world: &World, person: usize, channel: ChannelId) -> bool {
    world.people[person].saw(|event| *event == Event::Closed { channel })
}

fn close(world: &mut World, person: usize, channel: ChannelId) {
    world.people[person].client.close(channel).unwrap();
}

/// Two people who have opened the channels `draw` and `pointer`, in this order.
fn two(tick: Duration) -> (World, usize, usize, ChannelId, ChannelId) {
    let mut world = World::with_tick(tick);
    let (ann, bob) = (world.add(), world.add());
    let (draw, pointer) =
        (world.channel(ann, "draw", DRAW), world.channel(ann, "pointer", POINTER));
    world.channel(bob, "draw", DRAW);
    world.channel(bob, "pointer", POINTER);
    world.run(500 * MS);
    (world, ann, bob, draw, pointer)
}

#[test]
fn w85_closing_ends_only_the_own_part() {
    let (mut world, ann, bob, draw, pointer) = two(40 * MS);
    close(&mut world, ann, draw);
    world.run(200 * MS);
    assert!(is_closed(&world, ann, draw));
    world.send(bob, draw, "unseen");
    world.send(bob, pointer, "seen");
    world.run(500 * MS);
    assert!(world.people[ann].texts(draw).is_empty());
    assert_eq!(world.people[ann].texts(pointer), ["seen"]);
    assert_eq!(world.people[bob].texts(draw), ["unseen"]);
    assert!(errors(&world, ann).is_empty() && errors(&world, bob).is_empty());
}

#[test]
fn w85_nothing_of_a_closed_channel_is_repeated_in_datagrams() {
    let path = Qos::awareness().aggregate().loss_per_mille(10).deadline(Duration::from_secs(2));
    let mut repeated = [0; 2];
    for seed in 1..=20 {
        let (mut world, ann, bob, ..) = two(20 * MS);
        let channel = world.channel(ann, "path", path);
        world.channel(bob, "path", path);
        for one in [ann, bob] {
            world.people[one].delay = (20 + seed) * MS;
            world.change_transport(one, Air { max: 1200, lost: 30, ..Air::default() });
        }
        for step in 0..200 {
            world.send(bob, channel, &format!("at {step}"));
            world.run(20 * MS);
        }
        close(&mut world, ann, channel);
        // The packet with SHUT is sent in this time.
        world.run((30 + seed) * MS);
        assert!(is_closed(&world, ann, channel));
        let participant = world.people[ann].client.participant().unwrap();
        let repeats = |world: &World| world.room.path(participant, ChannelNo(3)).unwrap().0.repeats;
        let before = repeats(&world);
        world.run(Duration::from_secs(2));
        repeated[0] += before;
        repeated[1] += repeats(&world) - before;
    }
    assert!(repeated[0] > 100, "{repeated:?}");
    assert_eq!(repeated[1], 0, "of {repeated:?}");
}

#[test]
fn pending_messages_arrive_before_the_channel_closes() {
    for max in [0, 1200] {
        let (mut world, ann, bob, draw, pointer) = two(40 * MS);
        world.change_transport(ann, Air { max, ..Air::default() });
        world.run(500 * MS);
        for step in 0..50 {
            world.send(ann, draw, &format!("line {step}"));
            world.send_key(ann, pointer, "ann", &format!("at {step}"));
        }
        close(&mut world, ann, draw);
        close(&mut world, ann, pointer);
        assert!(!is_closed(&world, ann, draw));
        world.run(Duration::from_secs(1));
        assert!(is_closed(&world, ann, draw) && is_closed(&world, ann, pointer));
        assert_eq!(world.people[ann].client.pending(), 0);
        assert_eq!(world.people[bob].texts(draw).len(), 50);
        assert_eq!(world.people[bob].texts(pointer).last().unwrap(), "at 49");
        // The own transactions were confirmed, all of them before the channel was closed.
        assert_eq!(world.people[ann].texts(draw).len(), 50);
    }
}

#[test]
fn the_newest_value_arrives_though_every_datagram_before_the_end_is_lost() {
    let (mut world, ann, bob, _, pointer) = two(40 * MS);
    world.change_transport(ann, Air { max: 1200, lost: 100, ..Air::default() });
    world.run(500 * MS);
    world.send_key(ann, pointer, "ann", "last");
    close(&mut world, ann, pointer);
    world.run(Duration::from_secs(2));
    assert!(is_closed(&world, ann, pointer));
    assert_eq!(world.people[bob].texts(pointer), ["last"]);
}

#[test]
fn a_value_sent_over_a_stream_that_breaks_arrives_over_the_next_one_before_the_channel_closes() {
    let (mut world, ann, bob, _, pointer) = two(40 * MS);
    world.black_hole(ann);
    world.send_key(ann, pointer, "ann", "last");
    world.run(20 * MS);
    close(&mut world, ann, pointer);
    world.run(200 * MS);
    assert!(!is_closed(&world, ann, pointer));
    world.run(Duration::from_secs(10));
    assert!(is_closed(&world, ann, pointer));
    assert_eq!(world.people[bob].texts(pointer), ["last"]);
}

#[test]
fn w24_a_transaction_that_comes_after_the_end_makes_no_value_stale() {
    for pause in 0..100 {
        let (mut world, ann, bob, draw, pointer) = two(40 * MS);
        close(&mut world, ann, pointer);
        world.run(500 * MS);
        world.send_key(bob, pointer, "bob", "before");
        world.send(bob, draw, "after");
        // After some of the pauses, the transaction and SHUT are under way at the same time.
        world.run(pause * MS);
        close(&mut world, ann, draw);
        world.run(500 * MS);
        world.channel(ann, "pointer", POINTER);
        world.run(500 * MS);
        let was_delivered = !world.people[ann].texts(draw).is_empty();
        let mut stale = world.people[ann].messages.iter().map(|one| one.stale && one.key.is_some());
        assert_eq!(stale.next_back(), Some(was_delivered), "after {pause} ms");
    }
}

#[test]
fn sending_on_a_closing_or_closed_channel_is_an_error() {
    let (mut world, ann, _, draw, _) = two(40 * MS);
    world.send(ann, draw, "last");
    close(&mut world, ann, draw);
    for _ in 0..2 {
        let client = &mut world.people[ann].client;
        let sent = client.send(world.now, draw, Outgoing { bytes: b"late", ..Outgoing::default() });
        assert_eq!(
            sent.unwrap_err().to_string(),
            "not allowed: sending on a channel that was closed"
        );
        assert!(client.set_qos(draw, DRAW).is_err());
        // Closing again changes nothing.
        client.close(draw).unwrap();
        world.run(500 * MS);
    }
    let closed = |event: &&Event| matches!(event, Event::Closed { .. });
    assert_eq!(world.people[ann].events.iter().filter(closed).count(), 1);
    let unknown = world.people[ann].client.close(ChannelId(9));
    assert_eq!(unknown, Err(Error::UnknownChannel { channel: 9 }));
}

#[test]
fn a_channel_that_is_opened_again_brings_what_was_missed() {
    let (mut world, ann, bob, draw, pointer) = two(40 * MS);
    world.send(bob, draw, "before");
    world.send(bob, pointer, "old");
    world.run(500 * MS);
    close(&mut world, ann, draw);
    close(&mut world, ann, pointer);
    // Some of these messages are under way when SHUT is.
    for step in 0..30 {
        world.send(bob, draw, &format!("missed {step}"));
        world.send_key(bob, pointer, "bob", &format!("at {step}"));
        world.run(10 * MS);
    }
    world.run(500 * MS);
    assert_eq!(world.channel(ann, "draw", DRAW), draw);
    assert_eq!(world.channel(ann, "pointer", POINTER), pointer);
    world.send(ann, draw, "again");
    world.run(500 * MS);
    let seen = world.people[ann].texts(draw);
    let missed = (0..30).map(|step| format!("missed {step}"));
    let expected: Vec<String> =
        ["before".into()].into_iter().chain(missed).chain(["again".into()]).collect();
    assert_eq!(seen, expected);
    // The newest value comes, although nobody sends anything now (W18).
    assert_eq!(world.people[ann].texts(pointer).last().unwrap(), "at 29");
    world.send_key(bob, pointer, "bob", "new");
    world.run(500 * MS);
    assert_eq!(world.people[ann].texts(pointer).last().unwrap(), "new");
    let opened =
        |event: &&Event| matches!(event, Event::Opened { channel, .. } if *channel == draw);
    assert_eq!(world.people[ann].events.iter().filter(opened).count(), 2);
    let synced = Event::Synced { channel: Some(draw) };
    assert_eq!(world.people[ann].events.iter().filter(|event| **event == synced).count(), 2);
    assert!(errors(&world, ann).is_empty() && errors(&world, bob).is_empty());
}

#[test]
fn w18_a_channel_that_is_opened_late_or_again_brings_the_newest_values_once() {
    let path = Qos::awareness().aggregate();
    for max in [0, 1200] {
        let (mut world, ann, bob, draw, pointer) = two(40 * MS);
        for one in [ann, bob] {
            world.change_transport(one, Air { max, ..Air::default() });
        }
        let steps = world.channel(bob, "steps", path);
        let status = world.channel(bob, "status", POINTER);
        world.run(500 * MS);
        for (key, text) in [("one", "old"), ("one", "1"), ("two", "2")] {
            world.send_key(bob, status, key, text);
            world.send(bob, steps, text);
            world.run(100 * MS);
        }
        world.send(bob, draw, "line");
        world.send_key(bob, pointer, "", "here");
        world.run(Duration::from_secs(2));
        for time in 1..=3 {
            let (status, steps) =
                (world.channel(ann, "status", POINTER), world.channel(ann, "steps", path));
            world.run(Duration::from_secs(2));
            let seen = &world.people[ann];
            assert_eq!(seen.texts(status), ["1", "2"].repeat(time), "datagrams of {max}");
            // Aggregated values are events, not state: later joiners are not sent them.
            assert!(seen.texts(steps).is_empty());
            assert!(seen.saw(|event| *event == Event::Synced { channel: Some(status) }));
            close(&mut world, ann, status);
            close(&mut world, ann, steps);
            world.run(500 * MS);
        }
        // The other channels bring nothing twice.
        assert_eq!(world.people[ann].texts(draw), ["line"]);
        assert_eq!(world.people[ann].texts(pointer), ["here"]);
        assert!(errors(&world, ann).is_empty() && errors(&world, bob).is_empty());
    }
}

#[test]
fn w18_a_channel_opened_again_while_another_room_welcomes_brings_all_of_that_room() {
    let mut opened_before_welcome = 0;
    for pause in (0..600).step_by(10) {
        let (mut world, ann, bob, draw, _) = two(40 * MS);
        world.people[ann].delay = 200 * MS;
        (0..3).for_each(|step| _ = world.send(bob, draw, &format!("old {step}")));
        world.run(500 * MS);
        close(&mut world, ann, draw);
        world.run(500 * MS);
        // Bob's delay is shorter, so he joins the new room first.
        world.restart();
        (0..2).for_each(|step| _ = world.send(bob, draw, &format!("new {step}")));
        world.run(pause * MS);
        let joins = |world: &World| {
            let joined = |event: &&Event| matches!(event, Event::Joined { .. });
            world.people[ann].events.iter().filter(joined).count()
        };
        opened_before_welcome += u32::from(joins(&world) == 1);
        world.channel(ann, "draw", DRAW);
        world.run(Duration::from_secs(3));
        assert_eq!(joins(&world), 2);
        let texts = world.people[ann].texts(draw);
        assert_eq!(texts[3..], ["new 0", "new 1"], "{pause} ms");
    }
    assert!(opened_before_welcome > 0);
}

#[test]
fn w32_a_snapshot_lacks_nothing_of_a_channel_that_was_closed() {
    let all: Vec<String> = (0..60).map(|step: u32| step.to_string()).collect();
    let mut snapshots = 0;
    for end in 0..=60 {
        let mut config = room::Config::new("demo", 7);
        config.timing.tick = 20 * MS;
        config.limits.snapshot_after = 10;
        let mut world = World::new(1, config);
        let (ann, bob) = (world.add(), world.add());
        let draw = world.channel(ann, "draw", DRAW);
        // SHUT is on its way for long.
        world.people[ann].delay = 100 * MS;
        // Bob does not receive, so only Ann can be asked for a snapshot.
        let access = Access { publish: true, subscribe: false };
        let options = ChannelOptions { access, ..ChannelOptions::default() };
        world.people[bob].client.channel_with("draw", DRAW, options).unwrap();
        world.run(Duration::from_secs(1));
        for step in 0..60 {
            world.send(bob, draw, &step.to_string());
            if step == end {
                close(&mut world, ann, draw);
            }
            world.run(3 * MS);
        }
        world.run(500 * MS);
        // A newcomer has the snapshot and the messages after it.
        let carol = world.add();
        world.channel(carol, "draw", DRAW);
        world.run(Duration::from_secs(1));
        let is_snapshot = |event: &Event| matches!(event, Event::Snapshot { .. });
        snapshots += u32::from(world.people[carol].saw(is_snapshot));
        assert_eq!(world.people[carol].document, all, "closed at step {end}");
    }
    assert!(snapshots > 0);
}

#[test]
fn closing_and_opening_in_the_same_moment_misses_nothing_and_repeats_nothing() {
    for pause in [0, 1, 5, 20, 70] {
        let (mut world, ann, bob, draw, _) = two(40 * MS);
        for step in 0..100 {
            world.send(bob, draw, &step.to_string());
            if step % 10 == 0 {
                close(&mut world, ann, draw);
                world.run(MS * pause);
                world.channel(ann, "draw", DRAW);
            }
            world.run(7 * MS);
        }
        world.settle();
        let all: Vec<String> = (0..100).map(|step: u32| step.to_string()).collect();
        assert_eq!(world.people[ann].texts(draw), all, "{pause} ms");
        assert!(errors(&world, ann).is_empty(), "{pause} ms: {:?}", errors(&world, ann));
    }
}

#[test]
fn closing_and_opening_at_random_brings_all_transactions_once_and_in_order() {
    for seed in 1..=12 {
        let mut random = Random::new(seed);
        let mut world = World::with_tick(40 * MS);
        let people: Vec<usize> = (0..3).map(|_| world.add()).collect();
        let draw = people.iter().map(|&at| world.channel(at, "draw", DRAW)).last().unwrap();
        people.iter().for_each(|&at| _ = world.channel(at, "pointer", POINTER));
        for round in 0..120 {
            // The first person never closes the channel.
            let person = people[random.below(3) as usize];
            let air = Air { max: 1200, lost: 20, jitter_ms: 20, ..Air::default() };
            match random.below(12) {
                0 => world.cut(person),
                1 => world.change_transport(person, air),
                2 | 3 if person != people[0] => close(&mut world, person, draw),
                _ => {
                    world.channel(person, "draw", DRAW);
                    world.send(person, draw, &format!("{person}:{round}"));
                }
            }
            world.run(MS * random.below(60) as u32);
        }
        people.iter().for_each(|&at| _ = world.channel(at, "draw", DRAW));
        world.settle();
        let all = world.people[people[0]].texts(draw);
        assert!(all.len() > 50, "{} messages", all.len());
        for &person in &people {
            assert_eq!(world.people[person].texts(draw), all, "seed {seed}, person {person}");
            assert_eq!(world.people[person].client.pending(), 0);
            assert!(errors(&world, person).is_empty(), "seed {seed}: {:?}", errors(&world, person));
        }
    }
}

#[test]
fn opening_a_closing_channel_calls_the_closing_off() {
    let (mut world, ann, bob, draw, _) = two(40 * MS);
    world.send(ann, draw, "one");
    close(&mut world, ann, draw);
    assert_eq!(world.channel(ann, "draw", DRAW), draw);
    world.send(ann, draw, "two");
    world.run(500 * MS);
    assert!(!is_closed(&world, ann, draw));
    assert_eq!(world.people[bob].texts(draw), ["one", "two"]);
}

#[test]
fn pending_transactions_go_over_the_next_transport() {
    let (mut world, ann, bob, draw, pointer) = two(40 * MS);
    world.send(ann, draw, "one");
    world.run(2 * MS);
    world.cut(ann);
    world.send(ann, draw, "two");
    close(&mut world, ann, draw);
    close(&mut world, ann, pointer);
    world.run(2 * MS);
    assert!(!is_closed(&world, ann, draw));
    assert!(is_closed(&world, ann, pointer), "nothing was pending on it");
    world.run(Duration::from_secs(6));
    assert!(is_closed(&world, ann, draw));
    assert_eq!(world.people[bob].texts(draw), ["one", "two"]);
    assert_eq!(world.people[ann].texts(draw), ["one", "two"]);
}

#[test]
fn a_closed_channel_stays_closed_on_the_next_transport() {
    let (mut world, ann, bob, draw, pointer) = two(40 * MS);
    close(&mut world, ann, draw);
    world.run(200 * MS);
    world.cut(ann);
    world.run(Duration::from_secs(6));
    world.send(bob, draw, "unseen");
    world.send(bob, pointer, "seen");
    world.run(500 * MS);
    assert!(world.people[ann].texts(draw).is_empty());
    assert_eq!(world.people[ann].texts(pointer), ["seen"]);
    // Opened again while the transport is broken.
    world.cut(ann);
    assert_eq!(world.channel(ann, "draw", DRAW), draw);
    world.run(Duration::from_secs(6));
    assert_eq!(world.people[ann].texts(draw), ["unseen"]);
}

#[test]
fn a_channel_closed_while_another_transport_opens_is_not_opened_on_it() {
    let (mut world, ann, bob, draw, pointer) = two(40 * MS);
    close(&mut world, ann, draw);
    world.change_transport(ann, Air::default());
    assert!(is_closed(&world, ann, draw));
    // While WELCOME is under way, the client waits for the answer to OPEN before it closes the
    // channel.
    close(&mut world, ann, pointer);
    world.run(MS);
    assert!(!is_closed(&world, ann, pointer));
    world.run(Duration::from_secs(1));
    assert!(is_closed(&world, ann, pointer));
    world.send(bob, draw, "unseen");
    world.send(bob, pointer, "unseen");
    world.run(500 * MS);
    assert!(world.people[ann].messages.is_empty() && errors(&world, ann).is_empty());
}

#[test]
fn a_channel_closed_before_the_first_transport_is_never_opened() {
    let mut world = World::with_tick(40 * MS);
    let ann = world.add();
    let draw = world.channel(ann, "draw", DRAW);
    close(&mut world, ann, draw);
    world.run(500 * MS);
    assert!(is_closed(&world, ann, draw));
    assert!(!world.log.iter().any(|event| matches!(event, room::Event::Channel { .. })));
}

/// Refuses the channel named `secret`.
struct NoSecrets;

impl Authority for NoSecrets {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        match request.channel {
            "secret" => Err("it is secret".to_owned()),
            _ => Ok(Grant { access: request.access, qos: request.qos }),
        }
    }
}

#[test]
fn a_refused_channel_closes_without_a_word_to_the_server() {
    let mut world = World::with_tick(40 * MS);
    let timing = Timing { tick: 40 * MS, ..Timing::default() };
    let config = room::Config { timing, ..room::Config::new("demo", 7) };
    world.room = Room::new(config, Box::new(NoSecrets));
    let ann = world.add_with(ClientConfig::new("demo"));
    let secret = world.channel(ann, "secret", DRAW);
    world.run(500 * MS);
    assert_eq!(errors(&world, ann).len(), 1);
    close(&mut world, ann, secret);
    world.run(MS);
    assert!(is_closed(&world, ann, secret));
    // The channel is refused while it is closing.
    assert_eq!(world.channel(ann, "secret", DRAW), secret);
    close(&mut world, ann, secret);
    world.run(500 * MS);
    let closed = |event: &&Event| **event == Event::Closed { channel: secret };
    assert_eq!(world.people[ann].events.iter().filter(closed).count(), 2);
    assert_eq!(errors(&world, ann).len(), 2);
    assert!(!world.people[ann].saw(|event| matches!(event, Event::Error { fatal: true, .. })));
}
