//! Counters are coded by their difference to the last one of their channel and sender.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use groupwire_gmc::{Config, Decoder, Delivery, Encoder, Message};
use proptest::prelude::*;

fn config(counters: u32, delivery: Delivery) -> Config {
    Config { fields: 4, counters, delivery, check: true, ..Config::default() }
}

/// Bytes of the packets of three senders' numbered messages.
fn bytes(counters: u32) -> usize {
    let config = config(counters, Delivery::Ordered);
    let (mut encoder, mut decoder) = (Encoder::new(config.clone()), Decoder::new(config));
    let mut all = 0;
    for nth in 0..200u32 {
        let fields: Vec<[u32; 4]> =
            (0..3).map(|sender| [1, sender, nth * 3 + sender, 1000 * sender + nth]).collect();
        let messages = fields.iter().map(|fields| Message { fields, bytes: b"pointer" });
        let mut packet = Vec::new();
        encoder.encode_packet(messages, &mut packet).unwrap();
        let mut came = Vec::new();
        decoder.decode_packet(&packet, |message| came.push(message.fields.to_vec())).unwrap();
        assert_eq!(came, fields);
        all += packet.len();
    }
    all
}

#[test]
fn counters_take_few_bits() {
    let (counted, plain) = (bytes(0b1100), bytes(0));
    assert!(counted * 3 < plain, "{counted} bytes counted, {plain} not");
    assert_eq!(bytes(0b11), plain, "channel and sender cannot count");
}

proptest! {
    #[test]
    fn any_number_comes_back(
        packets in proptest::collection::vec(proptest::collection::vec(any::<[u32; 4]>(), 1..5), 1..20),
        counters: u32,
        lost: u64,
    ) {
        let config = config(counters, Delivery::Datagrams);
        let (mut encoder, mut decoder) = (Encoder::new(config.clone()), Decoder::new(config));
        for (nth, fields) in packets.iter().enumerate() {
            let messages = fields.iter().map(|fields| Message { fields, bytes: b"x" });
            let mut packet = Vec::new();
            encoder.encode_packet(messages, &mut packet).unwrap();
            if lost >> nth & 1 == 1 {
                continue;
            }
            let mut came = Vec::new();
            decoder.decode_packet(&packet, |message| came.push(message.fields.to_vec())).unwrap();
            prop_assert_eq!(&came, fields);
            let mut acknowledgement = Vec::new();
            decoder.acknowledge(&mut acknowledgement);
            encoder.acknowledge(&acknowledgement).unwrap();
        }
    }
}
