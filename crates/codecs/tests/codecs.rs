//! Every codec returns what it was given, and no input makes it exceed its limit.

use groupwire_codecs::{ALL, CodecError, by_name, by_number};
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

#[test]
fn an_lz4_length_that_lies_is_refused() {
    let codec = by_name("lz4").unwrap();
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

#[test]
fn names_and_numbers_are_unique() {
    for (index, codec) in ALL.iter().enumerate() {
        assert_eq!(usize::from(codec.number()), index);
        assert_eq!(by_name(codec.name()).unwrap().number(), codec.number());
        assert_eq!(by_number(codec.number()).unwrap().name(), codec.name());
    }
    assert!(by_number(200).is_none() && by_name("lz5").is_none());
}
