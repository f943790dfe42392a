//! A session takes about as many bytes in a binary format as in JSON: only new values are sent,
//! however they are written.

use groupwire_gmc::{Config, Decoder, Encoder};

use crate::common::formats::{Value, write};

/// Names of the formats of [`write`].
const FORMATS: [&str; 6] =
    ["MessagePack", "wide MessagePack", "CBOR", "indefinite CBOR", "Protocol Buffers", "packed"];
const MESSAGES: usize = 3000;

/// Bytes of all packets, each of one message, after a round trip.
fn size(messages: &[Vec<u8>]) -> usize {
    let (mut encoder, mut decoder) =
        (Encoder::new(Config::default()), Decoder::new(Config::default()));
    let mut total = 0;
    for message in messages {
        let (mut packet, mut decoded) = (Vec::new(), Vec::new());
        encoder.encode(message, &mut packet).expect("within the limits");
        decoder.decode(&packet, &mut decoded).expect("an encoder made the packet");
        assert_eq!(&decoded, message);
        total += packet.len();
    }
    total
}

/// Pseudorandom numbers, the same in each run.
struct Noise(u64);

impl Noise {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as i64
    }
}

/// Pointers that move steadily for a while, and now and then a line of chat.
fn session(coordinate: fn(i64) -> Value) -> Vec<Value> {
    let mut noise = Noise(7);
    let (mut time, mut x, mut y, mut dx, mut dy) = (1_718_000_000_000i64, 900i64, 500i64, 0, 0);
    let text = |text: &str| Value::Text(text.into());
    let mut message = || {
        time += 16 + noise.below(3);
        if noise.below(20) == 0 {
            (dx, dy) = (noise.below(31) - 15, noise.below(31) - 15);
        }
        (x, y) = ((x + dx).rem_euclid(1900), (y + dy).rem_euclid(1000));
        let mut pairs =
            vec![("session".into(), Value::Integer(9357)), ("time".into(), Value::Integer(time))];
        if noise.below(50) == 0 {
            let words = ["yes", "no", "look here", "why not"];
            pairs.insert(0, ("type".into(), text("talk")));
            pairs.push(("text".into(), text(words[noise.below(4) as usize])));
        } else {
            pairs.insert(0, ("type".into(), text("pointer")));
            pairs.extend([("x".into(), coordinate(x)), ("y".into(), coordinate(y))]);
        }
        Value::Map(pairs)
    };
    (0..MESSAGES).map(|_| message()).collect()
}

fn json(value: &Value) -> String {
    match value {
        Value::Integer(number) => number.to_string(),
        Value::Single(float) => float.to_string(),
        Value::Double(float) => float.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Map(pairs) => {
            let pairs: Vec<_> =
                pairs.iter().map(|(key, value)| format!("{key:?}:{}", json(value))).collect();
            format!("{{{}}}", pairs.join(","))
        }
        other => unreachable!("{other:?} is not in the sessions"),
    }
}

fn assert_like_json(coordinate: fn(i64) -> Value) {
    assert_these_like_json(FORMATS.len(), coordinate);
}

/// Checks the first `formats` of `FORMATS`.
fn assert_these_like_json(formats: usize, coordinate: fn(i64) -> Value) {
    let session = session(coordinate);
    let text: Vec<_> = session.iter().map(|value| json(value).into_bytes()).collect();
    let text = size(&text);
    for (format, name) in FORMATS.iter().take(formats).enumerate() {
        let binary: Vec<_> = session.iter().map(|value| write(value, format as u8)).collect();
        let binary = size(&binary);
        println!("{name}: {binary} bytes, {text} as JSON");
        assert!(binary * 100 <= text * 110, "{name} takes {binary} bytes, {text} as JSON");
    }
}

#[test]
fn integers_take_as_many_bytes_as_in_json() {
    assert_like_json(Value::Integer);
}

#[test]
fn floats_of_32_bits_cost_what_they_cost_in_json() {
    assert_like_json(|x| Value::Single(x as f32 / 4.0));
}

#[test]
fn decimals_in_doubles_take_as_many_bytes_as_in_json() {
    assert_like_json(|x| Value::Double(x as f64 / 100.0));
}

/// Coordinates on a scrolled and zoomed canvas. They are also multiples of 1/13,700, but steps of
/// 100/137 are longer.
#[test]
fn doubles_on_a_shifted_grid_take_as_many_bytes_as_in_json() {
    // Only MessagePack and CBOR tell where the doubles are.
    assert_these_like_json(4, |x| Value::Double(x as f64 / 1.37 + 12.77));
    assert_these_like_json(4, |x| Value::Double(x as f64 * 25.0 / 36.0 + 3.25));
}

#[test]
fn a_wrong_byte_order_is_corrected() {
    // The first steps look as if the byte order were the other one.
    let message =
        |value: u32| [&[1, 0xff, 0xfe][..], &value.to_le_bytes(), &[0xff, 9, 9, 9]].concat();
    let start = [0x0100_0000u32, 0x0200_0000, 0x0300_0000].map(message);
    let messages: Vec<_> =
        start.into_iter().chain((0..400u32).map(|step| message(70_000 + 37 * step))).collect();
    let late = size(&messages) - size(&messages[..messages.len() - 100]);
    assert!(late <= 120, "100 steady messages take {late} bytes");
}

#[test]
fn a_constant_that_begins_to_vary_becomes_a_hole() {
    let message = |step: u32, other: u16| {
        [&[7, 0, 1][..], &step.to_be_bytes(), &[0, 3], &other.to_be_bytes(), &[0, 0, 0xaa]].concat()
    };
    let messages =
        (0..600).map(|step| message(step, if step < 300 { 5 } else { (step * 3) as u16 }));
    let messages: Vec<_> = messages.collect();
    let late = size(&messages) - size(&messages[..500]);
    assert!(late <= 120, "100 steady messages take {late} bytes");
}
