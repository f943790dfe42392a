//! Rules of docs/wire that no other test covers, shown with a client written by hand, packet by
//! packet.

mod datagrams;
mod groups;
mod stored;

use groupwire_session::{Error, Limits, name_of};

use crate::conversation::hand::{ByHand, hello, messages, open, record};
use crate::conversation::{demo, plain_with};
use crate::grammar::{Fields, Frame, Meaning, Numbers, Value};

const ANN: u64 = 1;
const BOB: u64 = 2;

fn join(room: &mut ByHand, link: u64) {
    let frames =
        [Frame::new("HELLO", hello()), open(1, "draw", false, 0), open(2, "pointer", true, 0)];
    room.say(link, &frames);
}

/// Two people who have joined, and know it.
fn two() -> ByHand {
    let mut room = ByHand::plain();
    join(&mut room, ANN);
    join(&mut room, BOB);
    room.run(100);
    room.hear(ANN);
    room.hear(BOB);
    room
}

fn resume(participant: u64, secret: u64, incarnation: u64, position: u64, counter: u64) -> Frame {
    let resume = Fields::default()
        .num("participant", participant)
        .with("secret", Value::Bytes(vec![secret as u8; 16]))
        .num("incarnation", incarnation)
        .num("position", position)
        .num("counter", counter);
    Frame::new("HELLO", hello().with("resume", Value::Fields(resume)))
}

fn find<'a>(frames: &'a [Frame], name: &str) -> Option<&'a Frame> {
    frames.iter().find(|frame| frame.name == name)
}

fn records(frames: &[Frame]) -> Vec<Fields> {
    let payloads = frames.iter().filter(|frame| frame.name == "MESSAGES");
    payloads.flat_map(|payload| payload.list("records").to_vec()).collect()
}

fn texts(frames: &[Frame]) -> Vec<String> {
    let bytes = |record: &Fields| String::from_utf8(record.bytes("octets").to_vec()).unwrap();
    records(frames).iter().map(bytes).collect()
}

fn say(room: &mut ByHand, link: u64, record: Fields) {
    room.say(link, &[messages(vec![record])]);
}

/// An error closes the connection, and the effects of earlier packets stay.
#[test]
fn w8_what_earlier_packets_did_stands_and_the_session_survives() {
    let mut room = two();
    say(&mut room, ANN, record(1, 0, 0, None, "before"));
    room.send(ANN, &[0x3f, 0]);
    let error = room.hear(ANN).into_iter().find(|frame| frame.name == "ERROR").unwrap();
    assert_eq!([error.number("code"), error.number("fatal")], [3, 1]);
    room.run(100);
    assert_eq!(texts(&room.hear(BOB)), ["before"]);
    // The room takes nothing more from this transport.
    say(&mut room, ANN, record(1, 0, 0, None, "after"));
    room.run(100);
    assert_eq!(texts(&room.hear(BOB)), Vec::<String>::new());
    room.say(3, &[resume(1, ANN, 7, 0, 0)]);
    let welcome = room.hear(3).remove(0);
    assert_eq!([welcome.number("outcome"), welcome.number("counter")], [1, 1]);
}

/// W5: an opening with a valid HELLO and a wrong frame after it.
#[test]
fn w5_only_some_frames_may_follow_hello() {
    let mut room = ByHand::plain();
    let bye = Fields::default().num("reason", 0).num("retry_ms", 0);
    room.say(ANN, &[Frame::new("HELLO", hello()), Frame::new("BYE", bye)]);
    let answer = room.hear(ANN);
    assert_eq!((answer[0].name, answer[0].number("code")), ("ERROR", 2));
    // What session.md says of today's server.
    assert!(
        !room.sent.last().unwrap().is_first,
        "it has a version now: mend docs/wire/session.md, W5"
    );
}

#[test]
fn w10_the_answer_is_the_common_set_and_unknown_bits_are_ignored() {
    for (client, common) in
        [(0, 0), (1 << 40 | 128, 128), (8 | 16 | 512, 512), (1, 0), (2 | 256, 0)]
    {
        // Without compression and datagrams the server has contracts and quality reports alone.
        let mut room = ByHand::plain();
        room.say(ANN, &[Frame::new("HELLO", hello().num("capabilities", client))]);
        assert_eq!(room.hear(ANN)[0].number("capabilities"), common, "{client}");
    }
    let mut room = ByHand::new(demo());
    room.max_datagram = 1200;
    room.say(ANN, &[Frame::new("HELLO", hello().num("capabilities", u64::from(u32::MAX)))]);
    let all = 2 | 4 | 32 | 64 | 128 | 256 | 512 | 1024 | 2048;
    assert_eq!(room.hear(ANN)[0].number("capabilities"), all, "reserved ones are not stated");
}

#[test]
fn w12_outcomes() {
    let mut room = two();
    say(&mut room, ANN, record(1, 0, 0, None, "one"));
    room.run(100);
    room.cut(ANN);
    let cases = [
        // Participant, secret, incarnation: outcome and participant.
        ((1, ANN, 7), (1, 1)),
        ((1, 99, 7), (2, 3)),
        ((77, ANN, 7), (2, 4)),
        ((1, ANN, 8), (2, 5)),
    ];
    for (link, ((participant, secret, incarnation), expected)) in (3..).zip(cases) {
        room.say(
            link,
            &[resume(participant, secret, incarnation, 1, 1), open(1, "draw", false, 1)],
        );
        let mut frames = room.hear(link);
        let welcome = frames[0].clone();
        assert_eq!((welcome.number("outcome"), welcome.number("participant")), expected);
        let counter = u64::from(expected.0 == 1);
        assert_eq!([welcome.number("counter"), welcome.number("position")], [counter, 1]);
        // W14: in the same incarnation the client keeps what it has; in another one all numbers
        // begin at 0.
        room.run(100);
        let expected: &[&str] = if incarnation == 7 { &[] } else { &["one"] };
        frames.extend(room.hear(link));
        assert_eq!(texts(&frames), expected);
    }
}

#[test]
fn w16_who_opens_first_sets_the_qos_and_a_refusal_is_not_fatal() {
    let mut room = ByHand::plain();
    room.say(
        ANN,
        &[Frame::new("HELLO", hello().num("capabilities", 128)), open(5, "draw", false, 0)],
    );
    let answer = room.hear(ANN);
    let channel = find(&answer, "CHANNEL").unwrap();
    assert_eq!([channel.number("ref"), channel.number("id"), channel.number("access")], [5, 1, 3]);
    // The same channel, asked for as awareness; and a channel that the authority refuses.
    room.say(
        BOB,
        &[
            Frame::new("HELLO", hello().num("capabilities", 128)),
            open(9, "draw", true, 0),
            open(8, "forbidden", true, 0),
        ],
    );
    let answer = room.hear(BOB);
    let channel = find(&answer, "CHANNEL").unwrap();
    assert_eq!([channel.number("ref"), channel.number("id")], [9, 1]);
    assert_eq!(channel.fields.fields("qos").number("kind"), 0, "it is as Ann opened it");
    let error = find(&answer, "ERROR").unwrap();
    assert_eq!(
        ["code", "fault", "fatal", "subject"].map(|field| error.number(field)),
        [9, 3, 0, 8]
    );
    // Both are told of the new QoS, with the reference 0.
    let qos = channel.fields.fields("qos").clone().num("priority", 200);
    room.say(
        ANN,
        &[Frame::new("CHANGE", Fields::default().num("id", 1).with("qos", Value::Fields(qos)))],
    );
    room.run(100);
    for link in [ANN, BOB] {
        let frames = room.hear(link);
        let channel = find(&frames, "CHANNEL").unwrap();
        assert_eq!([channel.number("ref"), channel.number("id")], [0, 1]);
        assert_eq!(channel.fields.fields("qos").number("priority"), 200);
    }
}

/// W17: `access` has only granted rights. Publishing without the right is an error (refused.rs has
/// it).
#[test]
fn w17_access_is_what_was_granted_of_what_was_asked_for() {
    for (asked, granted) in [(3, 2), (2, 2), (1, 0)] {
        let mut room = ByHand::plain();
        let wish = open(1, "read-only", false, 0).fields.num("access", asked);
        room.say(ANN, &[Frame::new("HELLO", hello()), Frame::new("OPEN", wish)]);
        assert_eq!(find(&room.hear(ANN), "CHANNEL").unwrap().number("access"), granted);
    }
}

#[test]
fn w21_counters_go_over_all_channels_and_indices_around_the_end() {
    let mut room = two();
    room.say(ANN, &[open(3, "notes", false, 0)]);
    room.say(BOB, &[open(3, "notes", false, 0)]);
    let (mut bob, mut seen) = (Numbers::new(2, 0, 0), Vec::new());
    // The greatest index, then 0, then 1: each is newer than the one before.
    let gaps = [u64::from(u32::MAX) - 1, 0, 0];
    for (nth, gap) in gaps.into_iter().enumerate() {
        say(&mut room, ANN, record(2, gap, 0, Some("me"), &format!("{nth}")));
        say(&mut room, ANN, record([1, 3, 1][nth], 0, 0, None, "x"));
        room.run(100);
        for record in records(&room.hear(BOB)) {
            seen.push(bob.read(&record, record.number("channel") == 2, false));
        }
    }
    let transaction = |counter| Meaning::Transaction { counter, position: counter.into() };
    let awareness = |index, after| Meaning::Awareness { index, after };
    let expected = [
        awareness(u32::MAX, 0),
        transaction(1),
        awareness(0, 1),
        transaction(2),
        awareness(1, 2),
        transaction(3),
    ];
    assert_eq!(seen, expected);
}

/// W22: receivers count a sender that left and comes back from 0, also on transports that knew it
/// before.
#[test]
fn w22_counts_of_a_sender_that_left_begin_anew() {
    let mut room = two();
    for nth in 0..3 {
        say(&mut room, BOB, record(2, 0, 0, Some("me"), &format!("{nth}")));
        say(&mut room, BOB, record(1, 0, 0, None, &format!("{nth}")));
        room.run(100);
    }
    room.hear(ANN);
    let bye = Fields::default().num("reason", 0).num("retry_ms", 0);
    room.say(BOB, &[Frame::new("BYE", bye)]);
    room.run(100);
    let frames = room.hear(ANN);
    let left = &find(&frames, "PARTICIPANTS").unwrap().list("participants")[0];
    assert_eq!([left.number("id"), left.number("state")], [2, 0]);
    room.say(3, &[resume(2, BOB, 7, 3, 3), open(1, "draw", false, 3), open(2, "pointer", true, 3)]);
    assert_eq!(room.hear(3)[0].number("outcome"), 1);
    // Towards the server he counts on from WELCOME's counter, and his index from 0, as on every new
    // transport.
    let records_of_bob = vec![record(2, 3, 0, Some("me"), "3"), record(1, 0, 0, None, "3")];
    room.say(3, &[messages(records_of_bob)]);
    room.run(100);
    let numbers: Vec<[u64; 2]> = records(&room.hear(ANN))
        .iter()
        .map(|one| ["gap", "stamp"].map(|name| one.number(name)))
        .collect();
    // Index 4 and after 3, both from 0; counter 4 from 3, which the awareness before it told;
    // position 4 from 3.
    assert_eq!(numbers, [[3, 6], [0, 0]]);
}

/// W23: positions of transactions on channels that a receiver has not opened are skipped.
#[test]
fn w23_stamps_tell_how_many_positions_were_skipped() {
    let mut room = two();
    room.say(ANN, &[open(3, "notes", false, 0)]);
    for (nth, channel) in [1, 3, 3, 1].into_iter().enumerate() {
        say(&mut room, ANN, record(channel, 0, 0, None, &format!("{nth}")));
        room.run(100);
    }
    let stamps: Vec<u64> = records(&room.hear(BOB)).iter().map(|one| one.number("stamp")).collect();
    assert_eq!(stamps, [0, 2]);
}

#[test]
fn w28_a_transaction_that_came_before_is_dropped() {
    let mut room = two();
    say(&mut room, ANN, record(1, 0, 0, None, "one"));
    // The gap to the same number again is 2^32 - 1.
    say(&mut room, ANN, record(1, u32::MAX.into(), 0, None, "one again"));
    say(&mut room, ANN, record(1, 0, 0, None, "two"));
    room.run(100);
    assert_eq!(texts(&room.hear(BOB)), ["one", "two"]);
    let own: Vec<u64> = records(&room.hear(ANN)).iter().map(|one| one.number("flags")).collect();
    assert_eq!(own, [16, 16]);
}

#[test]
fn w33_a_gap_is_told_and_counting_goes_on_from_there() {
    let mut room = ByHand::new(plain_with(Limits {
        max_log_bytes: 2000,
        snapshot_after: 100_000,
        ..Limits::default()
    }));
    join(&mut room, ANN);
    join(&mut room, BOB);
    room.run(100);
    say(&mut room, BOB, record(1, 0, 0, None, "mine"));
    room.run(100);
    room.cut(BOB);
    for nth in 0..30 {
        say(
            &mut room,
            ANN,
            record(1, 0, 0, None, &format!("a line that is not short, number {nth}")),
        );
        room.run(50);
    }
    // Bob states position 0, so his own transaction lies in the gap, too.
    room.say(3, &[resume(2, BOB, 7, 0, 0), open(1, "draw", false, 0)]);
    room.run(100);
    let frames = room.hear(3);
    let gap = find(&frames, "GAP").unwrap();
    assert_eq!(gap.number("id"), 1);
    // W96: his own transaction still counts as ordered.
    assert_eq!(find(&frames, "ORDERED").unwrap().number("counter"), 1);
    let (mut numbers, mut positions) = (Numbers::new(2, 0, 0), Vec::new());
    for record in records(&frames) {
        if let Meaning::Transaction { position, .. } = numbers.read(&record, false, false) {
            positions.push(position);
        }
    }
    let expected: Vec<u64> = (gap.number("position") + 1..=31).collect();
    assert_eq!(positions, expected);
    assert!(!positions.is_empty());
    // A channel that is opened late gets a GAP for its beginning, which changes no position.
    room.say(3, &[Frame::new("SHUT", Fields::default().num("id", 1))]);
    room.say(3, &[open(1, "draw", false, 0)]);
    room.run(100);
    let frames = room.hear(3);
    let gap = find(&frames, "GAP").unwrap();
    assert!(gap.number("id") == 1 && gap.number("position") <= 31);
    say(&mut room, ANN, record(1, 0, 0, None, "next"));
    room.run(100);
    let next = records(&room.hear(3)).remove(0);
    assert_eq!([next.number("stamp"), next.number("flags")], [0, 1]);
}

/// W37: the table of the documents, against the errors of the crate.
#[test]
fn w37_codes_and_faults() {
    let page = include_str!("../../../../docs/wire/session.md");
    let table: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.split('|').count() == 7)
        .map(|line| line.split('|').map(str::trim).collect())
        .filter(|row: &Vec<&str>| row[1].parse::<u32>().is_ok())
        .collect();
    let (what, text, why) = ("something", String::from("something"), "something");
    let errors = [
        Error::Version { theirs: 2, ours: 1 },
        Error::Malformed { what },
        Error::Unsupported { frame: 9 },
        Error::TooLarge { what, size: 2, limit: 1 },
        Error::TooMany { what, limit: 1 },
        Error::InvalidText { what },
        Error::UnknownChannel { channel: 1 },
        Error::NotAllowed { what },
        Error::Refused { why: text.clone() },
        Error::InvalidQos { why },
        Error::Compression { why: text.clone() },
        Error::Silent { ms: 1 },
        Error::Stalled,
        Error::Replaced,
        Error::InvalidCompress { why: text.clone() },
        Error::NotChanged { why: text.clone() },
        Error::NotNow { what },
        Error::PartRefused { why: text.clone() },
        Error::Expired,
        Error::Revoked,
        Error::Banned { why: text },
        Error::OverQuota { seconds: 60 },
    ];
    assert_eq!(table.len(), errors.len());
    for (row, error) in table.iter().zip(&errors) {
        let refusal = groupwire_session::refusal(error);
        let frames =
            crate::grammar::read_packet(crate::grammar::From::Server, true, &refusal).unwrap();
        let number = |column: usize| row[column].parse::<u64>().unwrap();
        assert_eq!(["code", "fault"].map(|name| frames[0].number(name)), [number(1), number(3)]);
        let name = name_of(number(1) as u32).replace('-', " ");
        let name = name
            .replace("qos", "QoS")
            .replace("compress", "compression")
            .replace("compressionion", "compression");
        assert_eq!(row[2], name);
    }
}

#[test]
fn w44_a_session_that_comes_back_over_another_transport_leaves_the_old_one() {
    let mut room = two();
    room.say(3, &[resume(1, ANN, 7, 0, 0), open(1, "draw", false, 0)]);
    assert_eq!(room.hear(3)[0].number("outcome"), 1);
    let error = room.hear(ANN).into_iter().find(|frame| frame.name == "ERROR").unwrap();
    assert_eq!(["code", "fault", "fatal"].map(|name| error.number(name)), [14, 4, 1]);
    // Packets over the older transport are ignored, and its end does not make the participant away.
    say(&mut room, ANN, record(1, 0, 0, None, "over the old one"));
    room.cut(ANN);
    say(&mut room, 3, record(1, 0, 0, None, "over the new one"));
    room.run(100);
    let frames = room.hear(BOB);
    assert_eq!(texts(&frames), ["over the new one"]);
    let people = frames.iter().filter(|frame| frame.name == "PARTICIPANTS");
    assert!(
        people.flat_map(|frame| frame.list("participants")).all(|one| one.number("state") == 1)
    );
}

#[test]
fn w85_a_channel_is_shut_and_opened_again() {
    let mut room = two();
    let ping = Frame::new("PING", Fields::default().num("time", 5));
    // Her own transaction has its place in the order though the channel is shut by then.
    say(&mut room, ANN, record(1, 0, 0, None, "mine"));
    room.say(ANN, &[Frame::new("SHUT", Fields::default().num("id", 1)), ping]);
    say(&mut room, BOB, record(1, 0, 0, None, "not for her"));
    room.run(100);
    let frames = room.hear(ANN);
    let own: Vec<u64> = records(&frames).iter().map(|one| one.number("flags")).collect();
    assert_eq!(own, [16]);
    assert_eq!(find(&frames, "PONG").unwrap().number("time"), 5);
    // The channel is opened again under the same number, and fill records bring the missing
    // transactions.
    room.say(ANN, &[open(7, "draw", false, 1)]);
    room.run(100);
    let frames = room.hear(ANN);
    let channel = find(&frames, "CHANNEL").unwrap();
    assert_eq!([channel.number("ref"), channel.number("id")], [7, 1]);
    assert_eq!(texts(&frames), ["not for her"]);
    assert_eq!(find(&frames, "SYNCED").unwrap().number("id"), 1);
    say(&mut room, ANN, record(1, 0, 0, None, "again"));
    room.run(100);
    assert_eq!(texts(&room.hear(BOB)).last().unwrap(), "again");
    // A message on a shut channel is a message on a channel that is not open.
    room.say(ANN, &[Frame::new("SHUT", Fields::default().num("id", 1))]);
    say(&mut room, ANN, record(1, 0, 0, None, "too late"));
    let error = room.hear(ANN).into_iter().find(|frame| frame.name == "ERROR").unwrap();
    assert_eq!([error.number("code"), error.number("fatal")], [7, 1]);
}

/// W100: the user comes before the presence, and takes no byte if the server knows no user.
#[test]
fn w100_the_server_says_who_is_who_and_presence_claims_what_it_likes() {
    let mut room = ByHand::plain();
    let named = |token: &str, presence: &str| {
        let bytes = |text: &str| Value::Bytes(text.into());
        let hello = hello().with("token", bytes(token)).with("presence", bytes(presence));
        [Frame::new("HELLO", hello)]
    };
    room.say(ANN, &named("ann", ""));
    room.say(BOB, &named("", "I am ann"));
    room.run(100);
    // The entries of the last PARTICIPANTS.
    let listed = |frames: Vec<Frame>| {
        let mut lists = frames.iter().rev().filter(|frame| frame.name == "PARTICIPANTS");
        lists.next().unwrap().list("participants").to_vec()
    };
    let [ann] = &listed(room.hear(BOB))[..] else { panic!("Bob is told of Ann alone") };
    assert_eq!([ann.number("id"), ann.number("state")], [1, 5]);
    assert_eq!(*ann.get("user"), Value::Text("ann".into()));
    let [bob] = &listed(room.hear(ANN))[..] else { panic!("Ann is told of Bob") };
    assert_eq!([bob.number("id"), bob.number("state")], [2, 1]);
    assert_eq!((bob.find("user"), bob.bytes("presence")), (None, &b"I am ann"[..]));
    room.cut(ANN);
    room.run(100);
    let [away] = &listed(room.hear(BOB))[..] else { panic!("Bob is told that Ann is away") };
    assert_eq!((away.number("state"), away.get("user")), (6, &Value::Text("ann".into())));
    // Eve has Ann's secret but another user's token: she becomes a new participant with her own
    // user.
    let stolen = resume(1, ANN, 7, 0, 0);
    let eve = stolen.fields.clone().with("token", Value::Bytes("eve".into()));
    room.say(3, &[Frame::new("HELLO", eve)]);
    assert_eq!(room.hear(3)[0].number("outcome"), 2);
    room.run(100);
    let [eve] = &listed(room.hear(BOB))[..] else { panic!("Bob is told of Eve") };
    assert_eq!((eve.number("id"), eve.get("user")), (3, &Value::Text("eve".into())));
}
