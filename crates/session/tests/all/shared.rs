//! Streams that many receivers share (wire W60 to W66).

use std::time::Duration;

use groupwire_session::client::ChannelId;
use groupwire_session::{ChannelNo, Qos, room};

use crate::support::{Air, MS, World, errors};

const DRAW: Qos = Qos::transaction();
const POINTER: Qos = Qos::awareness();
const PATH: Qos = Qos::awareness().aggregate();

const SECOND: Duration = Duration::from_secs(1);

/// A room with this number of people, each with a channel of each kind.
fn world_of(count: usize) -> World {
    let mut world = World::new(5, room::Config::new("demo", 1));
    for _ in 0..count {
        add(&mut world);
    }
    world.run(2 * SECOND);
    world
}

fn add(world: &mut World) -> usize {
    let at = world.add();
    for (name, qos) in [("draw", DRAW), ("pointer", POINTER), ("path", PATH)] {
        world.channel(at, name, qos);
    }
    at
}

/// All people send a message on every channel.
fn all_speak(world: &mut World, round: usize) {
    for at in 0..world.people.len() {
        world.send(at, ChannelId(0), &format!("draw {at}/{round}"));
        world.send_key(at, ChannelId(1), "me", &format!("{at} is at {round}"));
        world.send(at, ChannelId(2), &format!("path {at}/{round}"));
    }
}

/// Everybody has all transactions in one order, all paths of the others, and everybody's newest
/// pointer.
fn check(world: &World, rounds: usize) {
    let count = world.people.len();
    for (at, person) in world.people.iter().enumerate() {
        assert_eq!(errors(world, at), Vec::<String>::new());
        assert_eq!(person.document, world.people[0].document, "{at}");
        assert_eq!(person.document.len(), count * rounds, "{at}");
        assert_eq!(person.client.pending(), 0);
        assert_eq!(person.ordered.len(), rounds, "{at}");
        assert_eq!(person.texts(ChannelId(2)).len(), (count - 1) * rounds, "{at}");
        for other in (0..count).filter(|&other| other != at) {
            let newest = format!("{other} is at {}", rounds - 1);
            assert!(person.texts(ChannelId(1)).contains(&newest), "{at} misses {newest}");
        }
    }
}

#[test]
fn w62_everybody_is_sent_the_same_and_drops_their_own() {
    let mut world = world_of(6);
    for round in 0..30 {
        all_speak(&mut world, round);
        world.run(40 * MS);
    }
    world.run(2 * SECOND);
    check(&world, 30);
    let stats = world.room.stats();
    assert_eq!(stats.deliveries % 5, 0, "each message is delivered to five");
}

/// The number of packets to a participant with a shared payload, and without one, since the last
/// call.
fn traced(world: &mut World, at: usize) -> (usize, usize) {
    let id = world.people[at].client.participant().unwrap();
    let packets = world.room.traced();
    let of = packets.iter().filter(|packet| {
        packet.participant == id && packet.is_outgoing && !packet.parts.is_empty()
    });
    let shared = of.clone().filter(|packet| packet.group.is_some()).count();
    (shared, of.count() - shared)
}

/// The number of packets with shared payloads, to all participants.
fn shared_packets(world: &mut World) -> usize {
    world.room.traced().iter().filter(|packet| packet.group.is_some()).count()
}

#[test]
fn w60_a_class_takes_more_than_the_bound_and_lasts_to_half_of_it() {
    let mut world = world_of(4);
    world.room.set_tracing(true);
    all_speak(&mut world, 0);
    world.run(SECOND);
    assert_eq!(shared_packets(&mut world), 0);
    add(&mut world);
    world.run(2 * SECOND);
    world.room.traced();
    all_speak(&mut world, 1);
    world.run(SECOND);
    assert!(shared_packets(&mut world) >= 5);
    // Participants that are away do not count.
    for gone in [1, 2] {
        world.people[gone].reachable = false;
        world.cut(gone);
        world.run(SECOND);
        world.room.traced();
        world.send(0, ChannelId(0), &format!("without {gone}"));
        world.run(SECOND);
        assert!(shared_packets(&mut world) > 0);
    }
    world.people[3].reachable = false;
    world.cut(3);
    world.run(SECOND);
    world.room.traced();
    world.send(0, ChannelId(0), "too few");
    world.run(SECOND);
    assert_eq!(shared_packets(&mut world), 0);
    world.people.iter_mut().for_each(|person| person.reachable = true);
    world.settle();
    for at in 0..5 {
        assert_eq!(world.people[at].document, world.people[0].document, "{at}");
        assert_eq!(errors(&world, at), Vec::<String>::new());
    }
}

#[test]
fn w61_a_newcomer_is_let_in_with_a_small_model() {
    let mut world = world_of(6);
    for round in 0..100 {
        all_speak(&mut world, round);
        world.run(40 * MS);
    }
    let late = add(&mut world);
    world.run(2 * SECOND);
    world.room.set_tracing(true);
    all_speak(&mut world, 100);
    world.run(SECOND);
    let (shared, alone) = traced(&mut world, late);
    assert!(shared > 0 && alone == 0, "it is sent nothing alone");
    assert_eq!(world.people[late].document, world.people[0].document);
    assert!(world.people[late].texts(ChannelId(2)).contains(&"path 3/100".to_owned()));
    assert!((0..7).all(|at| errors(&world, at).is_empty()));
}

#[test]
fn w64_who_stalls_leaves_and_comes_back() {
    let mut world = world_of(6);
    world.room.set_tracing(true);
    // Slower than the room: two packets under way take longer than all that is kept.
    world.people[2].delay = 1900 * MS;
    let mut alone = 0;
    for round in 0..120 {
        all_speak(&mut world, round);
        world.run(40 * MS);
        alone += traced(&mut world, 2).1;
    }
    assert!(alone > 0, "it left");
    world.people[2].delay = 5 * MS;
    world.run(8 * SECOND);
    world.room.traced();
    all_speak(&mut world, 120);
    world.run(2 * SECOND);
    assert!(traced(&mut world, 2).0 > 0, "it is back");
    for person in &world.people {
        assert_eq!(person.document, world.people[0].document);
        assert_eq!(person.document.len(), 121 * 6);
        assert_eq!((person.client.pending(), person.ordered.len()), (0, 121));
    }
    assert!((0..6).all(|at| errors(&world, at).is_empty()));
}

#[test]
fn w65_private_channels_are_in_no_class() {
    let mut world = world_of(6);
    let secret = Qos { private: true, ..POINTER };
    for at in 0..6 {
        world.channel(at, "secret", secret);
    }
    // Until all have left the group and entered it again.
    world.run(4 * SECOND);
    world.room.set_tracing(true);
    let mut sent = (0, 0);
    for round in 0..20 {
        all_speak(&mut world, round);
        world.send_key(1, ChannelId(3), "me", &format!("secret {round}"));
        world.run(40 * MS);
        let packets = world.room.traced();
        for packet in packets.iter().filter(|packet| packet.group.is_some()) {
            assert!(
                packet.parts.iter().all(|part| part.channel != ChannelNo(4)),
                "it is nobody else's"
            );
            sent.0 += 1;
        }
        sent.1 += world.people[0].texts(ChannelId(3)).len();
    }
    world.run(SECOND);
    assert!(sent.0 > 60 && sent.1 > 0);
    check(&world, 20);
    for at in (0..6).filter(|&at| at != 1) {
        assert!(world.people[at].texts(ChannelId(3)).contains(&"secret 19".to_owned()));
    }
}

#[test]
fn channels_opened_and_shut_lead_from_class_to_class() {
    let mut world = world_of(7);
    for round in 0..60 {
        all_speak(&mut world, round);
        if round % 10 == 3 {
            let name = format!("more {}", round / 20);
            for at in 0..(round / 10 + 1) {
                world.channel(at, &name, DRAW);
            }
        }
        if round % 10 == 7 {
            let compress = if round < 30 {
                groupwire_session::Compress::Off
            } else {
                groupwire_session::Compress::Template
            };
            world.people[round % 7].client.compress(ChannelId(1), compress).unwrap();
        }
        world.run(40 * MS);
    }
    world.run(3 * SECOND);
    check(&world, 60);
}

#[test]
fn where_there_are_datagrams_the_stream_has_the_rest() {
    let mut world = World::new(9, room::Config::new("demo", 1));
    for at in 0..10 {
        add(&mut world);
        let max = if at < 5 { 1200 } else { 0 };
        world.people[at].air = Air { max, lost: 20, repeated: 5, damaged: 0, jitter_ms: 30 };
    }
    world.run(2 * SECOND);
    world.room.set_tracing(true);
    for round in 0..40 {
        for at in 0..10 {
            world.send(at, ChannelId(0), &format!("draw {at}/{round}"));
            world.send_key(at, ChannelId(1), "me", &format!("{at} is at {round}"));
        }
        world.run(40 * MS);
    }
    let groups: std::collections::BTreeSet<_> =
        world.room.traced().iter().filter_map(|packet| packet.group).collect();
    assert_eq!(groups.len(), 2, "those with datagrams, and those without");
    world.run(3 * SECOND);
    for at in 0..10 {
        let person = &world.people[at];
        assert_eq!(errors(&world, at), Vec::<String>::new());
        assert_eq!(person.document, world.people[0].document);
        assert_eq!(person.document.len(), 400);
        for other in (0..10).filter(|&other| other != at) {
            let newest = format!("{other} is at 39");
            assert!(person.texts(ChannelId(1)).contains(&newest), "{at} misses {newest}");
        }
    }
}

#[test]
fn random_models_and_bodies_end_a_client_with_a_typed_error() {
    use groupwire_session::client::{Event, Input, Output};
    let mut random = crate::support::Random::new(3);
    for _ in 0..60 {
        let mut world = world_of(1);
        let client = &mut world.people[0].client;
        let now = world.now;
        let bytes = |random: &mut crate::support::Random, count: u64| -> Vec<u8> {
            (0..count).map(|_| random.next() as u8).collect()
        };
        // MODEL for the stream (0) and group 1, then SHARED.
        let total = random.below(60);
        let mut model = vec![0, 1, total as u8, 0];
        let length = random.below(61);
        model.extend(bytes(&mut random, length));
        let mut packet = vec![0x18, model.len() as u8];
        packet.extend(model);
        packet.push(0x9d);
        let length = random.below(100);
        packet.extend(bytes(&mut random, length));
        client.handle_input(now, Input::Packet(&packet));
        while let output = client.poll_output(now)
            && !matches!(output, Output::Timeout(_))
        {
            if let Output::Event(Event::Error { error, .. }) = output {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}
