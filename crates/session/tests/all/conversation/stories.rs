//! Short conversations that together contain every feature of the wire. The vectors of docs/wire
//! are made from them.

use std::time::Duration;

use groupwire_session::client::{ChannelId, Config as ClientConfig, Outgoing};
use groupwire_session::room::{self, Config};
use groupwire_session::{Compress, Limits, Qos, Rate};

use super::{MS, Network, Talk, demo, plain as plain_room, plain_with};
use crate::grammar::{Fields, one};

/// Transactions without a deadline, and with one of 800 ms.
const DRAW: Qos = Qos::transaction();
const DRAW_SOON: Qos = DRAW.deadline(MS.saturating_mul(800));
/// Awareness that conflates: 5 % may miss, 250 ms, 5 to 25 a second.
pub(crate) const POINTER: Qos = Qos::awareness().deadline(MS.saturating_mul(250)).rate(5, 25);
/// Awareness that aggregates: 10 % may miss, 500 ms.
const PATH: Qos =
    Qos::awareness().aggregate().priority(64).loss_per_mille(100).deadline(MS.saturating_mul(500));
const PRIVATE: Qos = Qos::awareness().private().deadline(MS.saturating_mul(250));

const WIFI: Network = Network { delay: MS.saturating_mul(20), max_datagram: 1200, lost: 0 };
const LOSSY: Network = Network { lost: 20, ..WIFI };

/// All stories by name.
pub(crate) fn all() -> Vec<(&'static str, Talk)> {
    vec![
        ("plain", plain()),
        ("coded", coded()),
        ("refusals", refusals()),
        ("snapshot", snapshot()),
        ("gap", gap()),
        ("packed", packed()),
        ("contracts", contracts()),
        ("datagrams", datagrams()),
        ("datagrams-plain", datagrams_plain()),
        ("groups", groups()),
    ]
}

/// Two clients without gmc: they join, open, send and receive everything there is, break, resume,
/// close a channel and leave.
pub(crate) fn plain() -> Talk {
    everyday(false)
}

/// The same with gmc.
fn coded() -> Talk {
    everyday(true)
}

fn everyday(compress: bool) -> Talk {
    let mut talk = Talk::new(room::Config { compress, ..demo() });
    let ann = client(&mut talk, compress, Network::default());
    open(&mut talk, ann, &[("draw", DRAW), ("pointer", POINTER), ("path", PATH)]);
    talk.run(MS * 100);
    let bob = client(&mut talk, compress, Network { delay: MS * 25, ..Network::default() });
    open(&mut talk, bob, &[("draw", DRAW), ("pointer", POINTER), ("path", PATH)]);
    talk.run(MS * 200);
    // Every kind of record.
    talk.send(ann, 0, "hello");
    talk.run(MS * 12);
    let bytes = Outgoing { bytes: &[0, 255, 128], ..Outgoing::default() };
    talk.send_message(ann, 0, bytes);
    talk.send_message(ann, 0, Outgoing { bytes: b"urgent", priority: Some(200), ..bytes });
    send_key(&mut talk, ann, 1, "me", r#"{"x":10,"y":20}"#);
    talk.send(ann, 2, "a");
    talk.send(ann, 2, "b");
    talk.run(MS * 100);
    send_key(&mut talk, bob, 1, "me", r#"{"x":300,"y":40}"#);
    talk.send(bob, 0, "hello, Ann");
    for step in 0..4 {
        send_key(&mut talk, bob, 1, "me", &format!(r#"{{"x":{},"y":40}}"#, 301 + step));
        talk.run(MS * 50);
    }
    talk.act(bob, |bob, _| bob.set_presence(b"Bob, at lunch").expect("a presence"));
    talk.run(MS * 100);
    // A transaction on a channel that the other one opens late.
    open(&mut talk, ann, &[("notes", DRAW)]);
    talk.run(MS * 100);
    talk.send(ann, 3, "the first note");
    talk.run(MS * 100);
    open(&mut talk, bob, &[("notes", DRAW)]);
    talk.run(MS * 150);
    // A break: Bob's messages wait meanwhile, and those for him are sent to him later.
    talk.cut(bob);
    talk.send(bob, 0, "while I was away");
    send_key(&mut talk, bob, 1, "me", r#"{"x":500,"y":50}"#);
    talk.send(ann, 0, "where are you?");
    talk.run(MS * 700);
    talk.send(bob, 0, "back again");
    talk.run(MS * 2500);
    // A pause with nothing but pings.
    shut(&mut talk, bob, 2);
    talk.run(MS * 300);
    talk.act(bob, |bob, _| bob.leave());
    talk.run(MS * 200);
    talk.act_in_room(|room, now| {
        let (retry, step) = (MS * 500, Duration::ZERO);
        room.handle_input(now, room::Input::Shutdown { retry, step });
    });
    talk.run(MS * 100);
    talk
}

/// What a server says no to, and a session that moves.
fn refusals() -> Talk {
    let mut talk = Talk::new(plain_room());
    let (token, presence) = (b"refused".to_vec(), b"person 0".to_vec());
    let refused =
        ClientConfig { token, presence, seed: 9, compress: false, ..ClientConfig::new("demo") };
    talk.client(refused, Network::default());
    let ann = client(&mut talk, false, Network::default());
    let channels = [("forbidden", DRAW), ("read-only", DRAW), ("draw", DRAW), ("pointer", POINTER)];
    open(&mut talk, ann, &channels);
    talk.run(MS * 100);
    set_qos(&mut talk, ann, 3, POINTER.loss_per_mille(999));
    talk.run(MS * 100);
    talk.send(ann, 2, "before");
    talk.move_to(ann, Network { delay: MS * 5, ..Network::default() });
    talk.run(MS * 100);
    talk.send(ann, 2, "after");
    talk.run(MS * 100);
    // Something that only a server says ends the transport, and the client comes back.
    talk.inject(ann, &one("SYNCED", Fields::default().num("id", 0)));
    talk.run(MS * 500);
    talk
}

/// A room that asks for snapshots, and a late joiner.
fn snapshot() -> Talk {
    let mut talk = Talk::new(plain_with(Limits { snapshot_after: 8, ..Limits::default() }));
    talk.snapshot_parts = 40;
    let ann = client(&mut talk, false, Network::default());
    open(&mut talk, ann, &[("draw", DRAW)]);
    provide(&mut talk, ann, 0);
    talk.run(MS * 100);
    for nth in 0..12 {
        talk.send(ann, 0, &format!("line {nth}"));
        talk.run(MS * 45);
    }
    talk.run(MS * 300);
    let bob = client(&mut talk, false, Network::default());
    open(&mut talk, bob, &[("draw", DRAW)]);
    talk.run(MS * 200);
    talk.send(bob, 0, "I see it");
    talk.run(MS * 200);
    talk
}

/// A room whose log is too short for a break, and channels that somebody has not open.
fn gap() -> Talk {
    let mut talk = Talk::new(plain_with(Limits {
        max_log_bytes: 1500,
        snapshot_after: 100_000,
        ..Limits::default()
    }));
    let ann = client(&mut talk, false, Network::default());
    open(&mut talk, ann, &[("draw", DRAW), ("notes", DRAW)]);
    let bob = client(&mut talk, false, Network::default());
    open(&mut talk, bob, &[("draw", DRAW)]);
    talk.run(MS * 100);
    talk.cut(bob);
    for nth in 0..20 {
        talk.send(ann, 0, &format!("a line that is not short, number {nth}"));
        talk.run(MS * 10);
    }
    talk.run(MS * 500);
    // Enough transactions for Bob to be sent POSITION.
    for nth in 0..140 {
        talk.send(ann, 1, &format!("{nth}"));
    }
    talk.run(MS * 200);
    open(&mut talk, bob, &[("notes", DRAW)]);
    talk.run(MS * 300);
    talk
}

/// Codecs: single messages, blocks, large messages, a packed snapshot.
fn packed() -> Talk {
    let mut talk =
        Talk::new(Config { limits: Limits { snapshot_after: 2, ..Limits::default() }, ..demo() });
    talk.snapshot_parts = 300;
    let ann = client(&mut talk, true, Network::default());
    for (name, compress) in [("draw", "template"), ("lz4", "lz4"), ("auto", "auto"), ("off", "off")]
    {
        talk.open(ann, name, DRAW, named(compress));
    }
    talk.open(ann, "private", PRIVATE, named("delta1+lz4"));
    provide(&mut talk, ann, 2);
    talk.run(MS * 100);
    let text = "again and again and again and again. ".repeat(12);
    for nth in 0..8 {
        talk.send(ann, nth % 4, &format!("{nth} {text}"));
        talk.run(MS * 60);
    }
    compress(&mut talk, ann, 3, "lz4");
    talk.send(ann, 0, &"again and again and again and again. ".repeat(480));
    talk.run(MS * 200);
    let bob = client(&mut talk, true, Network::default());
    for (name, compress) in [("draw", "template"), ("lz4", "lz4"), ("auto", "off")] {
        talk.open(bob, name, DRAW, named(compress));
    }
    talk.open(bob, "private", PRIVATE, Compress::Off);
    talk.run(MS * 300);
    talk.send(ann, 1, &text);
    send_key(&mut talk, ann, 4, "k", &text);
    talk.run(MS * 300);
    talk
}

/// Contracts that change, a lower rate for one receiver, and an open inspector.
fn contracts() -> Talk {
    let mut talk = Talk::new(demo());
    let ann = client(&mut talk, false, Network::default());
    let bob = client(&mut talk, false, Network::default());
    for one in [ann, bob] {
        open(&mut talk, one, &[("draw", DRAW_SOON), ("pointer", POINTER)]);
    }
    talk.run(MS * 100);
    set_qos(&mut talk, ann, 1, POINTER.loss_per_mille(20));
    talk.act(bob, |bob, _| {
        bob.limit_rate(ChannelId(1), Some(Rate::per_second(4))).expect("a rate")
    });
    talk.act_in_room(|room, now| {
        room.set_tracing(true);
        drop(room.inspect(now));
    });
    for step in 0..60 {
        send_key(&mut talk, ann, 1, "me", &format!("{step}"));
        talk.run(MS * 40);
    }
    talk.send(ann, 0, "a line");
    talk.run(MS * 500);
    talk
}

/// Two clients whose paths lose a fifth of all datagrams: repeats, reports, copies of transactions.
fn datagrams() -> Talk {
    pointing(true)
}

/// The same without gmc.
fn datagrams_plain() -> Talk {
    pointing(false)
}

fn pointing(compress: bool) -> Talk {
    let mut talk = Talk::new(room::Config { compress, ..demo() });
    let ann = client(&mut talk, compress, LOSSY);
    let bob = client(&mut talk, compress, LOSSY);
    for one in [ann, bob] {
        open(&mut talk, one, &[("draw", DRAW_SOON), ("pointer", POINTER), ("path", PATH)]);
    }
    talk.run(MS * 200);
    for step in 0..60 {
        for (nth, one) in [ann, bob].into_iter().enumerate() {
            let pointer = format!(r#"{{"x":{},"y":{}}}"#, 100 + 3 * step, 400 * nth);
            send_key(&mut talk, one, 1, "me", &pointer);
            if step % 3 == 0 {
                talk.send(one, 2, &format!("p{step}"));
            }
            if step > 40 && step % 5 == nth {
                talk.send(one, 0, &format!("line {step}"));
            }
        }
        talk.run(MS * 40);
    }
    talk.run(MS * 1500);
    talk
}

/// Six receivers who are served together, on the stream and by datagrams; one falls behind, one
/// leaves the groups.
fn groups() -> Talk {
    let mut talk = Talk::new(Config { share_stream_above: 4, share_datagrams_above: 4, ..demo() });
    let mut all = Vec::new();
    for nth in 0..6 {
        let network = Network { delay: MS * (10 + nth), max_datagram: 1200, lost: 4 };
        all.push(client(&mut talk, true, network));
    }
    for &one in &all {
        open(&mut talk, one, &[("draw", DRAW), ("pointer", POINTER)]);
    }
    for step in 0..32 {
        let one = all[step % 3];
        send_key(&mut talk, one, 1, "me", &format!(r#"{{"x":{},"y":{step}}}"#, 100 + 3 * step));
        if step % 4 == 0 {
            talk.send(all[step % 6], 0, &format!("line {step}"));
        }
        talk.run(MS * 120);
    }
    // Another compression: the channel is no longer among the group's.
    compress(&mut talk, all[5], 1, "off");
    compress(&mut talk, all[5], 0, "off");
    for step in 32..38 {
        let one = all[step % 3];
        send_key(&mut talk, one, 1, "me", &format!(r#"{{"x":{},"y":{step}}}"#, 100 + 3 * step));
        talk.run(MS * 120);
    }
    talk
}

fn client(talk: &mut Talk, compress: bool, network: Network) -> usize {
    let seed = talk.people.len() as u64 + 1;
    let presence = format!("person {seed}").into_bytes();
    talk.client(ClientConfig { presence, seed, compress, ..ClientConfig::new("demo") }, network)
}

fn open(talk: &mut Talk, client: usize, channels: &[(&str, Qos)]) {
    for (name, qos) in channels {
        talk.open(client, name, *qos, Compress::Template);
    }
}

fn named(compress: &str) -> Compress {
    compress.parse().expect("a compression")
}

fn compress(talk: &mut Talk, client: usize, channel: u32, name: &str) {
    talk.act(client, |one, _| one.compress(ChannelId(channel), named(name)).expect("a channel"));
}

fn set_qos(talk: &mut Talk, client: usize, channel: u32, qos: Qos) {
    talk.act(client, |one, _| one.set_qos(ChannelId(channel), qos).expect("a QoS"));
}

/// Lets a client make the part `drawing` of the snapshot, for a channel.
fn provide(talk: &mut Talk, client: usize, channel: u32) {
    talk.act(client, |one, _| one.provide("drawing", &[ChannelId(channel)]).expect("a channel"));
}

fn send_key(talk: &mut Talk, client: usize, channel: u32, key: &str, text: &str) {
    let key = Some(key.as_bytes());
    let message = Outgoing { bytes: text.as_bytes(), text: true, key, ..Outgoing::default() };
    talk.send_message(client, channel, message);
}

/// Sends SHUT in the client's place, so that what the client does about it is not shown (W85).
fn shut(talk: &mut Talk, client: usize, id: u64) {
    talk.inject(client, &one("SHUT", Fields::default().num("id", id)));
}
