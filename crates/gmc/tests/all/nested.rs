//! A nested message takes hardly more bytes than the same message alone.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use groupwire_gmc::{Config, Decoder, Delivery, Encoder};

use crate::common::envelopes::{COUNT, wrap};
use crate::common::formats::{Value, write};

/// The bytes of the packets of a session in which two people move. Each message is in `envelopes`,
/// the innermost first.
fn bytes(delivery: Delivery, envelopes: &[u8]) -> usize {
    let message = |count: u32| {
        let (x, y) = (count * 7919 % 31 + count, 900 - count / 3);
        let payload = format!(
            r#"{{"type":"pointer","user":"b81d6e04-{}","ts":{},"at":[{x},{y}]}}"#,
            count % 2,
            1_718_000_000 + count * 33
        );
        envelopes
            .iter()
            .fold(payload.into_bytes(), |payload, &envelope| wrap(envelope, count, &payload))
    };
    session(delivery, &message)
}

/// Bytes of the packets of these messages. Each datagram is acknowledged at once.
fn session(delivery: Delivery, message: &dyn Fn(u32) -> Vec<u8>) -> usize {
    let config = Config { delivery, ..Config::default() };
    let (mut encoder, mut decoder) = (Encoder::new(config.clone()), Decoder::new(config));
    let mut sum = 0;
    for count in 0..2000_u32 {
        let wrapped = message(count);
        let (mut packet, mut decoded, mut acknowledgement) = (Vec::new(), Vec::new(), Vec::new());
        encoder.encode(&wrapped, &mut packet).unwrap();
        decoder.decode(&packet, &mut decoded).unwrap();
        assert_eq!(decoded, wrapped);
        if delivery == Delivery::Datagrams {
            decoder.acknowledge(&mut acknowledgement);
            encoder.acknowledge(&acknowledgement).unwrap();
        }
        sum += packet.len();
    }
    sum
}

#[test]
fn an_envelope_takes_little() {
    for delivery in [Delivery::Ordered, Delivery::Datagrams] {
        let plain = bytes(delivery, &[]);
        for envelope in 0..COUNT {
            // Some envelopes repeat the payload; one writes the length in a single byte, which is
            // sometimes too short for it.
            let allowed = plain * 115 / 100 + 2000;
            let wrapped = bytes(delivery, &[envelope]);
            assert!(wrapped <= allowed, "envelope {envelope}: {wrapped} bytes, alone {plain}");
        }
    }
}

#[test]
fn an_envelope_in_an_envelope_takes_little() {
    let plain = bytes(Delivery::Ordered, &[]);
    for envelopes in [[0, 7], [8, 1], [12, 5], [5, 0]] {
        let wrapped = bytes(Delivery::Ordered, &envelopes);
        assert!(wrapped <= plain * 13 / 10 + 4000, "{envelopes:?}: {wrapped}, alone {plain}");
    }
}

/// Maps of different sizes begin with different bytes, and because of the counter no two messages
/// begin alike.
#[test]
fn a_counter_before_a_map_takes_little() {
    let value = |count: u32| {
        let (x, y) = (i64::from(count * 7919 % 31 + count), i64::from(900 - count / 3));
        let text = |text: &str| Value::Text(text.into());
        let mut pairs = vec![
            ("user".into(), text(["b81d6e04", "77c0a1ff"][count as usize % 2])),
            ("time".into(), Value::Integer(1_718_000_000 + i64::from(count) * 33)),
            ("x".into(), Value::Integer(x)),
        ];
        if !count.is_multiple_of(5) {
            pairs.push(("y".into(), Value::Integer(y)));
        }
        if count.is_multiple_of(7) {
            pairs.push(("color".into(), text("black")));
        }
        Value::Map(pairs)
    };
    let counters: [fn(u32) -> Vec<u8>; 5] = [
        |count| vec![count as u8],
        |count| (count as u16).to_be_bytes().into(),
        |count| count.to_be_bytes().into(),
        |count| count.to_le_bytes().into(),
        |count| vec![count as u8 | 0x80, (count >> 7) as u8],
    ];
    for delivery in [Delivery::Ordered, Delivery::Datagrams] {
        for format in [0, 2] {
            let plain = session(delivery, &|count| write(&value(count), format));
            for (index, counter) in counters.iter().enumerate() {
                let message = |count| [counter(count), write(&value(count), format)].concat();
                let bytes = session(delivery, &message);
                // The first messages of each size teach what an envelope is.
                let allowed = plain * 115 / 100 + 300;
                assert!(
                    bytes <= allowed,
                    "counter {index}, format {format}: {bytes} bytes, alone {plain}"
                );
            }
        }
    }
}
