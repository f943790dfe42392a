//! Packets of an ordered link for decoders in other languages: `docs/wire/vectors/gmc.json`. RECORD=1 writes them.

use std::fmt::Write;
use std::path::Path;

use groupwire_gmc::{Config, Encoder};

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
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to memory cannot fail");
        hex
    })
}

/// An object in each line: the stream, a message of it, and its packet.
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
