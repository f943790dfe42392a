//! No packet makes a decoder panic, hang or exceed its limits.

use groupwire_gmc::{Config, DecodeError, Decoder, Delivery, Encoder, Message};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::message;

const FIELDS: usize = 2;

fn config(check: bool) -> Config {
    Config {
        memory: 8 << 10,
        fields: FIELDS,
        max_message: 2000,
        max_messages_per_packet: 50,
        max_packet: 5000,
        check,
        ..Config::default()
    }
}

/// The packets of a session.
fn packets(config: &Config, messages: &[Vec<Vec<u8>>]) -> Vec<Vec<u8>> {
    let mut encoder = Encoder::new(config.clone());
    let encode = |messages: &Vec<Vec<u8>>| {
        let messages = messages.iter().map(|bytes| Message { fields: &[1, 2], bytes });
        let mut packet = Vec::new();
        encoder.encode_packet(messages, &mut packet).expect("within the limits");
        packet
    };
    messages.iter().map(encode).collect()
}

/// Decodes packets and checks the limits. After an error all packets must fail.
fn feed(config: &Config, packets: &[Vec<u8>]) -> Result<(), DecodeError> {
    let mut decoder = Decoder::new(config.clone());
    let mut first_error = None;
    for packet in packets {
        let (mut count, mut bytes) = (0, 0);
        let result = decoder.decode_packet(packet, |message| {
            assert!(
                message.bytes.len() <= config.max_message && message.fields.len() == config.fields
            );
            count += 1;
            bytes += message.bytes.len();
        });
        assert!(count <= config.max_messages_per_packet && bytes <= config.max_packet);
        assert!(decoder.memory() <= config.memory);
        match (result, first_error) {
            (Err(error), None) => first_error = Some(error),
            (result, Some(_)) => assert_eq!((result, count), (Err(DecodeError::Poisoned), 0)),
            _ => {}
        }
    }
    first_error.map_or(Ok(()), Err)
}

fn session() -> impl Strategy<Value = Vec<Vec<Vec<u8>>>> {
    vec(vec(message(), 0..4), 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_acknowledgement_names_a_packet_that_was_not_sent(
        room: bool,
        forged in vec(vec(any::<u8>(), 0..12), 1..20),
    ) {
        let delivery = if room { Delivery::Room } else { Delivery::Datagrams };
        let mut encoder = Encoder::new(Config { delivery, ..Config::default() });
        encoder.encode(b"a message", &mut Vec::new()).expect("within the limits");
        for acknowledgement in forged {
            if let Ok(Some(top)) = encoder.acknowledge(&acknowledgement) {
                prop_assert!(top <= encoder.newest(), "{top}");
            }
        }
    }

    #[test]
    fn random_packets_are_harmless(packets in vec(vec(any::<u8>(), 0..200), 1..20), check: bool) {
        let _ = feed(&config(check), &packets);
    }

    #[test]
    fn random_packets_after_a_session_are_harmless(
        messages in session(),
        packet in vec(any::<u8>(), 0..100),
        check: bool,
    ) {
        let mut packets = packets(&config(check), &messages);
        packets.push(packet);
        let _ = feed(&config(check), &packets);
    }

    #[test]
    fn damaged_packets_are_harmless(
        messages in session(),
        damage in vec(any::<(prop::sample::Index, prop::sample::Index, u8)>(), 1..4),
        check: bool,
    ) {
        let mut packets = packets(&config(check), &messages);
        for (packet, at, byte) in damage {
            let packet = packet.get_mut(&mut packets);
            if !packet.is_empty() {
                *at.get_mut(packet) = byte;
            }
        }
        let _ = feed(&config(check), &packets);
    }

    #[test]
    fn truncated_and_extended_packets_are_harmless(
        messages in session(),
        which: prop::sample::Index,
        cut in 0usize..20,
        more in vec(any::<u8>(), 0..20),
    ) {
        let mut packets = packets(&config(false), &messages);
        let packet = which.get_mut(&mut packets);
        packet.truncate(packet.len().saturating_sub(cut));
        packet.extend(more);
        let _ = feed(&config(false), &packets);
    }

    #[test]
    fn packets_of_another_configuration_are_harmless(messages in session(), memory in 0usize..100_000) {
        let packets = packets(&config(false), &messages);
        let _ = feed(&Config { memory: memory.max(8 << 10), ..config(false) }, &packets);
    }

    #[test]
    fn any_plain_packets_are_harmless(form: u8, bytes in vec(any::<u8>(), 0..100)) {
        let packet = [&[0, (form % 4) | (form & 0x80)][..], &bytes].concat();
        let _ = feed(&config(false), &[packet]);
    }
}

#[test]
fn a_lost_packet_fails_the_check() {
    let messages: Vec<_> = (0..200).map(|x| vec![format!("{{\"x\":{x}}}").into_bytes()]).collect();
    let mut packets = packets(&config(true), &messages);
    assert_eq!(feed(&config(true), &packets), Ok(()));
    packets.remove(50);
    assert!(feed(&config(true), &packets).is_err());
}

#[test]
fn packets_that_decode_to_too_much_are_refused() {
    let mut deflated = vec![0, 2];
    groupwire_codecs::by_name("zlib").unwrap().compress(&vec![b'x'; 1_000_000], &mut deflated);
    assert_eq!(feed(&config(false), &[deflated]), Err(DecodeError::TooLarge));
    // A stream of zeros takes few bytes, and must stay within the limits too.
    let zeros = Config { max_message: 1 << 20, max_packet: 1 << 20, ..config(false) };
    let mut packets = packets(&zeros, &vec![vec![vec![0; 1 << 20]]; 3]);
    assert!(packets[2].len() < 20_000);
    packets.insert(0, packets[2].clone());
    assert!(feed(&config(false), &packets).is_err());
}

#[test]
fn decode_takes_packets_of_one_message_only() {
    let config = Config::default();
    let mut encoder = Encoder::new(config.clone());
    let mut packet = Vec::new();
    let message = Message { fields: &[], bytes: b"x" };
    encoder.encode_packet([message, message], &mut packet).unwrap();
    let mut decoder = Decoder::new(config);
    let mut out = Vec::new();
    assert_eq!(decoder.decode(&packet, &mut out), Err(DecodeError::NotOneMessage));
    assert_eq!(decoder.decode(&packet, &mut out), Err(DecodeError::Poisoned));
    assert!(out.is_empty());
}

#[test]
fn a_forged_packet_that_is_refused_leaves_a_new_decoder_able_to_learn() {
    let config = Config { delivery: Delivery::Datagrams, ..Config::default() };
    for forged in 0..=u16::MAX {
        let mut decoder = Decoder::new(config.clone());
        if decoder.decode_packet(&forged.to_le_bytes(), |_| {}).is_ok() {
            continue;
        }
        let mut encoder = Encoder::new(config.clone());
        let (mut packet, mut acknowledgement, mut acknowledged) = (vec![], vec![], None);
        for _ in 0..3 {
            packet.clear();
            encoder.encode(b"a message", &mut packet).expect("within the limits");
            let _ = decoder.decode_packet(&packet, |_| {});
            acknowledgement.clear();
            decoder.acknowledge(&mut acknowledgement);
            acknowledged = encoder.acknowledge(&acknowledgement).unwrap();
        }
        assert_eq!(acknowledged, Some(3), "after {forged:#06x}");
    }
}
