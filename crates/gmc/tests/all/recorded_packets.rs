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
    ("ordered text", 0x42f89b852dbd969d),
    ("datagrams text", 0xb685e09be6e67d08),
    ("ordered json", 0x5477e619b743bddb),
    ("datagrams json", 0x9e8f8adc6a5682cc),
    ("ordered xml", 0x4acc717bc38d5e9b),
    ("datagrams xml", 0xe4f23c2a9c4bda57),
    ("ordered float text", 0xc76491dfe0f9d66f),
    ("datagrams float text", 0x0de78b525a52685f),
    ("ordered message pack", 0xacbbce875365b454),
    ("datagrams message pack", 0xc91a9f2cf948429e),
    ("ordered wide message pack", 0x6e4ac678216df5bc),
    ("datagrams wide message pack", 0xa31004d72662d67d),
    ("ordered cbor", 0x3df438299b60ed7c),
    ("datagrams cbor", 0xeab3e25541a87ec3),
    ("ordered wide cbor", 0xd3a96b48fd71eed6),
    ("datagrams wide cbor", 0x6788377829a06cfe),
    ("ordered protocol buffers", 0x78a2013be6b79022),
    ("datagrams protocol buffers", 0x846f78c407d91781),
    ("ordered packed", 0xeb70cf257e4d693b),
    ("datagrams packed", 0xf27e47b5284c1938),
    ("ordered record", 0xb588e853bb7e0029),
    ("datagrams record", 0xe7d2d59f8650fa6e),
    ("ordered any", 0x02326458535e840d),
    ("datagrams any", 0x14ddfebf5ba70234),
    ("ordered enveloped", 0xa51d35a7f48afcea),
    ("datagrams enveloped", 0xfea2f9bd0297388f),
    ("ordered senders", 0x4becb44af65d10e3),
    ("ordered controls", 0xdae8b06e84a96e97),
    ("ordered small", 0x435b162a4a25f3d3),
    ("ordered large", 0x58a349480a661d79),
    ("ordered large messages", 0xfd6fb62dbb967212),
    ("ordered snapshots", 0xa87cc10bea5015a7),
    ("ordered enveloped snapshots", 0xc9458084f40de77b),
    ("datagrams delayed", 0xdec0046edededafc),
    ("datagrams very late", 0xf78636d830e42f13),
    ("datagrams controls", 0x71e941d9002ff776),
    ("datagrams small", 0x2e589a5d8eec5a3b),
    ("datagrams large messages", 0x4ca6f92adbefe92f),
    ("room", 0x5480212d59672ff7),
    ("room binary", 0x8b237cc23ceb25f5),
    ("room small", 0x0e5d4cc49002810b),
    ("room everything", 0x9664fc462f61c4d6),
    ("room losses", 0xcd90534bc9e0ddce),
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
