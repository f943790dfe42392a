//! Packets that a server refuses, and the code of the ERROR that it answers:
//! docs/wire/vectors/refused.json.

use super::{check, json, vector};
use crate::conversation::hand::{ByHand, hello, messages, open, record};
use crate::grammar::{Fields, Frame, From, Value, unhex, varint, write_packet};

/// By name: the rule, the packet, and the code of the answer.
type Case = (&'static str, &'static str, Vec<u8>, u64);

#[test]
fn what_a_server_refuses() {
    let vectors = openings().into_iter().map(|(name, rule, packet, code)| {
        let mut room = ByHand::plain();
        room.send(1, &packet);
        let answer = room.hear(1);
        assert_eq!((answer[0].name, answer[0].number("code")), ("ERROR", code), "{name}");
        assert_eq!(answer[0].number("fatal"), 1, "{name}");
        refused(name, rule, &packet, code, true)
    });
    let later = packets().into_iter().map(|(name, rule, packet, code)| {
        let mut room = ByHand::plain();
        let channels = [
            open(1, "draw", false, 0),
            open(2, "pointer", true, 0),
            open(3, "read-only", false, 0),
        ];
        let mut opening = vec![Frame::new("HELLO", hello())];
        opening.extend(channels);
        room.say(1, &opening);
        room.run(100);
        room.hear(1);
        room.send(1, &packet);
        let answer = room.hear(1);
        let error = answer.iter().find(|frame| frame.name == "ERROR");
        assert_eq!(error.map(|error| error.number("code")), Some(code), "{name}");
        assert_eq!(error.map(|error| error.number("fatal")), Some(1), "{name}");
        refused(name, rule, &packet, code, false)
    });
    // Large packets are left out of the file, because their names say enough.
    let is_small = |vector: &Fields| vector.get("hex").json().len() < 600;
    check("refused.json", &json(vectors.chain(later).filter(is_small)));
}

fn refused(name: &str, rule: &str, packet: &[u8], code: u64, is_opening: bool) -> Fields {
    vector(name, packet)
        .with("rule", Value::Text(rule.into()))
        .with("is_opening", Value::Number(u64::from(is_opening)))
        .num("code", code)
}

/// First packets.
fn openings() -> Vec<Case> {
    let opening = |hello: Fields| write_packet(From::Client, true, &[Frame::new("HELLO", hello)]);
    let usual = opening(hello());
    let text = |text: &str| Value::Text(text.into());
    let bytes = |count: usize| Value::Bytes(vec![b'x'; count]);
    let ping =
        write_packet(From::Client, true, &[Frame::new("PING", Fields::default().num("time", 1))]);
    vec![
        ("version 0", "W4", [&[0], &usual[1..]].concat(), 1),
        ("a client that speaks 2 and above", "W9", opening(hello().num("lowest", 2)), 1),
        ("PING before HELLO", "W5", ping, 2),
        ("an empty room name", "W11", opening(hello().with("room", text(""))), 2),
        (
            "a room name of 257 octets",
            "W11",
            opening(hello().with("room", text(&"r".repeat(257)))),
            4,
        ),
        ("a token of 4,097 octets", "W11", opening(hello().with("token", bytes(4097))), 4),
        ("max_packet 8,191", "W7", opening(hello().num("max_packet", 8191)), 2),
        ("max_packet 61,407", "W7", opening(hello().num("max_packet", 61_407)), 4),
        ("max_message 59,999", "W7", opening(hello().num("max_message", 59_999)), 4),
        (
            "a refused token",
            "W11",
            opening(hello().with("token", Value::Bytes(b"refused".to_vec()))),
            9,
        ),
    ]
}

/// Packets of a client that has joined and has three channels: 1 draw, 2 pointer, and 3 read-only.
fn packets() -> Vec<Case> {
    let frame = |name, fields| write_packet(From::Client, false, &[Frame::new(name, fields)]);
    let says = |record: Fields| write_packet(From::Client, false, &[messages(vec![record])]);
    let fine = record(1, 0, 0, None, "x");
    let (one, none) = (Fields::default().num("id", 1), Fields::default());
    let far = Fields::default().num("id", 9);
    let qos_of = |name: &'static str, number| {
        let open = open(4, "other", true, 0);
        let qos = open.fields.fields("qos").clone().num(name, number);
        let all = open.fields.with("qos", Value::Fields(qos));
        write_packet(From::Client, false, &[Frame::new("OPEN", all)])
    };
    let mut many = vec![0x86];
    many.extend([2, 0, 0, 0, 0, 0, 0].repeat(4097));
    let mut key = vec![0x86, 2, 0, 2, 0, 0, 0];
    let mut content = Vec::new();
    varint(257 + 32, &mut content);
    content.extend(vec![b'k'; 257]);
    varint(content.len() as u64, &mut key);
    key.extend(content);
    vec![
        ("a frame that is cut off", "W3", unhex("0e0480"), 2),
        ("an octet too many", "W3", unhex("0e020100"), 2),
        ("a padded varint", "W1", unhex("0e028000"), 2),
        ("an unknown frame", "W6", unhex("3f00"), 3),
        ("a reserved frame", "W6", unhex("08020101"), 3),
        ("a frame that only a server sends", "W8", frame("SYNCED", none.clone().num("id", 0)), 2),
        ("a packet of 65,537 octets", "W7", vec![0x49; 65_537], 4),
        ("a message on a channel that is not open", "W17", says(fine.clone().num("channel", 9)), 7),
        (
            "a message on a channel that may only be read",
            "W17",
            says(fine.clone().num("channel", 3)),
            8,
        ),
        ("a sender other than 0", "W20", says(fine.clone().num("sender", 1)), 2),
        ("own, from a client", "W20", says(fine.clone().num("flags", 16)), 2),
        ("an unknown flag", "W19", says(fine.clone().num("flags", 2048)), 2),
        (
            "to the room itself",
            "W114",
            says(fine.clone().num("flags", 1024).with("octets", Value::Bytes(vec![0]))),
            2,
        ),
        ("a piece, in a room that is not stored", "W97", says(fine.clone().num("flags", 256)), 2),
        ("a piece that continues nothing", "W97", says(fine.clone().num("flags", 512)), 2),
        (
            "a text that is not UTF-8",
            "W26",
            says(fine.clone().with("octets", Value::Bytes(vec![255]))),
            6,
        ),
        (
            "a message of 60,001 octets",
            "W26",
            says(fine.clone().with("octets", Value::Bytes(vec![b'x'; 60_001]))),
            4,
        ),
        ("a key of 257 octets", "W26", key, 4),
        ("4,097 records", "W26", many, 5),
        ("a transaction that skips one", "W28", says(fine.num("gap", 1)), 2),
        ("CODED without capability 10", "W27", unhex("8700"), 2),
        ("PACKED_MESSAGES without capability 5", "W52", unhex("9c0000"), 2),
        ("RATE without capability 7", "W10", frame("RATE", one.clone().num("rate", 0)), 2),
        ("SHUT of a channel that is not open", "W85", frame("SHUT", far.clone()), 7),
        (
            "COMPRESS of a channel that is not open",
            "W45",
            frame("COMPRESS", far.with("compress", Value::Bytes(vec![1]))),
            7,
        ),
        (
            "COMPRESS with a dictionary",
            "W45",
            frame("COMPRESS", one.with("compress", Value::Bytes(vec![3, 17]))),
            2,
        ),
        ("a snapshot that nobody asked for", "W32", unhex("0b050100010078"), 8),
        ("a loss above 1,000", "W15", qos_of("loss", 1001), 2),
        ("a kind that is neither", "W15", qos_of("kind", 2), 2),
        ("a minimum rate above the maximum", "W15", qos_of("rate_min", 25_001), 2),
        ("a deadline beyond a day", "W15", qos_of("deadline_ms", 86_400_001), 2),
        ("speakers on a channel that conflates", "W119", qos_of("flags", 16), 2),
        (
            "a presence of 4,097 octets",
            "W11",
            frame("PRESENCE", none.with("rest", Value::Bytes(vec![b'p'; 4097]))),
            4,
        ),
    ]
}
