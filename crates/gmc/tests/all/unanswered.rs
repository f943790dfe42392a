//! Encoders that go on sending though little is acknowledged. Each test is a failure that fuzzing
//! found.

use groupwire_gmc::{Config, DecodeError, Decoder, Delivery, Encoder, Message};

fn pointer(index: u32) -> Vec<u8> {
    format!(r#"{{"type":"pointer","who":"b81d6e04","t":{},"x":{}}}"#, index * 33, 700 - index % 500)
        .into_bytes()
}

fn config(delivery: Delivery, memory: usize) -> Config {
    Config { delivery, memory, ..Config::default() }
}

/// Sends a message to decoders that all have it afterwards.
fn send(encoder: &mut Encoder, decoders: &mut [Decoder], index: u32) {
    let mut packet = Vec::new();
    encoder.encode(&pointer(index), &mut packet).expect("a small message");
    for decoder in decoders {
        let mut decoded = Vec::new();
        let result = decoder.decode(&packet, &mut decoded);
        assert_eq!(result, Ok(()), "packet {}", encoder.newest());
        assert_eq!(decoded, pointer(index));
    }
}

/// Delivers a decoder's acknowledgement. Returns the newest packet that the decoder has.
fn acknowledge(encoder: &mut Encoder, decoder: &mut Decoder) -> u32 {
    let mut acknowledgement = Vec::new();
    decoder.acknowledge(&mut acknowledgement);
    let top = encoder.acknowledge(&acknowledgement).expect("the decoder's own");
    top.expect("the decoder knows what the encoder does")
}

#[test]
fn an_encoder_without_answers_starts_anew_with_an_empty_model() {
    for delivery in [Delivery::Datagrams, Delivery::Room] {
        let config = config(delivery, 64 << 10);
        let mut encoder = Encoder::new(config.clone());
        let mut decoders = [Decoder::new(config)];
        for index in 0..20 {
            send(&mut encoder, &mut decoders, index);
            let top = acknowledge(&mut encoder, &mut decoders[0]);
            encoder.advance(top);
        }
        for index in 20..3000 {
            send(&mut encoder, &mut decoders, index);
        }
        acknowledge(&mut encoder, &mut decoders[0]);
        send(&mut encoder, &mut decoders, 3000);
        assert_eq!(acknowledge(&mut encoder, &mut decoders[0]), 3001, "{delivery:?}");
    }
}

#[test]
fn learning_goes_on_after_an_outage() {
    let config = config(Delivery::Datagrams, 64 << 10);
    let mut encoder = Encoder::new(config.clone());
    let mut decoders = [Decoder::new(config)];
    for index in 0..500 {
        let lost = (100..160).contains(&index);
        send(&mut encoder, if lost { &mut [] } else { &mut decoders }, index);
        let top = acknowledge(&mut encoder, &mut decoders[0]);
        assert!(top == encoder.newest() || (100..300).contains(&index), "{top} of {index}");
    }
}

#[test]
fn an_unknown_packet_does_not_keep_a_new_decoder_from_learning() {
    for delivery in [Delivery::Datagrams, Delivery::Room] {
        let config = config(delivery, 64 << 10);
        // The first message makes a plain packet, and the second one is too large to be learned.
        for message in [b"".to_vec(), vec![b'x'; 5000], pointer(0)] {
            for before in [0, 1, 2] {
                let mut encoder = Encoder::new(config.clone());
                let mut decoder = Decoder::new(config.clone());
                for number in 1..=3 {
                    if number == before + 1 {
                        // A packet that names an epoch, as one for an earlier decoder may.
                        let strange = decoder.decode(&[0x77], &mut Vec::new());
                        assert_eq!(strange, Err(DecodeError::UnknownEpoch));
                    }
                    let mut packet = Vec::new();
                    encoder.encode(&message, &mut packet).unwrap();
                    decoder.decode(&packet, &mut Vec::new()).unwrap();
                }
                let mut decoders = [decoder];
                send(&mut encoder, &mut decoders, 1);
                assert_eq!(acknowledge(&mut encoder, &mut decoders[0]), 4);
            }
        }
    }
}

#[test]
fn unpredictable_messages_are_learned_too() {
    let config = config(Delivery::Datagrams, 16 << 10);
    let mut encoder = Encoder::new(config.clone());
    let mut decoder = Decoder::new(config);
    let mut noise = 1u32;
    let mut top = 0;
    for _ in 0..600 {
        let message = std::array::from_fn::<u8, 60, _>(|_| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (noise >> 24) as u8
        });
        let (mut packet, mut decoded) = (Vec::new(), Vec::new());
        encoder.encode(&message, &mut packet).unwrap();
        decoder.decode(&packet, &mut decoded).unwrap();
        assert_eq!(decoded, message);
        top = acknowledge(&mut encoder, &mut decoder);
    }
    assert!(top + 100 > encoder.newest(), "{top}");
}

#[test]
fn a_rooms_packets_that_are_not_learned_take_no_memory() {
    let config = config(Delivery::Room, 8 << 10);
    let mut encoder = Encoder::new(config.clone());
    let mut decoders = [Decoder::new(config.clone())];
    for index in 0..1000 {
        send(&mut encoder, &mut decoders, index);
        assert!(encoder.memory() <= config.memory, "{} after {index}", encoder.memory());
        assert!(decoders[0].memory() <= config.memory, "{} after {index}", decoders[0].memory());
    }
    assert_eq!(acknowledge(&mut encoder, &mut decoders[0]), 1000);
}

#[test]
fn a_room_goes_on_between_packets_that_are_not_learned() {
    let config = config(Delivery::Room, 8 << 10);
    let mut encoder = Encoder::new(config.clone());
    let mut decoders = [Decoder::new(config.clone()), Decoder::new(config)];
    let mut tops = [0; 2];
    for index in 0..2000 {
        send(&mut encoder, &mut decoders, index);
        // The two decoders acknowledge at different times.
        if index % 100 == 69 {
            tops[1] = acknowledge(&mut encoder, &mut decoders[1]);
            assert_eq!(tops[1], index + 1);
        }
        if index % 100 == 99 {
            tops[0] = acknowledge(&mut encoder, &mut decoders[0]);
            assert_eq!(tops[0], index + 1);
            encoder.advance(tops[1]);
        }
    }
}

#[test]
fn a_room_goes_on_behind_a_packet_that_fills_the_memory() {
    let config = config(Delivery::Room, 4 << 10);
    let mut encoder = Encoder::new(config.clone());
    let mut decoders = [Decoder::new(config.clone()), Decoder::new(config)];
    let messages: Vec<_> = (0..8).map(|index| pointer(index * 77)).collect();
    let messages = messages.iter().map(|bytes| Message { fields: &[], bytes });
    let mut packet = Vec::new();
    encoder.encode_packet(messages, &mut packet).unwrap();
    for decoder in &mut decoders {
        decoder.decode_packet(&packet, |_| {}).unwrap();
    }
    for index in 0..10 {
        send(&mut encoder, &mut decoders, index);
    }
    let tops = decoders.each_mut().map(|decoder| acknowledge(&mut encoder, decoder));
    assert_eq!(tops, [11, 11]);
}

#[test]
fn a_room_goes_on_with_a_plain_packet_behind_one_that_fills_the_memory() {
    let config = config(Delivery::Room, 8 << 10);
    let mut encoder = Encoder::new(config.clone());
    let mut decoder = Decoder::new(config);
    // The first packet is learned, as no other is pending. A codec makes the other packets smaller
    // than the model does.
    let messages = [vec![b'a'; 4000], b"usr".to_vec(), b"!?".to_vec(), b"x".to_vec()];
    for (index, message) in messages.iter().enumerate() {
        let (mut packet, mut decoded) = (Vec::new(), Vec::new());
        encoder.encode(message, &mut packet).unwrap();
        decoder.decode(&packet, &mut decoded).unwrap();
        assert_eq!(decoded, *message);
        let top = acknowledge(&mut encoder, &mut decoder);
        assert_eq!(top as usize, index + 1);
        encoder.advance(top);
    }
}
