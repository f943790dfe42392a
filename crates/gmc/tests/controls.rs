//! Decoders follow settings that change at any point of a stream.

mod common;

use common::message;
use groupwire_gmc::{Config, DecodeError, Decoder, Delivery, Effort, Encoder, Message};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    /// Sends a message of this channel. A datagram arrives or is lost.
    Send(u32, Vec<u8>, bool),
    Learning(bool),
    ChannelLearning(u32, bool),
    Templates(usize),
    Memory(usize),
    Effort(Effort),
    Compact,
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pointer = (0u8..4, 0i32..2000)
        .prop_map(|(who, x)| format!(r#"{{"who":"user-{who}","x":{x}}}"#).into_bytes());
    let text = "[a-z ]{1,300}".prop_map(|text| format!(r#"{{"say":"{text}"}}"#).into_bytes());
    let message = prop_oneof![6 => pointer, 2 => text, 3 => message()];
    let effort = prop_oneof![Just(Effort::Fast), Just(Effort::Normal), Just(Effort::Best)];
    let step = prop_oneof![
        40 => (0u32..3, message, prop::bool::weighted(0.8))
            .prop_map(|(channel, bytes, comes)| Step::Send(channel, bytes, comes)),
        1 => any::<bool>().prop_map(Step::Learning),
        1 => (0u32..3, any::<bool>()).prop_map(|(channel, on)| Step::ChannelLearning(channel, on)),
        1 => (0usize..40).prop_map(Step::Templates),
        1 => (0usize..100_000).prop_map(Step::Memory),
        2 => effort.prop_map(Step::Effort),
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
            Step::Learning(on) => encoder.set_learning(*on),
            Step::ChannelLearning(channel, on) => encoder.set_channel_learning(*channel, *on),
            Step::Templates(count) => encoder.set_templates_max(*count),
            Step::Memory(memory) => encoder.set_memory(*memory),
            Step::Effort(effort) => encoder.set_effort(*effort),
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
    fn decoders_follow_changes_of_settings(steps in steps(), delivery in delivery(), check: bool) {
        run(Config { delivery, check, fields: 1, ..Config::default() }, &steps);
    }
}

fn size(encoder: &mut Encoder, channel: u32, bytes: &[u8]) -> usize {
    let mut packet = Vec::new();
    encoder
        .encode_packet([Message { fields: &[channel], bytes }], &mut packet)
        .expect("it is within the limits");
    packet.len()
}

#[test]
fn messages_that_are_not_learned_leave_no_trace() {
    let config = Config { fields: 1, ..Config::default() };
    let mut encoder = Encoder::new(config.clone());
    for x in 0..30 {
        size(&mut encoder, 1, format!(r#"{{"x":{x}}}"#).as_bytes());
    }
    encoder.set_channel_learning(2, false);
    let secret = b"the combination of the lock is 34-8-21";
    let sizes: Vec<_> = (0..10).map(|_| size(&mut encoder, 2, secret)).collect();
    assert!(sizes.iter().all(|size| size.abs_diff(sizes[0]) <= 2), "{sizes:?}");
    // Neither does the packet of another channel depend on it.
    assert!(size(&mut encoder, 1, secret) >= sizes[0] - 2);
    assert!(size(&mut encoder, 1, secret) < sizes[0] / 2);
}

#[test]
fn more_memory_than_configured_is_refused() {
    let large = Config { memory: 64 << 10, ..Config::default() };
    let small = Config { memory: 16 << 10, ..Config::default() };
    let mut encoder = Encoder::new(large);
    encoder.set_memory(16 << 10);
    let mut packet = Vec::new();
    encoder.encode(b"hello", &mut packet).unwrap();
    assert!(Decoder::new(small.clone()).decode(&packet, &mut Vec::new()).is_ok());
    encoder.set_memory(32 << 10);
    packet.clear();
    encoder.encode(b"hello", &mut packet).unwrap();
    assert_ne!(Decoder::new(small).decode(&packet, &mut Vec::new()), Ok(()));
}

#[test]
fn effort_may_change_without_the_decoder() {
    for (effort, text) in [(Effort::Fast, "chat"), (Effort::Best, "chat"), (Effort::Fast, "x")] {
        let mut encoder = Encoder::new(Config::default());
        let mut decoder = Decoder::new(Config::default());
        encoder.set_effort(effort);
        let mut total = 0;
        for index in 0..300 {
            let message = format!(r#"{{"{text}":"line {} of {}"}}"#, index * 37 % 101, index % 7);
            let (mut packet, mut decoded) = (Vec::new(), Vec::new());
            encoder.encode(message.as_bytes(), &mut packet).unwrap();
            decoder.decode(&packet, &mut decoded).unwrap();
            assert_eq!(decoded, message.as_bytes());
            total += packet.len();
        }
        assert!(total < 300 * 5, "{total}");
    }
}

#[test]
fn an_ordered_link_has_no_unknown_epochs() {
    // A packet that is not learned must still be decoded in order.
    let mut encoder = Encoder::new(Config { check: true, ..Config::default() });
    encoder.set_learning(false);
    let mut packets = [Vec::new(), Vec::new()];
    encoder.encode(b"one", &mut packets[0]).unwrap();
    encoder.encode(b"two", &mut packets[1]).unwrap();
    let mut decoder = Decoder::new(Config { check: true, ..Config::default() });
    let result = decoder.decode(&packets[1], &mut Vec::new());
    assert!(matches!(result, Err(DecodeError::CheckFailed | DecodeError::Malformed)));
}
