//! Channels whose messages are packed each alone (wire W45 to W51), between a room and its clients.

use std::time::Duration;

use groupwire_session::client::{
    ChannelId, ChannelOptions, Config as ClientConfig, Outgoing, Status,
};
use groupwire_session::codecs::{ALL, Choice, Codec, Filter, Packer};
use groupwire_session::{ChannelStats, Compress, Qos, room};
use proptest::prelude::*;

use crate::grammar::write_bytes;
use crate::support::{Air, MS, World, errors};

const DRAW: Qos = Qos::transaction();
const POINTER: Qos = Qos::awareness();

/// The number of the room's first channel.
const FIRST: u8 = 1;

#[test]
fn w45_every_codec_by_name_both_ways() {
    for codec in ALL.iter().filter(|codec| codec.number() != 0) {
        let compress = Compress::Named(Choice::codec(codec.number()));
        let mut world = World::with_tick(MS * 40);
        let draw = pair(&mut world, DRAW, [compress, compress]);
        let message = message(0);
        send(&mut world, 0, draw, &message);
        world.run(MS * 500);
        assert_eq!(world.people[1].messages[0].bytes, message, "{}", codec.name());
        for traffic in [stats(&world, 0, draw).sent, stats(&world, 1, draw).received] {
            assert_eq!(traffic.codec, Some(Choice::codec(codec.number())), "{}", codec.name());
            assert_eq!((traffic.messages, traffic.bytes_before), (1, message.len() as u64));
            assert!(traffic.bytes_after < traffic.bytes_before, "{}: {traffic:?}", codec.name());
        }
    }
}

#[test]
fn w45_each_end_has_its_own_choice() {
    let choices = ["template", "off", "auto", "lz4", "zlib", "delta1+lz4"];
    let mut world = World::with_tick(MS * 40);
    let mut draw = ChannelId(0);
    for (person, name) in choices.iter().enumerate() {
        world.add();
        draw = open(&mut world, person, "draw", DRAW, name.parse().unwrap());
    }
    world.run(MS * 500);
    for person in 0..choices.len() {
        send(&mut world, person, draw, &message(person));
    }
    world.run(MS * 1000);
    for person in 0..choices.len() {
        let all: Vec<_> =
            world.people[person].messages.iter().map(|one| one.bytes.clone()).collect();
        assert_eq!(all.len(), choices.len(), "{}", choices[person]);
        for sender in 0..choices.len() {
            assert!(all.contains(&message(sender)), "{} misses one", choices[person]);
        }
        let received = stats(&world, person, draw).received;
        let alone = if person == 0 { 0 } else { choices.len() as u64 - 1 };
        assert_eq!(received.messages, alone, "{}", choices[person]);
        assert_eq!(received.messages + received.coded_messages, choices.len() as u64 - 1);
    }
}

#[test]
fn w47_mixed_channels_of_one_connection_keep_their_order() {
    let names = ["template", "off", "auto", "lz4", "zlib"];
    let mut world = World::with_tick(MS * 40);
    let mut channels = Vec::new();
    for person in 0..2 {
        world.add();
        channels =
            names.map(|name| open(&mut world, person, name, DRAW, name.parse().unwrap())).to_vec();
        channels.push(open(&mut world, person, "secret", DRAW.private(), Compress::Template));
    }
    world.run(MS * 500);
    for round in 0..20 {
        for &channel in &channels {
            send(&mut world, 0, channel, &message(round));
        }
        world.run(MS * 20);
    }
    world.run(MS * 2000);
    let came: Vec<_> =
        world.people[1].messages.iter().map(|one| (one.channel, one.bytes.clone())).collect();
    let sent: Vec<_> = (0..20)
        .flat_map(|round| channels.iter().map(move |&channel| (channel, message(round))))
        .collect();
    assert!(came == sent, "something is missing or out of order");
    assert_eq!(world.people[0].client.pending(), 0);
}

#[test]
fn w45_the_choice_changes_while_a_channel_is_open() {
    let mut world = World::with_tick(MS * 40);
    let draw = pair(&mut world, DRAW, [Compress::Template; 2]);
    for (name, alone, codec) in [
        ("template", 0, None),
        ("lz4", 1, Some(1)),
        ("zlib", 2, Some(2)),
        ("off", 3, Some(0)),
        ("template", 3, Some(0)),
    ] {
        for person in 0..2 {
            world.people[person].client.compress(draw, name.parse().unwrap()).unwrap();
        }
        world.run(MS * 200);
        send(&mut world, 0, draw, &message(3));
        world.run(MS * 500);
        for traffic in [stats(&world, 0, draw).sent, stats(&world, 1, draw).received] {
            assert_eq!(traffic.messages, alone, "{name}");
            assert_eq!(traffic.codec, codec.map(Choice::codec), "{name}");
        }
    }
}

#[test]
fn w45_a_choice_made_before_the_server_answers_holds() {
    let mut world = World::with_tick(MS * 40);
    pair(&mut world, DRAW, [Compress::Off; 2]);
    for person in 0..2 {
        let late = world.channel(person, "late", DRAW);
        world.people[person].client.compress(late, "lz4".parse().unwrap()).unwrap();
    }
    world.run(MS * 500);
    send(&mut world, 0, ChannelId(1), &message(0));
    world.run(MS * 500);
    assert_eq!(stats(&world, 1, ChannelId(1)).received.codec, Some(Choice::codec(1)));
}

#[test]
fn w46_who_cannot_read_a_codec_is_sent_messages_as_they_are() {
    let poor: &'static [&'static dyn Codec] = &ALL[..2];
    let zlib: Compress = "zlib".parse().unwrap();
    // The receiver cannot.
    let mut world = World::with_tick(MS * 40);
    world.add();
    world.add_with(ClientConfig { codecs: poor, ..ClientConfig::new("demo") });
    let draw = opened(&mut world, DRAW, [zlib; 2]);
    send(&mut world, 0, draw, &message(0));
    world.run(MS * 500);
    assert_eq!(world.people[1].messages[0].bytes, message(0));
    assert_eq!(stats(&world, 0, draw).sent.codec, Some(Choice::codec(2)));
    assert_eq!(stats(&world, 1, draw).received.codec, Some(Choice::NONE));
    // The receiver gets the codec.
    world.people[1].client.set_codecs(ALL);
    world.run(MS * 100);
    send(&mut world, 0, draw, &message(1));
    world.run(MS * 500);
    assert_eq!(stats(&world, 1, draw).received.codec, Some(Choice::codec(2)));

    // The server cannot.
    let mut world = World::new(1, room::Config { codecs: poor, ..room::Config::new("demo", 7) });
    let draw = pair(&mut world, DRAW, [zlib; 2]);
    send(&mut world, 0, draw, &message(0));
    world.run(MS * 500);
    assert_eq!(world.people[1].messages[0].bytes, message(0));
    assert_eq!(stats(&world, 0, draw).sent.codec, Some(Choice::NONE));
}

#[test]
fn a_room_without_compression_packs_nothing() {
    let mut world = World::new(1, room::Config { compress: false, ..room::Config::new("demo", 7) });
    let draw = pair(&mut world, DRAW, ["lz4".parse().unwrap(), Compress::Auto]);
    send(&mut world, 0, draw, &message(0));
    world.run(MS * 500);
    assert_eq!(world.people[1].messages[0].bytes, message(0));
    assert_eq!(stats(&world, 0, draw).sent.codec, Some(Choice::NONE));
}

#[test]
fn w45_a_new_transport_keeps_the_choice() {
    let mut world = World::with_tick(MS * 40);
    let draw = pair(&mut world, DRAW, [Compress::Template; 2]);
    for person in 0..2 {
        world.people[person].client.compress(draw, "lz4".parse().unwrap()).unwrap();
    }
    world.run(MS * 200);
    world.cut(0);
    world.cut(1);
    send(&mut world, 0, draw, &message(0));
    world.run(MS * 4000);
    world.change_transport(1, Air { max: 1200, ..Air::default() });
    world.run(MS * 500);
    send(&mut world, 0, draw, &message(1));
    world.run(MS * 500);
    assert_eq!(world.people[1].messages.len(), 2);
    let received = stats(&world, 1, draw).received;
    assert_eq!((received.messages, received.codec), (2, Some(Choice::codec(1))));
}

#[test]
fn w49_more_codings_than_are_kept_of_a_message() {
    let filters = Filter::ALL.iter();
    let choices =
        filters.flat_map(|&filter| [1, 2].map(|codec| Choice { filter, ..Choice::codec(codec) }));
    let choices: Vec<_> = choices.collect();
    let mut world = World::with_tick(MS * 40);
    let mut draw = ChannelId(0);
    for (person, &choice) in choices.iter().enumerate() {
        world.add();
        draw = open(&mut world, person, "draw", DRAW, Compress::Named(choice));
    }
    world.run(MS * 500);
    for round in 0..10 {
        send(&mut world, 0, draw, &message(round));
    }
    world.run(MS * 500);
    for person in 0..choices.len() {
        assert_eq!(world.people[person].messages.len(), 10);
    }
}

#[test]
fn w47_late_joiners_are_sent_packed_state() {
    let mut world = World::with_tick(MS * 40);
    world.add();
    let lz4 = "lz4".parse().unwrap();
    let draw = open(&mut world, 0, "draw", DRAW, lz4);
    world.run(MS * 200);
    for round in 0..50 {
        send(&mut world, 0, draw, &message(round));
    }
    world.run(MS * 500);
    world.add();
    open(&mut world, 1, "draw", DRAW, "zlib".parse().unwrap());
    world.run(MS * 1000);
    let received = stats(&world, 1, draw).received;
    assert_eq!((received.messages, received.codec), (50, Some(Choice::codec(2))));
    let all: Vec<_> = world.people[1].messages.iter().map(|one| one.bytes.clone()).collect();
    assert!(all == (0..50).map(message).collect::<Vec<_>>());
}

#[test]
fn w38_packed_awareness_in_datagrams() {
    for air in
        [Air { max: 1200, ..Air::default() }, Air { max: 1200, damaged: 40, ..Air::default() }]
    {
        let mut world = World::with_tick(MS * 40);
        let pointer = pair_over(&mut world, POINTER.aggregate(), ["lz4".parse().unwrap(); 2], air);
        for round in 0..50 {
            send(&mut world, 0, pointer, &message(round));
            world.run(MS * 50);
        }
        world.run(MS * 1000);
        let (of, came) = world.people[0].datagrams;
        assert!(of > 20 && came > 20, "{of} datagrams, {came} came");
        let received = stats(&world, 1, pointer).received;
        assert_eq!(received.codec, Some(Choice::codec(1)));
        // A plain body in a datagram has no check of its own, so that some damage may go unnoticed.
        if air.damaged == 0 {
            assert_eq!(received.messages, 50);
            let all: Vec<_> =
                world.people[1].messages.iter().map(|one| one.bytes.clone()).collect();
            assert!(all == (0..50).map(message).collect::<Vec<_>>());
        }
        for person in 0..2 {
            assert_eq!(world.people[person].status, Some(Status::Connected));
            assert_eq!(errors(&world, person), Vec::<String>::new());
        }
    }
}

#[test]
fn w48_hostile_records_cost_their_sender_the_connection() {
    let bomb = packed(Choice::codec(2), &[0; 300_000]);
    let fifty = packed(Choice::codec(2), &[0; 50_000]);
    let lying = {
        let mut packed = packed(Choice::codec(1), &message(0));
        packed[1] ^= 0x40;
        packed
    };
    let short = &packed(Choice::codec(1), &message(0))[..20];
    let attacks: [(&str, Vec<&[u8]>); 8] = [
        ("a codec that nobody knows", vec![&[15, 1, 2, 3]]),
        ("a filter that nobody knows", vec![&[7 << 5 | 1, 1, 2, 3]]),
        ("a dictionary", vec![&[16 | 1, 0, 0, 0, 0, 1, 2, 3]]),
        ("nothing at all", vec![&[]]),
        ("a length that is not true", vec![&lying]),
        ("an end that is missing", vec![short]),
        ("a bomb", vec![&bomb]),
        ("many of the largest", vec![&fifty[..]; 20]),
    ];
    for (what, records) in attacks {
        let mut world = World::with_tick(MS * 40);
        pair(&mut world, DRAW, ["lz4".parse().unwrap(); 2]);
        world.inject(0, &packet(&records));
        world.run(MS * 60);
        let told = errors(&world, 0);
        assert!(told.iter().any(|error| error.contains("does not decode")), "{what}: {told:?}");
        // The messages before the first bad record of a body are delivered.
        let seen = world.people[1].messages.len();
        assert!(seen <= 262_144 / 50_000, "{what}: {seen} messages");
        assert_eq!(seen == 0, records.len() == 1, "{what}: {seen} messages");
        assert_eq!(errors(&world, 1), Vec::<String>::new(), "{what}");
        world.run(MS * 10_000);
        assert_eq!(world.people[1].status, Some(Status::Connected), "{what}");
    }
}

#[test]
fn w46_a_codec_that_was_not_offered_is_refused() {
    let mut world =
        World::new(1, room::Config { codecs: &ALL[..2], ..room::Config::new("demo", 7) });
    pair(&mut world, DRAW, ["lz4".parse().unwrap(); 2]);
    let zlib = packed(Choice::codec(2), &message(0));
    world.inject(0, &packet(&[&zlib]));
    world.run(MS * 60);
    assert!(errors(&world, 0).iter().any(|error| error.contains("number 2")));
    assert_eq!(world.people[1].messages.len(), 0);
}

#[test]
fn w45_frames_that_make_no_sense_are_refused() {
    for (what, frame) in [
        ("a channel that is not open", &[0x1a, 2, 9, 0][..]),
        ("a compression that nobody knows", &[0x1a, 2, FIRST, 4]),
        ("a coding with a dictionary", &[0x1a, 3, FIRST, 3, 17]),
        ("bytes too many", &[0x1a, 3, FIRST, 1, 1]),
    ] {
        let mut world = World::with_tick(MS * 40);
        pair(&mut world, DRAW, [Compress::Off; 2]);
        world.inject(0, frame);
        world.run(MS * 60);
        assert_eq!(errors(&world, 0).len(), 1, "{what}");
        assert_eq!(errors(&world, 1), Vec::<String>::new(), "{what}");
    }
    // Codecs of later versions are not among the codecs of this end.
    let mut world = World::with_tick(MS * 40);
    pair(&mut world, DRAW, [Compress::Off; 2]);
    world.inject(0, &[0x59, 5, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    world.run(MS * 60);
    assert_eq!(errors(&world, 0), Vec::<String>::new());
}

#[test]
fn w38_a_hostile_packed_datagram_costs_nothing_else() {
    let air = Air { max: 1200, ..Air::default() };
    let mut world = World::with_tick(MS * 40);
    let pointer = pair_over(&mut world, POINTER.aggregate(), ["lz4".parse().unwrap(); 2], air);
    for record in [&[15, 1][..], &packed(Choice::codec(2), &[0; 100_000]), &[]] {
        for person in 0..2 {
            world.inject_datagram(person, &packet(&[record]));
        }
    }
    send(&mut world, 0, pointer, &message(0));
    world.run(MS * 500);
    assert_eq!(world.people[1].messages.len(), 1);
    for person in 0..2 {
        assert_eq!(errors(&world, person), Vec::<String>::new());
    }
}

/// W50: what is chosen depends on the rate of the link, which both ends learn from pings alone.
#[test]
fn w51_auto_learns_the_rate_and_what_pays_on_it() {
    // 80 kbit/s, as time goes in steps of a millisecond here; and a link that takes no time for an
    // byte.
    for (per_byte, pays) in [(Duration::from_micros(100), true), (Duration::ZERO, false)] {
        let mut world = World::with_tick(MS * 40);
        let draw = pair(&mut world, DRAW, [Compress::Auto; 2]);
        (0..2).for_each(|person| world.people[person].per_byte = per_byte);
        for round in 0..600 {
            send(&mut world, 0, draw, &message(round));
            world.run(MS * 200);
        }
        world.run(MS * 2000);
        assert_eq!(world.people[1].messages.len(), 600);
        for person in 0..2 {
            let stats = stats(&world, person, draw);
            let traffic = if person == 0 { stats.sent } else { stats.received };
            assert_eq!(traffic.messages, 600);
            let is_half = traffic.bytes_after * 2 < traffic.bytes_before;
            assert_eq!(is_half, pays, "person {person} at {per_byte:?}: {traffic:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_is_sent_comes_as_it_was(
        messages in proptest::collection::vec(proptest::collection::vec(0u8..9, 0..4000), 1..12),
        codings in proptest::collection::vec((0..ALL.len(), 0..Filter::ALL.len()), 2),
        max in prop_oneof![Just(0usize), Just(400), Just(1200)],
    ) {
        let compress = [0, 1].map(|person| {
            let (codec, filter) = codings[person];
            Compress::Named(Choice { filter: Filter::ALL[filter], ..Choice::codec(ALL[codec].number()) })
        });
        let mut world = World::with_tick(MS * 40);
        let qos = POINTER.aggregate();
        let pointer = pair_over(&mut world, qos, compress, Air { max, ..Air::default() });
        for message in &messages {
            send(&mut world, 0, pointer, message);
        }
        world.run(MS * 500);
        let all = world.people[1].messages.iter();
        let mut came: Vec<_> = all.map(|message| message.bytes.clone()).collect();
        // Messages that are too large for a datagram take the stream, and others may overtake them.
        let mut messages = messages;
        came.sort();
        messages.sort();
        prop_assert_eq!(came, messages);
    }
}

/// About a kilobyte that every codec makes smaller.
fn message(seed: usize) -> Vec<u8> {
    let mut message = format!("{{\"seed\": {seed}, \"values\": [").into_bytes();
    for at in 0..40 {
        message.extend_from_slice(format!("{:04}        ", (at * seed) % 50).as_bytes());
        message.extend_from_slice(&[0; 12]);
    }
    message
}

fn pair(world: &mut World, qos: Qos, compress: [Compress; 2]) -> ChannelId {
    pair_over(world, qos, compress, Air::default())
}

fn pair_over(world: &mut World, qos: Qos, compress: [Compress; 2], air: Air) -> ChannelId {
    for _ in 0..2 {
        let person = world.add();
        world.people[person].air = air;
    }
    opened(world, qos, compress)
}

/// The first two people open a channel.
fn opened(world: &mut World, qos: Qos, compress: [Compress; 2]) -> ChannelId {
    let [one, _] = [0, 1].map(|person| open(world, person, "draw", qos, compress[person]));
    world.run(MS * 500);
    one
}

fn open(world: &mut World, person: usize, name: &str, qos: Qos, compress: Compress) -> ChannelId {
    let options = ChannelOptions { compress, ..ChannelOptions::default() };
    world.people[person].client.channel_with(name, qos, options).unwrap()
}

fn send(world: &mut World, person: usize, channel: ChannelId, bytes: &[u8]) {
    let message = Outgoing { bytes, ..Outgoing::default() };
    let now = world.now;
    world.people[person].client.send(now, channel, message).unwrap();
}

fn stats(world: &World, person: usize, channel: ChannelId) -> ChannelStats {
    world.people[person].client.channel_stats(channel).unwrap()
}

fn packed(choice: Choice, message: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    Packer::new(ALL).pack(choice, message, &mut packed).unwrap();
    packed
}

/// A packet whose body has these packed records, of the room's first channel.
fn packet(records: &[&[u8]]) -> Vec<u8> {
    let mut packet = vec![0x86];
    for record in records {
        packet.extend_from_slice(&[FIRST, 0, 0x80, 0x01, 0, 0, 0]);
        write_bytes(record, &mut packet);
    }
    packet
}
