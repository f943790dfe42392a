//! Channels that record departures: the room writes that a participant left into the one order
//! (wire W113).

use std::time::Duration;

use groupwire_session::client::{ChannelId, Event, GapReason};
use groupwire_session::{Limits, ParticipantId, Qos, room};

use crate::support::{MS, World, demo};

const PEN: ChannelId = ChannelId(0);
const CHAT: ChannelId = ChannelId(1);

fn people(world: &mut World, count: usize) -> Vec<usize> {
    let people: Vec<usize> = (0..count).map(|_| join(world)).collect();
    world.run(1000 * MS);
    people
}

/// Somebody with the channel `pen`, which records departures, and `chat`, which does not.
fn join(world: &mut World) -> usize {
    let person = world.add();
    world.channel(person, "pen", Qos::transaction().departures());
    world.channel(person, "chat", Qos::transaction());
    person
}

fn say(world: &mut World, person: usize, text: &str) {
    world.send(person, PEN, text);
    world.send(person, CHAT, text);
    world.run(500 * MS);
}

fn id(world: &World, person: usize) -> ParticipantId {
    world.people[person].client.participant().unwrap()
}

/// The entries of `pen` that a person received: texts, and departures.
fn told(world: &World, person: usize) -> Vec<String> {
    let of = world.people[person].messages.iter().filter(|message| message.channel == PEN);
    let text = |message: &groupwire_session::client::Incoming| match message.departed {
        Some(departed) => {
            assert_eq!((message.sender, &*message.bytes), (ParticipantId(0), &b""[..]));
            assert!(message.position.get() > 0 && !message.own && !message.stale);
            format!("{departed} left")
        }
        None => String::from_utf8_lossy(&message.bytes).into_owned(),
    };
    of.map(text).collect()
}

#[test]
fn w113_everybody_is_told_who_left_at_one_place_in_the_order() {
    // Alone, over a shared stream, and with datagrams.
    for (count, max) in [(3, 0), (12, 0), (12, 1200)] {
        let mut world = World::new(5, demo());
        let everybody = people(&mut world, count);
        world.give_datagrams(&everybody, max);
        let (ada, silent, eve) = (everybody[0], everybody[1], everybody[2]);
        let gone = id(&world, ada);
        say(&mut world, ada, "mine");
        // The person leaves while a message is under way.
        world.send(ada, PEN, "still mine");
        world.run(100 * MS);
        world.people[ada].client.leave();
        world.people[silent].client.leave();
        world.run(50 * MS);
        say(&mut world, eve, "now mine");
        let late = join(&mut world);
        world.run(2000 * MS);
        let expected = ["mine", "still mine", &format!("{gone} left"), "now mine"];
        for &person in everybody[2..].iter().chain([&late]) {
            assert_eq!(told(&world, person), expected, "{count} {max}");
            let chat = world.people[person].texts(CHAT);
            assert_eq!(chat, ["mine", "now mine"], "another channel is told nothing");
            assert!(!world.people[person].saw(|event| matches!(event, Event::Error { .. })));
        }
        let entry = world.people[late].messages.iter().find(|one| one.departed.is_some());
        assert!(entry.unwrap().state);
    }
}

#[test]
fn w113_who_resumes_after_it_left_is_told_and_has_an_entry_only_for_what_it_sends_after() {
    let mut world = World::new(5, demo());
    let [ada, eve] = people(&mut world, 2)[..] else { panic!("two people") };
    let gone = id(&world, ada);
    say(&mut world, ada, "mine");
    for _ in 0..2 {
        // Its transport breaks, and its messages wait.
        world.people[ada].reachable = false;
        world.cut(ada);
        world.run(5000 * MS);
        assert!(!told(&world, eve).last().unwrap().contains("left"), "it is away");
        world.send(ada, PEN, "again");
        world.run(7000 * MS);
        assert_eq!(told(&world, eve).last().unwrap(), &format!("{gone} left"));
        world.people[ada].reachable = true;
        world.run(7000 * MS);
        assert_eq!(id(&world, ada), gone, "it resumed");
    }
    let left = &*format!("{gone} left");
    let expected = ["mine", left, "again", left, "again"];
    assert_eq!(
        (told(&world, ada), told(&world, eve)),
        (told(&world, eve), expected.map(str::to_owned).to_vec())
    );
    // It comes and goes once more, and says nothing after its last entry.
    for _ in 0..2 {
        world.people[ada].reachable = false;
        world.cut(ada);
        world.run(12_000 * MS);
        world.people[ada].reachable = true;
        world.run(7000 * MS);
    }
    assert_eq!(told(&world, eve), [&expected[..], &[left]].concat());
}

#[test]
fn w113_a_channel_keeps_recording_departures_as_it_was_made() {
    let mut world = World::new(5, demo());
    let [ada, eve] = people(&mut world, 2)[..] else { panic!("two people") };
    // A person that opens the channel later gets it with its present QoS.
    let plain = world.add();
    world.channel(plain, "pen", Qos::transaction());
    world.channel(plain, "chat", Qos::transaction().departures());
    world.run(500 * MS);
    let opened = |event: &Event| match event {
        Event::Opened { qos, .. } => Some(qos.departures),
        _ => None,
    };
    let opened: Vec<bool> = world.people[plain].events.iter().filter_map(opened).collect();
    assert_eq!(opened, [true, false]);
    // The client refuses to ask for another value, and the room ignores the value from a client
    // that does not know the bit.
    let error = world.people[plain].client.set_qos(PEN, Qos::transaction()).unwrap_err();
    assert!(error.to_string().contains("departures"), "{error}");
    let changed = Qos::transaction().departures().priority(9);
    world.people[plain].client.set_qos(PEN, changed).unwrap();
    world.run(500 * MS);
    let is_told = |event: &Event| *event == Event::Changed { channel: PEN, qos: changed };
    assert!(world.people[eve].saw(is_told), "{:?}", world.people[eve].events);
    say(&mut world, ada, "mine");
    world.people[ada].client.leave();
    world.run(500 * MS);
    assert!(told(&world, plain)[1].ends_with("left"));
    assert_eq!(world.people[plain].texts(CHAT), ["mine"]);
}

#[test]
fn w113_a_loaded_room_writes_it_of_those_who_do_not_come_back() {
    let mut parts = 0;
    for seed in 0..16 {
        let snapshot_after = if seed % 2 == 0 { 5 } else { 2000 };
        let limits = Limits { snapshot_after, ..demo().limits };
        let mut world = World::durable(seed, room::Config { limits, ..demo() }, 30);
        let [ada, eve, stays] = people(&mut world, 3)[..] else { panic!("three people") };
        let (first, second) = (id(&world, ada), id(&world, eve));
        say(&mut world, ada, "mine");
        say(&mut world, eve, "me, too");
        for nth in 0..12 {
            say(&mut world, stays, &nth.to_string());
        }
        world.run(6000 * MS);
        parts += usize::from(world.room.channels()[0].part.is_some());
        // One leaves as the server dies, the other one while no server runs.
        world.people[ada].client.leave();
        world.run(Duration::from_millis(3 * seed));
        world.people[ada].reachable = false;
        world.people[eve].reachable = false;
        world.cut(eve);
        for _ in 0..3 {
            world.restart();
            world.run(3000 * MS);
        }
        assert!(!told(&world, stays).contains(&format!("{second} left")), "seed {seed}");
        world.run(9000 * MS);
        world.restart();
        world.run(20_000 * MS);
        for gone in [first, second] {
            let left = format!("{gone} left");
            let count = told(&world, stays).iter().filter(|text| **text == left).count();
            assert_eq!(count, 1, "seed {seed}: {:?}", told(&world, stays));
        }
        assert_eq!(told(&world, stays).len(), 16, "seed {seed}: {:?}", told(&world, stays));
        let holes = |event: &Event| matches!(event, Event::Gap { reason: GapReason::History, .. });
        assert!(!world.people[stays].saw(holes));
        // The client resumes long after its participant left, and receives its own departure, too.
        world.people[eve].reachable = true;
        world.run(7000 * MS);
        assert_eq!(id(&world, eve), second);
        // A part of the snapshot may stand for it.
        let left = format!("{second} left");
        assert!(snapshot_after == 5 || told(&world, eve).contains(&left), "seed {seed}");
        // Now all people leave, and the room ends after it has written their departures.
        for person in [eve, stays] {
            world.people[person].client.leave();
        }
        world.run(500 * MS);
        assert!(world.room.is_empty());
    }
    assert!(parts > 4, "{parts}");
}

#[test]
fn w113_a_loaded_room_counts_as_in_use_until_it_is_written() {
    let mut world = World::durable(3, demo(), 2);
    let [ada] = people(&mut world, 1)[..] else { panic!("one") };
    say(&mut world, ada, "mine");
    world.people[ada].reachable = false;
    world.cut(ada);
    world.restart();
    world.run(9000 * MS);
    assert!(!world.room.is_empty());
    world.run(3000 * MS);
    assert!(world.room.is_empty());
    let departed = |world: &World| {
        let all = world.room.transactions_after(groupwire_session::Position(0));
        all.filter(|one| one.departed.is_some())
            .map(|one| one.channel.to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(departed(&world), ["pen"]);
    world.restart();
    world.run(12_000 * MS);
    assert_eq!(departed(&world), ["pen"], "it is written once");
}

#[test]
fn w113_it_is_written_also_while_the_room_takes_no_transactions() {
    let limits = Limits { max_volatile_bytes: 100_000, ..demo().limits };
    let mut world = World::durable(4, room::Config { limits, ..demo() }, 2);
    let [ada, eve] = people(&mut world, 2)[..] else { panic!("two people") };
    let gone = id(&world, ada);
    say(&mut world, ada, "mine");
    world.disk.as_mut().unwrap().is_stuck = true;
    let large = "a".repeat(50_000);
    for _ in 0..4 {
        world.send(eve, PEN, &large);
        world.run(100 * MS);
    }
    world.people[ada].client.leave();
    world.run(1000 * MS);
    assert_eq!(told(&world, eve), ["mine"]);
    world.disk.as_mut().unwrap().is_stuck = false;
    world.run(9000 * MS);
    assert_eq!(told(&world, eve).iter().filter(|text| **text == format!("{gone} left")).count(), 1);
    assert_eq!(told(&world, eve).len(), 6);
}
