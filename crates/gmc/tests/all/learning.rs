//! How few messages are enough to learn a type of message, measured by the sizes of packets.

use groupwire_gmc::{Config, Decoder, Encoder};

/// Sizes of the packets of these messages, each in a packet of its own, after a round trip.
fn sizes(messages: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<usize> {
    let mut encoder = Encoder::new(Config::default());
    let mut decoder = Decoder::new(Config::default());
    let mut size = |message: &[u8]| {
        let (mut packet, mut decoded) = (Vec::new(), Vec::new());
        encoder.encode(message, &mut packet).expect("within the limits");
        decoder.decode(&packet, &mut decoded).expect("an encoder made the packet");
        assert_eq!(decoded, message);
        packet.len()
    };
    messages
        .into_iter()
        .map(|message| message.as_ref().to_vec())
        .map(|message| size(&message))
        .collect()
}

fn assert_all(sizes: &[usize], limit: usize) {
    assert!(sizes.iter().all(|&size| size <= limit), "{sizes:?} must be at most {limit}");
}

#[test]
fn the_second_message_of_a_type_is_small() {
    let pointer = |x: i32, y: i32| format!(r#"{{"type":"pointer","x":{x},"y":{y}}}"#);
    let sizes = sizes((0..10).map(|step| pointer(400 + 7 * step, 300 - 2 * step)));
    assert_all(&sizes[1..2], 6);
    assert_all(&sizes[5..], 2);
}

#[test]
fn two_types_in_turns_are_both_learned() {
    let messages = (0..60).map(|step| match step % 3 {
        0 => format!(r#"{{"type":"pointer","x":{step},"y":{step}}}"#),
        1 => format!(r#"{{"type":"resize","id":7,"w":{step},"h":{step}}}"#),
        _ => format!("<ping> {step} </ping>"),
    });
    assert_all(&sizes(messages)[30..], 2);
}

#[test]
fn identifiers_become_holes() {
    let users = ["b81d6e04-72aa-4c19", "3f9c2a71-5b0e-4d7a", "97e0c3ab-148d-4f52"];
    let messages = (0..30)
        .map(|step| format!(r#"{{"type":"pointer","user":"{}","x":{step}}}"#, users[step % 3]));
    let sizes = sizes(messages);
    assert_all(&sizes[2..3], 26);
    assert_all(&sizes[6..], 2);
}

#[test]
fn words_become_holes() {
    let colors = ["red", "green", "blue", "#ff8800", "black"];
    let messages =
        (0..40).map(|step| format!("(create id: {step} color: {} z: 1)", colors[step * 7 % 5]));
    assert_all(&sizes(messages)[20..], 2);
}

#[test]
fn free_text_becomes_a_hole() {
    let texts = ["hello", "how are you?", "a \"quoted\" word", "", "tea: green (hot)", "bye"];
    let messages: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            format!(r#"{{"type":"chat","id":{index},"text":{text:?},"to":"all"}}"#)
        })
        .collect();
    for (size, text) in sizes(&messages).iter().zip(texts).skip(2) {
        let quoted = format!("{text:?}");
        assert!(*size <= quoted.len() + 3, "{quoted} takes {size}");
    }
}

#[test]
fn text_holes_do_not_take_in_other_types() {
    let mut messages: Vec<_> =
        ["ping", "pong", "pang"].map(|kind| format!(r#"{{"type":"{kind}"}}"#)).into();
    messages.extend(
        (0..10).map(|step| format!(r#"{{"type":"pointer","x":{step},"y":{step},"w":"a"}}"#)),
    );
    assert_all(&sizes(messages)[8..], 2);
}

#[test]
fn binary_numbers_become_holes() {
    let big = |step: u32| {
        [&[0xac, 0xed, 0, 5][..], &(70_000 + 300 * step).to_be_bytes(), &[0, 1]].concat()
    };
    assert_all(&sizes((0..40).map(big))[10..], 2);
    let little =
        |step: u32| [&[0xac, 0xed, 1, 5][..], &(900 + 3 * step).to_le_bytes(), &[9, 1]].concat();
    assert_all(&sizes((0..40).map(little))[10..], 2);
}

#[test]
fn binary_strings_become_holes() {
    let message = |step: usize| {
        let name = ["ann", "robert", "cy"][step % 3].as_bytes();
        let head = b"\x00\x07object\x00\x00\x00\x01\x05name\x00\x00\x02";
        [&head[..], &[name.len() as u8], name, b"\x00\x00\x00\x00\x09trailer\x00\xff"].concat()
    };
    assert_all(&sizes((0..40).map(message))[12..], 2);
}

#[test]
fn numbers_of_any_form_are_predicted() {
    for form in [
        |n: i32| format!("v={n:06};"),
        |n: i32| format!("v={}.50;", n),
        |n: i32| format!("v=-{n}.25;"),
        |n: i32| format!("v={n}ms;"),
        |n: i32| format!("v={n}000000.000;"),
    ] {
        assert_all(&sizes((0..40).map(|step| form(90 + 3 * step)))[20..], 1);
    }
}

#[test]
fn a_type_is_known_after_a_pause() {
    let mut messages: Vec<_> = (0..20).map(|step| format!("(old x: {step} y: 5)")).collect();
    messages.extend((0..2000).map(|step| format!(r#"{{"new":{step},"n":[{},2]}}"#, step / 3)));
    messages.push("(old x: 21 y: 5)".into());
    let sizes = sizes(messages);
    assert_all(&sizes[2020..], 4);
}
