//! The bytes of packets, acknowledgements and snapshots do not change by accident.
//!
//! Each case runs a session with fixed messages and hashes all bytes that its encoder and decoders
//! make, and the memory that they report after each packet. A change that is meant to alter these
//! bytes records the hashes anew: the failing test prints them all.

use std::collections::VecDeque;

use groupwire_gmc::{Config, Decoder, Delivery, Encoder, Message};

use crate::common::{
    envelopes,
    formats::{self, Value},
};

/// Messages in a session.
const MESSAGES: u32 = 700;

/// The recorded hashes, by the name of the case.
const RECORDED: &[(&str, u64)] = &[
    ("ordered text", 0x163c5d14972025a0),
    ("datagrams text", 0x8953208f58926301),
    ("ordered json", 0x76251269f4cfe16f),
    ("datagrams json", 0x4a72764809baa1f8),
    ("ordered xml", 0x9260062fbb665908),
    ("datagrams xml", 0xc4de4faac493dee1),
    ("ordered float text", 0xa3edb3278d933a78),
    ("datagrams float text", 0xce7107ba7026bc74),
    ("ordered message pack", 0x860b3c60079e10c2),
    ("datagrams message pack", 0x87c9378106e6f163),
    ("ordered wide message pack", 0x77cf9d4f42fb89a7),
    ("datagrams wide message pack", 0x0f1ddd32268b1758),
    ("ordered cbor", 0xbdbda68b0f9e708d),
    ("datagrams cbor", 0xb941e68e2a49bda9),
    ("ordered wide cbor", 0xe18f7ea58ea121b2),
    ("datagrams wide cbor", 0xdc590e321ac0dcd2),
    ("ordered protocol buffers", 0xf9558d4264138df4),
    ("datagrams protocol buffers", 0x86f65add9daaa782),
    ("ordered packed", 0xeefb39f97e94fcd7),
    ("datagrams packed", 0x1bad008d003c4238),
    ("ordered record", 0x79f60d09abebf1d1),
    ("datagrams record", 0x898aeb05af7e2b99),
    ("ordered any", 0xf51719549921df7c),
    ("datagrams any", 0xbe4ffda1181602b3),
    ("ordered enveloped", 0x5d8acabbd67b110f),
    ("datagrams enveloped", 0xf8b0caa32b9b476c),
    ("ordered senders", 0xea82560e9b4fd161),
    ("ordered controls", 0x9c9c1ba8ccd2ea76),
    ("ordered small", 0xc346c6951792df53),
    ("ordered large", 0xb227ca0eab6ac5b2),
    ("ordered large messages", 0xfd6fb62dbb967212),
    ("ordered snapshots", 0x5829d78127ea8449),
    ("ordered enveloped snapshots", 0xe19b40fcf2d86849),
    ("datagrams delayed", 0xa211f4c5a31fb79b),
    ("datagrams very late", 0x3311256b438f9fc1),
    ("datagrams controls", 0xf58946faad8b2de7),
    ("datagrams small", 0xfd29b3868d8fa7f1),
    ("datagrams large messages", 0x4ca6f92adbefe92f),
    ("room", 0x8a485ea79c4e906b),
    ("room binary", 0x7f69ac96b33c792d),
    ("room small", 0x1de5b4499914da50),
    ("room everything", 0x852b7449a0441d91),
    ("room losses", 0x4c0001bd9a6eaf4a),
];

/// A linear congruential generator: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, range: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(range)) as u32
    }

    fn around_zero(&mut self, range: i32) -> i32 {
        self.below(2 * range as u32 + 1) as i32 - range
    }

    fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len() as u32) as usize]
    }
}

/// FNV-1a with 64 bits.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn number(&mut self, number: usize) {
        for byte in (number as u64).to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Four people whose pointers move.
struct People {
    random: Random,
    places: [(i32, i32, i32, i32); 4],
}

impl People {
    fn new(seed: u64) -> Self {
        Self { random: Random(seed), places: [(300, 400, 0, 0); 4] }
    }

    fn step(&mut self) -> (usize, i32, i32) {
        let person = self.random.below(4) as usize;
        let (ddx, ddy) = (self.random.around_zero(3), self.random.around_zero(3));
        let (x, y, dx, dy) = &mut self.places[person];
        (*dx, *dy) = ((*dx + ddx).clamp(-40, 40), (*dy + ddy).clamp(-40, 40));
        (*x, *y) = ((*x + *dx).clamp(0, 1920), (*y + *dy).clamp(0, 1080));
        (person, *x, *y)
    }

    /// A message of the given format, and its sender.
    fn message(&mut self, format: Format, index: u32) -> (u32, Vec<u8>) {
        let (person, x, y) = self.step();
        let user = ["ana", "bert", "chloé", "d-77aa3f01"][person];
        let bytes = match format {
            Format::Text => self.text(user, x, y, index).into_bytes(),
            Format::Json => self.json(user, x, y, index).into_bytes(),
            Format::Xml => self.xml(user, x, y, index).into_bytes(),
            Format::FloatText => self.float_text(user, x, y).into_bytes(),
            Format::Binary(format) => formats::write(&self.value(user, x, y, index), format),
            Format::Record => self.record(person, x, y, index),
            Format::Enveloped => {
                let payload = self.json(user, x, y, index).into_bytes();
                let envelope = (index / 50) as u8 % envelopes::COUNT;
                envelopes::wrap(envelope, index, &payload)
            }
            Format::Large => vec![b'a' + (index % 7) as u8; 100 + 900 * (index % 9) as usize],
            Format::Any => {
                let format = *self.random.of(&[
                    &Format::Text,
                    &Format::Json,
                    &Format::Xml,
                    &Format::FloatText,
                    &Format::Binary(0),
                    &Format::Binary(2),
                    &Format::Binary(4),
                    &Format::Record,
                ]);
                return self.message(format, index);
            }
        };
        (person as u32, bytes)
    }

    fn text(&mut self, user: &str, x: i32, y: i32, index: u32) -> String {
        let word =
            self.random.of(&["hello", "good day", "", "see you at the far end, my friend", "ok"]);
        match self.random.below(6) {
            0 => format!("say {user}: {word}"),
            1 => format!(
                "move {user} {x} {y:05} at 2024-05-01T10:{:02}:33.{:03}Z",
                index / 60 % 60,
                index
            ),
            2 => format!("{word} {word} {x}px"),
            _ => format!("p {user} {x},{y}"),
        }
    }

    fn json(&mut self, user: &str, x: i32, y: i32, index: u32) -> String {
        let time = 1_718_000_000_000i64 + i64::from(index) * 33;
        match self.random.below(8) {
            0 => {
                let letter = (b'a' + self.random.below(26) as u8) as char;
                format!(
                    r#"{{"type":"edit","user":"{user}","ts":{time},"pos":{index},"insert":"{letter}"}}"#
                )
            }
            1 => format!(r#"{{"type":"list","items":[{{"id":{x}}},{{"id":{y}}}],"ok":{}}}"#, x > y),
            2 => format!(
                r##"{{"type":"draw","user":"{user}","color":"#{:06x}","w":{}.50}}"##,
                x * 7919 % 65536,
                y % 9
            ),
            _ => format!(r#"{{"type":"pointer","user":"{user}","ts":{time},"x":{x},"y":{y}}}"#),
        }
    }

    fn xml(&mut self, user: &str, x: i32, y: i32, index: u32) -> String {
        match self.random.below(4) {
            0 => format!("<chat from='{user}'><body>line {index} of {x}</body></chat>"),
            _ => format!("<point id=\"{user}\"><x>{x}</x><y>{y}.25</y></point>"),
        }
    }

    fn float_text(&mut self, user: &str, x: i32, y: i32) -> String {
        let zoom = [0.9, 0.7351, 1.0 / 3.0][self.random.below(60) as usize / 25];
        let scaled = f64::from(x) / zoom + 213.5;
        match self.random.below(5) {
            0 => format!("{{\"f\":{},\"g\":{:.3}}}", (scaled / 7.0) as f32, scaled),
            1 => format!("{{\"w\":{},\"n\":-{}}}", f64::from((f64::from(y) / 3.7) as f32), y),
            _ => format!("{{\"u\":\"{user}\",\"x\":{scaled},\"y\":{}}}", f64::from(y) / zoom),
        }
    }

    fn value(&mut self, user: &str, x: i32, y: i32, index: u32) -> Value {
        let text = |text: &str| Value::Text(text.to_owned());
        let mut pairs = vec![
            ("a".to_owned(), text(user)),
            ("x".to_owned(), Value::Integer(i64::from(x))),
            ("y".to_owned(), Value::Double(f64::from(y) / 4.0)),
        ];
        match self.random.below(5) {
            0 => pairs.push(("s".to_owned(), Value::Single(x as f32 / 3.0))),
            1 => pairs.push((
                "l".to_owned(),
                Value::Array(vec![Value::Nil, Value::Bool(x > y), text("z")]),
            )),
            2 => pairs.push((
                "b".to_owned(),
                Value::Bytes((0..index % 19).map(|byte| byte as u8 * 13).collect()),
            )),
            _ => pairs
                .push(("t".to_owned(), Value::Integer(1_718_000_000_000 + i64::from(index) * 33))),
        }
        Value::Map(pairs)
    }

    /// A record of fixed fields, as a C program writes it.
    fn record(&mut self, person: usize, x: i32, y: i32, index: u32) -> Vec<u8> {
        let mut out = vec![3, person as u8];
        match self.random.below(6) {
            0 => {
                out[0] = 9;
                out.extend((self.random.0 >> 20).to_le_bytes());
                out.extend((x as u16).to_be_bytes());
            }
            1 => {
                out[0] = 5;
                let word = self.random.of(&["north", "south-west", "east of here"]);
                out.extend((word.len() as u16).to_le_bytes());
                out.extend_from_slice(word.as_bytes());
                formats::varint(u64::from(index) * 37, &mut out);
                formats::varint(((x << 1) ^ (x >> 31)) as u64, &mut out);
            }
            _ => {
                out.extend((index * 33).to_le_bytes());
                out.extend((x as f32 / 2.0).to_le_bytes());
                out.extend((f64::from(y) / 10.0).to_le_bytes());
                out.extend((x as i16 - 900).to_le_bytes());
            }
        }
        out
    }
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Text,
    Json,
    Xml,
    /// Numbers with long fractions, in text.
    FloatText,
    /// A self-describing format: see [`formats::write`].
    Binary(u8),
    /// Records of fixed fields.
    Record,
    /// Messages of about the size above which the model does not learn them.
    Large,
    /// Every format but `Large`.
    Any,
    /// Messages inside of others.
    Enveloped,
}

/// The events of a session.
#[derive(Clone, Copy, Default)]
struct Events {
    /// Packets of several messages.
    several: bool,
    /// One in this number of packets is lost; 0 for none.
    loses: u32,
    /// Acknowledgements come this many packets late.
    delay: usize,
    /// The encoder is asked to compact its model, and on links that lose packets to start with a
    /// new one.
    controls: bool,
    /// A new decoder, made from a snapshot, replaces the last one every 50 messages.
    snapshots: bool,
}

struct Session {
    hash: Hash,
    encoder: Encoder,
    decoders: Vec<Decoder>,
    /// Acknowledgements on their way.
    late: VecDeque<Vec<Vec<u8>>>,
    config: Config,
    random: Random,
}

impl Session {
    fn new(config: Config, decoders: usize) -> Self {
        Self {
            hash: Hash::new(),
            encoder: Encoder::new(config.clone()),
            decoders: (0..decoders).map(|_| Decoder::new(config.clone())).collect(),
            late: VecDeque::new(),
            config,
            random: Random(77),
        }
    }

    fn run(mut self, format: Format, events: Events) -> u64 {
        let mut people = People::new(5);
        let mut index = 0;
        while index < MESSAGES {
            if events.controls {
                self.control(index);
            }
            let count = if events.several { 1 + self.random.below(5) } else { 1 };
            let messages: Vec<_> = (0..count)
                .map(|offset| self.message(&mut people, format, index + offset))
                .collect();
            index += count;
            self.send(&messages, events);
            self.acknowledge(events.delay);
            if events.snapshots && index % 50 < count {
                self.join();
            }
        }
        self.hash.0
    }

    fn message(&mut self, people: &mut People, format: Format, index: u32) -> (Vec<u32>, Vec<u8>) {
        let (sender, bytes) = people.message(format, index);
        let channel = index / 9 % 3;
        let mut fields = vec![channel, sender, index, bytes.len() as u32 % 3, index * 7];
        fields.truncate(self.config.fields);
        (fields, bytes)
    }

    fn send(&mut self, messages: &[(Vec<u32>, Vec<u8>)], events: Events) {
        let batch: Vec<_> =
            messages.iter().map(|(fields, bytes)| Message { fields, bytes }).collect();
        let mut packet = Vec::new();
        let limit = if self.random.below(40) == 0 { 3 } else { usize::MAX };
        let made = self.encoder.encode_packet_within(batch.iter().copied(), limit, &mut packet);
        self.hash.bytes(&packet);
        self.hash.number(self.encoder.memory());
        if !made.expect("the messages are within the limits") {
            return;
        }
        for decoder in &mut self.decoders {
            if events.loses > 0 && self.random.below(events.loses) == 0 {
                continue;
            }
            let mut decoded = 0;
            let result = decoder.decode_packet(&packet, |message| {
                assert_eq!(message, batch[decoded]);
                decoded += 1;
            });
            self.hash.bytes(format!("{result:?}").as_bytes());
            self.hash.number(decoder.memory());
            // A packet may come twice.
            if self.config.delivery != Delivery::Ordered && self.random.below(30) == 0 {
                let again = decoder.decode_packet(&packet, |_| {});
                self.hash.bytes(format!("{again:?}").as_bytes());
            }
        }
    }

    fn acknowledge(&mut self, delay: usize) {
        if self.config.delivery == Delivery::Ordered {
            return;
        }
        let acks = self.decoders.iter_mut().map(|decoder| {
            let mut ack = Vec::new();
            decoder.acknowledge(&mut ack);
            ack
        });
        self.late.push_back(acks.collect());
        if self.late.len() <= delay {
            return;
        }
        let mut least = None;
        for ack in self.late.pop_front().unwrap_or_default() {
            let top = self.encoder.acknowledge(&ack);
            self.hash.bytes(&ack);
            self.hash.bytes(format!("{top:?}").as_bytes());
            if let Ok(Some(top)) = top {
                least = Some(least.map_or(top, |least: u32| least.min(top)));
            }
        }
        if let Some(least) = least {
            self.encoder.advance(least);
        }
        self.hash.number(self.encoder.epoch() as usize);
    }

    fn control(&mut self, index: u32) {
        match index % 160 {
            20 => self.encoder.compact(),
            // On an ordered link the decoders would have to be new ones too.
            155 if index > 400 && self.config.delivery != Delivery::Ordered => {
                self.encoder.restart()
            }
            _ => {}
        }
    }

    fn join(&mut self) {
        let mut snapshot = Vec::new();
        self.encoder.snapshot(&mut snapshot);
        self.hash.bytes(&snapshot);
        let newcomer = Decoder::from_snapshot(self.config.clone(), &snapshot);
        let newcomer = newcomer.expect("the snapshot was just made");
        self.hash.number(newcomer.memory());
        let count = self.decoders.len();
        self.decoders[count - 1] = newcomer;
    }
}

fn ordered() -> Config {
    Config::default()
}

fn datagrams() -> Config {
    Config { delivery: Delivery::Datagrams, ..Config::default() }
}

fn room() -> Config {
    Config { delivery: Delivery::Room, ..Config::default() }
}

/// Runs all test cases: returns the name of each and the hash of its packets.
fn cases() -> Vec<(String, u64)> {
    let mut cases = Vec::new();
    let mut run = |name: &str, config: Config, format: Format, decoders: usize, events: Events| {
        cases.push((name.to_owned(), Session::new(config, decoders).run(format, events)));
    };
    let all = [
        ("text", Format::Text),
        ("json", Format::Json),
        ("xml", Format::Xml),
        ("float text", Format::FloatText),
        ("message pack", Format::Binary(0)),
        ("wide message pack", Format::Binary(1)),
        ("cbor", Format::Binary(2)),
        ("wide cbor", Format::Binary(3)),
        ("protocol buffers", Format::Binary(4)),
        ("packed", Format::Binary(5)),
        ("record", Format::Record),
        ("any", Format::Any),
        ("enveloped", Format::Enveloped),
    ];
    let none = Events::default();
    let lossy = Events { loses: 9, delay: 3, several: true, ..none };
    for (name, format) in all {
        run(&format!("ordered {name}"), ordered(), format, 1, none);
        run(&format!("datagrams {name}"), datagrams(), format, 1, lossy);
    }
    let senders = |config: Config| Config { fields: 5, counters: 0b10100, ..config };
    let small = |config: Config| Config { memory: 5 << 10, ..config };
    let large = |config: Config| Config { memory: 512 << 10, ..config };
    let checked = |config: Config| Config { check: true, ..config };
    let several = Events { several: true, ..none };
    let controls = Events { controls: true, ..several };
    let snapshots = Events { snapshots: true, ..several };
    let everything = Events { controls: true, snapshots: true, several: true, delay: 2, ..none };
    run("ordered senders", senders(ordered()), Format::Json, 1, several);
    run("ordered controls", senders(ordered()), Format::Any, 1, controls);
    run("ordered small", small(ordered()), Format::Any, 1, several);
    run("ordered large", large(senders(ordered())), Format::Any, 1, snapshots);
    run("ordered large messages", checked(ordered()), Format::Large, 1, several);
    run("ordered snapshots", senders(checked(ordered())), Format::Any, 2, everything);
    run("ordered enveloped snapshots", ordered(), Format::Enveloped, 2, everything);
    run("datagrams delayed", senders(datagrams()), Format::Json, 1, Events { delay: 12, ..lossy });
    run("datagrams very late", datagrams(), Format::Any, 1, Events { delay: 60, ..lossy });
    run(
        "datagrams controls",
        checked(datagrams()),
        Format::Any,
        1,
        Events { controls: true, ..lossy },
    );
    run("datagrams small", small(checked(datagrams())), Format::Any, 1, lossy);
    run("datagrams large messages", checked(datagrams()), Format::Large, 1, lossy);
    run("room", senders(room()), Format::Json, 3, Events { delay: 2, ..several });
    run("room binary", senders(room()), Format::Record, 2, Events { delay: 5, ..several });
    run("room small", small(room()), Format::Any, 2, Events { delay: 2, ..several });
    run("room everything", senders(checked(room())), Format::Any, 3, everything);
    run(
        "room losses",
        checked(room()),
        Format::Json,
        2,
        Events { loses: 25, delay: 1, ..snapshots },
    );
    cases
}

#[test]
fn packets_acknowledgements_and_snapshots_are_those_recorded() {
    let cases = cases();
    let recorded: Vec<_> = RECORDED.iter().map(|&(name, hash)| (name.to_owned(), hash)).collect();
    let lines: String =
        cases.iter().map(|(name, hash)| format!("    ({name:?}, {hash:#018x}),\n")).collect();
    let differing: Vec<_> =
        cases.iter().filter(|case| !recorded.contains(case)).map(|case| &case.0).collect();
    assert!(cases == recorded, "these cases changed: {differing:?}\nall hashes now:\n{lines}");
}
