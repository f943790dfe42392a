//! Bytes out equal bytes in, for every input and every configuration.

use groupwire_gmc::{Config, Decoder, EncodeError, Encoder, Message};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::message;

/// A message: fields, of which as many are used as configured, and bytes.
type Owned = (Vec<u32>, Vec<u8>);

/// Encodes and decodes packets, compares, and returns the sizes of the packets.
fn round_trip(config: &Config, packets: &[Vec<Owned>]) -> Vec<usize> {
    let mut encoder = Encoder::new(config.clone());
    let mut decoder = Decoder::new(config.clone());
    let mut sizes = Vec::new();
    for messages in packets {
        let mut packet = Vec::new();
        let borrowed = messages
            .iter()
            .map(|(fields, bytes)| Message { fields: &fields[..config.fields], bytes });
        encoder.encode_packet(borrowed, &mut packet).expect("within the limits");
        let mut decoded = Vec::new();
        decoder
            .decode_packet(&packet, |message| {
                decoded.push((message.fields.to_vec(), message.bytes.to_vec()));
            })
            .expect("an encoder made the packet");
        let expected: Vec<_> = messages
            .iter()
            .map(|(fields, bytes)| (fields[..config.fields].to_vec(), bytes.clone()))
            .collect();
        assert!(decoded == expected, "packet {} of {}", sizes.len(), packets.len());
        sizes.push(packet.len());
    }
    sizes
}

fn configs() -> impl Strategy<Value = Config> {
    let memory = prop_oneof![Just(0), Just(4 << 10), Just(16 << 10), Just(64 << 10), Just(1 << 20)];
    (memory, 0usize..4, any::<bool>()).prop_map(|(memory, fields, check)| Config {
        memory,
        fields,
        check,
        ..Config::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_messages_come_back(
        config in configs(),
        packets in vec(vec((vec(any::<u32>(), 4), message()), 0..6), 1..40),
    ) {
        round_trip(&config, &packets);
    }

    /// Sessions with few templates and many values, which fill the tables of values.
    #[test]
    fn sessions_come_back(
        config in configs(),
        seeds in vec((0u8..12, 0u32..5, any::<i32>(), "[a-z]{0,5}", 0u32..30), 1..400),
        per_packet in 1usize..10,
    ) {
        let messages = seeds.iter().enumerate().map(|(index, seed)| session(index, seed));
        let messages: Vec<Owned> = messages.collect();
        let packets: Vec<_> = messages.chunks(per_packet).map(<[_]>::to_vec).collect();
        round_trip(&config, &packets);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Messages of the same structure, in every format.
    #[test]
    fn binary_sessions_come_back(
        config in configs(),
        format in 0u8..6,
        messages in vec((any::<i64>(), 0u32..64, any::<f32>(), 1u8..40, "[a-z]{0,9}", any::<u8>()), 1..120),
    ) {
        use crate::common::formats::{Value, write};
        let messages = messages.into_iter().map(|(number, shift, float, part, word, odd)| {
            let n = number >> shift;
            let quotient = f64::from(n as i32) / f64::from(part);
            let x = if odd < 8 { Value::Text(word.clone()) } else { Value::Double(quotient) };
            let id = if odd & 1 == 0 { Value::Integer(n) } else { Value::Nil };
            let mut pairs = vec![
                ("id".into(), id),
                ("x".into(), x),
                ("y".into(), Value::Single(if odd & 2 == 0 { float } else { n as f32 / 8.0 })),
                ("name".into(), Value::Text(word)),
                ("raw".into(), Value::Bytes(n.to_be_bytes().to_vec())),
                ("at".into(), Value::Array(vec![Value::Integer(n / 3), Value::Bool(odd & 4 == 0)])),
            ];
            pairs.rotate_left(usize::from(odd > 250));
            (fields(u32::from(odd) % 3), write(&Value::Map(pairs), format))
        });
        let messages: Vec<Owned> = messages.collect();
        let packets: Vec<_> = messages.chunks(3).map(<[_]>::to_vec).collect();
        round_trip(&config, &packets);
    }
}

/// A message of one of twelve types.
fn session(
    index: usize,
    (kind, sender, number, word, shift): &(u8, u32, i32, String, u32),
) -> Owned {
    let n = number >> shift;
    let text = match kind {
        0 | 1 => format!("(t: {} id: {sender})(pointer x: {n}.0 y: {}.0)", 1000 + index * 33, -n),
        2 => format!(
            r#"{{"type":"move","user":"{sender}-ab-{sender}f","ts":{},"x":{n},"w":"{word}"}}"#,
            17180 + index
        ),
        3 => format!(
            "<e> <x> {:.3} </x> <y> {} </y> </e>",
            f64::from(n) / 7.0,
            f64::from(*number) / 36.0
        ),
        4 => format!("<say who={word}> {word} {n:05} {word}! </say>"),
        5 => format!(r#"{{"type":"edit","pos":{index},"insert":"{word}"}}"#),
        6 => format!("{n:08}|{n:x}|-{n}|+{n}|{n}e5|{}.{n:09}|{n}", n >> 8),
        7 => word.repeat(n.unsigned_abs() as usize % 50),
        8 => {
            return (
                fields(*sender),
                [&[0, 0, 5, 1][..], &n.to_be_bytes(), &number.to_be_bytes()].concat(),
            );
        }
        9 => {
            return (
                fields(*sender),
                [&[9][..], word.as_bytes(), &[0, 0, 0, 1], &n.to_le_bytes()].concat(),
            );
        }
        10 => return (fields(*sender), n.to_le_bytes().repeat(index % 9)),
        _ => format!("[{n},{number},{index},-0,0{n},{n}.{sender}]"),
    };
    (fields(*sender), text.into_bytes())
}

fn fields(sender: u32) -> Vec<u32> {
    vec![sender % 2, sender, sender * 100, 0]
}

#[test]
fn unusual_numbers_come_back() {
    let numbers = [
        "0",
        "-0",
        "00",
        "-00",
        "0078.0",
        "78.0",
        "412.6666641235",
        "-412.66",
        "0.1",
        "-0.0",
        "0.000",
        ".5",
        "5.",
        "1e5",
        "-1.5E-7",
        "999999999999999999",
        "-999999999999999999",
        "1000000000000000000",
        "007",
        "08",
        "9",
        "18446744073709551615",
        "123456789012345678.5",
        "12345678901234567.25",
        "1.000000000000000000000000",
        "1.0000000000000000000000001",
        "--5",
        "1.2.3",
        "1-2-3",
        "+7",
        "2024-05-01T10:00:00.000Z",
        "NaN",
        "",
        "000000000000000001",
        "0000000000000000001",
        "99999.9999",
        "100000.0000",
        "-99999.9999",
    ];
    for frame in [("{\"x\":", "}"), ("x ", ""), ("", ""), ("(", ")")] {
        let packets: Vec<Vec<Owned>> = (0..3)
            .flat_map(|_| numbers)
            .map(|number| vec![(vec![], format!("{}{number}{}", frame.0, frame.1).into_bytes())])
            .collect();
        round_trip(&Config::default(), &packets);
    }
}

#[test]
fn the_largest_messages_come_back() {
    let config = Config::default();
    let noise = |seed: u64| -> Vec<u8> {
        let mut state = seed;
        (0..65536)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
            .collect()
    };
    let messages = [
        noise(1),
        noise(2),
        vec![b'1'; 65536],
        b"1-".repeat(32768),
        b"{\"".repeat(32768),
        b"\"a\",".repeat(16384),
        b"ab,12,".repeat(10922),
        vec![0; 65536],
    ];
    let packets: Vec<Vec<Owned>> =
        messages.iter().map(|bytes| vec![(vec![], bytes.clone())]).collect();
    let sizes = round_trip(&config, &packets);
    for (size, bytes) in sizes.iter().zip(&messages) {
        assert!(*size <= bytes.len() + 2);
    }
    assert!(sizes[7] < 200);
    round_trip(&config, &[messages[..4].iter().map(|bytes| (vec![], bytes.clone())).collect()]);
}

#[test]
fn no_message_grows_by_more_than_two_bytes() {
    let mut encoder = Encoder::new(Config::default());
    let mut state = 1u64;
    for length in 0..500 {
        let message: Vec<u8> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
            .collect();
        let mut packet = Vec::new();
        encoder.encode(&message, &mut packet).unwrap();
        assert!(packet.len() <= message.len() + 2, "{} for {length}", packet.len());
    }
}

#[test]
fn memory_is_bounded() {
    for memory in [0, 4 << 10, 10_000, 64 << 10, 300_000] {
        let config = Config { memory, fields: 5, ..Config::default() };
        let limit = memory.max(Config::MEMORY_MIN);
        let mut encoder = Encoder::new(config);
        for index in 0..2000usize {
            let message = format!(
                "{{\"a{}\":{index},\"b{}\":\"{}\"}}",
                index % 500,
                index / 7,
                "x".repeat(index % 300)
            );
            let message =
                Message { fields: &[1, 2, 3, 4, index as u32], bytes: message.as_bytes() };
            encoder.encode_packet([message], &mut Vec::new()).unwrap();
            assert!(encoder.memory() <= limit, "{} of {limit}", encoder.memory());
        }
    }
}

#[test]
fn refused_messages_change_nothing() {
    let config = Config {
        fields: 1,
        max_message: 10,
        max_messages_per_packet: 2,
        max_packet: 15,
        ..Config::default()
    };
    let (mut encoder, mut untouched) = (Encoder::new(config.clone()), Encoder::new(config.clone()));
    let mut decoder = Decoder::new(config);
    let of = |length: usize| Message { fields: &[7], bytes: &b"0123456789abcdef"[..length] };
    for (messages, error) in [
        (vec![of(11)], EncodeError::MessageTooLarge),
        (vec![of(1), of(1), of(1)], EncodeError::TooManyMessages),
        (vec![of(8), of(8)], EncodeError::PacketTooLarge),
        (vec![of(1), Message { fields: &[], bytes: b"x" }], EncodeError::WrongFields),
    ] {
        let mut out = vec![1];
        assert_eq!(encoder.encode_packet(messages, &mut out), Err(error));
        assert_eq!(out, [1]);
        let (mut packet, mut expected) = (Vec::new(), Vec::new());
        encoder.encode_packet([of(10), of(5)], &mut packet).unwrap();
        untouched.encode_packet([of(10), of(5)], &mut expected).unwrap();
        assert_eq!(packet, expected);
        let mut count = 0;
        decoder.decode_packet(&packet, |_| count += 1).unwrap();
        assert_eq!(count, 2);
    }
}

#[test]
fn repeated_fields_take_few_bits() {
    let config = |fields| Config { fields, ..Config::default() };
    let (mut with, mut without) = (Encoder::new(config(6)), Encoder::new(config(0)));
    let (mut with_fields, mut without_fields) = (Vec::new(), Vec::new());
    for index in 0..4000 {
        let bytes = [Message { fields: &[], bytes: b"{}" }; 10];
        without.encode_packet(bytes, &mut without_fields).unwrap();
        let fields = [3, 1000 + index / 1000, 0, 1, 77, 0];
        let bytes = [Message { fields: &fields, bytes: b"{}" }; 10];
        with.encode_packet(bytes, &mut with_fields).unwrap();
    }
    let bits = (with_fields.len() - without_fields.len()) * 8;
    assert!(bits * 20 <= 4000 * 10 * 6, "{bits} bits for 240000 fields");
}

#[test]
fn both_ends_are_send() {
    fn send<T: Send>() {}
    send::<Encoder>();
    send::<Decoder>();
}
