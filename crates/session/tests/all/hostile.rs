//! Hostile input from a peer (law 3 in docs/laws.md): work and memory stay within stated limits,
//! and no other participant is affected.

use groupwire_session::client::{ChannelId, Event};
use groupwire_session::codecs::{ALL, Choice, Packer};
use groupwire_session::room::Event as RoomEvent;
use groupwire_session::{Error, Qos, Rate};

use crate::grammar::varint;
use crate::support::{Air, MS, World, errors};

const POINTER: Qos = Qos::awareness().rate(0, 25);
const PATH: Qos = Qos::awareness().aggregate();
const POINTING: ChannelId = ChannelId(0);

/// The room's number of the channel of paths, which is opened second.
const PATHS_ID: u64 = 2;

fn crowd(count: usize) -> World {
    let mut world = World::with_tick(MS * 40);
    for _ in 0..count {
        let at = world.add();
        world.people[at].air = Air::CLEAR;
        world.people[at].delay = MS * 20;
        world.channel(at, "pointer", POINTER);
        world.channel(at, "path", PATH);
    }
    world.run(MS * 400);
    world
}

/// A datagram of plain records on the channel of paths (wire W39), with these flags and payloads.
fn datagram(number: u8, flags: u64, payloads: &[Vec<u8>]) -> Vec<u8> {
    let mut packet = vec![0x41, number, 0, number];
    for (index, payload) in payloads.iter().enumerate() {
        let index = index as u64;
        // Channel, sender, flags, hop, index, age, stamp, back.
        for field in [PATHS_ID, 0, flags, index, 1000 * u64::from(number) + index, 0, 0, 0] {
            varint(field, &mut packet);
        }
        varint(payload.len() as u64, &mut packet);
        packet.extend_from_slice(payload);
    }
    packet
}

#[test]
fn w48_what_a_datagram_stands_for_is_bounded() {
    let mut packed = Vec::new();
    Packer::new(ALL).pack(Choice::codec(1), &[7; 50_000], &mut packed).unwrap();
    assert!(packed.len() < 300);
    // Up to 250,000 bytes are unpacked, further messages are not.
    for (records, unread) in [(5, 0), (20, 1)] {
        let mut world = crowd(2);
        world.inject_datagram(0, &datagram(1, 128, &vec![packed.clone(); records]));
        world.run(MS * 200);
        let came = world.people[1].messages.len();
        assert_eq!((came, world.room.stats().datagrams_unread), (5, unread));
        assert_eq!(world.people[0].client.stats().reconnects, 0);
    }
}

#[test]
fn w26_a_datagram_has_a_bounded_number_of_records() {
    let mut world = crowd(2);
    world.inject_datagram(0, &datagram(1, 0, &vec![Vec::new(); 4097]));
    world.run(MS * 200);
    assert_eq!(world.room.stats().datagrams_unread, 1);
    assert_eq!(world.room.stats().messages_in, 4096);
}

#[test]
fn w38_a_datagram_never_brings_the_messages_of_another_participant_s() {
    let mut world = crowd(2);
    for step in 1..=10 {
        world.send_key(0, POINTING, "", &format!(r#"{{"user":"u0","x":{step}}}"#));
        // The room has just read the datagram of person 0.
        world.run(MS * 25);
        // The length field of the next datagram says that a coded body of 100 bytes follows, but
        // the datagram ends there.
        world.inject_datagram(1, &[0x43, step, 0, step, 100]);
        world.run(MS * 40);
    }
    assert_eq!(world.room.stats().datagrams_unread, 10);
    assert_eq!(world.people[1].texts(POINTING).len(), 10);
    // Person 1 has sent no message.
    assert!(world.people[0].messages.iter().all(|message| message.own));
}

fn point(world: &mut World, ticks: usize) {
    for _ in 0..ticks {
        for at in 0..4 {
            let text = format!(r#"{{"user":"u{at}","x":{}}}"#, world.now.as_millis());
            world.send_key(at, POINTING, "", &text);
        }
        world.run(MS * 40);
    }
}

#[test]
fn w72_a_datagram_of_acknowledgements_alone_is_read() {
    let mut world = crowd(20);
    point(&mut world, 100);
    let brought = world.people[19].brought;
    assert!(brought.shared.0 > 50, "it is in a class: {brought:?}");
    assert!(world.people[19].datagrams.1 > 5, "it says what came");
    assert_eq!(world.room.stats().datagrams_unread, 0);
    // A malformed one counts once, whatever follows it.
    world.inject_datagram(19, &[0x16, 2, 1, 0x80]);
    world.inject_datagram(19, &[0x16, 200]);
    world.inject_datagram(19, &[]);
    assert_eq!(world.room.stats().datagrams_unread, 3);
}

#[test]
fn w71_an_old_acknowledgement_lets_nobody_into_a_class() {
    let mut world = crowd(20);
    let mut old = Vec::new();
    for _ in 0..100 {
        point(&mut world, 1);
        let flying = world.flying_up(19);
        old.extend(flying.into_iter().filter(|packet| packet.first() == Some(&0x16)));
        world.run(MS * 7);
    }
    let old = old.pop().expect("it acknowledges");
    // The person leaves the group and enters it again.
    world.people[19].client.limit_rate(POINTING, Some(Rate::per_second(1))).unwrap();
    point(&mut world, 20);
    let brought = world.people[19].brought.shared.0;
    point(&mut world, 20);
    assert_eq!(world.people[19].brought.shared.0, brought, "it left");
    world.people[19].client.limit_rate(POINTING, None).unwrap();
    for _ in 0..25 {
        for _ in 0..40 {
            world.inject_datagram(19, &old);
            world.run(MS);
        }
        point(&mut world, 1);
    }
    let (brought, came) =
        (world.people[19].brought.shared.0, world.people[19].texts(POINTING).len());
    point(&mut world, 50);
    assert!(world.people[19].brought.shared.0 > brought + 45, "it is in the class again");
    let came = world.people[19].texts(POINTING).len() - came;
    assert!(came >= 4 * 48, "{came} of 200 came");
}

fn frame(tag: u8, payload: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    varint(payload.len() as u64, out);
    out.extend_from_slice(payload);
}

/// CHANGE of the channel of paths, to another priority each time.
fn change(nth: usize, out: &mut Vec<u8>) {
    let mut payload = Vec::new();
    varint(PATHS_ID, &mut payload);
    payload.extend([1, 1, nth as u8, 0]);
    (0..4).for_each(|_| varint(0, &mut payload));
    frame(0x20, &payload, out);
}

/// RATE of the channel of pointers.
fn rate(nth: usize, out: &mut Vec<u8>) {
    let mut payload = Vec::new();
    varint(1, &mut payload);
    varint(1000 * (nth as u64 % 3), &mut payload);
    frame(0x21, &payload, out);
}

#[test]
fn w77_w78_who_asks_without_end_is_cut_off() {
    for ask in [change, rate] {
        let mut world = crowd(6);
        let mut packet = Vec::new();
        (0..60).for_each(|nth| ask(nth, &mut packet));
        world.inject(5, &packet);
        world.run(MS * 1500);
        assert!(
            errors(&world, 5).is_empty(),
            "an application may ask often: {:?}",
            errors(&world, 5)
        );
        let mut packet = Vec::new();
        (0..4000).for_each(|nth| ask(nth, &mut packet));
        let before = world.log.len();
        world.inject(5, &packet);
        world.run(MS * 20);
        let news = &world.log[before..];
        let changes =
            news.iter().filter(|event| matches!(event, RoomEvent::Changed { .. })).count();
        assert!(changes <= 64 + 4 * 2, "{changes} changes");
        let is_cut = |event: &RoomEvent| {
            matches!(event, RoomEvent::Away { error: Some(Error::TooMany { .. }), .. })
        };
        assert!(news.iter().any(is_cut), "{news:?}");
        // The others notice nothing, and it may come back.
        world.run(MS * 3000);
        point(&mut world, 25);
        for person in &world.people[..5] {
            assert_eq!(person.client.stats().reconnects, 0);
            assert!(!person.saw(|event| matches!(event, Event::Error { .. })));
        }
        assert!(!world.people[5].texts(POINTING).is_empty());
    }
}
