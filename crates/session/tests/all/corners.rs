//! Corner cases of sessions that were once faults: messages that were sent before the room
//! answered, and limits that do not fit together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use groupwire_session::client::{
    ChannelId, ChannelOptions, Client, Config as ClientConfig, Event, GapReason, Input, Outgoing,
    Output, Sent,
};
use groupwire_session::room::{self, Room};
use groupwire_session::{Access, Authority, Grant, Limits, OpenRequest, Qos};

use crate::grammar::{Fields, Frame, From, Value, write_packet};
use crate::support::{Air, MS, World, errors};

const DRAW: Qos = Qos::transaction();
const POINTER: Qos = Qos::awareness();

#[test]
fn who_may_not_subscribe_is_not_told_the_past() {
    let mut world = World::with_tick(40 * MS);
    let (ann, spy) = (world.add(), world.add());
    let secret = world.channel(ann, "reports", DRAW);
    world.channel(spy, "other", DRAW);
    world.run(500 * MS);
    world.send(ann, secret, "confidential");
    world.run(500 * MS);
    let access = Access { publish: true, subscribe: false };
    let options = ChannelOptions { access, ..ChannelOptions::default() };
    world.people[spy].client.channel_with("reports", DRAW, options).unwrap();
    world.run(500 * MS);
    assert!(world.people[spy].messages.is_empty(), "{:?}", world.people[spy].messages);
}

#[test]
fn many_channels_and_a_log() {
    let mut world = World::with_tick(40 * MS);
    let ann = world.add();
    let names: Vec<String> =
        (0..64).map(|n| format!("a channel with some name number {n:03}")).collect();
    let ids: Vec<_> = names.iter().map(|n| world.channel(ann, n, DRAW)).collect();
    world.run(1000 * MS);
    for &id in &ids {
        world.send(ann, id, "hello");
    }
    world.run(1000 * MS);
    assert_eq!(world.people[ann].client.pending(), 0, "{:?}", errors(&world, ann));
    let bob = world.add();
    for n in &names {
        world.channel(bob, n, DRAW);
    }
    world.run(20_000 * MS);
    assert_eq!(errors(&world, bob), Vec::<String>::new());
    assert_eq!(world.people[bob].messages.len(), 64);
}

#[test]
fn many_channels_resume() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    let names: Vec<String> = (0..40)
        .map(|n| format!("a channel with some rather long name so that it is about sixty {n:03}"))
        .collect();
    let ids: Vec<_> = names.iter().map(|n| world.channel(ann, n, DRAW)).collect();
    for n in &names {
        world.channel(bob, n, DRAW);
    }
    world.run(1000 * MS);
    world.cut(bob);
    for &id in &ids {
        world.send(ann, id, "hello");
    }
    world.run(20_000 * MS);
    assert_eq!(errors(&world, bob), Vec::<String>::new());
}

#[test]
fn a_long_hello_resumes() {
    let mut world = World::with_tick(40 * MS);
    let mut config = ClientConfig::new("demo");
    config.token = vec![7; 2040];
    let ann = world.add_with(config);
    let draw = world.channel(ann, "draw", DRAW);
    world.run(1000 * MS);
    world.send(ann, draw, "x");
    // it reaches the room, the own record does not come back
    let d = world.people[ann].delay;
    world.run(d + 2 * MS);
    world.cut(ann);
    world.run(30_000 * MS);
    assert_eq!(world.people[ann].client.pending(), 0, "{:?}", errors(&world, ann));
}

#[test]
fn a_channel_that_turns_out_to_be_a_transaction() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    world.channel(ann, "x", DRAW);
    world.run(500 * MS);
    world.run(500 * MS);
    let x = world.channel(bob, "x", POINTER);
    world.send(bob, x, "hi");
    world.run(60_000 * MS);
    assert!(errors(&world, bob).len() < 2, "{:?}", errors(&world, bob));
}

#[test]
fn a_channel_that_turns_out_to_be_awareness() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    world.channel(ann, "x", POINTER);
    let d = world.channel(ann, "draw", DRAW);
    world.run(500 * MS);
    let x = world.channel(bob, "x", DRAW);
    let draw = world.channel(bob, "draw", DRAW);
    world.send(bob, x, "pointer-ish");
    world.run(500 * MS);
    world.send(bob, draw, "a line");
    world.run(2000 * MS);
    let own: Vec<_> = world.people[bob]
        .messages
        .iter()
        .filter(|m| m.own)
        .map(|m| (m.channel, String::from_utf8_lossy(&m.bytes).into_owned()))
        .collect();
    world.cut(bob);
    world.run(10_000 * MS);
    assert_eq!(world.people[ann].texts(d), ["a line"]);
    assert_eq!(own, [(draw, "a line".to_owned())]);
}

struct Guests;

impl Authority for Guests {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        Ok(Grant {
            access: Access { publish: request.channel != "ro", subscribe: true },
            qos: request.qos,
        })
    }
}

#[test]
fn what_may_not_be_published_blocks_nothing_and_asks_for_no_timer() {
    let mut world = World::with_tick(40 * MS);
    world.room = Room::new(room::Config::new("demo", 7), Box::new(Guests));
    let ann = world.add();
    let ro = world.channel(ann, "ro", DRAW);
    let draw = world.channel(ann, "draw", DRAW);
    world.send(ann, ro, "not allowed");
    world.send(ann, draw, "allowed");
    world.run(5000 * MS);
    let now = world.now;
    let at = drained(&mut world.people[ann].client, now);
    assert!(at.unwrap() > now, "busy loop");
    assert_eq!(world.people[ann].texts(draw), ["allowed"]);
}

#[test]
fn who_left_does_not_dial_again() {
    let mut world = World::with_tick(40 * MS);
    let (ann, bob) = (world.add(), world.add());
    world.channel(ann, "draw", DRAW);
    world.channel(bob, "draw", DRAW);
    world.run(1000 * MS);
    // No credit: two packets are under way (the support harness grants it at once, so drive by
    // hand).
    let now = world.now;
    let c = &mut world.people[ann].client;
    let mut sends = 0;
    for n in 0..3u8 {
        c.set_presence(&[n]).unwrap();
        while let Output::Send(_) = c.poll_output(now) {
            sends += 1;
        }
    }
    assert_eq!(sends, 2);
    c.leave();
    let mut t = now;
    let mut dialled = false;
    for _ in 0..200 {
        t += 100 * MS;
        c.handle_input(t, Input::Timeout);
        loop {
            match c.poll_output(t) {
                Output::Timeout(_) => break,
                Output::Hangup => c.handle_input(t, Input::Closed),
                Output::Dial => {
                    dialled = true;
                }
                _ => {}
            }
        }
    }
    assert!(!dialled, "left, yet it dials again");
}

fn welcome(max_message: u64, max_packet: u64) -> Vec<u8> {
    let welcome = Fields::default()
        .num("max_packet", max_packet)
        .num("max_message", max_message)
        .num("max_snapshot", 1 << 20)
        .num("incarnation", 7)
        .num("participant", 1)
        .with("secret", Value::Bytes(vec![9; 16]))
        .num("tick_ms", 40)
        .num("ping_ms", 2000)
        .num("dead_ms", 5000)
        .num("away_ms", 10_000);
    let zeros = ["capabilities", "outcome", "counter", "position"];
    let welcome = zeros.into_iter().fold(welcome, |to, name| to.num(name, 0));
    write_packet(From::Server, true, &[Frame::new("WELCOME", welcome)])
}

fn drained(c: &mut Client, now: Duration) -> Option<Duration> {
    loop {
        match c.poll_output(now) {
            Output::Timeout(at) => return at,
            Output::Dial => c.handle_input(now, Input::Opened { max_datagram: 0 }),
            Output::Send(_) => c.handle_input(now, Input::Sent),
            _ => {}
        }
    }
}

#[test]
fn a_welcome_with_absurd_limits() {
    let mut c = Client::new(Duration::ZERO, ClientConfig::new("demo")).unwrap();
    drained(&mut c, Duration::ZERO);
    c.handle_input(MS, Input::Packet(&welcome(u64::MAX, u64::MAX)));
    drained(&mut c, MS);
}

#[test]
fn a_welcome_whose_messages_fit_no_packet() {
    let mut client = Client::new(Duration::ZERO, ClientConfig::new("demo")).unwrap();
    drained(&mut client, Duration::ZERO);
    client.handle_input(MS, Input::Packet(&welcome(65_000, 1 << 20)));
    drained(&mut client, MS);
    assert_eq!(client.participant(), None);
}

#[test]
fn a_message_too_large_for_this_server_is_given_up() {
    let limits = Limits { max_message: 1000, ..Limits::default() };
    let mut world = World::new(1, room::Config { limits, ..room::Config::new("demo", 7) });
    let ann = world.add();
    let d = world.channel(ann, "d", DRAW);
    world.send(ann, d, &"x".repeat(5000));
    world.run(30_000 * MS);
    assert!(errors(&world, ann).len() <= 1, "{:?}", errors(&world, ann));
}

#[test]
fn nothing_spins_while_a_channel_opens() {
    let mut world = World::with_tick(40 * MS);
    let ann = world.add();
    let a = world.channel(ann, "a", DRAW);
    world.run(1000 * MS);
    let b = world.channel(ann, "b", DRAW);
    world.send(ann, b, "first");
    world.send(ann, a, "second");
    let now = world.now;
    let c = &mut world.people[ann].client;
    let at = drained(c, now);
    assert!(at.unwrap() > now, "{at:?} {now:?}");
}

#[test]
fn drain_waits_until_there_is_room() {
    let mut c = Client::new(Duration::ZERO, ClientConfig::new("demo")).unwrap();
    let d = c.channel("d", POINTER.aggregate()).unwrap();
    while matches!(
        c.send(MS, d, Outgoing { bytes: &[1; 50_000], ..Outgoing::default() }).unwrap(),
        Sent::Accepted
    ) {}
    loop {
        match c.poll_output(MS) {
            Output::Timeout(_) => break,
            output => assert!(!matches!(output, Output::Event(Event::Drain))),
        }
    }
}

#[test]
fn small_packets_hold() {
    let limits = Limits { max_message: 1000, max_packet: 8192, ..Limits::default() };
    let mut world =
        World::new(1, room::Config { limits: limits.clone(), ..room::Config::new("demo", 7) });
    let ann = world.add_with(ClientConfig { limits: limits.clone(), ..ClientConfig::new("demo") });
    for _ in 0..5 {
        world.add_with(ClientConfig { limits: limits.clone(), ..ClientConfig::new("demo") });
    }
    world.run(500 * MS);
    for p in 1..6 {
        world.people[p].client.set_presence(&vec![7; 2000]).unwrap();
    }
    world.run(2_000 * MS);
    world.cut(ann);
    world.run(20_000 * MS);
    assert_eq!(errors(&world, ann), Vec::<String>::new());
}

struct Moody(Arc<AtomicBool>);

impl Authority for Moody {
    fn open(&self, q: &OpenRequest<'_>) -> Result<Grant, String> {
        if q.channel == "draw" && self.0.load(Ordering::Relaxed) {
            return Err("no more".into());
        }
        Ok(Grant { access: q.access, qos: q.qos })
    }
}

#[test]
fn a_channel_refused_after_a_break() {
    let no = Arc::new(AtomicBool::new(false));
    let mut world = World::with_tick(40 * MS);
    world.room = Room::new(room::Config::new("demo", 7), Box::new(Moody(no.clone())));
    let ann = world.add();
    let draw = world.channel(ann, "draw", DRAW);
    let chat = world.channel(ann, "chat", DRAW);
    world.run(500 * MS);
    world.send(ann, draw, "1");
    world.send(ann, chat, "2");
    world.people[ann].delay = 100 * MS;
    world.run(3 * MS); // composed, under way
    world.cut(ann);
    no.store(true, Ordering::Relaxed);
    world.run(30_000 * MS);
    assert_eq!(world.people[ann].texts(chat), ["2"], "{:?}", errors(&world, ann));
}

/// The transaction took the stream, the pointer a datagram, and it was numbered first.
#[test]
fn w24_a_move_after_a_drop_is_not_stale() {
    let mut world = World::with_tick(Duration::ZERO);
    let air = Air { max: 1200, jitter_ms: 200, ..Air::default() };
    for _ in 0..2 {
        let at = world.add();
        world.people[at].air = air;
        world.channel(at, "draw", DRAW);
        world.channel(at, "pointer", POINTER);
    }
    world.run(500 * MS);
    for step in 0..20 {
        world.send(0, ChannelId(0), &format!("dropped {step}"));
        world.send_key(0, ChannelId(1), "", &format!("moved on {step}"));
        world.run(1200 * MS);
    }
    let moves: Vec<_> =
        world.people[1].messages.iter().filter(|one| one.channel == ChannelId(1)).collect();
    assert_eq!(moves.len(), 20);
    assert!(moves.iter().all(|message| !message.stale), "{moves:?}");
}

#[test]
fn w24_a_drag_is_stale_if_its_drop_came_with_a_channel_opened_late() {
    let mut world = World::with_tick(Duration::ZERO);
    let (ann, bob) = (world.add(), world.add());
    let draw = world.channel(ann, "draw", DRAW);
    let pointer = world.channel(ann, "pointer", POINTER);
    world.run(500 * MS);
    world.send_key(ann, pointer, "", "dragged");
    world.send(ann, draw, "dropped");
    world.run(500 * MS);
    world.channel(bob, "draw", DRAW);
    world.run(500 * MS);
    world.channel(bob, "pointer", POINTER);
    world.cut(bob);
    world.run(5000 * MS);
    let told: Vec<_> =
        world.people[bob].messages.iter().map(|one| (&one.bytes[..], one.stale)).collect();
    assert_eq!(told, [(&b"dropped"[..], false), (&b"dragged"[..], true)]);
}

#[test]
fn w18_a_channel_opened_late_is_not_filled_again_after_a_break() {
    let mut world = World::with_tick(Duration::ZERO);
    let (ann, bob) = (world.add(), world.add());
    let draw = world.channel(ann, "draw", DRAW);
    world.channel(bob, "pointer", POINTER);
    world.run(500 * MS);
    world.send(ann, draw, "one");
    world.send(ann, draw, "two");
    world.run(500 * MS);
    let late = world.channel(bob, "draw", DRAW);
    world.run(500 * MS);
    world.cut(bob);
    world.run(5000 * MS);
    world.send(ann, draw, "three");
    world.run(500 * MS);
    assert_eq!(world.people[bob].texts(late), ["one", "two", "three"]);
}

#[test]
fn w14_a_session_that_believes_nonsense_is_given_up() {
    let mut world = World::with_tick(Duration::ZERO);
    let (ann, bob) = (world.add(), world.add());
    let draw = world.channel(ann, "draw", DRAW);
    world.channel(bob, "draw", DRAW);
    world.run(500 * MS);
    world.send(ann, draw, "one");
    world.run(500 * MS);
    // POSITION: far beyond what the room has.
    let now = world.now;
    world.people[bob].client.handle_input(now, Input::Packet(&[0x92, 0xff, 0xff, 0x03]));
    world.run(500 * MS);
    world.cut(bob);
    world.run(10_000 * MS);
    let gap = Event::Gap { reason: GapReason::Incarnation, uncertain: 0, missing: None };
    assert!(world.people[bob].saw(|event| *event == gap), "{:?}", errors(&world, bob));
    world.send(ann, draw, "two");
    world.run(500 * MS);
    assert_eq!(world.people[bob].document, ["one", "two"]);
}
