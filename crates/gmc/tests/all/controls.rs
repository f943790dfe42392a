//! Decoders follow compaction and new starts at any point of a stream.

use groupwire_gmc::{Config, DecodeError, Decoder, Delivery, Encoder, Message};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::message;

#[derive(Debug, Clone)]
enum Step {
    /// Sends a message of this channel. A datagram arrives or is lost.
    Send(u32, Vec<u8>, bool),
    Compact,
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pointer = (0u8..4, 0i32..2000)
        .prop_map(|(who, x)| format!(r#"{{"who":"user-{who}","x":{x}}}"#).into_bytes());
    let text = "[a-z ]{1,300}".prop_map(|text| format!(r#"{{"say":"{text}"}}"#).into_bytes());
    let message = prop_oneof![6 => pointer, 2 => text, 3 => message()];
    let step = prop_oneof![
        40 => (0u32..3, message, prop::bool::weighted(0.8))
            .prop_map(|(channel, bytes, comes)| Step::Send(channel, bytes, comes)),
        1 => Just(Step::Compact),
        1 => Just(Step::Restart),
    ];
    vec(step, 1..300)
}

fn delivery() -> impl Strategy<Value = Delivery> {
    prop_oneof![Just(Delivery::Ordered), Just(Delivery::Datagrams), Just(Delivery::Room)]
}

fn run(config: Config, steps: &[Step]) {
    let mut encoder = Encoder::new(config.clone());
    let mut decoder = Decoder::new(config.clone());
    for step in steps {
        match step {
            Step::Send(channel, bytes, comes) => {
                let given = Message { fields: &[*channel], bytes };
                let mut packet = Vec::new();
                encoder.encode_packet([given], &mut packet).expect("it is within the limits");
                if config.delivery == Delivery::Datagrams && !comes {
                    continue;
                }
                let mut count = 0;
                let result = decoder.decode_packet(&packet, |message| {
                    assert_eq!(message, given);
                    count += 1;
                });
                assert_eq!((result, count), (Ok(()), 1));
                if config.delivery != Delivery::Ordered {
                    let mut ack = Vec::new();
                    decoder.acknowledge(&mut ack);
                    if let Ok(Some(top)) = encoder.acknowledge(&ack) {
                        encoder.advance(top.saturating_sub(3));
                    }
                }
            }
            Step::Compact => encoder.compact(),
            Step::Restart if config.delivery == Delivery::Ordered => {}
            Step::Restart => encoder.restart(),
        }
        assert!(encoder.memory() <= config.memory);
        assert!(decoder.memory() <= config.memory);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn decoders_follow_compaction_and_new_starts(steps in steps(), delivery in delivery(), check: bool) {
        run(Config { delivery, check, fields: 1, ..Config::default() }, &steps);
    }
}

#[test]
fn an_ordered_link_has_no_unknown_epochs() {
    let mut encoder = Encoder::new(Config { check: true, ..Config::default() });
    let mut packets = [Vec::new(), Vec::new()];
    encoder.encode(b"one", &mut packets[0]).unwrap();
    encoder.encode(b"two", &mut packets[1]).unwrap();
    let mut decoder = Decoder::new(Config { check: true, ..Config::default() });
    let result = decoder.decode(&packets[1], &mut Vec::new());
    assert!(matches!(result, Err(DecodeError::CheckFailed | DecodeError::Malformed)));
}
