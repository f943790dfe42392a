//! A whole conversation of a client without gmc, by hand: docs/wire/vectors/conversation-plain.txt.

use super::check;
use super::written::{Conversation, Person, bye, ping, resume};
use crate::conversation::hand::{hello, messages, open, record};
use crate::conversation::plain;
use crate::grammar::{Fields, Frame, Value};

/// Ann's transports, and Bob's.
const ANN: u64 = 1;
const ANN_AGAIN: u64 = 3;
const BOB: u64 = 2;

pub(super) fn conversation() -> Conversation {
    let mut talk = Conversation::new(plain(), &[ANN, ANN_AGAIN]);
    let join = |name: &str| {
        let presence = Value::Bytes(name.into());
        let hello = Frame::new("HELLO", hello().with("presence", presence));
        [hello, open(1, "draw", false, 0), open(2, "pointer", true, 0)]
    };
    let (mut ann, mut bob) = (Person::new(ANN), Person::new(BOB));
    talk.remark("Ann's application opens draw and pointer, and Ann joins.");
    talk.room.say(ANN, &join("Ann"));
    ann.pong(&mut talk.room);
    ann.ping(&mut talk.room);
    talk.room.run(100);
    // Bob joins, and both send messages.
    talk.room.say(BOB, &join("Bob"));
    bob.pong(&mut talk.room);
    talk.room.run(100);
    talk.remark("Ann sends a transaction, then a value.");
    ann.transaction(&mut talk.room, "hello");
    ann.value(&mut talk.room, r#"{"x":10,"y":20}"#);
    talk.room.run(60);
    bob.value(&mut talk.room, r#"{"x":300,"y":40}"#);
    bob.transaction(&mut talk.room, "hello, Ann");
    bob.value(&mut talk.room, r#"{"x":301,"y":40}"#);
    talk.room.run(100);
    talk.room.say(BOB, &[open(3, "notes", false, 0)]);
    talk.room.run(10);
    let note = bob.next_transaction(3, "the first note");
    talk.room.say(BOB, &[messages(vec![note])]);
    talk.room.run(60);
    talk.remark("Ann opens a third channel, which holds a transaction already.");
    talk.room.say(ANN, &[open(3, "notes", false, 0)]);
    talk.room.run(60);
    talk.remark("Ann sends two transactions at once: octets with a priority, and a text.");
    let bytes = record(1, 0, 0, None, "").num("flags", 4).num("priority", 200);
    let bytes = bytes.with("octets", Value::Bytes(vec![0, 255, 128]));
    ann.counter += 2;
    let gap = ann.up.next_transaction(ann.counter - 1);
    ann.up.next_transaction(ann.counter);
    let two = vec![bytes.num("gap", gap), record(3, 0, 0, None, "a second note")];
    talk.room.say(ANN, &[messages(two)]);
    talk.room.run(60);
    // Bob goes on while Ann has no transport.
    talk.room.cut(ANN);
    talk.room.run(50);
    bob.transaction(&mut talk.room, "where are you?");
    bob.value(&mut talk.room, r#"{"x":500,"y":60}"#);
    talk.room.run(300);
    talk.remark("Transport 1 broke at 550 ms. At 900 ms Ann sends a transaction, then a value of the same key as");
    talk.remark("before: so the older value need not be sent again (W41). Then she comes back.");
    let presence = Value::Bytes(b"Ann".to_vec());
    let hello = hello().with("presence", presence).with("resume", resume(1, 5, 3));
    let again = [
        Frame::new("HELLO", hello),
        open(1, "draw", false, 5),
        open(2, "pointer", true, 5),
        open(3, "notes", false, 5),
    ];
    talk.room.say(ANN_AGAIN, &again);
    ann.moves_to(ANN_AGAIN, 3);
    ann.pong(&mut talk.room);
    let two = vec![ann.next_transaction(1, "on a train"), ann.next_value(r#"{"x":11,"y":21}"#)];
    talk.room.say(ANN_AGAIN, &[messages(two)]);
    ann.ping(&mut talk.room);
    talk.room.run(60);
    talk.remark("Ann closes the third channel. She has everything up to position 7, which is the `have` of the next OPEN.");
    let shut = Frame::new("SHUT", Fields::default().num("id", 3));
    let asked = ping(&talk.room);
    talk.room.say(ANN_AGAIN, &[shut, asked]);
    talk.room.run(20);
    let note = bob.next_transaction(3, "she does not see this");
    talk.room.say(BOB, &[messages(vec![note])]);
    talk.room.run(60);
    talk.remark("Ann opens the third channel again.");
    talk.room.say(ANN_AGAIN, &[open(3, "notes", false, 7)]);
    talk.room.run(1920);
    talk.remark(
        "Nothing happens for a while: 2,000 ms after her last PING Ann sends the next one.",
    );
    ann.ping(&mut talk.room);
    talk.room.run(240);
    talk.room.say(BOB, &[bye()]);
    talk.room.run(60);
    talk.remark("Ann leaves.");
    talk.room.say(ANN_AGAIN, &[bye()]);
    talk.room.run(10);
    talk
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
    let (text, transactions) = conversation().write(HEAD);
    // Every transaction once, whatever transport brought it; the last one is a channel's that was
    // closed meanwhile.
    let expected =
        [(1, 1, 1), (2, 1, 2), (2, 2, 3), (1, 2, 4), (1, 3, 5), (2, 3, 6), (1, 4, 7), (2, 4, 8)];
    assert_eq!(transactions, expected);
    check("conversation-plain.txt", &text);
}
