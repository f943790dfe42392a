use proptest::prelude::*;

use super::*;
use crate::drawing::generate;
use crate::drawing::tests::{any_event, recorded_events};

type New = fn() -> Box<dyn EventCodec>;

const ALL: [(&str, New); 5] = [
    ("bits", bits),
    ("primitives", primitives),
    ("strong", strong),
    ("asn1_per", asn1_per),
    ("asn1_text", asn1_text),
];

/// Bytes per message, after checking that each decodes to its event.
fn mean(codec: New, events: &[Event]) -> f64 {
    let (mut sender, mut receiver) = (codec(), codec());
    let mut bytes = 0;
    let mut message = Vec::new();
    for event in events {
        message.clear();
        sender.encode(event, &mut message);
        assert_eq!(receiver.decode(&message).as_ref(), Ok(event));
        bytes += message.len();
    }
    bytes as f64 / events.len() as f64
}

#[test]
fn sizes_are_those_measured() {
    // The sizes of the generated session, and of the recorded one, which are not the same but
    // close.
    let sizes = [
        ("bits", 10.64),
        ("primitives", 12.83),
        ("strong", 3.46),
        ("asn1_per", 21.2),
        ("asn1_text", 43.1),
    ];
    for events in [Some(generate(1, 12_850)), recorded_events()].into_iter().flatten() {
        for ((name, codec), (_, size)) in ALL.into_iter().zip(sizes) {
            let mean = mean(codec, &events);
            println!("{name} {mean:.3}");
            assert!((mean - size).abs() < 0.1, "{name}: {mean}");
        }
    }
}

#[test]
fn a_pointer_in_few_bits_has_the_size_of_the_papers_table() {
    // The header has 5 + 6 + 14 + 30 bits, and the place 2 x 11 bits.
    let events = generate(1, 1);
    let mut out = Vec::new();
    bits().encode(&events[0], &mut out);
    assert_eq!(out.len(), 10);
    out.clear();
    primitives().encode(&events[0], &mut out);
    assert_eq!(out.len(), 12);
}

#[test]
fn bits_are_those_of_the_message_without_padding() {
    let wide = Event {
        time_ms: u64::MAX,
        sender: 7,
        kind: crate::drawing::Kind::Chat { text: "x".repeat(300) },
    };
    for event in generate(1, 12_850).iter().chain([&wide]) {
        let mut out = Vec::new();
        bits().encode(event, &mut out);
        assert_eq!(minimal_bits(event).div_ceil(8), out.len() as u64, "{event:?}");
    }
}

proptest! {
    #[test]
    fn any_events_survive(events in prop::collection::vec(any_event(), 0..20)) {
        for (_, codec) in ALL {
            mean(codec, &events);
        }
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(messages: Vec<Vec<u8>>) {
        for (_, codec) in ALL {
            let mut codec = codec();
            for message in &messages {
                let _ = codec.decode(message);
            }
        }
    }

    #[test]
    fn damage_is_survived(
        events in prop::collection::vec(any_event(), 1..10),
        at: prop::sample::Index,
        flip in 1_u8..,
    ) {
        for (_, codec) in ALL {
            let (mut sender, mut receiver) = (codec(), codec());
            for event in &events {
                let mut message = Vec::new();
                sender.encode(event, &mut message);
                let at = at.index(message.len());
                message[at] ^= flip;
                let _ = receiver.decode(&message);
                let _ = receiver.decode(&message[..at]);
            }
        }
    }
}
