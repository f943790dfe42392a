//! What a client without gmc does after breaks, by hand:
//! docs/wire/vectors/conversation-recovery.txt.

use std::collections::BTreeSet;

use groupwire_session::Limits;

use super::check;
use super::written::{Conversation, Person, bye, resume};
use crate::conversation::hand::{ByHand, hello, messages, open};
use crate::conversation::plain_with;
use crate::grammar::{Fields, Frame, Value};

/// Ann's transports, one after the other, and Bob's.
const ANN: [u64; 4] = [1, 3, 4, 5];
const BOB: [u64; 2] = [2, 6];

/// Small packets, so that a snapshot of some thousand bytes comes in two chunks; a short log, so
/// that there is a gap; a room that forgets participants when they leave.
fn limits() -> Limits {
    Limits {
        max_message: 6000,
        max_log_bytes: 1500,
        snapshot_after: 30,
        max_former: 0,
        ..Limits::default()
    }
}

/// Lines of the state that Bob's application uploads: 8,208 bytes, more than one packet of Ann's
/// takes.
const STATE_LINES: usize = 216;

pub(super) fn conversation() -> Conversation {
    let mut talk = Conversation::new(plain_with(limits()), &ANN);
    let (mut ann, mut bob) = (Person::new(ANN[0]), Person::new(BOB[0]));
    meet(&mut talk, &ann, &mut bob);
    break_with_messages_under_way(&mut talk, &mut ann, &mut bob);
    break_with_a_gap(&mut talk, &mut ann, &mut bob);
    answer_the_wish_for_a_snapshot(&mut talk, &mut bob);
    begin_anew(&mut talk, &mut ann, &mut bob);
    talk
}

/// A channel that is refused, and all that is said of other participants.
fn meet(talk: &mut Conversation, ann: &Person, bob: &mut Person) {
    talk.remark(
        "Ann's application opens draw, pointer and forbidden; the server refuses the last one.",
    );
    let [opening, draw, pointer] = opening("Ann", Value::None, 0);
    talk.room.say(ann.link, &[opening, draw, pointer, open(3, "forbidden", false, 0)]);
    ann.pong(&mut talk.room);
    ann.ping(&mut talk.room);
    talk.room.run(100);
    talk.room.say(bob.link, &opening_of_bob(Value::None));
    talk.room.run(50);
    talk.remark("Ann's application changes her presence, then Bob's does.");
    talk.room.say(ann.link, &[presence("Ann, drawing")]);
    talk.room.run(50);
    talk.room.say(bob.link, &[presence("Bob, at lunch")]);
    talk.room.run(50);
    talk.remark("Bob's transport breaks, and he comes back.");
    talk.room.cut(bob.link);
    talk.room.run(50);
    bob.moves_to(BOB[1], 0);
    talk.room.say(bob.link, &opening_of_bob(resume(2, 0, 0)));
    talk.room.run(50);
}

/// The room has one of two waiting transactions: the other one is sent again, and so is a value
/// that may be lost.
fn break_with_messages_under_way(talk: &mut Conversation, ann: &mut Person, bob: &mut Person) {
    talk.remark(
        "Ann sends a transaction, later a value. No PING follows the value on this transport.",
    );
    ann.transaction(&mut talk.room, "one");
    talk.room.run(100);
    let value = r#"{"x":1,"y":1}"#;
    ann.value(&mut talk.room, value);
    talk.room.run(100);
    bob.transaction(&mut talk.room, "Bob's first");
    talk.room.run(10);
    talk.remark("Ann sends two transactions. The server reads only the first, and transport 1 breaks before she is answered.");
    ann.transaction(&mut talk.room, "two");
    talk.room.run(5);
    let lost = messages(vec![ann.next_transaction(1, "three")]);
    talk.lose(ann.link, &lost);
    talk.room.cut(ann.link);
    talk.room.run(305);
    talk.remark("Ann comes back. WELCOME says that the room has her transactions up to the second: she sends the third one again,");
    talk.remark("and before it the value (W41), which has the same index and comes after the first transaction. So the gap of the");
    talk.remark("third one is 1, though no counter is missing (W22).");
    talk.room.say(ANN[1], &opening("Ann, drawing", resume(1, 2, 1), 2));
    ann.moves_to(ANN[1], 2);
    ann.pong(&mut talk.room);
    // W25: they were made 420 and 305 ms ago.
    let again = vec![
        ann.value_again(1, 1, value).num("age", 105),
        ann.transaction_again(1, 3, "three").num("age", 76),
    ];
    talk.room.say(ann.link, &[messages(again)]);
    ann.ping(&mut talk.room);
    talk.room.run(2000);
    talk.remark(
        "2,000 ms after the last PING the next one is due. Its PONG says that the value arrived.",
    );
    ann.ping(&mut talk.room);
    talk.room.run(100);
}

/// The room's log does not reach back to the client's position.
fn break_with_a_gap(talk: &mut Conversation, ann: &mut Person, bob: &mut Person) {
    bob.transaction(&mut talk.room, "Bob's second");
    talk.room.run(10);
    talk.remark("Ann sends a transaction, and transport 3 breaks before its own record comes. Bob sends many meanwhile.");
    ann.transaction(&mut talk.room, "four");
    talk.room.cut(ann.link);
    talk.room.run(90);
    for nth in 1..=20 {
        bob.transaction(&mut talk.room, &format!("Bob's line, number {nth} of 20"));
        talk.room.run(10);
    }
    talk.room.run(300);
    talk.remark("Ann comes back. The room no longer has all that she misses. Her transaction is ordered, at a place that she is");
    talk.remark("not told.");
    talk.room.say(ANN[2], &opening("Ann, drawing", resume(1, 5, 3), 5));
    ann.moves_to(ANN[2], 4);
    ann.pong(&mut talk.room);
    ann.ping(&mut talk.room);
    talk.remark("Ann's application can make a part of the room's snapshot, of the channel draw, and Bob's can, too.");
    talk.room.say(ANN[2], &[part()]);
    talk.room.say(bob.link, &[part()]);
    talk.room.run(60);
}

/// Ann uploads the state of her application.
fn answer_the_wish_for_a_snapshot(talk: &mut Conversation, bob: &mut Person) {
    for nth in 1..=4 {
        bob.transaction(&mut talk.room, &format!("{nth} more"));
        talk.room.run(45);
    }
    let wish = talk.room.hear(ANN[2]).into_iter().find(|frame| frame.name == "SNAPSHOT_WANTED");
    assert_eq!(wish.unwrap().number("at_least"), 30);
    talk.remark(
        "Ann's application answers with its state, which her client cuts into chunks of 12 octets.",
    );
    for chunk in chunks(30, b"all that Ann's application shows", 12) {
        talk.room.say(ANN[2], &[chunk]);
    }
    talk.room.run(60);
}

/// The room has forgotten the participant, and its log begins behind what the client has.
fn begin_anew(talk: &mut Conversation, ann: &mut Person, bob: &mut Person) {
    talk.room.cut(ANN[2]);
    let state = "a line of what Bob's application shows".repeat(STATE_LINES);
    let mut positions = BTreeSet::new();
    for nth in 1..=33 {
        bob.transaction(&mut talk.room, &format!("Bob, alone, number {nth}"));
        talk.room.run(340);
        let heard = talk.room.hear(bob.link);
        let wishes = heard.iter().filter(|frame| frame.name == "SNAPSHOT_WANTED");
        for at_least in wishes.map(|wish| wish.number("at_least")) {
            positions.insert(at_least);
            for chunk in chunks(at_least, state.as_bytes(), 5000) {
                talk.room.say(bob.link, &[chunk]);
            }
        }
    }
    assert_eq!(positions, BTreeSet::from([60]));
    talk.remark("Transport 4 broke. At 15,090 ms Ann sends two transactions and a value, and comes back. The room has meanwhile");
    talk.remark("forgotten her: she is a new participant, and her transactions and values are counted from 1 again. Bob gave the");
    talk.remark("room a newer part of the snapshot.");
    talk.room.say(ANN[3], &opening("Ann, drawing", resume(1, 30, 4), 30));
    *ann = Person::new(ANN[3]);
    ann.pong(&mut talk.room);
    talk.room.say(ANN[3], &[part()]);
    let due = vec![
        ann.next_transaction(1, "five"),
        ann.next_transaction(1, "six"),
        ann.next_value(r#"{"x":2,"y":2}"#),
    ];
    talk.room.say(ann.link, &[messages(due)]);
    ann.ping(&mut talk.room);
    talk.room.run(100);
    talk.remark("Bob leaves, then Ann.");
    talk.room.say(bob.link, &[bye()]);
    talk.room.run(60);
    talk.room.say(ann.link, &[bye()]);
    talk.room.run(10);
}

/// HELLO, and OPEN for two channels whose transactions up to `have` the client has.
fn opening(presence: &str, resume: Value, have: u64) -> [Frame; 3] {
    let hello = hello()
        .num("max_packet", 8192)
        .num("max_message", 6000)
        .with("room", Value::Text("demo".into()))
        .with("token", Value::Bytes(Vec::new()))
        .with("presence", Value::Bytes(presence.into()))
        .with("resume", resume);
    let hello = Frame::new("HELLO", hello);
    [hello, open(1, "draw", false, have), open(2, "pointer", true, have)]
}

fn opening_of_bob(resume: Value) -> [Frame; 3] {
    opening("Bob", resume, 0)
}

fn presence(presence: &str) -> Frame {
    Frame::new("PRESENCE", Fields::default().with("rest", Value::Bytes(presence.into())))
}

/// The application makes part 0 of the snapshot, of channel 1.
fn part() -> Frame {
    let fields = Fields::default()
        .num("part", 0)
        .num("counter", 0)
        .with("name", Value::Text("drawing".into()))
        .with("rest", Value::Bytes(vec![1]));
    Frame::new("PART", fields)
}

/// A part of the snapshot for the server, in chunks of at most this size.
fn chunks(as_of: u64, state: &[u8], size: usize) -> Vec<Frame> {
    let chunk = |(nth, rest): (usize, &[u8])| {
        let fields = Fields::default()
            .num("part", 0)
            .num("as_of", as_of)
            .num("total", state.len() as u64)
            .num("offset", (nth * size) as u64)
            .with("rest", Value::Bytes(rest.to_vec()));
        Frame::new("SNAPSHOT", fields)
    };
    state.chunks(size).enumerate().map(chunk).collect()
}

const HEAD: &str = "\
# A conversation as in conversation-plain.txt, of what happens after breaks: transactions and values that are sent again, a
# gap, snapshots in both directions, a session that the room has forgotten. Ann uses transports 1, 3, 4 and 5, one after
# the other. Her client takes packets of 8,192 octets and messages of 6,000.
";

#[test]
fn a_conversation_with_breaks() {
    let talk = conversation();
    let (text, transactions) = talk.write(HEAD);
    let positions: Vec<u64> = transactions.iter().map(|(_, _, position)| *position).collect();
    assert!(positions.is_sorted_by(|one, two| one < two), "every transaction once: {positions:?}");
    // The counters of Ann's own records, by her two participant numbers. Her fourth transaction
    // lies in the gap.
    let own = |participant| {
        let own = transactions.iter().filter(move |(sender, _, _)| *sender == participant);
        own.map(|(_, counter, _)| *counter).collect::<Vec<u32>>()
    };
    assert_eq!([own(1), own(3)], [vec![1, 2, 3], vec![1, 2]]);
    for shown in ["GAP {", "SNAPSHOT_WANTED {", "\"outcome\": 2", "\"fatal\": 0", "\"state\": 2"] {
        assert!(text.contains(shown), "{shown} is not in the conversation");
    }
    let downloads = sent_chunks(&talk.room);
    assert!(downloads > 1, "a snapshot in several chunks");
    check("conversation-recovery.txt", &text);
}

/// How many chunks of a snapshot Ann was sent.
fn sent_chunks(room: &ByHand) -> usize {
    let down = room.sent.iter().filter(|sent| sent.link == ANN[3] && !sent.is_up);
    let frames = down.flat_map(|sent| {
        let from = crate::grammar::From::Server;
        crate::grammar::read_packet(from, sent.is_first, &sent.bytes).unwrap()
    });
    frames.filter(|frame| frame.name == "SNAPSHOT").count()
}
