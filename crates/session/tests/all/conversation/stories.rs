//! Short conversations that together contain every feature of the wire. The vectors of docs/wire
//! are made from them.

use super::{MS, Network, Talk};
use crate::grammar::{Fields, hex, one};

/// Transactions without a deadline, and with one of 800 ms.
const DRAW: &str = "0,1,128,0,0,0,0,0";
const DRAW_SOON: &str = "0,1,128,0,0,800,0,0";
/// Awareness that conflates: 5 % may miss, 250 ms, 5 to 25 a second.
const POINTER: &str = "1,0,128,0,50,250,5000,25000";
/// Awareness that aggregates: 10 % may miss, 500 ms.
const PATH: &str = "1,1,64,0,100,500,0,0";
const PRIVATE: &str = "1,0,128,1,50,250,0,0";

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
    everyday("compress=0")
}

/// The same with gmc.
fn coded() -> Talk {
    everyday("")
}

fn everyday(compression: &str) -> Talk {
    let mut talk = Talk::new(compression);
    let ann = client(&mut talk, compression, Network::default());
    open(&mut talk, &ann, &[("draw", DRAW), ("pointer", POINTER), ("path", PATH)]);
    talk.run(MS * 100);
    let bob = client(&mut talk, compression, Network { delay: MS * 25, ..Network::default() });
    open(&mut talk, &bob, &[("draw", DRAW), ("pointer", POINTER), ("path", PATH)]);
    talk.run(MS * 200);
    // Every kind of record.
    send(&mut talk, &ann, 0, "hello");
    talk.run(MS * 12);
    talk.tell(&ann, &format!("send 0 octets - {}", hex(&[0, 255, 128])));
    talk.tell(&ann, &format!("priority 0 200 {}", hex(b"urgent")));
    send_key(&mut talk, &ann, 1, "me", r#"{"x":10,"y":20}"#);
    send(&mut talk, &ann, 2, "a");
    send(&mut talk, &ann, 2, "b");
    talk.run(MS * 100);
    send_key(&mut talk, &bob, 1, "me", r#"{"x":300,"y":40}"#);
    send(&mut talk, &bob, 0, "hello, Ann");
    for step in 0..4 {
        send_key(&mut talk, &bob, 1, "me", &format!(r#"{{"x":{},"y":40}}"#, 301 + step));
        talk.run(MS * 50);
    }
    talk.tell(&bob, &format!("presence {}", hex(b"Bob, at lunch")));
    talk.run(MS * 100);
    // A transaction on a channel that the other one opens late.
    open(&mut talk, &ann, &[("notes", DRAW)]);
    talk.run(MS * 100);
    send(&mut talk, &ann, 3, "the first note");
    talk.run(MS * 100);
    open(&mut talk, &bob, &[("notes", DRAW)]);
    talk.run(MS * 150);
    // A break: Bob's messages wait meanwhile, and those for him are sent to him later.
    talk.cut(&bob);
    send(&mut talk, &bob, 0, "while I was away");
    send_key(&mut talk, &bob, 1, "me", r#"{"x":500,"y":50}"#);
    send(&mut talk, &ann, 0, "where are you?");
    talk.run(MS * 700);
    send(&mut talk, &bob, 0, "back again");
    talk.run(MS * 2500);
    // A pause with nothing but pings.
    shut(&mut talk, &bob, 2);
    talk.run(MS * 300);
    talk.tell(&bob, "leave");
    talk.run(MS * 200);
    talk.tell("room", "shutdown 500");
    talk.run(MS * 100);
    talk
}

/// What a server says no to, and a session that moves.
fn refusals() -> Talk {
    let mut talk = Talk::new("compress=0");
    let config = "compress=0 refused=1 seed=9";
    talk.client(config, Network::default());
    let ann = client(&mut talk, "compress=0", Network::default());
    let channels = [("forbidden", DRAW), ("read-only", DRAW), ("draw", DRAW), ("pointer", POINTER)];
    open(&mut talk, &ann, &channels);
    talk.run(MS * 100);
    talk.tell(&ann, &format!("qos 3 {}", POINTER.replace(",50,", ",999,")));
    talk.run(MS * 100);
    send(&mut talk, &ann, 2, "before");
    talk.move_to(&ann, Network { delay: MS * 5, ..Network::default() });
    talk.run(MS * 100);
    send(&mut talk, &ann, 2, "after");
    talk.run(MS * 100);
    // Something that only a server says ends the transport, and the client comes back.
    talk.inject(&ann, &one("SYNCED", Fields::default().num("id", 0)));
    talk.run(MS * 500);
    talk
}

/// A room that asks for snapshots, and a late joiner.
fn snapshot() -> Talk {
    let mut talk = Talk::new("compress=0 snapshot_after=8");
    talk.snapshot_parts = 40;
    let ann = client(&mut talk, "compress=0", Network::default());
    open(&mut talk, &ann, &[("draw", DRAW)]);
    talk.tell(&ann, "provide drawing 0");
    talk.run(MS * 100);
    for nth in 0..12 {
        send(&mut talk, &ann, 0, &format!("line {nth}"));
        talk.run(MS * 45);
    }
    talk.run(MS * 300);
    let bob = client(&mut talk, "compress=0", Network::default());
    open(&mut talk, &bob, &[("draw", DRAW)]);
    talk.run(MS * 200);
    send(&mut talk, &bob, 0, "I see it");
    talk.run(MS * 200);
    talk
}

/// A room whose log is too short for a break, and channels that somebody has not open.
fn gap() -> Talk {
    let mut talk = Talk::new("compress=0 log_bytes=1500 snapshot_after=100000");
    let ann = client(&mut talk, "compress=0", Network::default());
    open(&mut talk, &ann, &[("draw", DRAW), ("notes", DRAW)]);
    let bob = client(&mut talk, "compress=0", Network::default());
    open(&mut talk, &bob, &[("draw", DRAW)]);
    talk.run(MS * 100);
    talk.cut(&bob);
    for nth in 0..20 {
        send(&mut talk, &ann, 0, &format!("a line that is not short, number {nth}"));
        talk.run(MS * 10);
    }
    talk.run(MS * 500);
    // Enough transactions for Bob to be sent POSITION.
    for nth in 0..140 {
        send(&mut talk, &ann, 1, &format!("{nth}"));
    }
    talk.run(MS * 200);
    open(&mut talk, &bob, &[("notes", DRAW)]);
    talk.run(MS * 300);
    talk
}

/// Codecs: single messages, blocks, large messages, a packed snapshot.
fn packed() -> Talk {
    let mut talk = Talk::new("snapshot_after=2");
    talk.snapshot_parts = 300;
    let ann = client(&mut talk, "", Network::default());
    for (name, compress) in [("draw", "template"), ("lz4", "lz4"), ("auto", "auto"), ("off", "off")]
    {
        talk.tell(&ann, &format!("channel {name} {DRAW} {compress}"));
    }
    talk.tell(&ann, &format!("channel private {PRIVATE} delta1+lz4"));
    talk.tell(&ann, "provide drawing 2");
    talk.run(MS * 100);
    let text = "again and again and again and again. ".repeat(12);
    for nth in 0..8 {
        send(&mut talk, &ann, nth % 4, &format!("{nth} {text}"));
        talk.run(MS * 60);
    }
    talk.tell(&ann, "compress 3 lz4");
    talk.tell(&ann, &format!("large 0 480 {}", hex(b"again and again and again and again. ")));
    talk.run(MS * 200);
    let bob = client(&mut talk, "", Network::default());
    for (name, compress) in [("draw", "template"), ("lz4", "lz4"), ("auto", "off")] {
        talk.tell(&bob, &format!("channel {name} {DRAW} {compress}"));
    }
    talk.tell(&bob, &format!("channel private {PRIVATE} off"));
    talk.run(MS * 300);
    send(&mut talk, &ann, 1, &text);
    send_key(&mut talk, &ann, 4, "k", &text);
    talk.run(MS * 300);
    talk
}

/// Contracts that change, a lower rate for one receiver, and an open inspector.
fn contracts() -> Talk {
    let mut talk = Talk::new("");
    let ann = client(&mut talk, "compress=0", Network::default());
    let bob = client(&mut talk, "compress=0", Network::default());
    for one in [&ann, &bob] {
        open(&mut talk, one, &[("draw", DRAW_SOON), ("pointer", POINTER)]);
    }
    talk.run(MS * 100);
    talk.tell(&ann, &format!("qos 1 {}", POINTER.replace(",50,", ",20,")));
    talk.tell(&bob, "limit 1 4000");
    talk.tell("room", "inspect");
    for step in 0..60 {
        send_key(&mut talk, &ann, 1, "me", &format!("{step}"));
        talk.run(MS * 40);
    }
    send(&mut talk, &ann, 0, "a line");
    talk.run(MS * 500);
    talk
}

/// Two clients whose paths lose a fifth of all datagrams: repeats, reports, copies of transactions.
fn datagrams() -> Talk {
    pointing("")
}

/// The same without gmc.
fn datagrams_plain() -> Talk {
    pointing("compress=0")
}

fn pointing(compression: &str) -> Talk {
    let mut talk = Talk::new(compression);
    let ann = client(&mut talk, compression, LOSSY);
    let bob = client(&mut talk, compression, LOSSY);
    for one in [&ann, &bob] {
        open(&mut talk, one, &[("draw", DRAW_SOON), ("pointer", POINTER), ("path", PATH)]);
    }
    talk.run(MS * 200);
    for step in 0..60 {
        for (nth, one) in [&ann, &bob].into_iter().enumerate() {
            let pointer = format!(r#"{{"x":{},"y":{}}}"#, 100 + 3 * step, 400 * nth);
            send_key(&mut talk, one, 1, "me", &pointer);
            if step % 3 == 0 {
                send(&mut talk, one, 2, &format!("p{step}"));
            }
            if step > 40 && step % 5 == nth {
                send(&mut talk, one, 0, &format!("line {step}"));
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
    let mut talk = Talk::new("share_stream_above=4 share_datagrams_above=4");
    let mut all = Vec::new();
    for nth in 0..6 {
        let network = Network { delay: MS * (10 + nth), max_datagram: 1200, lost: 4 };
        all.push(client(&mut talk, "", network));
    }
    for one in &all {
        open(&mut talk, one, &[("draw", DRAW), ("pointer", POINTER)]);
    }
    for step in 0..32 {
        let one = &all[step % 3];
        send_key(&mut talk, one, 1, "me", &format!(r#"{{"x":{},"y":{step}}}"#, 100 + 3 * step));
        if step % 4 == 0 {
            send(&mut talk, &all[step % 6], 0, &format!("line {step}"));
        }
        talk.run(MS * 120);
    }
    // Another compression: the channel is no longer among the group's.
    talk.tell(&all[5], "compress 1 off");
    talk.tell(&all[5], "compress 0 off");
    for step in 32..38 {
        let one = &all[step % 3];
        send_key(&mut talk, one, 1, "me", &format!(r#"{{"x":{},"y":{step}}}"#, 100 + 3 * step));
        talk.run(MS * 120);
    }
    talk
}

fn client(talk: &mut Talk, config: &str, network: Network) -> String {
    let person = talk.networks.len() + 1;
    talk.client(format!("{config} person={person} seed={person}").trim_start(), network)
}

fn open(talk: &mut Talk, client: &str, channels: &[(&str, &str)]) {
    for (name, qos) in channels {
        talk.tell(client, &format!("channel {name} {qos} template"));
    }
}

fn send(talk: &mut Talk, client: &str, channel: usize, text: &str) {
    talk.tell(client, &format!("send {channel} text - {}", hex(text.as_bytes())));
}

fn send_key(talk: &mut Talk, client: &str, channel: usize, key: &str, text: &str) {
    let (key, text) = (hex(key.as_bytes()), hex(text.as_bytes()));
    talk.tell(client, &format!("send {channel} text {key} {text}"));
}

/// Sends SHUT in the client's place, because conversations have no words for closing a channel
/// (W85).
fn shut(talk: &mut Talk, client: &str, id: u64) {
    talk.inject(client, &one("SHUT", Fields::default().num("id", id)));
}
