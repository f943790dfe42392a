//! A message inside of another one takes little more than alone.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use groupwire_gmc::{Config, Decoder, Delivery, Encoder};

use crate::common::envelopes::{COUNT, wrap};

/// Bytes of the packets of a session, in which two people move and each message stands in `envelopes`, the innermost first.
fn bytes(delivery: Delivery, envelopes: &[u8]) -> usize {
    let config = Config { delivery, ..Config::default() };
    let (mut encoder, mut decoder) = (Encoder::new(config.clone()), Decoder::new(config));
    let mut sum = 0;
    for count in 0..2000_u32 {
        let (x, y) = (count * 7919 % 31 + count, 900 - count / 3);
        let payload = format!(
            r#"{{"type":"pointer","user":"b81d6e04-{}","ts":{},"at":[{x},{y}]}}"#,
            count % 2,
            1_718_000_000 + count * 33
        );
        let wrapped = envelopes
            .iter()
            .fold(payload.into_bytes(), |payload, &envelope| wrap(envelope, count, &payload));
        let (mut packet, mut decoded, mut acknowledgement) = (Vec::new(), Vec::new(), Vec::new());
        encoder.encode(&wrapped, &mut packet).unwrap();
        decoder.decode(&packet, &mut decoded).unwrap();
        assert_eq!(decoded, wrapped, "{envelopes:?}");
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
            // Some envelopes repeat the payload, or write a length in a byte that it does not always fit into.
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
