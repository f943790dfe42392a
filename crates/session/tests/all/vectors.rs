//! The byte vectors of docs/wire/vectors: made from what the cores say, read by tests of every
//! language.
//!
//! Each vector is taken apart by the grammar of the documents and put together again, so that
//! documents, vectors and code agree. `RECORD=1 cargo test -p groupwire-session --test all vectors`
//! writes the files anew.

mod plain;
mod recovery;
mod refused;
mod reports;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{env, fs};

use groupwire_session::room;

use crate::conversation::hand::{ByHand, hello, open, record};
use crate::conversation::{Sent, plain as plain_room, stories};
use crate::grammar::{
    Fields, Frame, From, STREAM_RECORD, Value, hex, quoted, read_datagram, read_packet, unhex,
    write_datagram, write_packet, write_record,
};

/// Larger vectors are left out, because small ones show the same.
const MOST_BYTES: usize = 400;

/// Compares a file of vectors, or writes it.
fn check(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/wire/vectors").join(name);
    if env::var_os("RECORD").is_some() {
        fs::write(&file, text).unwrap();
    }
    let recorded = fs::read_to_string(&file).unwrap_or_default();
    assert!(recorded == text, "{name} differs from what is said today: RECORD=1 writes it");
}

/// A list of vectors, one a line.
fn json(vectors: impl IntoIterator<Item = Fields>) -> String {
    let lines: Vec<String> = vectors.into_iter().map(|vector| vector.json()).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

fn vector(name: &str, bytes: &[u8]) -> Fields {
    let name = Value::Text(name.to_owned());
    Fields::default().with("name", name).with("hex", Value::Text(hex(bytes)))
}

/// W1: the room reads the time of a PING, and writes it into its PONG.
#[test]
fn w1_varints() {
    let mut room = ByHand::plain();
    room.say(1, &[Frame::new("HELLO", hello())]);
    let mut vectors = Vec::new();
    let numbers = [0, 1, 127, 128, 300, 16_383, 16_384, 2_097_151, 1 << 21, u32::MAX.into()];
    for number in numbers.into_iter().chain([1 << 32, 1 << 53, u64::MAX >> 1, u64::MAX]) {
        room.hear(1);
        let ping = Frame::new("PING", Fields::default().num("time", number));
        room.say(1, &[ping]);
        let pong = room.hear(1).into_iter().find(|frame| frame.name == "PONG").unwrap();
        assert_eq!(pong.number("time"), number);
        let mut bytes = Vec::new();
        crate::grammar::varint(number, &mut bytes);
        // As a string: not every language has exact numbers of 64 bits.
        let value = Value::Text(number.to_string());
        vectors.push(vector(&format!("varint {number}"), &bytes).with("value", value));
    }
    let wrong = [
        ("padded zero", "8000"),
        ("padded", "ac8200"),
        ("cut off", "ff"),
        ("of 65 bits", "ffffffffffffffffff02"),
        ("of eleven octets", "8080808080808080808001"),
    ];
    for (what, bytes) in wrong {
        let mut room = ByHand::plain();
        room.say(1, &[Frame::new("HELLO", hello())]);
        room.hear(1);
        let mut packet = vec![0x0e, (bytes.len() / 2) as u8];
        packet.extend(unhex(bytes));
        room.send(1, &packet);
        assert_eq!(room.hear(1)[0].number("code"), 2, "{what}");
        vectors
            .push(vector(&format!("malformed: {what}"), &unhex(bytes)).with("value", Value::None));
    }
    check("varints.json", &json(vectors));
}

/// The packets of all stories, and of some sessions that no client of this crate would have.
fn all_sent() -> Vec<Sent> {
    let mut all = Vec::new();
    for (_, talk) in stories::all() {
        all.extend(talk.sent);
    }
    all.extend(plain::conversation().room.sent);
    // A room with another incarnation than the one that the client names.
    let mut room = ByHand::new(room::Config { incarnation: 8, ..plain_room() });
    let resume = Fields::default()
        .num("participant", 3)
        .with("secret", Value::Bytes(vec![9; 16]))
        .num("incarnation", 7)
        .num("position", 12)
        .num("counter", 2);
    room.say(1, &[Frame::new("HELLO", hello().with("resume", Value::Fields(resume)))]);
    all.extend(room.sent);
    // Users that the server knows.
    let mut room = ByHand::plain();
    for link in [1, 2] {
        let token = Value::Bytes(format!("user {link}").into());
        room.say(link, &[Frame::new("HELLO", hello().with("token", token))]);
    }
    room.run(100);
    room.cut(2);
    room.run(100);
    all.extend(room.sent);
    all.extend(recovery::conversation().room.sent);
    // A room that is large with three participants.
    let mut room = ByHand::new(room::Config { announce_everybody_up_to: 2, ..plain_room() });
    for link in 1..=3 {
        room.say(link, &[Frame::new("HELLO", hello())]);
    }
    room.run(100);
    for after in [0, 2] {
        room.say(1, &[Frame::new("PAGE_WANTED", Fields::default().num("after", after))]);
        room.run(500);
    }
    for link in [2, 3] {
        let goodbye = Fields::default().num("reason", 0).num("retry_ms", 0);
        room.say(link, &[Frame::new("BYE", goodbye)]);
    }
    room.run(100);
    all.extend(room.sent);
    // A client of another server.
    let mut room = ByHand::plain();
    room.say(1, &[Frame::new("HELLO", hello())]);
    room.is_elsewhere(1);
    room.run(100);
    all.extend(room.sent);
    // A message to one participant, which answers, and one to nobody.
    let mut room = ByHand::plain();
    for link in [1, 2] {
        room.say(link, &[Frame::new("HELLO", hello()), open(1, "draw", false, 0)]);
    }
    room.run(100);
    for to in [2, 77] {
        let record = record(1, 0, 0, None, "psst").num("flags", 1025).num("to", to);
        let records = Value::List(vec![record]);
        room.say(1, &[Frame::new("MESSAGES", Fields::default().with("records", records))]);
    }
    room.run(100);
    room.say(2, &[Frame::new("RECEIVED", Fields::default().num("position", 1))]);
    room.run(100);
    all.extend(room.sent);
    all
}

/// The first frame of each kind and variant, from each end. Of frames with coded bytes, the
/// smallest.
#[test]
fn frames() {
    let mut found: BTreeMap<(String, From), (bool, Frame)> = BTreeMap::new();
    let mut order = Vec::new();
    for sent in all_sent().iter().filter(|sent| !sent.bytes.is_empty()) {
        let from = if sent.is_up { From::Client } else { From::Server };
        let tag = sent.bytes[0];
        if sent.is_datagram && tag >> 6 == 1 {
            continue;
        }
        let bytes = match (sent.is_datagram, tag) {
            // ACKNOWLEDGED frames come before a datagram that is no frame.
            (true, 0x16) => &sent.bytes[..2 + usize::from(sent.bytes[1])],
            _ => &sent.bytes[..],
        };
        let frames = read_packet(from, sent.is_first, bytes).unwrap();
        assert_eq!(write_packet(from, sent.is_first, &frames), bytes, "it is put together again");
        // In one story, a client sends a frame that only a server may send.
        for frame in frames.into_iter().filter(|one| (one.name, from) != ("SYNCED", From::Client)) {
            let key = (variant(&frame), from);
            match found.get(&key) {
                None => order.push(key.clone()),
                Some((_, before)) if size(before, from) <= size(&frame, from).max(MOST_BYTES) => {
                    continue;
                }
                Some(_) => {}
            }
            found.insert(key, (sent.is_datagram, frame));
        }
    }
    let vectors = order.iter().map(|key| {
        let (is_datagram, frame) = &found[key];
        let (name, from) = key;
        let bytes = write_packet(*from, false, std::slice::from_ref(frame));
        assert!(bytes.len() < 6000, "{name}");
        let text = |text: &str| Value::Text(text.to_owned());
        vector(name, &bytes)
            .with("from", text(from.name()))
            .with("carrier", text(if *is_datagram { "datagram" } else { "stream" }))
            .with("type", text(frame.name))
            .with("fields", Value::Fields(frame.fields.clone()))
    });
    let mut vectors: Vec<Fields> = vectors.collect();
    vectors.sort_by_key(|vector| {
        (vector.get("type").json(), vector.get("name").json(), vector.get("from").json())
    });
    for (from, names) in [("client", FROM_CLIENT), ("server", FROM_SERVER)] {
        let is_from = |vector: &&Fields| vector.get("from").json() == quoted(from);
        for name in names.split(' ') {
            let mut all = vectors.iter().filter(is_from);
            let is_there = all.any(|vector| vector.get("type").json() == quoted(name));
            assert!(is_there, "there is no {name} from the {from}");
        }
    }
    check("frames.json", &json(vectors));
}

/// The frames of each end that frames.json has.
const FROM_CLIENT: &str = "HELLO OPEN SHUT MESSAGES CODED PRESENCE SNAPSHOT PART PING PONG BYE ACKNOWLEDGED CODECS \
    COMPRESS PACKED_SNAPSHOT PACKED_MESSAGES CHANGE RATE CONTRACT QUALITY ERROR RECEIVED \
    PAGE_WANTED";
const FROM_SERVER: &str = "WELCOME CHANNEL MESSAGES CODED PARTICIPANTS SNAPSHOT SNAPSHOT_WANTED PART ORDERED \
    SYNCED PING PONG ERROR BYE POSITION GAP MODEL CODECS PACKED_SNAPSHOT PACKED_MESSAGES \
    SHARED SHARED_DATAGRAM SHARED_AGAIN LEAVE CONTRACT QUALITY RECEIPT COUNT PAGE OWNER";

/// A frame's name, with the variant if its type has several.
fn variant(frame: &Frame) -> String {
    let name = frame.name;
    let number = |field| frame.number(field);
    match name {
        "HELLO" if *frame.fields.get("resume") != Value::None => "HELLO, resuming".into(),
        "WELCOME" => format!("WELCOME, outcome {}", number("outcome")),
        "OPEN" => {
            let kind = frame.fields.fields("qos").number("kind");
            let compress = frame.fields.bytes("compress")[0];
            format!("OPEN, kind {kind}, compress {compress}")
        }
        "CHANNEL" if number("ref") == 0 => "CHANNEL, unasked".into(),
        "ERROR" => format!("ERROR {}", number("code")),
        "PARTICIPANTS" => {
            let states = frame.list("participants").iter().map(|one| one.number("state"));
            let states: BTreeSet<u64> = states.collect();
            let states: Vec<String> = states.iter().map(u64::to_string).collect();
            let whole = if number("complete") == 1 { "complete" } else { "news" };
            format!("PARTICIPANTS, {whole}, states {}", states.join(" and "))
        }
        "COUNT" => format!("COUNT, everybody {}", number("everybody")),
        "MODEL" | "LEAVE" => format!("{name}, carrier {}", number("carrier")),
        "CONTRACT" if frame.list("entries").is_empty() => "CONTRACT, a stamp".into(),
        "QUALITY"
            if frame.fields.find("channels").is_some_and(|list| *list != Value::List(vec![])) =>
        {
            "QUALITY, of channels".into()
        }
        _ => name.into(),
    }
}

fn size(frame: &Frame, from: From) -> usize {
    write_packet(from, false, std::slice::from_ref(frame)).len()
}

/// The first record of each kind, by its flags, from each end.
#[test]
fn w19_records() {
    let mut found: BTreeMap<(From, bool, u64), Fields> = BTreeMap::new();
    for sent in all_sent().iter().filter(|sent| !sent.is_datagram && !sent.bytes.is_empty()) {
        let from = if sent.is_up { From::Client } else { From::Server };
        let frames = read_packet(from, sent.is_first, &sent.bytes).unwrap();
        for record in frames
            .iter()
            .filter(|frame| frame.name == "MESSAGES")
            .flat_map(|frame| frame.list("records"))
        {
            let flags = record.number("flags");
            let is_large = record.bytes("octets").len() > MOST_BYTES;
            if !is_large {
                found
                    .entry((from, record.find("key").is_some(), flags))
                    .or_insert_with(|| record.clone());
            }
        }
    }
    let vectors: Vec<Fields> = found
        .iter()
        .map(|((from, _, flags), record)| {
            let names = [
                (1, "text"),
                (2, "key"),
                (4, "priority"),
                (8, "extensions"),
                (16, "own"),
                (32, "state"),
                (64, "fill"),
                (128, "packed"),
                (1024, "direct"),
            ];
            let names = names.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| *name);
            let names: Vec<&str> = names.collect();
            let name = if names.is_empty() { "octets".to_owned() } else { names.join(", ") };
            let mut bytes = Vec::new();
            write_record(&STREAM_RECORD, record, &mut bytes);
            vector(&name, &bytes)
                .with("from", Value::Text(from.name().into()))
                .with("fields", Value::Fields(record.clone()))
        })
        .collect();
    for flags in [0, 1, 3, 4, 16, 33, 97, 129, 1025, 1040] {
        assert!(found.keys().any(|(_, _, found)| *found == flags), "no record has flags {flags}");
    }
    check("records.json", &json(vectors));
}

/// The first datagram of each kind of header and body, from each end.
#[test]
fn w39_datagrams() {
    let mut found: BTreeMap<(bool, String), Vec<u8>> = BTreeMap::new();
    for sent in all_sent().iter().filter(|sent| sent.is_datagram && sent.bytes[0] >> 6 == 1) {
        let datagram = read_datagram(&sent.bytes).unwrap();
        assert_eq!(write_datagram(&datagram), sent.bytes, "it is put together again");
        let copies = datagram.find("records").is_some()
            && datagram.list("records").iter().any(|record| record.number("channel") == 1);
        let parts = ["held", "report", "acknowledgement", "coded", "records"];
        let parts = parts.into_iter().filter(|part| datagram.find(part).is_some());
        let mut parts: Vec<&str> = parts.collect();
        if copies {
            parts.push("copy of a transaction");
        }
        if datagram.number("ask") == 1 {
            parts.push("ask");
        }
        found.entry((sent.is_up, parts.join(", "))).or_insert_with(|| sent.bytes.clone());
    }
    assert!(found.keys().any(|(_, name)| name.contains("copy")), "a copy of a transaction");
    let vectors = found.iter().map(|((is_up, name), bytes)| {
        let from = if *is_up { From::Client } else { From::Server };
        vector(name, bytes)
            .with("from", Value::Text(from.name().into()))
            .with("fields", Value::Fields(read_datagram(bytes).unwrap()))
    });
    check("datagrams.json", &json(vectors));
}

/// W81: the check of every copy of a transaction is as the documents say.
#[test]
fn w81_the_check_of_copies() {
    let mut copies = 0;
    for sent in all_sent().iter().filter(|sent| sent.is_datagram && sent.bytes[0] >> 6 == 1) {
        let datagram = read_datagram(&sent.bytes).unwrap();
        let Some(Value::List(records)) = datagram.find("records") else { continue };
        for record in records.iter().filter(|record| record.number("channel") == 1) {
            let flags = record.number("flags");
            assert_ne!(flags & 256, 0);
            let mut sum = 0x811c_9dc5_u32;
            let names = ["channel", "sender", "flags", "index", "stamp", "back"];
            let numbers = names.map(|name| match name {
                "flags" => flags as u32 & !256,
                _ => record.number(name) as u32,
            });
            let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
            let mut whole = Vec::new();
            write_record(&[], record, &mut whole);
            // Behind its length, which is one byte here.
            bytes.extend(&whole[1..]);
            for byte in bytes {
                sum = (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
            }
            assert_eq!(u64::from(sum), record.number("leg_index"));
            copies += 1;
        }
    }
    assert!(copies > 0);
}
