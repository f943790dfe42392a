use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::samples::{mixed, noise};

fn compressed(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    compress::stream(input, &mut compress::Codes::default(), &mut out);
    out
}

fn decompressed(input: &[u8], limit: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = vec![7];
    let outcome = decompress::stream(input, limit, &mut decompress::Starts::default(), &mut out);
    assert_eq!(out.remove(0), 7);
    assert!(outcome.is_ok() || out.is_empty());
    outcome.map(|()| out)
}

/// A stream of codes of nine bits.
fn codes(codes: &[u32]) -> Vec<u8> {
    let bits: Vec<u32> =
        codes.iter().flat_map(|code| (0..9).map(move |bit| code >> bit & 1)).collect();
    let byte = |bits: &[u32]| bits.iter().rev().fold(0, |sum, bit| sum << 1 | *bit as u8);
    bits.chunks(8).map(byte).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn messages_come_back(message in mixed()) {
        prop_assert_eq!(decompressed(&compressed(&message), message.len()), Ok(message));
    }

    #[test]
    fn any_codes_are_read_or_refused(
        low in proptest::collection::vec(0u32..300, 0..200),
        limit in 0usize..1000,
    ) {
        if let Ok(plain) = decompressed(&codes(&low), limit) {
            prop_assert!(plain.len() <= limit);
        }
    }
}

#[test]
fn codes_refer_to_earlier_strings() {
    let (a, b) = (u32::from(b'a'), u32::from(b'b'));
    assert_eq!(compressed(b""), b"");
    assert_eq!(compressed(b"a"), codes(&[a]));
    assert_eq!(compressed(b"ababab"), codes(&[a, b, 257, 257]));
    // A code may be used in the step that completes its definition.
    assert_eq!(compressed(b"aaaaaa"), codes(&[a, 257, 258]));
    assert_eq!(decompressed(&codes(&[a, 257, 258]), 6).unwrap(), b"aaaaaa");
}

#[test]
fn a_clear_pads_its_group_and_starts_again() {
    let a = u32::from(b'a');
    for before in 0..16 {
        let mut stream = vec![a; before];
        stream.push(CLEAR);
        // The padding may be anything.
        stream.resize(stream.len().next_multiple_of(8), 300);
        stream.extend([a, 257]);
        let plain = decompressed(&codes(&stream), 100).unwrap();
        assert_eq!(plain, vec![b'a'; before + 3]);
        *stream.last_mut().unwrap() = 258;
        assert_eq!(decompressed(&codes(&stream), 100), Err(CodecError::Malformed));
    }
}

#[test]
fn undefined_codes_are_refused() {
    for wrong in [&[257][..], &[97, 258], &[97, 97, 259], &[511]] {
        assert_eq!(decompressed(&codes(wrong), 100), Err(CodecError::Malformed), "{wrong:?}");
    }
    assert_eq!(decompressed(&[97], 100), Err(CodecError::Malformed), "half a code");
}

#[test]
fn a_change_of_content_causes_a_clear() {
    let bytes =
        |count, seed, from| noise(count, seed).into_iter().map(move |byte| from + byte % 50);
    let message: Vec<u8> = bytes(300_000, 1, 0).chain(bytes(100_000, 2, 100)).collect();
    let stream = compressed(&message);
    let mut starts = decompress::Starts::default();
    let mut out = Vec::new();
    decompress::stream(&stream, message.len(), &mut starts, &mut out).unwrap();
    assert!(out == message);
    assert!(starts.count() < 65_000, "{} codes since", starts.count());
}

#[test]
fn generations_start_again_when_they_are_used_up() {
    let text = b"ababababab, and abababab again";
    let expected = compressed(text);
    let mut codes = compress::Codes::near_the_last_generation();
    for _ in 0..5 {
        let mut out = Vec::new();
        compress::stream(text, &mut codes, &mut out);
        assert_eq!(out, expected);
    }
}
