//! Random identifiers take hardly more than they hold, and those that come again a few bytes.

use groupwire_gmc::{Config, Decoder, Delivery, Encoder};

use crate::common::formats::{Value, packed};

const LETTERS: &[u8; 64] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

/// A source of random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) as usize % limit
    }

    /// A word of the first letters of the alphabet.
    fn word(&mut self, letters: usize, length: usize) -> String {
        (0..length).map(|_| char::from(LETTERS[self.below(letters)])).collect()
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }

    /// A UUID of version 4.
    fn uuid(&mut self) -> String {
        let [a, b, c, d, e] = [8, 4, 3, 3, 12].map(|length| self.word(16, length));
        format!("{a}-{b}-4{c}-{}{d}-{e}", ['8', '9', 'a', 'b'][self.below(4)])
    }
}

/// The mean size of packets whose messages have these identifiers, once the model has learned.
/// All packets arrive.
fn mean(delivery: Delivery, ids: impl Iterator<Item = String>) -> f64 {
    let message = |id| format!(r#"{{"type":"create","id":"{id}","layer":"top"}}"#).into_bytes();
    mean_of(delivery, ids.map(message))
}

/// The mean size of packets of one message each, once the model has learned. All packets arrive.
fn mean_of(delivery: Delivery, messages: impl Iterator<Item = Vec<u8>>) -> f64 {
    let config = Config { delivery, ..Config::default() };
    let (mut encoder, mut decoder) = (Encoder::new(config.clone()), Decoder::new(config));
    let mut sizes = Vec::new();
    for message in messages {
        let (mut packet, mut decoded, mut acknowledgement) = (Vec::new(), Vec::new(), Vec::new());
        encoder.encode(&message, &mut packet).expect("within the limits");
        decoder.decode(&packet, &mut decoded).expect("an encoder made the packet");
        assert_eq!(decoded, message);
        if delivery == Delivery::Datagrams {
            decoder.acknowledge(&mut acknowledgement);
            encoder.acknowledge(&acknowledgement).expect("the decoder made it");
        }
        sizes.push(packet.len());
    }
    let learned = &sizes[sizes.len() / 4..];
    learned.iter().sum::<usize>() as f64 / learned.len() as f64
}

#[test]
fn random_identifiers_take_what_they_hold() {
    type Make = fn(&mut Random) -> String;
    let kinds: [(&str, f64, Make); 9] = [
        ("a UUID", 122.0, Random::uuid),
        ("a nanoid", 21.0 * 6.0, |random| random.word(64, 21)),
        ("behind a word", 21.0 * 6.0, |random| format!("shape:{}", random.word(64, 21))),
        ("in a path", 160.0, |random| format!("file:///src/{}.js", random.word(16, 40))),
        ("eight digits", 32.0, |random| random.word(16, 8)),
        ("base 36", 24.0 * 5.17, |random| random.word(36, 24)),
        ("base 62", 20.0 * 5.954, |random| random.word(62, 20)),
        ("capital digits", 128.0, |random| random.word(16, 32).to_uppercase()),
        ("two", 244.0, |random| format!("{}/{}", random.uuid(), random.uuid())),
    ];
    for (name, bits, make) in kinds {
        let mut random = Random(7);
        // Packets are whole bytes, and say which template it is.
        let limit = |header: f64| bits / 8.0 * 1.05 + 0.5 + header;
        let stream = mean(Delivery::Ordered, (0..400).map(|_| make(&mut random)));
        assert!(stream < limit(0.4), "{name}: {stream} bytes in a stream, {} hold it", bits / 8.0);
        let datagrams = mean(Delivery::Datagrams, (0..400).map(|_| make(&mut random)));
        assert!(datagrams < limit(2.0), "{name}: {datagrams} bytes as datagrams");
    }
}

#[test]
fn an_identifier_that_comes_again_is_a_few_bytes() {
    let mut random = Random(3);
    let known: Vec<String> = (0..40).map(|_| random.uuid()).collect();
    let moved = mean(Delivery::Ordered, (0..2000).map(|turn| known[turn % 40].clone()));
    assert!(
        moved < 3.0,
        "a message has {moved} bytes in the mean if the 40 identifiers follow each other"
    );
    let any = mean(Delivery::Ordered, (0..2000).map(|_| known[random.below(40)].clone()));
    assert!(
        any < 6.5,
        "a message has {any} bytes in the mean if the identifiers come in any order"
    );
}

#[test]
fn a_late_decoder_knows_the_identifiers() {
    let mut random = Random(5);
    let known: Vec<String> = (0..10).map(|_| format!("shape:{}", random.word(64, 21))).collect();
    let mut encoder = Encoder::new(Config::default());
    let encode = |encoder: &mut Encoder, turn: usize| {
        let message = format!(r#"{{"move":"{}","x":{turn}}}"#, known[turn * 7 % 10]);
        let mut packet = Vec::new();
        encoder.encode(message.as_bytes(), &mut packet).expect("within the limits");
        (message, packet)
    };
    (0..60).for_each(|turn| _ = encode(&mut encoder, turn));
    let mut snapshot = Vec::new();
    encoder.snapshot(&mut snapshot);
    let mut late = Decoder::from_snapshot(Config::default(), &snapshot).expect("it is one");
    for turn in 60..100 {
        let (message, packet) = encode(&mut encoder, turn);
        let mut decoded = Vec::new();
        late.decode(&packet, &mut decoded).expect("an encoder made the packet");
        assert_eq!(decoded, message.as_bytes());
        assert!(packet.len() <= 5, "{packet:?}");
    }
}

/// A packed record, which has no structure of its own, creates an object with this identifier.
fn record(number: usize, id: Vec<u8>) -> Vec<u8> {
    let pairs = [
        ("type", Value::Text("create".into())),
        ("number", Value::Integer(number as i64)),
        ("id", Value::Bytes(id)),
        ("layer", Value::Text("top".into())),
    ];
    let mut message = Vec::new();
    packed(&Value::Map(pairs.map(|(key, value)| (key.into(), value)).into()), &mut message);
    message
}

#[test]
fn random_bytes_take_what_they_hold_in_packed_records() {
    for width in [12, 16, 20, 32] {
        for delivery in [Delivery::Ordered, Delivery::Datagrams] {
            let mean = |seed: u64| {
                let mut random = Random(seed);
                mean_of(delivery, (0..400).map(|number| record(number, random.bytes(width))))
            };
            let mut means: Vec<f64> = (0..20).map(mean).collect();
            means.sort_by(f64::total_cmp);
            let limit = width as f64 * 1.05 + 0.5;
            assert!(means[17] < limit, "{width} bytes, {delivery:?}: {means:?}");
            // Now and then the first of them are taken for a text behind its length.
            assert!(means[19] < limit + 0.7, "{width} bytes, {delivery:?}: {means:?}");
        }
    }
}

#[test]
fn known_bytes_of_an_identifier_take_few() {
    for (delivery, header) in [(Delivery::Ordered, 0.0), (Delivery::Datagrams, 0.7)] {
        let mut random = Random(3);
        let known: Vec<_> = (0..40).map(|_| random.bytes(16)).collect();
        let again = (0..2000).map(|number| record(number, known[random.below(40)].clone()));
        let again = mean_of(delivery, again);
        assert!(again < 2.2 + header, "{delivery:?}: {again} bytes if identifiers come again");

        let timed = (0..400).map(|number| {
            // The ms of a UUID of version 7.
            let time = 1_718_000_000_000 + 137 * number as u64;
            record(number, [&time.to_be_bytes()[2..], &random.bytes(10)].concat())
        });
        let timed = mean_of(delivery, timed);
        assert!(timed < 13.0 + header, "{delivery:?}: {timed} bytes if they begin with a time");
    }
}
