//! A room and its clients, end to end, in simulated time.

use std::time::Duration;

use groupwire_session::client::{Config as ClientConfig, Event, GapReason, Input, Sent, Status};
use groupwire_session::{Error, Index, Position, PresenceState, Qos, room};

use crate::support::{MS, World, tight};

const POINTER: Qos = Qos::awareness();
const DRAW: Qos = Qos::transaction();

#[test]
fn two_people_see_each_other() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    let draw = world.channel(ann, "draw", DRAW);
    world.channel(bob, "draw", DRAW);
    world.run(500 * MS);
    assert_eq!(world.people[ann].status, Some(Status::Connected));
    let bob_id = world.people[bob].client.participant().unwrap();
    let (state, presence) = world.people[ann].people[&bob_id].clone();
    assert_eq!((state, presence.as_slice()), (PresenceState::Here, &b"person 1"[..]));

    world.send(ann, draw, "a line");
    world.run(200 * MS);
    let message = &world.people[bob].messages[0];
    assert_eq!(
        (message.bytes.as_slice(), message.text, message.own),
        (&b"a line"[..], true, false)
    );
    assert_eq!((message.position, message.index, message.state), (Position(1), Index(1), false));
    let own = &world.people[ann].messages[0];
    assert_eq!((own.bytes.as_slice(), own.own, own.position), (&b"a line"[..], true, Position(1)));
    assert_eq!(world.people[ann].client.pending(), 0);
}

#[test]
fn w29_everybody_sees_transactions_in_one_order() {
    let mut world = World::with_tick(40 * MS);
    let people: Vec<usize> = (0..4).map(|_| world.add()).collect();
    let channels: Vec<_> = people.iter().map(|&at| world.channel(at, "draw", DRAW)).collect();
    let draw = channels[0];
    for round in 0..50 {
        for &at in &people {
            world.send(at, draw, &format!("{at}:{round}"));
        }
        world.run(7 * MS);
    }
    world.settle();
    let first = world.people[0].texts(draw);
    assert_eq!(first.len(), 200);
    for person in &world.people {
        assert_eq!(person.texts(draw), first);
        let positions: Vec<u64> =
            person.messages.iter().map(|message| message.position.get()).collect();
        assert_eq!(positions, (1..=200).collect::<Vec<u64>>());
    }
}

#[test]
fn w30_conflation_keeps_the_newest_of_each_key() {
    let mut world = World::with_tick(200 * MS);
    let (ann, bob) = (world.add(), world.add());
    let pointer = world.channel(ann, "pointer", POINTER);
    world.channel(bob, "pointer", POINTER);
    world.run(500 * MS);
    for step in 0..50 {
        world.send_key(ann, pointer, "a", &format!("a{step}"));
        world.send_key(ann, pointer, "b", &format!("b{step}"));
        world.run(10 * MS);
    }
    world.run(500 * MS);
    let texts = world.people[bob].texts(pointer);
    assert!(texts.len() < 30, "500 ms of a 200 ms tick are few values, not {}", texts.len());
    assert!(texts.contains(&"a49".to_owned()) && texts.contains(&"b49".to_owned()));
    let steps = |key: char| -> Vec<u32> {
        texts.iter().filter_map(|text| text.strip_prefix(key)?.parse().ok()).collect()
    };
    assert!(steps('a').is_sorted() && steps('b').is_sorted());
}

#[test]
fn w15_the_maximum_rate_holds_and_conflates_at_the_sender() {
    let mut world = World::with_tick(Duration::ZERO);
    let (ann, bob) = (world.add(), world.add());
    let qos = POINTER.rate(0, 10);
    let pointer = world.channel(ann, "pointer", qos);
    world.channel(bob, "pointer", qos);
    world.run(500 * MS);
    let mut conflated = 0;
    for step in 0..1000 {
        conflated += u32::from(world.send(ann, pointer, &step.to_string()) == Sent::Conflated);
        world.run(MS);
    }
    world.run(500 * MS);
    let texts = world.people[bob].texts(pointer);
    assert!((10..=12).contains(&texts.len()), "{} values in a second at 10/s", texts.len());
    assert_eq!(texts.last().map(String::as_str), Some("999"));
    assert!(conflated > 900);
}

#[test]
fn w15_late_timers_do_not_hold_back_who_sends_at_the_maximum_rate() {
    let mut world = World::with_tick(Duration::ZERO);
    let ann = world.add();
    let pointer = world.channel(ann, "pointer", POINTER.rate(0, 10));
    world.run(500 * MS);
    for step in 0..20 {
        world.send(ann, pointer, &step.to_string());
        world.run(MS);
        assert_eq!(world.people[ann].client.stats().messages_out, step + 1);
        // Every second timer is late by 7 ms.
        world.run(if step % 2 == 0 { 106 * MS } else { 92 * MS });
    }
}

#[test]
fn aggregated_awareness_brings_every_value_in_fewer_packets() {
    let mut world = World::with_tick(Duration::ZERO);
    let (ann, bob) = (world.add(), world.add());
    let qos = Qos::awareness().aggregate().rate(0, 10);
    let path = world.channel(ann, "path", qos);
    world.channel(bob, "path", qos);
    world.run(500 * MS);
    let before = world.people[bob].client.stats().packets_in;
    for step in 0..500 {
        world.send(ann, path, &step.to_string());
        world.run(2 * MS);
    }
    world.run(500 * MS);
    let expected: Vec<String> = (0..500).map(|step| step.to_string()).collect();
    assert_eq!(world.people[bob].texts(path), expected);
    assert!(world.people[bob].client.stats().packets_in - before < 25);
}

#[test]
fn w24_a_drag_never_follows_its_drop() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    let drag_qos = POINTER.rate(0, 5);
    let (drag, drop) = (world.channel(ann, "drag", drag_qos), world.channel(ann, "drop", DRAW));
    world.channel(bob, "drag", drag_qos);
    world.channel(bob, "drop", DRAW);
    world.run(500 * MS);
    for step in 0..10 {
        world.send(ann, drag, &format!("drag {step}"));
        world.run(10 * MS);
    }
    world.send(ann, drag, "drag last");
    world.send(ann, drop, "dropped");
    world.run(500 * MS);
    let texts: Vec<String> = world.people[bob]
        .messages
        .iter()
        .map(|message| String::from_utf8_lossy(&message.bytes).into_owned())
        .collect();
    assert_eq!(texts[texts.len() - 2..], ["drag last", "dropped"]);
    assert!(world.people[bob].messages.iter().all(|message| !message.stale));
}

#[test]
fn w31_a_late_joiner_gets_transactions_and_newest_values() {
    let mut world = World::with_tick(40 * MS);
    let ann = world.add();
    let (pointer, draw) =
        (world.channel(ann, "pointer", POINTER), world.channel(ann, "draw", DRAW));
    world.run(200 * MS);
    for step in 0..10 {
        world.send(ann, pointer, &format!("at {step}"));
        world.send(ann, draw, &format!("line {step}"));
        world.run(50 * MS);
    }
    let bob = world.add();
    world.channel(bob, "pointer", POINTER);
    world.channel(bob, "draw", DRAW);
    world.run(300 * MS);
    let bob = &world.people[bob];
    assert_eq!(bob.texts(draw), (0..10).map(|step| format!("line {step}")).collect::<Vec<_>>());
    assert_eq!(bob.texts(pointer), ["at 9"]);
    assert!(bob.messages.iter().all(|message| message.state));
    assert!(bob.saw(|event| *event == Event::Synced { channel: None }));
    assert!(bob.saw(|event| *event == Event::Synced { channel: Some(draw) }));
}

#[test]
fn w18_a_channel_opened_late_is_filled() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    let (draw, chat) = (world.channel(ann, "draw", DRAW), world.channel(ann, "chat", DRAW));
    let bob_draw = world.channel(bob, "draw", DRAW);
    world.run(200 * MS);
    for step in 0..20 {
        world.send(ann, draw, &format!("line {step}"));
        world.send(ann, chat, &format!("word {step}"));
        world.run(20 * MS);
    }
    let bob_chat = world.channel(bob, "chat", DRAW);
    for step in 20..40 {
        world.send(ann, chat, &format!("word {step}"));
        world.run(20 * MS);
    }
    world.run(300 * MS);
    let words: Vec<String> = (0..40).map(|step| format!("word {step}")).collect();
    assert_eq!(world.people[bob].texts(bob_chat), words);
    assert_eq!(world.people[bob].texts(bob_draw).len(), 20);
    assert!(world.people[bob].saw(|event| *event == Event::Synced { channel: Some(bob_chat) }));
}

#[test]
fn w18_a_channel_opened_between_hello_and_welcome_is_open() {
    let mut world = World::with_tick(40 * MS);
    let ann = world.add();
    let draw = world.channel(ann, "draw", DRAW);
    world.run(300 * MS);
    world.send(ann, draw, "before");
    let bob = world.add();
    world.people[bob].delay = 20 * MS;
    world.run(30 * MS);
    assert_eq!(world.people[bob].status, Some(Status::Connecting));
    let bob_draw = world.channel(bob, "draw", DRAW);
    world.run(500 * MS);
    world.send(bob, bob_draw, "after");
    world.run(500 * MS);
    for at in [ann, bob] {
        assert_eq!(world.people[at].texts(draw), ["before", "after"]);
    }
    let synced = Event::Synced { channel: Some(bob_draw) };
    assert!(world.people[bob].saw(|event| *event == synced));
}

#[test]
fn w14_a_broken_connection_resumes_without_loss_or_repetition() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    let draw = world.channel(ann, "draw", DRAW);
    world.channel(bob, "draw", DRAW);
    world.run(300 * MS);
    let id = world.people[ann].client.participant();
    for step in 0..60 {
        world.send(ann, draw, &format!("a{step}"));
        world.send(bob, draw, &format!("b{step}"));
        if step % 20 == 10 {
            world.cut(if step % 40 == 10 { ann } else { bob });
        }
        world.run(30 * MS);
    }
    world.settle();
    assert_eq!(world.people[ann].client.participant(), id);
    let (anns, bobs) = (world.people[ann].texts(draw), world.people[bob].texts(draw));
    assert_eq!(anns.len(), 120);
    assert_eq!(anns, bobs);
    assert!(!world.people[ann].saw(|event| matches!(event, Event::Gap { .. })));
    assert!(world.people[ann].client.stats().reconnects > 0);
}

#[test]
fn w31_what_a_session_missed_between_two_transports_is_news_and_not_state() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    let (draw, pointer) =
        (world.channel(ann, "draw", DRAW), world.channel(ann, "pointer", POINTER));
    let chat = world.channel(ann, "chat", DRAW);
    world.channel(bob, "draw", DRAW);
    world.channel(bob, "pointer", POINTER);
    world.run(300 * MS);
    world.send(ann, chat, "before");
    world.cut(bob);
    for step in 0..5 {
        world.send(ann, draw, &format!("line {step}"));
        world.send(ann, pointer, &format!("at {step}"));
        world.run(MS);
    }
    world.settle();
    let lines: Vec<String> = (0..5).map(|step| format!("line {step}")).collect();
    assert!(world.people[bob].client.stats().reconnects > 0);
    assert_eq!(world.people[bob].texts(draw), lines);
    assert_eq!(world.people[bob].texts(pointer).last().map(String::as_str), Some("at 4"));
    assert!(world.people[bob].messages.iter().all(|message| !message.state));
    // On the same transport, what was in the room before a channel was opened is state.
    let bob_chat = world.channel(bob, "chat", DRAW);
    world.settle();
    assert_eq!(world.people[bob].texts(bob_chat), ["before"]);
    assert!(world.people[bob].messages.last().unwrap().state);
}

#[test]
fn w35_a_dead_peer_is_noticed_within_6_seconds() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    world.run(3000 * MS);
    let bob_id = world.people[bob].client.participant().unwrap();
    world.people[bob].reachable = false;
    world.black_hole(bob);
    world.run(6000 * MS);
    assert_eq!(world.people[ann].people[&bob_id].0, PresenceState::Away);
    assert_eq!(world.people[bob].status, Some(Status::Reconnecting));
    world.run(12_000 * MS);
    assert!(!world.people[ann].people.contains_key(&bob_id), "away for 10 s is left");
    // Bob can still resume his session.
    world.people[bob].reachable = true;
    world.run(6000 * MS);
    assert_eq!(world.people[bob].client.participant(), Some(bob_id));
    assert_eq!(world.people[ann].people[&bob_id].0, PresenceState::Here);
    assert!(!world.people[bob].saw(|event| matches!(event, Event::Gap { .. })));
}

#[test]
fn w31_who_is_here_is_known_before_synced() {
    let mut world = World::with_tick(40 * MS);
    let _ann = world.add();
    world.run(300 * MS);
    let bob = world.add();
    world.run(300 * MS);
    let events = &world.people[bob].events;
    let at = |wanted: fn(&Event) -> bool| events.iter().position(wanted).unwrap();
    let people = at(|event| matches!(event, Event::Participants { complete: true, .. }));
    assert!(people < at(|event| *event == Event::Synced { channel: None }));
}

#[test]
fn a_server_that_fails_everybody_is_dialled_ever_more_rarely() {
    let mut world = World::with_tick(40 * MS);
    let ann = world.add();
    world.run(300 * MS);
    let mut dials = Vec::new();
    for _ in 0..60_000 {
        let before = world.log.len();
        world.run(MS);
        if world.log[before..].iter().any(|event| matches!(event, room::Event::Joined { .. })) {
            dials.push(world.now);
            world.cut(ann);
        }
    }
    assert!(dials.len() < 30, "{} connections in a minute", dials.len());
}

#[test]
fn hurry_ends_the_wait() {
    let mut world = World::with_tick(40 * MS);
    let ann = world.add();
    world.run(300 * MS);
    world.people[ann].reachable = false;
    world.cut(ann);
    world.run(20_000 * MS);
    world.people[ann].reachable = true;
    world.people[ann].client.handle_input(world.now, Input::Hurry);
    world.run(200 * MS);
    assert_eq!(world.people[ann].status, Some(Status::Connected));
}

#[test]
fn w36_goodbye_is_leaving_at_once() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    world.run(300 * MS);
    world.people[bob].client.leave();
    world.run(300 * MS);
    assert!(world.people[ann].people.is_empty());
    assert_eq!(world.people[bob].status, Some(Status::Closed));
}

/// W36: clients of a server that stops come back one after the other, and not before their time.
#[test]
fn w36_goodbye_gives_each_client_another_time_and_nobody_hurries() {
    let mut world = World::with_tick(40 * MS);
    let all = [world.add(), world.add(), world.add()];
    let draw = world.channel(all[0], "draw", DRAW);
    world.run(6_000 * MS);
    let (retry, step) = (300 * MS, 2_000 * MS);
    world.room.handle_input(world.now, room::Input::Shutdown { retry, step });
    world.run(100 * MS);
    world.send(all[0], draw, "while away");
    for person in &mut world.people {
        assert_eq!(person.status, Some(Status::Reconnecting));
        person.client.handle_input(world.now, Input::Hurry);
    }
    let here = |world: &World| all.map(|at| world.people[at].status == Some(Status::Connected));
    assert_eq!(here(&world), [false; 3]);
    world.run(1_000 * MS);
    assert_eq!(here(&world), [true, false, false]);
    world.run(2_000 * MS);
    assert_eq!(here(&world), [true, true, false]);
    world.run(2_000 * MS);
    assert_eq!(here(&world), [true; 3]);
    assert_eq!(world.people[all[0]].texts(draw), ["while away"]);
}

#[test]
fn w13_a_new_incarnation_is_a_gap_and_pending_transactions_survive() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    let draw = world.channel(ann, "draw", DRAW);
    world.channel(bob, "draw", DRAW);
    world.run(300 * MS);
    world.send(ann, draw, "before");
    world.run(300 * MS);
    world.people[ann].reachable = false;
    world.cut(ann);
    world.send(ann, draw, "while away");
    world.restart();
    world.people[ann].reachable = true;
    world.settle();
    for at in [ann, bob] {
        let person = &world.people[at];
        let gap = Event::Gap { reason: GapReason::Incarnation, uncertain: 0, missing: None };
        assert!(person.saw(|event| *event == gap), "{:?}", person.events);
        assert_eq!(person.texts(draw), ["before", "while away"]);
    }
}

#[test]
fn w32_a_long_log_is_replaced_by_a_snapshot() {
    let mut world = World::new(3, room::Config { limits: tight(), ..room::Config::new("demo", 7) });
    let ann = world.add();
    let draw = world.channel(ann, "draw", DRAW);
    world.run(200 * MS);
    for step in 0..600 {
        world.send(ann, draw, &format!("line {step}"));
        world.run(20 * MS);
    }
    world.run(300 * MS);
    let taken = world.log.iter().filter(|event| matches!(event, room::Event::Snapshot { .. }));
    assert!(taken.count() > 3);
    let bob = world.add();
    world.channel(bob, "draw", DRAW);
    world.run(1000 * MS);
    let bob = &world.people[bob];
    let as_of = bob.events.iter().find_map(|event| match event {
        Event::Snapshot { as_of, .. } => Some(*as_of),
        _ => None,
    });
    assert!(as_of.unwrap() > Position(500));
    assert_eq!(bob.document, (0..600).map(|step| format!("line {step}")).collect::<Vec<_>>());
}

#[test]
fn a_receiver_that_never_reads_is_closed_and_disturbs_nobody() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob, eve) = (world.add(), world.add(), world.add());
    let (pointer, draw) =
        (world.channel(ann, "pointer", POINTER), world.channel(ann, "draw", DRAW));
    for at in [bob, eve] {
        world.channel(at, "pointer", POINTER);
        world.channel(at, "draw", DRAW);
    }
    world.run(500 * MS);
    world.people[eve].deaf = true;
    let mut peak = 0;
    for step in 0..500 {
        world.send(ann, pointer, &format!("at {step}"));
        world.send(ann, draw, &format!("line {step}"));
        // The client sends pings, so the room can only notice that it does not read.
        world.inject(eve, &[0x0e, 1, 5]);
        world.run(20 * MS);
        peak = peak.max(world.room.stats().memory);
    }
    world.run(300 * MS);
    let stalled = |event: &room::Event| {
        matches!(event, room::Event::Away { error: Some(Error::Stalled), .. })
    };
    assert!(world.log.iter().any(stalled), "{:?}", world.log);
    assert_eq!(world.people[bob].texts(draw).len(), 500);
    // The memory is that of the log, with nothing per slow receiver.
    assert!(peak < 500 * 200 + 1000, "{peak}");
}

#[test]
fn what_one_participant_gets_wrong_costs_only_itself() {
    let opening_twice = [0x01u8, 0];
    let unknown_channel = [0x86, 99, 0, 0, 0, 0, 0, 0];
    let garbage = [0xbfu8; 40];
    let server_only = [0x0d, 1, 0];
    for packet in [&opening_twice[..], &unknown_channel, &garbage, &server_only, &vec![0; 70_000]] {
        let mut world = World::with_tick(40 * MS);
        let (ann, bob, eve) = (world.add(), world.add(), world.add());
        let draw = world.channel(ann, "draw", DRAW);
        world.channel(bob, "draw", DRAW);
        world.run(300 * MS);
        world.inject(eve, packet);
        world.send(ann, draw, "undisturbed");
        world.run(300 * MS);
        assert_eq!(world.people[bob].texts(draw), ["undisturbed"]);
        let blamed =
            |event: &Event| matches!(event, Event::Error { error: Error::Remote { .. }, .. });
        assert!(world.people[eve].saw(blamed), "{packet:?}: {:?}", world.people[eve].events);
        assert!(!world.people[ann].saw(blamed) && !world.people[bob].saw(blamed));
    }
}

#[test]
fn not_now_then_drain() {
    let mut world = World::with_tick(40 * MS);
    let mut config = ClientConfig::new("demo");
    config.limits.max_pending = 10;
    let (ann, bob) = (world.add_with(config), world.add());
    let draw = world.channel(ann, "draw", DRAW);
    world.channel(bob, "draw", DRAW);
    for step in 0..10 {
        assert_eq!(world.send(ann, draw, &step.to_string()), Sent::Accepted);
    }
    assert_eq!(world.send(ann, draw, "too many"), Sent::NotNow);
    world.run(1000 * MS);
    assert!(world.people[ann].saw(|event| *event == Event::Drain));
    assert_eq!(world.send(ann, draw, "10"), Sent::Accepted);
    world.run(1000 * MS);
    let expected: Vec<String> = (0..11).map(|step| step.to_string()).collect();
    assert_eq!(world.people[bob].texts(draw), expected);
}

#[test]
fn private_channels_travel_uncompressed_beside_the_others() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    let secret_qos = DRAW.private();
    let (draw, secret) =
        (world.channel(ann, "draw", DRAW), world.channel(ann, "secret", secret_qos));
    world.channel(bob, "draw", DRAW);
    world.channel(bob, "secret", secret_qos);
    for step in 0..30 {
        world.send(ann, draw, &format!("line {step}"));
        world.send(ann, secret, &format!("word {step}"));
        world.run(13 * MS);
    }
    world.settle();
    let texts: Vec<String> = world.people[bob]
        .messages
        .iter()
        .map(|message| String::from_utf8_lossy(&message.bytes).into_owned())
        .collect();
    let expected: Vec<String> =
        (0..30).flat_map(|step| [format!("line {step}"), format!("word {step}")]).collect();
    assert_eq!(texts, expected);
}
