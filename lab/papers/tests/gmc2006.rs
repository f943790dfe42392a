//! Tests of the paper's compressor through its public interface: messages come back unchanged, any
//! input is survived, and the costs are those that the paper counts.

use std::time::Duration;

use groupwire_papers::gmc2006::{Config, DecodeError, Decoder, EncodeError, Encoder, Profile};
use proptest::prelude::*;

const PROFILES: [Profile; 2] = [Profile::Gmc2006, Profile::Gmc2006Plus];

fn telepointer(n: u32) -> Vec<u8> {
    let (time, x, y) = (716_626_384 + n * 12_373, (n * 37) % 1600, (n * 53) % 1200);
    format!(
        "(timestamp: {time} sender_id: {} session_id: 9357)(telepointer x: {x}.0 y: {y}.0)",
        n % 3 + 5
    )
    .into_bytes()
}

fn object_move(n: u32) -> Vec<u8> {
    let (id, x, y) = (n % 7, (n * 41) % 1600, (n * 59) % 1200);
    format!(
        "<group_event><sender_id>{}</sender_id><event_content><move_object><id>{id}</id>\
         <left>{x}</left><top>{y}</top></move_object></event_content></group_event>",
        n % 2
    )
    .into_bytes()
}

/// Encodes and decodes each message; returns the bytes of packets and of announcements.
fn round_trip(
    encoder: &mut Encoder,
    decoder: &mut Decoder,
    messages: &[Vec<u8>],
) -> (usize, usize) {
    let (mut packets, mut announced) = (0, 0);
    for message in messages {
        let (mut announcements, mut packet, mut decoded) = (vec![], vec![], vec![]);
        encoder.encode(message, &mut announcements, &mut packet).expect("no message is too large");
        decoder.announce(&announcements).expect("what an encoder made is decoded");
        decoder.decode(&packet, &mut decoded).expect("what an encoder made is decoded");
        assert_eq!(decoded, *message);
        packets += packet.len();
        announced += announcements.len();
    }
    (packets, announced)
}

fn pair(config: Config) -> (Encoder, Decoder) {
    (Encoder::new(config.clone()), Decoder::new(config))
}

#[test]
fn announcements_are_counted_as_in_table_5() {
    for profile in PROFILES {
        let (mut encoder, mut decoder) = pair(Config { profile, ..Config::default() });
        let messages: Vec<_> = (0..1000)
            .map(|n| if n / 50 % 2 == 0 { telepointer(n) } else { object_move(n) })
            .collect();
        let (packets, announced) = round_trip(&mut encoder, &mut decoder, &messages);
        let overhead = encoder.overhead();
        assert_eq!(overhead.bytes(), announced as u64);
        assert_eq!(overhead.templates.count, 2, "one for each type");
        let template_bytes = 2 * 6 + telepointer(1).len() + object_move(1).len();
        assert!(overhead.templates.bytes.abs_diff(template_bytes as u64) < 10);
        assert!(overhead.dictionary_additions.count > 10);
        assert_eq!(overhead.dictionary_additions.bytes, 6 * overhead.dictionary_additions.count);
        assert_eq!(overhead.frequency_lists.count, 2);
        assert_eq!(overhead.frequency_lists.bytes, 2 * 1026);
        let composites = overhead.composite_templates.count;
        assert_eq!(composites > 0, profile == Profile::Gmc2006Plus);
        let original: usize = messages.iter().map(Vec::len).sum();
        assert!(packets * 4 < original, "{packets} of {original}");
    }
}

#[test]
fn a_template_is_announced_at_its_second_message() {
    let (mut encoder, mut decoder) = pair(Config::default());
    round_trip(&mut encoder, &mut decoder, &[telepointer(1)]);
    assert_eq!(encoder.overhead().bytes(), 0, "it may have been the only one of its kind");
    let (packet, _) = round_trip(&mut encoder, &mut decoder, &[telepointer(2)]);
    assert_eq!(encoder.overhead().templates.count, 1);
    assert!(packet < telepointer(2).len() / 2);
}

#[test]
fn templates_are_bounded_and_the_least_efficient_is_replaced() {
    for profile in PROFILES {
        let config = Config { profile, max_templates: 2, ..Config::default() };
        let (mut encoder, mut decoder) = pair(config);
        for kind in ["alpha", "bravo", "charlie", "delta", "echo"] {
            let frame: String = kind.chars().rev().cycle().take(60).collect();
            let messages: Vec<_> =
                (0..60).map(|n| format!("{kind}{frame}={n}").into_bytes()).collect();
            let original: usize = messages[40..].iter().map(Vec::len).sum();
            round_trip(&mut encoder, &mut decoder, &messages[..40]);
            let (packets, announced) = round_trip(&mut encoder, &mut decoder, &messages[40..]);
            assert!((packets + announced) * 4 < original, "adapts to {kind}");
            assert!(encoder.templates() <= 2);
        }
        assert!(encoder.overhead().templates.count >= 5);
    }
}

#[test]
fn target_falls_while_messages_are_quick() {
    let mut encoder = Encoder::new(Config::default());
    assert_eq!(encoder.target_ratio(), 3000);
    for _ in 0..10 {
        encoder.took(Duration::from_millis(1));
    }
    let lowered = encoder.target_ratio();
    assert!(lowered < 3000);
    encoder.took(Duration::from_millis(3));
    assert!(encoder.target_ratio() > lowered);
}

#[test]
fn large_messages_are_deflated() {
    let text = "the quick brown fox jumps over the lazy dog; ".repeat(20).into_bytes();
    let (mut encoder, mut decoder) = pair(Config::default());
    let (packets, announced) = round_trip(&mut encoder, &mut decoder, &[text]);
    assert!(packets < 100);
    assert_eq!(announced, 0);
    let random: Vec<u8> = (0..999_u32).map(|n| (n.wrapping_mul(n * 40_503) >> 9) as u8).collect();
    let (packets, _) = round_trip(&mut encoder, &mut decoder, std::slice::from_ref(&random));
    assert!(packets <= random.len() + 1, "never more than a byte larger");
}

#[test]
fn each_improvement_saves_bytes() {
    let messages: Vec<_> = (0..1000).map(telepointer).collect();
    let bytes = |profile, per_packet| {
        let (mut encoder, mut decoder) = pair(Config { profile, ..Config::default() });
        if per_packet == 1 {
            let (packets, announced) = round_trip(&mut encoder, &mut decoder, &messages);
            return packets + announced;
        }
        let mut sum = 0;
        for messages in messages.chunks(per_packet) {
            let (mut announcements, mut packet, mut decoded) = (vec![], vec![], vec![]);
            let messages_as_slices = messages.iter().map(Vec::as_slice);
            encoder.encode_packet(messages_as_slices, &mut announcements, &mut packet).unwrap();
            decoder.announce(&announcements).unwrap();
            decoder.decode_packet(&packet, |message| decoded.push(message.to_vec())).unwrap();
            assert_eq!(decoded, messages);
            sum += announcements.len() + packet.len();
        }
        sum
    };
    let single = bytes(Profile::Gmc2006, 1);
    let plus = bytes(Profile::Gmc2006Plus, 1);
    let aggregated = bytes(Profile::Gmc2006Plus, 10);
    assert!(plus * 20 < single * 19, "composites and numbers: {single} to {plus}");
    assert!(aggregated * 20 < plus * 19, "aggregation: {plus} to {aggregated}");
}

#[test]
fn limits_are_kept_at_both_ends() {
    let config = Config { max_message: 100, ..Config::default() };
    let (mut encoder, decoder) = pair(config);
    let (mut announcements, mut packet) = (vec![], vec![]);
    let error = encoder.encode(&[7; 101], &mut announcements, &mut packet);
    assert_eq!(error, Err(EncodeError::MessageTooLarge));
    assert!(announcements.is_empty() && packet.is_empty());

    let mut generous = Encoder::new(Config::default());
    generous.encode(&[7; 100_000], &mut announcements, &mut packet).unwrap();
    assert!(packet.len() < 200);
    let error = decoder.decode(&packet, &mut vec![]);
    assert_eq!(error, Err(DecodeError::MessageTooLarge), "a bomb stays small");
}

#[test]
fn a_decoder_takes_no_more_templates_than_configured() {
    let mut decoder = Decoder::new(Config { max_templates: 2, ..Config::default() });
    let template = |number: u8, replaces: [u8; 2]| {
        [&[0, number], &replaces[..], &[0, 3], &[b'a', b'b', number]].concat()
    };
    const NONE: [u8; 2] = [0xff; 2];
    assert_eq!(decoder.announce(&template(1, NONE)), Ok(()));
    assert_eq!(decoder.announce(&template(1, NONE)), Ok(()), "again");
    assert_eq!(decoder.announce(&template(2, NONE)), Ok(()));
    assert_eq!(decoder.announce(&template(3, NONE)), Err(DecodeError::TooManyTemplates));
    assert_eq!(decoder.announce(&template(3, [0, 1])), Ok(()));
    assert_eq!(decoder.decode(&[0x40, 2], &mut vec![]), Err(DecodeError::NotAnnounced));
}

/// Messages of a few types with different values, and some of no type.
fn any_message() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0..5000_u32).prop_map(telepointer),
        3 => (0..5000_u32).prop_map(object_move),
        2 => (0_u8..3, -40_000..40_000_i32, "[ -~]{0,20}").prop_map(|(kind, number, text)| {
            format!("event{kind}{{value:{number:05},text:{text},count:{number}}}").into_bytes()
        }),
        1 => prop::collection::vec(0_u8.., 0..400),
        1 => "[a-e0-2 ]{0,300}".prop_map(String::into_bytes),
    ]
}

fn any_config() -> impl Strategy<Value = Config> {
    (any::<bool>(), 1..5_u16, 0..20_usize, 0..20_u32, 0..50_usize, 20..9000_usize).prop_map(
        |(plus, max_templates, history, frequencies_after, deflate_threshold, bytes)| Config {
            profile: PROFILES[usize::from(plus)],
            max_templates,
            max_template_bytes: bytes,
            max_message: 500,
            history,
            frequencies_after,
            deflate_threshold,
            ..Config::default()
        },
    )
}

proptest! {
    #[test]
    fn any_messages_come_back_in_any_packets_even_if_others_are_lost(
        config in any_config(),
        packets in prop::collection::vec(
            (prop::collection::vec(any_message(), 0..6), any::<bool>(), any::<bool>()), 0..60),
    ) {
        let (mut encoder, mut decoder) = pair(config);
        for (messages, lost, quick) in packets {
            let (mut announcements, mut packet, mut decoded) = (vec![], vec![], vec![]);
            let slices = messages.iter().map(Vec::as_slice);
            if let [message] = &messages[..] {
                encoder.encode(message, &mut announcements, &mut packet).unwrap();
            } else {
                encoder.encode_packet(slices, &mut announcements, &mut packet).unwrap();
            }
            encoder.took(Duration::from_millis(if quick { 0 } else { 5 }));
            decoder.announce(&announcements).unwrap();
            if lost {
                continue;
            }
            if messages.len() == 1 {
                let mut message = vec![];
                decoder.decode(&packet, &mut message).unwrap();
                decoded.push(message);
            } else {
                decoder.decode_packet(&packet, |message| decoded.push(message.to_vec())).unwrap();
            }
            prop_assert_eq!(decoded, messages);
        }
    }

    #[test]
    fn any_bytes_are_survived(
        config in any_config(),
        pieces in prop::collection::vec(
            (0..4_u8, prop::collection::vec(0_u8.., 0..60)), 0..40),
    ) {
        let limit = config.max_message;
        let mut decoder = Decoder::new(config);
        for (kind, mut bytes) in pieces {
            match kind {
                0 => drop(decoder.announce(&bytes)),
                1 => {
                    // A template, so that later bytes may refer to one.
                    let template = [&[0, 0, 255, 255, 0, bytes.len() as u8], &bytes[..]].concat();
                    let _ = decoder.announce(&template);
                }
                2 => {
                    let mut out = vec![];
                    let error = decoder.decode(&bytes, &mut out).is_err();
                    prop_assert!(out.len() <= limit && (!error || out.is_empty()));
                }
                _ => {
                    bytes.insert(0, bytes.len() as u8);
                    let _ = decoder.decode_packet(&bytes, |_| ());
                }
            }
        }
    }

    #[test]
    fn damaged_announcements_and_packets_are_survived(
        plus in any::<bool>(),
        count in 2..80_u32,
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..), 1..20),
    ) {
        let config =
            Config { profile: PROFILES[usize::from(plus)], frequencies_after: 5, ..Config::default() };
        let (mut encoder, mut decoder) = pair(config);
        let mut damage = damage.iter().cycle();
        for n in 0..count {
            let (mut announcements, mut packet, mut decoded) = (vec![], vec![], vec![]);
            encoder.encode(&telepointer(n), &mut announcements, &mut packet).unwrap();
            for bytes in [&mut announcements, &mut packet] {
                let (index, value) = damage.next().unwrap();
                if !bytes.is_empty() && n % 3 == 0 {
                    let index = index.index(bytes.len());
                    bytes[index] = *value;
                }
            }
            let _ = decoder.announce(&announcements);
            let _ = decoder.decode(&packet, &mut decoded);
            prop_assert!(decoded.len() <= 1 << 20);
        }
    }
}
