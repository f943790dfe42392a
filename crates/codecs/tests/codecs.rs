//! Every codec returns what it was given, and no input makes it exceed its limit.

use groupwire_codecs::{ALL, Codec, CodecError, Options, by_name, by_number};
use proptest::collection::vec;
use proptest::prelude::*;

/// Enough for every input below, small enough that a bomb must be refused.
const LIMIT: usize = 10_000;

proptest! {
    #[test]
    fn round_trip(input in vec(any::<u8>(), 0..3000), repeat in 1usize..4) {
        let input = input.repeat(repeat);
        for codec in ALL {
            let mut packed = vec![1, 2, 3];
            codec.compress(&input, &mut packed);
            let mut plain = vec![4, 5];
            codec.decompress(&packed[3..], LIMIT, &mut plain).unwrap();
            prop_assert_eq!(&plain[..2], &[4, 5]);
            prop_assert_eq!(&plain[2..], &input[..]);
        }
    }

    #[test]
    fn hostile_bytes(input in vec(any::<u8>(), 0..300)) {
        for codec in ALL {
            let mut plain = vec![7];
            match codec.decompress(&input, 100, &mut plain) {
                Ok(()) => prop_assert!(plain.len() <= 101),
                Err(_) => prop_assert_eq!(&plain, &[7]),
            }
        }
    }

    #[test]
    fn truncated_bytes(input in vec(0u8..4, 1..300)) {
        for codec in ALL {
            let mut packed = Vec::new();
            codec.compress(&input, &mut packed);
            for end in 0..packed.len() {
                let mut plain = Vec::new();
                // Some codecs have no end of their own, and give what there is.
                match codec.decompress(&packed[..end], LIMIT, &mut plain) {
                    Ok(()) => prop_assert!(input.starts_with(&plain), "{}", codec.name()),
                    Err(_) => prop_assert!(plain.is_empty()),
                }
            }
        }
    }

    #[test]
    fn a_coder_tells_nothing_of_earlier_messages(
        messages in vec(vec(0u8..6, 0..800), 1..6),
        damage in vec(any::<u8>(), 0..50),
    ) {
        for codec in ALL {
            let mut coder = codec.coder(&Options::default()).unwrap();
            for message in &messages {
                let (mut reused, mut fresh) = (Vec::new(), Vec::new());
                coder.compress(message, &mut reused);
                codec.compress(message, &mut fresh);
                prop_assert_eq!(&reused, &fresh, "{}", codec.name());
                let mut plain = Vec::new();
                let _ = coder.decompress(&damage, LIMIT, &mut plain);
                plain.clear();
                coder.decompress(&reused, LIMIT, &mut plain).unwrap();
                prop_assert_eq!(&plain, message, "{}", codec.name());
            }
        }
    }

    #[test]
    fn damaged_bytes(input in vec(0u8..4, 1..2000), at in any::<prop::sample::Index>(), byte: u8) {
        for codec in ALL {
            let mut packed = Vec::new();
            codec.compress(&input, &mut packed);
            *at.get_mut(&mut packed) = byte;
            let mut plain = Vec::new();
            let _ = codec.decompress(&packed, LIMIT, &mut plain);
            prop_assert!(plain.len() <= LIMIT);
        }
    }
}

#[test]
fn a_bomb_is_refused() {
    let input = vec![0; 50_000_000];
    for codec in ALL {
        let mut packed = Vec::new();
        codec.compress(&input, &mut packed);
        let mut plain = Vec::new();
        assert_eq!(codec.decompress(&packed, LIMIT, &mut plain), Err(CodecError::TooLarge));
        assert!(plain.is_empty() && plain.capacity() <= 2 * LIMIT, "{}", codec.name());
    }
}

/// The codecs whose streams begin with the length of the original.
fn told_lengths() -> impl Iterator<Item = &'static dyn Codec> {
    ["lz4", "snappy", "lzo", "lzf"].into_iter().filter_map(by_name)
}

#[test]
fn a_length_that_lies_is_refused() {
    for codec in told_lengths() {
        let mut packed = Vec::new();
        codec.compress(b"ninety-nine red balloons", &mut packed);
        for length in [0, 1, 23, 25, 100, 127] {
            packed[0] = length;
            let mut plain = Vec::new();
            assert!(codec.decompress(&packed, LIMIT, &mut plain).is_err(), "length {length}");
        }
        for endless in [&[][..], &[0x80], &[0xff; 40]] {
            assert!(codec.decompress(endless, LIMIT, &mut Vec::new()).is_err());
        }
    }
}

#[test]
fn one_kilobyte_that_claims_much_is_refused() {
    for codec in told_lengths() {
        let mut packed = vec![0xff, 0xff, 0xff, 0x7f];
        packed.resize(1000, 1);
        let mut plain = Vec::new();
        assert_eq!(codec.decompress(&packed, LIMIT, &mut plain), Err(CodecError::TooLarge));
        assert_eq!(plain.capacity(), 0, "{}", codec.name());
    }
}

#[test]
fn a_limit_is_kept_to_the_octet() {
    let text = b"the limit, and not one octet more than the limit, ".repeat(20);
    for codec in ALL {
        let mut packed = Vec::new();
        codec.compress(&text, &mut packed);
        let mut plain = vec![7];
        codec.decompress(&packed, text.len(), &mut plain).unwrap();
        assert_eq!(&plain[1..], &text, "{}", codec.name());
        for limit in [0, 1, text.len() - 1] {
            plain.truncate(1);
            let outcome = codec.decompress(&packed, limit, &mut plain);
            assert_eq!(outcome, Err(CodecError::TooLarge), "{}", codec.name());
            assert_eq!(plain, [7]);
        }
    }
}

#[test]
fn names_and_numbers_are_unique() {
    for pair in ALL.windows(2) {
        assert!(pair[0].number() < pair[1].number(), "in the order of their numbers");
    }
    for codec in ALL {
        assert!(codec.number() < 16);
        assert_eq!(by_name(codec.name()).unwrap().number(), codec.number());
        assert_eq!(by_number(codec.number()).unwrap().name(), codec.name());
    }
    assert!(by_number(200).is_none() && by_name("lz5").is_none());
}
