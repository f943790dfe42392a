//! Transactions that are larger than a message may be: they travel in pieces, and take effect as
//! one or not at all (wire W97).

use std::time::Duration;

use groupwire_session::client::{ChannelId, ChannelOptions, Event, Outgoing, Sent};
use groupwire_session::codecs::{Choice, Codec, Lz4};
use groupwire_session::limits::MAX_TRANSACTION;
use groupwire_session::room;
use groupwire_session::{Compress, Error, Limits, Qos};

use crate::support::{MS, Random, World, errors, tight};

const DRAW: Qos = Qos::transaction();

/// A stored room whose messages have at most 200 bytes, so that pieces are small.
fn config() -> room::Config {
    let limits = Limits { max_message: 200, max_former: 1000, ..tight() };
    room::Config { limits, ..room::Config::new("demo", 7) }
}

/// A text of this many bytes, which begins with a name and has characters of several bytes.
fn text(name: &str, bytes: usize) -> String {
    let (mut text, mut random) = (format!("{name} "), Random::new(bytes as u64));
    while text.len() < bytes {
        match random.below(40) {
            0 => text.push('€'),
            1 => text.push('😀'),
            other => text.push((b'A' + other as u8) as char),
        }
    }
    text
}

/// A stored room with this many people, who have a channel open.
fn people(seed: u64, count: usize) -> (World, Vec<usize>, ChannelId) {
    let mut world = World::durable(seed, config(), 20);
    let people: Vec<usize> = (0..count).map(|_| world.add()).collect();
    let mut draw = ChannelId(0);
    for &person in &people {
        draw = world.channel(person, "draw", DRAW);
        world.channel(person, "pointer", Qos::awareness());
    }
    world.run(1000 * MS);
    (world, people, draw)
}

#[test]
fn w97_a_compressed_piece_is_not_sent_as_the_transaction_of_another() {
    let mut world = World::durable(1, config(), 20);
    let [ada, bo] = [0, 1].map(|_| world.add());
    let lz4 = Compress::Named(Choice::codec(Lz4.number()));
    let [draw, _] = [(ada, lz4), (bo, Compress::Off)].map(|(person, compress)| {
        let options = ChannelOptions { compress, ..ChannelOptions::default() };
        world.people[person].client.channel_with("draw", DRAW, options).unwrap()
    });
    world.run(1000 * MS);
    let (large, small) = ("large ".repeat(800), "small ".repeat(20));
    for gap in 0..20 {
        world.send(bo, draw, &small);
        world.run(gap * 3 * MS);
        world.send(ada, draw, &large);
        world.run(500 * MS);
    }
    for person in [ada, bo] {
        let mut texts = world.people[person].texts(draw);
        texts.sort();
        assert_eq!(texts, [vec![large.clone(); 20], vec![small.clone(); 20]].concat());
        assert_eq!(errors(&world, person), Vec::<String>::new());
    }
}

#[test]
fn w97_a_large_transaction_comes_whole_and_in_its_place() {
    let (mut world, all, draw) = people(1, 3);
    let [ada, bo, cy] = all[..] else { unreachable!("three people") };
    let large = text("large", 5000);
    world.send(ada, draw, "before");
    let key = Some(&b"plan"[..]);
    let message =
        Outgoing { bytes: large.as_bytes(), text: true, key, priority: Some(9), to: None };
    let now = world.now;
    assert_eq!(world.people[ada].client.send(now, draw, message).unwrap(), Sent::Accepted);
    world.send(ada, draw, "after");
    world.send(bo, draw, "at the same time");
    assert_eq!(world.people[ada].client.pending(), 3);
    world.run(3000 * MS);
    let late = world.add();
    world.channel(late, "draw", DRAW);
    world.run(3000 * MS);
    assert!(world.people[late].document == world.people[ada].document);
    for person in [ada, bo, cy] {
        assert_eq!(world.people[person].document.len(), 4);
        assert!(world.people[person].document == world.people[ada].document);
        let messages = &world.people[person].messages;
        let it = messages.iter().find(|message| message.bytes == large.as_bytes()).unwrap();
        assert_eq!((it.key.as_deref(), it.priority, it.text), (key, Some(9), true));
        assert_eq!(it.own, person == ada);
        assert_eq!(errors(&world, person), Vec::<String>::new());
    }
    let of_ada = world.people[ada].messages.iter().filter(|message| message.own);
    let places: Vec<u64> = of_ada.map(|message| message.position.get()).collect();
    assert!(places.is_sorted() && places[1] - places[0] >= 25, "it takes many places: {places:?}");
    assert_eq!(world.people[ada].client.pending(), 0);
    let ordered: Vec<_> = world.room.transactions_after(Default::default()).collect();
    assert_eq!(ordered.len(), 4, "observers are told of whole transactions");
    assert!(ordered.iter().any(|one| *one.bytes == *large.as_bytes() && one.key == key));
}

#[test]
fn w97_a_transaction_of_sixteen_megabytes_survives_a_restart() {
    let limits = Limits { max_log_bytes: 64 << 20, ..Limits::default() };
    let mut world = World::durable(2, room::Config { limits, ..room::Config::new("demo", 7) }, 50);
    let (ada, bo) = (world.add(), world.add());
    for person in [ada, bo] {
        world.channel(person, "draw", DRAW);
        world.people[person].delay = MS;
    }
    world.run(500 * MS);
    let bytes: Vec<u8> = (0..MAX_TRANSACTION as u32).map(|at| (at ^ (at >> 7)) as u8).collect();
    let message = |bytes| Outgoing { bytes, ..Outgoing::default() };
    let now = world.now;
    let client = &mut world.people[ada].client;
    let too_large = [&bytes[..], b"x"].concat();
    let refused = client.send(now, ChannelId(0), message(&too_large));
    assert!(matches!(refused, Err(Error::TooLarge { limit: MAX_TRANSACTION, .. })));
    assert_eq!(client.send(now, ChannelId(0), message(&bytes)).unwrap(), Sent::Accepted);
    for _ in 0..200 {
        world.run(100 * MS);
        if world.people[bo].messages.len() == 1 {
            break;
        }
    }
    assert_eq!(world.people[bo].messages.len(), 1);
    assert!(world.people[bo].messages[0].bytes == bytes, "all of its bytes");
    assert_eq!(world.put_out, [("draw".to_owned(), MAX_TRANSACTION)], "a store is told of one");
    world.restart();
    let late = world.add();
    world.channel(late, "draw", DRAW);
    for _ in 0..200 {
        world.run(100 * MS);
        if world.people[late].messages.len() == 1 {
            break;
        }
    }
    assert!(world.people[late].messages[0].bytes == bytes, "after the restart, too");
    assert_eq!(world.people[ada].client.pending(), 0);
}

#[test]
fn w97_a_room_that_is_not_stored_takes_none() {
    let limits = Limits { max_message: 200, ..Limits::default() };
    let mut world = World::new(1, room::Config { limits, ..room::Config::new("demo", 7) });
    let ada = world.add();
    let draw = world.channel(ada, "draw", DRAW);
    // Before WELCOME, the client does not know whether the room is stored.
    world.send(ada, draw, "small");
    let large = text("large", 70_000);
    assert_eq!(world.send(ada, draw, &large), Sent::Accepted);
    world.run(1000 * MS);
    assert_eq!(world.people[ada].document, ["small"]);
    assert_eq!(errors(&world, ada).len(), 1, "{:?}", errors(&world, ada));
    assert!(errors(&world, ada)[0].contains(&large.len().to_string()), "{:?}", errors(&world, ada));
    assert_eq!(world.people[ada].client.pending(), 0);
    let message = Outgoing { bytes: &[0; 201], ..Outgoing::default() };
    let refused = world.people[ada].client.send(world.now, draw, message);
    assert!(matches!(refused, Err(Error::TooLarge { size: 201, limit: 200, .. })));
    world.send(ada, draw, "and on it goes");
    world.run(1000 * MS);
    assert_eq!(world.people[ada].document, ["small", "and on it goes"]);
}

#[test]
fn w97_a_transport_that_breaks_in_the_midst_is_no_loss() {
    for cut_at in 0..30 {
        let (mut world, all, draw) = people(5, 2);
        let (ada, bo) = (all[0], all[1]);
        world.people[ada].per_byte = Duration::from_micros(20);
        let large = text("large", 100_000);
        world.send(ada, draw, &large);
        world.run(MS * 20 * cut_at);
        world.cut(ada);
        world.send(bo, draw, "meanwhile");
        world.run(30_000 * MS);
        let document = &world.people[bo].document;
        assert!(document.len() == 2 && document.contains(&large), "cut at {cut_at}");
        assert!(world.people[ada].document == *document);
    }
}

#[test]
fn w97_random_sessions_with_large_transactions_lose_nothing() {
    for seed in 0..40 {
        random_session(seed);
    }
}

/// People send transactions small and large; transports break, and the server is killed.
fn random_session(seed: u64) {
    let (mut world, mut people, draw) = people(seed, 3);
    let mut random = Random::new(seed);
    let mut sent = Vec::new();
    for nth in 0..60 {
        let at = random.below(people.len() as u64) as usize;
        let person = people[at];
        let size = if random.chance(40) { random.below(3000) as usize } else { 20 };
        let said = text(&format!("{nth} of {person}"), size);
        world.send(person, draw, &said);
        sent.push(said);
        match random.below(30) {
            0..3 => world.cut(person),
            3 => world.restart(),
            4 | 5 if people.len() < 6 => {
                people.push(world.add());
                world.channel(people[people.len() - 1], "draw", DRAW);
                // Before it has joined, a client does not know the size of the largest message.
                world.run(1000 * MS);
            }
            6 => world.people[person].per_byte = Duration::from_micros(random.below(400)),
            _ => {}
        }
        world.run(MS * random.below(120) as u32);
    }
    world.people.iter_mut().for_each(|person| person.per_byte = Duration::ZERO);
    world.settle();
    let document = world.people[people[0]].document.clone();
    let mut all = document.clone();
    all.sort();
    sent.sort();
    assert!(all == sent, "seed {seed}: each transaction once, {} of {}", all.len(), sent.len());
    for &person in &people {
        assert!(world.people[person].document == document, "seed {seed}, person {person}");
        assert_eq!(world.people[person].holes, 0);
    }
}

#[test]
fn w97_a_part_is_made_only_of_whole_transactions() {
    // The room asks while the provider has received only some pieces of a transaction.
    let (mut world, all, draw) = people(9, 2);
    let (ada, bo) = (all[0], all[1]);
    world.people[bo].per_byte = Duration::from_micros(300);
    for nth in 0..4 {
        world.send(ada, draw, &text(&format!("{nth}"), 6000));
        world.run(700 * MS);
    }
    world.settle();
    let wanted = |event: &Event| matches!(event, Event::SnapshotWanted { .. });
    assert!(world.people.iter().any(|person| person.saw(wanted)), "parts were asked for");
    let late = world.add();
    world.channel(late, "draw", DRAW);
    world.settle();
    assert!(world.people[late].document == world.people[ada].document);
    assert_eq!(world.people[late].document.len(), 4);
}

#[test]
fn w97_a_lost_session_in_the_midst_of_its_own_transaction_has_it_whole() {
    // The room forgets participants that leave, so that Ada comes back as another participant.
    for cut_at in 0..40 {
        let limits = Limits { max_former: 1, ..config().limits };
        let config = room::Config { limits, ..config() };
        let mut world = World::durable(cut_at, config, 5);
        let (ada, bo) = (world.add(), world.add());
        let draw = world.channel(ada, "draw", DRAW);
        world.channel(bo, "draw", DRAW);
        world.run(500 * MS);
        world.people[ada].per_byte = Duration::from_micros(60);
        let large = text("large", 8000);
        world.send(ada, draw, &large);
        world.run(MS * (500 + 15 * cut_at as u32));
        world.people[ada].reachable = false;
        world.cut(ada);
        world.run(20_000 * MS);
        let other = world.add();
        world.channel(other, "draw", DRAW);
        world.run(1000 * MS);
        world.people[other].client.leave();
        world.run(1000 * MS);
        world.people[ada].reachable = true;
        world.people[ada].per_byte = Duration::ZERO;
        world.settle();
        assert!(world.people[ada].document == world.people[bo].document, "cut at {cut_at}");
        assert!(world.people[ada].document.contains(&large));
    }
}

#[test]
fn w97_a_large_transaction_is_recorded_as_one() {
    let (mut world, all, draw) = people(3, 1);
    world.room.set_recording(true);
    let large = text("large", 900);
    world.send(all[0], draw, &large);
    world.run(500 * MS);
    let (recorded, missed) = world.room.recorded();
    assert_eq!((recorded.len(), missed), (1, 0));
    assert_eq!(&*recorded[0].bytes, large.as_bytes());
    assert_eq!(world.room.stats().here, 1);
}
