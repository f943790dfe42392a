//! Packets of an ordered link for decoders in other languages: `docs/wire/vectors/gmc.json`.
//! RECORD=1 writes them.

use std::fmt::Write;
use std::path::Path;

use groupwire_gmc::{Config, Delivery, Encoder};

use crate::common::envelopes::wrap;
use crate::common::formats::{Value, write as write_value};

/// The messages of each stream.
fn streams() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let pointer = |count: u32| {
        let (user, x, y) =
            (["ana", "bert"][count as usize % 2], 400 + count * count, 300 - 3 * count);
        format!(r#"{{"user":"{user}","ts":{},"x":{x},"y":{y}}}"#, 17_000 + 33 * count)
    };
    let value = |count: u32| {
        Value::Map(vec![
            ("id".into(), Value::Integer(7)),
            ("x".into(), Value::Integer(i64::from(400 + count * 5))),
            ("name".into(), Value::Text("ana".into())),
        ])
    };
    let all = |make: &dyn Fn(u32) -> Vec<u8>| (0..24).map(make).collect();
    vec![
        ("three", [1, 2, 4].iter().map(|x| format!(r#"{{"x":{x}}}"#).into_bytes()).collect()),
        ("json", all(&|count| pointer(count).into_bytes())),
        ("decimals", all(&|count| format!("<p> {}.{} </p>", 10 + count, count % 10).into_bytes())),
        (
            "chat",
            all(&|count| {
                format!("say: {}", ["yes", "no", "why not", "yes"][count as usize % 4]).into_bytes()
            }),
        ),
        ("message pack", all(&|count| write_value(&value(count), 0))),
        ("cbor", all(&|count| write_value(&value(count), 2))),
        ("record", all(&|count| [&[1, 0][..], &count.to_le_bytes(), &[0xff]].concat())),
        ("awareness", all(&|count| wrap(0, count, pointer(count).as_bytes()))),
        ("length and counter", all(&|count| wrap(1, count, pointer(count).as_bytes()))),
        ("base64", all(&|count| wrap(7, count, pointer(count).as_bytes()))),
    ]
    .into_iter()
    .chain(fractions())
    .collect()
}

/// Streams of texts with numbers of all kinds of lines and formats. Some are on grids, which the
/// model finds, loses, refines, shifts and coarsens.
fn fractions() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    // Whole numbers that look random, the same on every machine.
    let random = |count: u32, below: u32| {
        let mixed = (count + 1).wrapping_mul(0x9e37_79b1) ^ 0x1b87_3593;
        (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca77) % below
    };
    let all =
        |make: &dyn Fn(u32) -> String| (0..84).map(|count| make(count).into_bytes()).collect();
    let scaled = |count: u32| {
        // The scale changes after 40 numbers, and the offset after 56.
        let (scale, offset) = match count {
            0..40 => (25.0 / 36.0, 3.25),
            40..56 => (25.0 / 11.0, 3.25),
            _ => (25.0 / 11.0, 17.6),
        };
        f64::from(random(count, 900)) * scale + offset
    };
    let binary = |make: &dyn Fn(u32) -> Vec<u8>| (0..84).map(make).collect();
    // Maps of two sizes. The coordinates are steps of a grid, and also multiples of a much finer
    // unit.
    let doubles = |count: u32| {
        let x = f64::from(random(count, 900)) / 1.37 + 12.77;
        let mut pairs = vec![("x".into(), Value::Double(x))];
        if !count.is_multiple_of(3) {
            pairs.push(("y".into(), Value::Double(scaled(count))));
        }
        Value::Map(pairs)
    };
    vec![
        ("scaled", all(&|count| format!(r#"{{"x":{},"y":{}}}"#, scaled(count), scaled(count + 7)))),
        (
            "two senders",
            all(&|count| {
                let (id, seconds) = (count % 2, f64::from(count * 33) / 1000.0);
                format!(r#"{{"id":{id},"x":{},"t":{seconds}}}"#, scaled(count / 2 + 20 * id))
            }),
        ),
        (
            "singles",
            all(&|count| {
                let number = random(count, 4000) as f32;
                format!("<p x=\"{}\" y=\"{}\"/>", number / 3.0, f64::from(number / 7.0))
            }),
        ),
        (
            "long decimals",
            all(&|count| {
                let number = f64::from(random(count, 1_000_000)) / 64.0;
                format!("at {:.6}; {}; {:?};", number, number / 8.0, f64::from(count) / 2.0)
            }),
        ),
        (
            "small numbers",
            all(&|count| {
                let number = f64::from(random(count, 30)) / 29.0;
                format!("<{number:?}:{}>", (number - 0.5) / 1000.0)
            }),
        ),
        // Because of the first numbers the steps are at first shorter than those of the later
        // numbers.
        (
            "steps",
            all(&|count| {
                let more = if count < 4 { random(count, 8) } else { 0 };
                format!("[{:.3}]", f64::from(8 * count + more) / 8.0)
            }),
        ),
        (
            "identifiers",
            all(&|count| {
                let who = random(count / 3, 0x00ff_ffff);
                let kind = ["move", "turn it", "set", "drop", "style", "name"][count as usize % 6];
                let said = ["12abcd", "x1 of 2", "it's", "3.5em", "-4-2019", r#"say \"no\""#];
                let said = said[random(count, 6) as usize];
                let time =
                    format!("10:{:02}:{:02}.{:03}Z", count / 60, count % 60, random(count, 1000));
                format!(
                    r##"{{"{kind}":"{who:06x}-72aa{who}","fill":#{who:06x},"at":"{time}","as":"{said}"}}"##
                )
            }),
        ),
        (
            "random identifiers",
            all(&|count| {
                let mut more = count * 1000;
                let mut word = |alphabet: &[u8], length: u32| -> String {
                    more += 100;
                    let one = |at| alphabet[random(more + at, alphabet.len() as u32) as usize];
                    (0..length).map(|at| char::from(one(at))).collect()
                };
                let letters = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_+/";
                let hex = &letters[..16];
                let parts = [8, 4, 4, 4, 12].map(|length| word(hex, length));
                let id = match count % 7 {
                    0..3 => parts.join("-"),
                    3 => format!("file-{}.js", word(hex, 40)),
                    4 => format!("shape:{}", word(&letters[..64], 21)),
                    5 => word(&letters[..36], 24).to_uppercase(),
                    _ => format!("{}=", word(&letters[..66], 300).replace(['-', '_'], "/")),
                };
                // Every tenth one comes again.
                let user = word(&letters[..62], 1 + count % 30);
                format!(
                    r#"{{"id":"{id}","by":"{}","user":"{user}"}}"#,
                    parts[4 - count as usize % 2]
                )
            }),
        ),
        ("doubles in cbor", binary(&|count| write_value(&doubles(count), 2))),
        ("doubles in message pack", binary(&|count| write_value(&doubles(count), 0))),
        (
            "counter and map",
            binary(&|count| [&count.to_be_bytes()[..], &write_value(&doubles(count), 0)].concat()),
        ),
        // Some come again, some begin with a time, and some have few random bytes.
        (
            "identifiers of sixteen bytes",
            binary(&|count| {
                let which = if count % 5 == 4 { random(count, count) } else { count };
                let random_bytes =
                    |length: u32| (0..length).map(|at| random(which * 50 + at, 256) as u8);
                let id: Vec<u8> = match which % 4 {
                    0 | 1 => random_bytes(16).collect(),
                    2 => [&[1, 0x90, 0x2c, 5][..], &random_bytes(12).collect::<Vec<_>>()].concat(),
                    _ => [&[7; 12][..], &random_bytes(4).collect::<Vec<_>>()].concat(),
                };
                [&[3][..], &count.to_le_bytes(), b"create", &id, &[1, 2]].concat()
            }),
        ),
        (
            "written oddly",
            all(&|count| {
                let numbers =
                    ["-0", "007.25", "1.5", "-0.0", "0012", "3.1415926535", "12.50", "-7"];
                format!("({}, {})", numbers[random(count, 8) as usize], count / 3 * 5)
            }),
        ),
    ]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to memory cannot fail");
        hex
    })
}

/// The vectors, a JSON object in each line: the name of the stream, a message of it, and its
/// packet.
fn vectors() -> String {
    let mut lines = Vec::new();
    for (name, messages) in streams() {
        let mut encoder = Encoder::new(Config::default());
        for message in messages {
            let mut packet = Vec::new();
            encoder.encode(&message, &mut packet).expect("within the limits");
            let (message, packet) = (hex(&message), hex(&packet));
            lines.push(format!(
                r#"{{"stream": "{name}", "message": "{message}", "packet": "{packet}"}}"#
            ));
        }
    }
    format!("[\n{}\n]\n", lines.join(",\n"))
}

#[test]
fn the_vectors_of_the_specification_are_those_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/wire/vectors/gmc.json");
    let vectors = vectors();
    if std::env::var_os("RECORD").is_some() {
        std::fs::write(&path, &vectors).unwrap();
    }
    let recorded = std::fs::read_to_string(path).unwrap();
    assert!(recorded == vectors, "gmc's bit stream has changed: see docs/wire/gmc.md");
}

/// gmc-snapshot.md, S14, and a model that has learned three messages.
#[test]
fn the_snapshots_of_the_specification_are_those_of_the_code() {
    let snapshot = |encoder: &Encoder| {
        let mut snapshot = Vec::new();
        encoder.snapshot(&mut snapshot);
        hex(&snapshot)
    };
    let room = Config {
        delivery: Delivery::Room,
        memory: 128 << 10,
        fields: 6,
        check: true,
        max_message: 65_536,
        ..Config::default()
    };
    assert_eq!(
        snapshot(&Encoder::new(room)),
        "015152281ec887e268fffe1fff2f05f3c62fffffffffffffffffffff1001f965b7f5a47d75ffc72376c377"
    );
    let mut encoder = Encoder::new(Config::default());
    for x in [1, 2, 4] {
        encoder
            .encode(format!(r#"{{"x":{x}}}"#).as_bytes(), &mut Vec::new())
            .expect("within the limits");
    }
    assert_eq!(
        snapshot(&encoder),
        "011ce0d08a002154c6ffff0fffffffffff577732621bde1b3208a33a504151c03c6bac1420af1cdb276500c18baba73daaf8ec08d36efe8bfed58d06677302a604983e739272f087ae3d7c9b2533ec3363e3b9f3b8d018b51a160bc2d94734f1406391aa3e372daffcfe3d8fbcaae8285c5534abf959694d539efc68a662efa99bf163119e40cb0fd39eb9b831851212217713c4e818fe0ed3da7845f91e185232f7532363ed514a83471555fcedfe7a5c8b96ad0f0858cdffee6c213a332dec26e93868825ae4c3dd4810d9620f1490375e609b1cd9c32014977b3b4bf195416ba7a970795c5b4be17f9e9c82ef7276c1eb9696c4d656f0e119d400277ae967417a2c1b63efa173d7fb77ccc186df4024085b"
    );
}
