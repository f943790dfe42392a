//! Awareness in datagrams beside the stream, and moving between transports (wire W38 to W43).

use std::time::Duration;

use groupwire_session::client::{
    ChannelId, Client, Config as ClientConfig, Event, Input, Outgoing, Output, Status,
};
use groupwire_session::{Error, ModelMemory, Qos, room};
use proptest::prelude::*;

use crate::support::{Air, MS, Random, World};

const DRAW: Qos = Qos::transaction();
const POINTER: Qos = Qos::awareness().rate(0, 25);
const PATH: Qos = Qos::awareness().aggregate();

const BAD: Air = Air { max: 1200, lost: 20, repeated: 10, damaged: 0, jitter_ms: 60 };

const DRAWING: ChannelId = ChannelId(0);
const POINTING: ChannelId = ChannelId(1);
const PATHS: ChannelId = ChannelId(2);

/// Two joined people with these faults of their datagrams.
fn two(one: Air, other: Air) -> World {
    let mut world = World::with_tick(MS * 40);
    for air in [one, other] {
        join(&mut world, air);
    }
    world.run(MS * 500);
    world
}

/// Adds one more joined person with these faults of its datagrams.
fn join(world: &mut World, air: Air) {
    let at = world.add();
    world.people[at].air = air;
    world.people[at].delay = MS * 20;
    world.channel(at, "draw", DRAW);
    world.channel(at, "pointer", POINTER);
    world.channel(at, "path", PATH);
}

/// Person 0 points for this many steps.
fn point(world: &mut World, steps: usize) {
    for step in 0..steps {
        let text = format!(r#"{{"type":"pointer","x":{},"y":{}}}"#, 100 + step * 3, 400 - step * 2);
        world.send_key(0, POINTING, "", &text);
        world.run(MS * 40);
    }
}

/// The number of 300 values, sent at 30 per second, that arrive from a room with 25 ticks per
/// second.
fn arrive_of_300(air: Air, least: u32) -> usize {
    let mut world = World::with_tick(MS * 40);
    for _ in 0..2 {
        let at = world.add();
        world.people[at].air = air;
        world.channel(at, "pointer", Qos::awareness().rate(least, 60));
    }
    world.run(MS * 500);
    for step in 0..300 {
        world.send_key(0, ChannelId(0), "", &format!(r#"{{"x":{step}}}"#));
        world.run(MS * 100 / 3);
    }
    world.run(MS * 500);
    world.people[1].texts(ChannelId(0)).len()
}

#[test]
fn w30_a_least_rate_near_the_ticks_takes_two_values_of_one() {
    for air in [Air::CLEAR, Air { max: 0, ..Air::CLEAR }] {
        assert!((240..=260).contains(&arrive_of_300(air, 10)), "{}", arrive_of_300(air, 10));
        assert_eq!(arrive_of_300(air, 20), 300);
    }
}

/// The bytes that a person with this memory sends and is sent: messages of 40 types on the stream,
/// and of 40 others in datagrams that get lost. The other person has the full memory.
fn bytes_with(memory: ModelMemory) -> [u64; 2] {
    let mut world = World::with_tick(MS * 40);
    for memory in [memory, ModelMemory::Full] {
        let at = world.add_with(ClientConfig { memory, ..ClientConfig::new("demo") });
        world.people[at].air = Air { max: 1200, lost: 10, ..Air::CLEAR };
        world.channel(at, "draw", DRAW);
        world.channel(at, "pointer", POINTER);
        world.channel(at, "path", PATH);
    }
    world.run(MS * 500);
    let mut sent = Vec::new();
    for step in 0..400 {
        let fixed = "abcdefghijklmnopqrstuvwxyz".repeat(3);
        let text = format!("{{\"kind{0}\":{1},\"{fixed}{0}\":{2}}}", step % 40, step * step, step);
        for person in 0..2 {
            world.send(person, DRAWING, &text);
            world.send_key(person, PATHS, "", &text.replace("kind", "path"));
        }
        sent.push(text);
        world.run(MS * 40);
    }
    world.run(MS * 2000);
    for person in 0..2 {
        let texts = world.people[person].texts(DRAWING);
        // Each message was sent by both.
        assert_eq!(texts.len(), 2 * sent.len());
        assert!(sent.iter().all(|text| texts.contains(text)));
        assert!(world.people[person].texts(PATHS).len() > 300);
    }
    let stats = world.people[0].client.stats();
    [stats.bytes_out_after, stats.bytes_in_after]
}

#[test]
fn w118_small_models_bring_the_same_messages_in_more_bytes_both_ways() {
    let (full, small) = (bytes_with(ModelMemory::Full), bytes_with(ModelMemory::Small));
    assert!(small[0] > full[0] && small[1] > full[1], "{full:?} {small:?}");
}

#[test]
fn w38_pointers_go_as_datagrams_of_a_few_bytes() {
    let mut world = two(Air::CLEAR, Air::CLEAR);
    point(&mut world, 50);
    let before = (world.people[0].client.stats(), world.people[0].datagrams);
    point(&mut world, 100);
    let after = (world.people[0].client.stats(), world.people[0].datagrams);
    let datagrams = after.1.0 - before.1.0;
    assert!((95..=110).contains(&datagrams), "{datagrams} datagrams for 100 pointers");
    // The bytes of all packets that the participant sent meanwhile, pings and acknowledgements too.
    let bytes = after.0.bytes_out_after - before.0.bytes_out_after;
    assert!(bytes < 1600, "{bytes} bytes for 100 pointers of 37 bytes");
    assert!(world.people[1].texts(POINTING).len() >= 145);
}

#[test]
fn w41_the_last_value_arrives_though_every_datagram_is_lost() {
    let gone = Air { lost: 100, ..Air::CLEAR };
    for (up, down) in [(gone, Air::CLEAR), (Air::CLEAR, gone)] {
        let mut world = two(up, down);
        point(&mut world, 10);
        world.send_key(0, POINTING, "", "last");
        world.run(MS * 900);
        assert_eq!(world.people[1].texts(POINTING).last().map(String::as_str), Some("last"));
        assert!(world.people[1].texts(POINTING).len() < 4, "while it moves, nothing is said twice");
    }
}

#[test]
fn w41_late_joiner_state_is_not_sent_again_when_it_settles() {
    // Whenever the room's housekeeping falls between the values and the join.
    for wait in 0..6 {
        let mut world = World::with_tick(MS * 40);
        join(&mut world, Air::CLEAR);
        world.run(MS * (500 + 50 * wait));
        for key in ["a", "b", "c"] {
            world.send_key(0, POINTING, key, key);
        }
        world.run(MS * 100);
        join(&mut world, Air::CLEAR);
        world.run(MS * 2000);
        assert_eq!(world.people[1].texts(POINTING), ["a", "b", "c"]);
        assert_eq!(world.room.stats().deliveries, 3, "after {wait} times 50 ms");
    }
}

#[test]
fn w42_nothing_goes_back_or_comes_twice() {
    for seed in 0..20 {
        let mut world = two(Air { lost: seed * 2, ..BAD }, BAD);
        for step in 0..150 {
            world.send_key(0, POINTING, ["a", "b"][step % 2], &format!("{step}"));
            world.send(0, PATHS, &format!("{step}"));
            world.run(MS * 30);
        }
        world.run(MS * 1000);
        for key in ["a", "b"] {
            let of_key = world.people[1].messages.iter().filter(|message| {
                message.channel == POINTING && message.key.as_deref() == Some(key.as_bytes())
            });
            let indices: Vec<u32> = of_key.map(|message| message.index.get()).collect();
            assert!(indices.is_sorted_by(|one, two| one < two), "{key}: {indices:?}");
        }
        let last = world.people[1].texts(POINTING);
        assert!(last.iter().any(|text| text == "148") && last.iter().any(|text| text == "149"));
        let mut paths = world.people[1].texts(PATHS);
        let came = paths.len();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), came, "an aggregated value came twice");
        assert!(came > 60, "{came} of 150");
    }
}

#[test]
fn w43_what_is_larger_than_a_datagram_takes_the_stream_at_once() {
    let mut world = two(Air::CLEAR, Air::CLEAR);
    let large = "x".repeat(3000);
    world.send_key(0, POINTING, "", &large);
    world.run(MS * 150);
    assert_eq!(world.people[1].texts(POINTING), [large]);
    assert_eq!(world.people[0].datagrams.0, 0);
}

#[test]
fn damaged_datagrams_cost_only_themselves() {
    let mut world = two(Air { damaged: 50, ..BAD }, Air { damaged: 50, ..BAD });
    for step in 0..300 {
        world.send(0, DRAWING, &format!("{step}"));
        point(&mut world, 1);
    }
    world.run(MS * 1000);
    assert_eq!(world.people[1].texts(DRAWING).len(), 300);
    assert_eq!(world.people[1].client.stats().reconnects, 0);
    assert!(world.room.stats().datagrams_unread > 10);
}

/// W44: messages under way on the older transport are sent again, once.
#[test]
fn a_session_moves_between_transports_and_loses_nothing() {
    let mut random = Random::new(5);
    let mut world = two(Air::default(), Air::CLEAR);
    let mut sent = 0;
    for _ in 0..40 {
        for _ in 0..10 {
            for at in [0, 1] {
                world.send(at, DRAWING, &format!("{sent} of {at}"));
                world.send_key(at, POINTING, "", &format!("{sent}"));
            }
            sent += 1;
            world.run(MS * 15);
        }
        let air = [Air::default(), Air::CLEAR, BAD][random.below(3) as usize];
        world.change_transport(random.below(2) as usize, air);
    }
    world.run(MS * 2000);
    for person in &world.people {
        assert_eq!(person.texts(DRAWING).len(), 2 * sent);
        assert_eq!(person.document, world.people[0].document);
        assert_eq!(person.texts(POINTING).last(), Some(&format!("{}", sent - 1)));
        let statuses = person.events.iter().filter(|event| matches!(event, Event::Status(_)));
        let broke = statuses.filter(|event| **event == Event::Status(Status::Reconnecting));
        assert_eq!(broke.count(), 0, "nobody noticed the moves");
    }
    assert!(world.people[0].holes + world.people[1].holes == 0);
}

#[test]
fn a_transport_that_falls_silent_is_suspected_soon_and_another_one_takes_over() {
    let mut world = two(Air::CLEAR, Air::default());
    let is_quiet =
        |world: &World| world.people[0].saw(|event| *event == Event::Quiet { quiet: true });
    point(&mut world, 25);
    assert!(!is_quiet(&world));
    world.black_hole(0);
    let silent_since = world.now;
    while !is_quiet(&world) {
        point(&mut world, 1);
        assert!(world.now < silent_since + Duration::from_millis(1900), "not suspected yet");
    }
    world.send(0, DRAWING, "kept");
    world.change_transport(0, Air::default());
    world.run(MS * 200);
    assert_eq!(world.people[1].texts(DRAWING), ["kept"]);
    assert!(world.people[0].saw(|event| *event == Event::Quiet { quiet: false }));
    assert_eq!(world.people[0].status, Some(Status::Connected));
}

#[test]
fn an_idle_transport_that_falls_silent_is_suspected_soon() {
    let mut world = two(Air::CLEAR, Air::CLEAR);
    world.run(MS * 7300);
    assert!(!world.people[0].saw(|event| matches!(event, Event::Quiet { .. })));
    world.black_hole(0);
    world.run(MS * 3200);
    assert!(world.people[0].saw(|event| *event == Event::Quiet { quiet: true }));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn hostile_datagrams_are_dropped(packets in proptest::collection::vec(any::<Vec<u8>>(), 1..40)) {
        let mut world = two(Air::CLEAR, Air::CLEAR);
        for (at, mut packet) in packets.into_iter().enumerate() {
            // Valid first bytes come up more often than by chance.
            if let Some(flags) = packet.first_mut().filter(|_| at % 2 == 0) {
                *flags = 0x40 | *flags & 0x3f;
            }
            world.inject_datagram(0, &packet);
            world.run(MS);
        }
        world.send(0, DRAWING, "after");
        point(&mut world, 3);
        world.run(MS * 900);
        prop_assert_eq!(world.people[1].texts(DRAWING), ["after"]);
        prop_assert!(!world.people[1].texts(POINTING).is_empty());
        prop_assert_eq!(world.people[0].client.stats().reconnects, 0);
    }
}

#[test]
fn who_leaves_while_the_stream_is_full_sleeps() {
    let mut world = two(Air::CLEAR, Air::CLEAR);
    point(&mut world, 3);
    let mut now = world.now;
    let client = &mut world.people[0].client;
    for step in 0..5u8 {
        let message = Outgoing { bytes: &[step; 100], ..Outgoing::default() };
        client.send(now, DRAWING, message).unwrap();
        client.send(now, POINTING, message).unwrap();
        while !matches!(client.poll_output(now), Output::Timeout(_)) {}
    }
    client.send(now, POINTING, Outgoing { bytes: b"waits", ..Outgoing::default() }).unwrap();
    client.leave();
    for _ in 0..20 {
        now += MS * 50;
        client.handle_input(now, Input::DatagramSent);
        client.handle_input(now, Input::Timeout);
        let at = loop {
            if let Output::Timeout(at) = client.poll_output(now) {
                break at.unwrap();
            }
        };
        assert!(at > now, "it wants to be called at {at:?}, now {now:?}");
    }
}

#[test]
fn a_client_whose_stream_is_full_sleeps() {
    let mut world = two(Air::CLEAR, Air::CLEAR);
    let now = world.now;
    let client = &mut world.people[0].client;
    let mut packets = 0;
    // The transport never reports a packet as sent: two packets go, then everything waits.
    for step in 0..5u8 {
        let message = Outgoing { bytes: &[step; 100], ..Outgoing::default() };
        client.send(now, DRAWING, message).unwrap();
        client.send(now, POINTING, Outgoing { bytes: &[step; 2000], ..message }).unwrap();
        let at = loop {
            match client.poll_output(now) {
                Output::Send(_) => packets += 1,
                Output::Timeout(at) => break at.unwrap(),
                _ => {}
            }
        };
        assert!(packets < 2 || at > now, "it wants to be called at {at:?}, now {now:?}");
    }
    assert_eq!(packets, 2);
}

#[test]
fn w35_an_end_whose_ping_has_no_answer_asks_for_signs_of_life() {
    for seed in 0..20 {
        let mut world = World::new(seed, room::Config::new("demo", 7));
        for _ in 0..2 {
            join(&mut world, Air::CLEAR);
        }
        world.run(MS * 2000);
        let sent = |world: &World| -> usize {
            world.people.iter().map(|one| one.datagrams.0 + one.brought.alone.0).sum()
        };
        let before = sent(&world);
        world.run(MS * 20_000);
        assert_eq!(sent(&world), before, "nobody asks while pings are answered");
        // From now on the stream carries nothing during this test, and datagrams are lost.
        for one in &mut world.people {
            (one.per_byte, one.air.lost) = (MS * 10_000, 60);
        }
        world.run(MS * 9000);
        for one in &world.people {
            assert_eq!((one.status, one.client.stats().reconnects), (Some(Status::Connected), 0));
        }
        // The server and the other participants do not answer any more.
        for one in &mut world.people {
            one.air.lost = 100;
        }
        world.run(MS * 6000);
        let is_silent =
            |event: &Event| matches!(event, Event::Error { error: Error::Silent { .. }, .. });
        assert!(world.people.iter().all(|one| one.saw(is_silent)), "{seed}");
        let away = world.log.iter().filter(|event| matches!(event, room::Event::Away { .. }));
        assert_eq!(away.count(), 2, "{seed}");
    }
}

/// The times in milliseconds at which a client sends datagrams and at which it closes the
/// transport. `max_datagram` is the size of the largest datagram. Datagrams of the server come at
/// the times `signs`.
fn greeting(max_datagram: usize, signs: &[u32]) -> (Vec<u32>, u32) {
    let mut client = Client::new(Duration::ZERO, ClientConfig::new("demo")).unwrap();
    while !matches!(client.poll_output(Duration::ZERO), Output::Dial) {}
    client.handle_input(Duration::ZERO, Input::Opened { max_datagram });
    let mut sent = Vec::new();
    for ms in 0.. {
        let now = MS * ms;
        if signs.contains(&ms) {
            client.handle_input(now, Input::Datagram(&[0x40]));
        }
        loop {
            match client.poll_output(now) {
                Output::Datagram(datagram) => {
                    // The kind is 1, and nothing follows the header.
                    assert_eq!(datagram[0] & 0b1100_0111, 0b0100_0001);
                    assert!(datagram.len() < 10, "{datagram:?}");
                    client.handle_input(now, Input::DatagramSent);
                    sent.push(ms);
                }
                Output::Hangup => return (sent, ms),
                Output::Timeout(at) => {
                    assert!(at > Some(now), "it is called in time");
                    break;
                }
                _ => {}
            }
        }
    }
    unreachable!()
}

#[test]
fn w120_a_client_that_waits_for_welcome_asks_for_signs_of_life() {
    let (sent, closed) = greeting(1200, &[]);
    assert_eq!((sent, closed), ((300..5000).step_by(50).collect(), 5000));
    assert_eq!(greeting(0, &[]), (Vec::new(), 5000), "the transport has no datagrams");
    // A server whose datagrams come has received HELLO.
    assert_eq!(greeting(1200, &[1000, 4000]).1, 9000);
    let signs: Vec<u32> = (1..100).map(|second| second * 1000).collect();
    assert_eq!(greeting(1200, &signs).1, 30_000);
}
