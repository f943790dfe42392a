//! A whole conversation of a client without gmc, by hand: docs/wire/vectors/conversation-plain.txt.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::check;
use crate::conversation::Sent;
use crate::conversation::hand::{ByHand, hello, messages, open, record};
use crate::grammar::{Fields, Frame, From, Meaning, Numbers, Value, hex, read_packet};

/// Ann's transports, and Bob's.
const ANN: u64 = 1;
const ANN_AGAIN: u64 = 3;
const BOB: u64 = 2;

/// What a client written from the documents keeps: it sends by W21 to W24 and reads by them.
pub(super) struct Conversation {
    pub(super) room: ByHand,
    /// The kinds of channels by number, which are the same on all transports here.
    kinds: BTreeMap<u64, bool>,
}

/// One end by hand.
struct Person {
    link: u64,
    up: Numbers,
    counter: u32,
    index: u32,
}

impl Person {
    fn transaction(&mut self, room: &mut ByHand, text: &str) {
        self.counter += 1;
        let gap = self.up.next_transaction(self.counter);
        room.say(self.link, &[messages(vec![record(1, gap, 0, None, text)])]);
    }

    fn awareness(&mut self, room: &mut ByHand, text: &str) {
        self.index += 1;
        let (gap, stamp) = self.up.next_awareness(2, self.index, self.counter);
        room.say(self.link, &[messages(vec![record(2, gap, stamp, Some("me"), text)])]);
    }

    /// W35.
    fn pong(&self, room: &mut ByHand) {
        let mut pings = room.hear(self.link).into_iter().filter(|frame| frame.name == "PING");
        if let Some(ping) = pings.next_back() {
            let now = room.now.as_micros() as u64;
            let pong = Fields::default().num("time", ping.number("time"));
            let pong = pong.num("received", now).num("sent", now);
            room.say(self.link, &[Frame::new("PONG", pong)]);
        }
    }
}

fn ping(room: &ByHand) -> Frame {
    Frame::new("PING", Fields::default().num("time", room.now.as_micros() as u64))
}

pub(super) fn conversation() -> Conversation {
    let mut room = ByHand::new("compress=0");
    let join = |name: &str| {
        let presence = Value::Octets(name.into());
        let hello = Frame::new("HELLO", hello().with("presence", presence));
        [hello, open(1, "draw", false, 0), open(2, "pointer", true, 0)]
    };
    let person = |link| Person { link, up: Numbers::new(0, 0, 0), counter: 0, index: 0 };
    let (mut ann, mut bob) = (person(ANN), person(BOB));
    room.say(ANN, &join("Ann"));
    ann.pong(&mut room);
    let first = ping(&room);
    room.say(ANN, &[first]);
    room.run(100);
    // Bob joins; both say something.
    room.say(BOB, &join("Bob"));
    bob.pong(&mut room);
    room.run(100);
    ann.transaction(&mut room, "hello");
    ann.awareness(&mut room, r#"{"x":10,"y":20}"#);
    room.run(60);
    bob.awareness(&mut room, r#"{"x":300,"y":40}"#);
    bob.transaction(&mut room, "hello, Ann");
    bob.awareness(&mut room, r#"{"x":301,"y":40}"#);
    room.run(100);
    // A channel that Ann opens late: what is in it fills it.
    room.say(BOB, &[open(3, "notes", false, 0)]);
    room.run(10);
    bob.counter += 1;
    let gap = bob.up.next_transaction(bob.counter);
    room.say(BOB, &[messages(vec![record(3, gap, 0, None, "the first note")])]);
    room.run(60);
    room.say(ANN, &[open(3, "notes", false, 0)]);
    room.run(60);
    // Two transactions in one packet, with octets and a priority.
    ann.counter += 2;
    let octets = record(1, 0, 0, None, "").num("flags", 4).num("priority", 200);
    let octets = octets.with("octets", Value::Octets(vec![0, 255, 128]));
    let gap = ann.up.next_transaction(ann.counter - 1);
    ann.up.next_transaction(ann.counter);
    let two = vec![octets.num("gap", gap), record(3, 0, 0, None, "a second note")];
    room.say(ANN, &[messages(two)]);
    room.run(60);
    // Ann's transport breaks as she sends something; Bob goes on.
    room.cut(ANN);
    ann.counter += 1;
    room.run(50);
    bob.transaction(&mut room, "where are you?");
    bob.awareness(&mut room, r#"{"x":500,"y":60}"#);
    room.run(300);
    // She comes back: she has all up to position 5, and three of her own are ordered.
    let resume = Fields::default()
        .num("participant", 1)
        .with("secret", Value::Octets(vec![ANN as u8; 16]))
        .num("incarnation", 7)
        .num("position", 5)
        .num("counter", 3);
    let presence = Value::Octets(b"Ann".to_vec());
    let hello = hello().with("presence", presence).with("resume", Value::Fields(resume));
    let again = [
        Frame::new("HELLO", hello),
        open(1, "draw", false, 5),
        open(2, "pointer", true, 5),
        open(3, "notes", false, 5),
    ];
    room.say(ANN_AGAIN, &again);
    ann.link = ANN_AGAIN;
    ann.pong(&mut room);
    ann.up = Numbers::new(0, 3, 0);
    let gap = ann.up.next_transaction(ann.counter);
    room.say(ANN_AGAIN, &[messages(vec![record(1, gap, 0, None, "on a train")])]);
    ann.awareness(&mut room, r#"{"x":11,"y":21}"#);
    room.run(60);
    // She closes a channel, and opens it again.
    let shut = Frame::new("SHUT", Fields::default().num("id", 3));
    let pings = ping(&room);
    room.say(ANN_AGAIN, &[shut, pings]);
    room.run(20);
    bob.counter += 1;
    let gap = bob.up.next_transaction(bob.counter);
    room.say(BOB, &[messages(vec![record(3, gap, 0, None, "she does not see this")])]);
    room.run(60);
    room.say(ANN_AGAIN, &[open(3, "notes", false, 7)]);
    room.run(60);
    // Nobody says anything: the server asks whether she is there.
    room.hear(ANN_AGAIN);
    room.run(2100);
    ann.pong(&mut room);
    let bye = Fields::default().num("reason", 0).num("retry_ms", 0);
    room.say(BOB, &[Frame::new("BYE", bye.clone())]);
    room.run(60);
    room.say(ANN_AGAIN, &[Frame::new("BYE", bye)]);
    room.run(10);
    let kinds = BTreeMap::from([(1, false), (2, true), (3, false)]);
    Conversation { room, kinds }
}

const HEAD: &str = "\
# A conversation over WebSocket between a server and Ann, whose client has no gmc: it states capabilities 0.
#
# Lines that begin with > are what Ann sends, with < what she is sent: the transport, milliseconds, and the octets of one
# binary message. Transport 3 is the one on which she comes back after transport 1 broke. Indented lines say what is in
# it: each frame and its fields (octets in hexadecimal digits), and behind => what the numbers of a record mean
# (docs/wire/session.md, W21 to W24). Bob is another client; what he sends is not shown.
";

#[test]
fn a_conversation_without_gmc() {
    let Conversation { room, kinds } = conversation();
    let mut text = HEAD.to_owned();
    let mut numbers: BTreeMap<(u64, bool), Numbers> = BTreeMap::from([
        ((ANN, true), Numbers::new(0, 0, 0)),
        ((ANN, false), Numbers::new(1, 0, 0)),
        ((ANN_AGAIN, true), Numbers::new(0, 3, 0)),
        ((ANN_AGAIN, false), Numbers::new(1, 3, 5)),
    ]);
    let mut transactions = Vec::new();
    for sent in room.sent.iter().filter(|sent| sent.link != BOB) {
        let Sent { at, link, is_up, is_first, octets, .. } = sent;
        let (from, arrow) = if *is_up { (From::Client, '>') } else { (From::Server, '<') };
        let _ = writeln!(text, "{arrow} {link} {} {}", at.as_millis(), hex(octets));
        if *is_first {
            text += "    version 1\n";
        }
        for frame in read_packet(from, *is_first, octets).unwrap() {
            let numbers = numbers.get_mut(&(*link, *is_up)).unwrap();
            numbers.pass(&frame, 1);
            if frame.name != "MESSAGES" {
                let _ = writeln!(text, "    {} {}", frame.name, frame.fields.json());
                continue;
            }
            text += "    MESSAGES\n";
            for record in frame.list("records") {
                let meaning = numbers.read(record, kinds[&record.number("channel")], *is_up);
                let said = match meaning {
                    Meaning::Awareness { index, after } => format!("index {index}, after {after}"),
                    Meaning::Transaction { counter, .. } if *is_up => format!("counter {counter}"),
                    Meaning::Transaction { counter, position } => {
                        transactions.push((record.number("sender"), counter, position));
                        format!("counter {counter}, position {position}")
                    }
                };
                let _ = writeln!(text, "        {} => {said}", record.json());
            }
        }
    }
    // Every transaction once, whatever transport brought it; the last one is a channel's that was closed meanwhile.
    let expected =
        [(1, 1, 1), (2, 1, 2), (2, 2, 3), (1, 2, 4), (1, 3, 5), (2, 3, 6), (1, 4, 7), (2, 4, 8)];
    assert_eq!(transactions, expected);
    check("conversation-plain.txt", &text);
}
