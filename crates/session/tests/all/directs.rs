//! Direct transactions: those for one participant (wire W114 to W116).

use std::time::Duration;

use groupwire_session::client::{ChannelId, Event, Incoming, Outgoing, Recipient, Sent};
use groupwire_session::{Limits, ParticipantId, Position, Qos, Receipt, room};

use crate::support::{MS, World, demo};

const CHAT: ChannelId = ChannelId(0);
const NOTES: ChannelId = ChannelId(1);

fn join(world: &mut World) -> usize {
    let person = world.add();
    world.channel(person, "chat", Qos::transaction());
    world.channel(person, "notes", Qos::transaction());
    person
}

fn people(world: &mut World, count: usize) -> Vec<usize> {
    let people: Vec<usize> = (0..count).map(|_| join(world)).collect();
    world.run(1000 * MS);
    people
}

fn id(world: &World, person: usize) -> ParticipantId {
    world.people[person].client.participant().unwrap()
}

/// Sends `whisper` and the tag as a direct transaction to one participant.
fn whisper(world: &mut World, from: usize, to: ParticipantId, tag: u32) {
    let text = format!("whisper {tag}");
    let to = Some(Recipient { participant: to, tag });
    let message = Outgoing { bytes: text.as_bytes(), text: true, to, ..Outgoing::default() };
    let sent = world.people[from].client.send(world.now, CHAT, message);
    assert_eq!(sent, Ok(Sent::Accepted));
}

fn receipts(world: &World, person: usize) -> Vec<(u32, Receipt)> {
    let events = world.people[person].events.iter();
    events
        .filter_map(|event| match event {
            Event::Receipt { channel: CHAT, to, receipt } => Some((to.tag, *receipt)),
            _ => None,
        })
        .collect()
}

fn is_fine(world: &World, person: usize) {
    let errors = |event: &Event| matches!(event, Event::Error { .. } | Event::Gap { .. });
    assert!(!world.people[person].saw(errors), "{:?}", world.people[person].events);
}

#[test]
fn w114_only_its_receiver_is_told_at_its_place_in_the_order() {
    // Over private streams, over a shared stream, with copies in datagrams, and in both kinds of
    // rooms.
    for (count, max, is_stored) in
        [(3, 0, false), (12, 0, false), (12, 1200, false), (3, 1200, true), (12, 0, true)]
    {
        let mut world = World::stored_if(is_stored, 5, demo(), 20);
        let everybody = people(&mut world, count);
        world.give_datagrams(&everybody, max);
        let (ada, eve) = (everybody[0], everybody[1]);
        let to = id(&world, eve);
        for nth in 0..20 {
            world.send(ada, CHAT, &format!("before {nth}"));
            whisper(&mut world, ada, to, nth);
            world.send(ada, CHAT, &format!("after {nth}"));
            world.run(MS * (nth * 7));
        }
        // A direct transaction that no other follows, and one to the sender itself.
        world.run(1000 * MS);
        whisper(&mut world, ada, to, 20);
        let own = id(&world, ada);
        whisper(&mut world, ada, own, 21);
        let late = join(&mut world);
        world.run(2000 * MS);
        let expected: Vec<String> = (0..20)
            .flat_map(|nth| ["before", "whisper", "after"].map(|what| format!("{what} {nth}")))
            .chain(["whisper 20".into()])
            .collect();
        assert_eq!(world.people[eve].texts(CHAT), expected, "{count} {max} {is_stored}");
        let to_eve: Vec<&Incoming> =
            world.people[eve].messages.iter().filter(|one| one.to.is_some()).collect();
        assert!(to_eve.iter().all(|one| one.to == Some(to) && !one.own && !one.state));
        let places = |person: usize| -> Vec<(u64, String)> {
            let messages = world.people[person].messages.iter();
            let whispers = messages.filter(|one| one.to == Some(to));
            let text = |one: &Incoming| String::from_utf8_lossy(&one.bytes).into_owned();
            whispers.map(|one| (one.position.get(), text(one))).collect()
        };
        assert_eq!(places(eve), places(ada), "one place for both");
        assert!(places(eve).is_sorted() && places(eve).len() == 21);
        let mut told = world.people[ada].texts(CHAT);
        assert_eq!(
            told.iter().filter(|text| *text == "whisper 21").count(),
            2,
            "own and for itself"
        );
        told.retain(|text| text != "whisper 21");
        assert_eq!(told, expected);
        for &other in everybody[2..].iter().chain([&late]) {
            let whispers = world.people[other].texts(CHAT);
            assert!(!whispers.iter().any(|text| text.contains("whisper")), "{other}: {whispers:?}");
            // A part of the snapshot covers the messages that the late joiner lacks.
            assert!(whispers.len() == 40 || other == late, "{other}: {whispers:?}");
            is_fine(&world, other);
        }
        let delivered: Vec<_> = (0..22).map(|tag| (tag, Receipt::Delivered)).collect();
        let mut told = receipts(&world, ada);
        told.sort_unstable_by_key(|(tag, _)| *tag);
        assert_eq!(told, delivered, "{count} {max} {is_stored}");
        is_fine(&world, ada);
        is_fine(&world, eve);
    }
}

/// After a break, the receiver says of the first one that comes again that it has several, some of
/// which its new transport was not handed yet.
#[test]
fn w115_who_has_several_from_its_last_transport_says_so_before_they_come_again() {
    for cut in 0..60 {
        let mut world = World::stored_if(false, 9, demo(), 20);
        let [ada, eve] = people(&mut world, 2)[..] else { panic!("two people") };
        let to = id(&world, eve);
        world.people[eve].per_byte = MS / 100;
        world.people[eve].delay = 800 * MS;
        // Each fills a packet, because nothing compresses it.
        let mut seed = 1_u32;
        let mut noise = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        for tag in 0..6 {
            let bytes: Vec<u8> = (0..45_000).map(|_| noise()).collect();
            let to = Some(Recipient { participant: to, tag });
            let message = Outgoing { bytes: &bytes, to, ..Outgoing::default() };
            assert_eq!(world.people[ada].client.send(world.now, CHAT, message), Ok(Sent::Accepted));
        }
        world.run(100 * MS * cut);
        world.cut(eve);
        world.people[eve].delay = 10 * MS;
        world.run(10_000 * MS);
        assert_eq!(world.people[eve].messages.len(), 6, "each once, cut at {cut}");
        assert_eq!(receipts(&world, ada).len(), 6);
        is_fine(&world, eve);
        is_fine(&world, ada);
    }
}

#[test]
fn w115_it_waits_for_who_is_away_whatever_the_log_forgets() {
    for is_stored in [false, true] {
        let limits = Limits { snapshot_after: 5, max_log_bytes: 20_000, ..demo().limits };
        let mut world = World::stored_if(is_stored, 9, room::Config { limits, ..demo() }, 20);
        let [ada, eve, cyd] = people(&mut world, 3)[..] else { panic!("three people") };
        let to = id(&world, eve);
        world.people[eve].reachable = false;
        world.cut(eve);
        world.run(100 * MS);
        whisper(&mut world, ada, to, 1);
        for nth in 0..300 {
            world.send(cyd, CHAT, &format!("{nth} {}", "long ".repeat(40)));
            world.run(10 * MS);
        }
        if is_stored {
            // A part of the snapshot covers the place of the direct transaction now, and the server
            // dies.
            assert!(world.room.channels()[0].part.is_some());
            world.restart();
            world.run(1000 * MS);
        }
        assert_eq!(receipts(&world, ada), []);
        world.people[eve].reachable = true;
        world.run(6000 * MS);
        assert_eq!(id(&world, eve), to, "it resumed");
        let whispers = |world: &World| {
            world.people[eve].texts(CHAT).iter().filter(|text| *text == "whisper 1").count()
        };
        assert_eq!(whispers(&world), 1, "{is_stored}");
        assert_eq!(receipts(&world, ada), [(1, Receipt::Delivered)]);
        // It is delivered once, even if the server dies while its store still has it.
        if is_stored {
            world.restart();
            world.run(6000 * MS);
            assert_eq!(whispers(&world), 1);
            assert_eq!(receipts(&world, ada), [(1, Receipt::Delivered)]);
        }
    }
}

#[test]
fn w116_the_sender_is_told_what_cannot_be_delivered() {
    for is_stored in [false, true] {
        let mut world = World::stored_if(is_stored, 9, demo(), 20);
        let [ada, eve, cyd] = people(&mut world, 3)[..] else { panic!("three people") };
        // No participant has this number.
        whisper(&mut world, ada, ParticipantId(77), 1);
        // A participant that has left.
        let gone = id(&world, cyd);
        world.people[cyd].client.leave();
        world.run(500 * MS);
        whisper(&mut world, ada, gone, 2);
        // A participant that does not receive the channel.
        let closed = world.add();
        world.channel(closed, "notes", Qos::transaction());
        world.run(500 * MS);
        let to = id(&world, closed);
        whisper(&mut world, ada, to, 3);
        world.run(500 * MS);
        if is_stored {
            // After a restart, all reserved numbers count as given out, also those that nobody had.
            world.restart();
            world.run(2000 * MS);
        }
        let told = [(1, Receipt::Gone), (2, Receipt::Gone), (3, Receipt::NotOpen)];
        assert_eq!(receipts(&world, ada), told);
        // A participant that is away and does not come back. The sender is away for a while, too.
        let away = id(&world, eve);
        world.people[eve].reachable = false;
        world.cut(eve);
        whisper(&mut world, ada, away, 4);
        world.run(7000 * MS);
        if is_stored {
            world.restart();
            world.run(4000 * MS);
        }
        world.people[ada].reachable = false;
        world.cut(ada);
        world.run(7000 * MS);
        assert_eq!(receipts(&world, ada), told);
        world.people[ada].reachable = true;
        world.run(9000 * MS);
        assert_eq!(receipts(&world, ada).last(), Some(&(4, Receipt::Gone)), "{is_stored}");
        assert_eq!(receipts(&world, ada).len(), 4);
        is_fine(&world, ada);
    }
}

#[test]
fn w116_what_waits_for_one_participant_is_bounded() {
    let mut world = World::durable(9, demo(), 2);
    let [ada, eve] = people(&mut world, 2)[..] else { panic!("two people") };
    let to = id(&world, eve);
    world.people[eve].reachable = false;
    world.cut(eve);
    for tag in 0..300 {
        whisper(&mut world, ada, to, tag);
        world.run(2 * MS);
    }
    world.run(500 * MS);
    let full: Vec<_> = (256..300).map(|tag| (tag, Receipt::Full)).collect();
    assert_eq!(receipts(&world, ada), full);
    world.restart();
    world.people[eve].reachable = true;
    world.run(7000 * MS);
    let delivered = receipts(&world, ada).iter().filter(|one| one.1 == Receipt::Delivered).count();
    assert_eq!(delivered, 256);
    assert_eq!(world.people[eve].texts(CHAT).len(), 256);
}

#[test]
fn w114_nobody_else_gets_it_after_the_room_lost_its_state() {
    let mut world = World::new(9, demo());
    let [ada, eve] = people(&mut world, 2)[..] else { panic!("two people") };
    let to = id(&world, eve);
    // Participants are numbered anew: the first one that comes back gets another participant's
    // number.
    world.people[ada].reachable = false;
    world.cut(ada);
    whisper(&mut world, ada, to, 1);
    world.send(ada, CHAT, "for all");
    world.restart();
    let first = join(&mut world);
    world.run(2000 * MS);
    world.people[ada].reachable = true;
    world.run(7000 * MS);
    assert_eq!(receipts(&world, ada), [(1, Receipt::Unknown)]);
    for person in [first, eve] {
        assert_eq!(world.people[person].texts(CHAT), ["for all"]);
    }
}

#[test]
fn w114_programs_that_are_no_participants_are_not_told() {
    let mut world = World::new(9, demo());
    let [ada, eve] = people(&mut world, 2)[..] else { panic!("two people") };
    let to = id(&world, eve);
    world.send(ada, CHAT, "for all");
    whisper(&mut world, ada, to, 1);
    world.send(ada, NOTES, "for all, too");
    world.run(500 * MS);
    let all: Vec<Vec<u8>> =
        world.room.transactions_after(Position(0)).map(|one| one.bytes.into_owned()).collect();
    assert_eq!(all, [b"for all".to_vec(), b"for all, too".to_vec()]);
}

#[test]
fn w114_a_large_one_or_one_on_awareness_is_refused_by_the_client() {
    // In a stored room, only direct transactions are limited to the size of a message.
    let mut world = World::durable(9, demo(), 20);
    let [ada, eve] = people(&mut world, 2)[..] else { panic!("two people") };
    let pointer = world.channel(ada, "pointer", Qos::awareness());
    let to = Some(Recipient { participant: id(&world, eve), tag: 1 });
    let large = vec![7; 60_001];
    let (client, now) = (&mut world.people[ada].client, Duration::from_secs(9));
    let message = Outgoing { bytes: &large, to, ..Outgoing::default() };
    let error = client.send(now, CHAT, message).unwrap_err().to_string();
    assert!(error.contains("message to one participant"), "{error}");
    let message = Outgoing { bytes: b"here", to, ..Outgoing::default() };
    let error = client.send(now, pointer, message).unwrap_err().to_string();
    assert!(error.contains("awareness"), "{error}");
}
