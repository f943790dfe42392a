//! Every codec returns what it was given, and no input makes it exceed its limit.

use groupwire_codecs::{ALL, Codec, CodecError, Coder, Memory, Options, by_name, by_number};
use proptest::collection::vec;
use proptest::prelude::*;

/// Above the length of every input in these tests, and far below that of a bomb.
const LIMIT: usize = 10_000;

const DICTIONARY: &[u8] =
    b"a dictionary of \x01\x02\x03\x00\x01\x02\x03 and {\"id\": 17, \"name\": \"words\"}";

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

    #[test]
    fn results_do_not_depend_on_earlier_messages(
        messages in vec(vec(0u8..6, 0..800), 1..6),
        damage in vec(any::<u8>(), 0..50),
    ) {
        for codec in ALL {
            let mut coder = codec.coder(&Options::default()).unwrap();
            for message in &messages {
                let (mut reused, mut fresh) = (Vec::new(), Vec::new());
                coder.compress(message, &mut reused);
                codec.coder(&Options::default()).unwrap().compress(message, &mut fresh);
                prop_assert_eq!(&reused, &fresh, "{}", codec.name());
                let mut plain = Vec::new();
                let _ = coder.decompress(&damage, LIMIT, &mut plain);
                plain.clear();
                coder.decompress(&reused, LIMIT, &mut plain).unwrap();
                prop_assert_eq!(&plain, message, "{}", codec.name());
            }
        }
    }

    /// A coder that was given damaged input still decompresses the next message.
    #[test]
    fn coders_recover_from_damaged_input(
        messages in vec(vec(0u8..4, 0..2000), 1..4),
        at in any::<prop::sample::Index>(),
        byte: u8,
    ) {
        for codec in ALL {
            let dictionaries: &[&[u8]] = if codec.takes_dictionary() { &[b"", DICTIONARY] } else { &[b""] };
            for dictionary in dictionaries {
                let mut coder = codec.coder(&Options { level: None, dictionary }).unwrap();
                for message in &messages {
                    let mut packed = vec![9];
                    coder.compress(message, &mut packed);
                    let mut plain = vec![8];
                    coder.decompress(&packed[1..], message.len(), &mut plain).unwrap();
                    prop_assert_eq!(&plain[1..], &message[..], "{}", codec.name());
                    *at.get_mut(&mut packed) = byte;
                    plain.truncate(1);
                    if coder.decompress(&packed[1..], LIMIT, &mut plain).is_err() {
                        prop_assert_eq!(&plain, &[8]);
                    }
                    prop_assert!(plain.len() <= LIMIT + 1);
                }
            }
        }
    }
}

/// Messages of different content and length.
fn samples() -> Vec<Vec<u8>> {
    let text = include_bytes!("../../src/codec.rs");
    let mut random = 7u32;
    let random = |_| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 24) as u8
    };
    let random: Vec<u8> = (0..700).map(random).collect();
    let mixed = [&text[..300], &random[..200], &text[..400], DICTIONARY].concat();
    vec![vec![], vec![0], vec![1; 13], vec![0; 1400], text[..1400].to_vec(), random, mixed]
}

/// Every codec at every level, with and without a dictionary.
fn coders() -> Vec<(String, Box<dyn Coder>)> {
    let mut coders = Vec::new();
    for codec in ALL {
        let levels = match codec.levels() {
            Some(levels) => (levels.min..=levels.max).map(Some).collect(),
            None => vec![],
        };
        for level in [None].into_iter().chain(levels) {
            for dictionary in [&[], DICTIONARY] {
                if dictionary.is_empty() || codec.takes_dictionary() {
                    let name = format!("{} {level:?} {}", codec.name(), dictionary.len());
                    coders.push((
                        name,
                        codec.coder(&Options { level, dictionary }).expect("its own level"),
                    ));
                }
            }
        }
    }
    coders
}

#[test]
fn every_level_and_every_limit() {
    for (name, mut coder) in coders() {
        for message in samples() {
            let length = message.len();
            let mut packed = Vec::new();
            coder.compress(&message, &mut packed);
            let mut plain = vec![8];
            coder.decompress(&packed, length, &mut plain).unwrap();
            assert_eq!(&plain[1..], message, "{name}");
            plain.truncate(1);
            coder.decompress(&packed, usize::MAX, &mut plain).unwrap();
            assert_eq!(&plain[1..], message, "{name}");
            plain.truncate(1);
            if let Some(less) = length.checked_sub(1) {
                for limit in [0, length / 2, less] {
                    let outcome = coder.decompress(&packed, limit, &mut plain);
                    assert_eq!(outcome, Err(CodecError::TooLarge), "{name} {length} {limit}");
                    assert_eq!(plain, [8], "{name}");
                }
            }
        }
    }
}

#[test]
fn truncated_input_and_added_bytes_are_refused() {
    for codec in ALL.iter().filter(|codec| codec.number() != 0) {
        let mut coder = codec.coder(&Options::default()).unwrap();
        for message in samples() {
            let name = format!("{}, {} bytes", codec.name(), message.len());
            let mut packed = Vec::new();
            coder.compress(&message, &mut packed);
            for length in 0..packed.len() {
                refuse(&mut *coder, *codec, &packed[..length], &message, &name);
            }
            packed.push(0);
            refuse(&mut *coder, *codec, &packed, &message, &name);
            *packed.last_mut().unwrap() = 0x99;
            refuse(&mut *coder, *codec, &packed, &message, &name);
        }
    }
}

fn refuse(coder: &mut dyn Coder, codec: &dyn Codec, packed: &[u8], message: &[u8], name: &str) {
    let mut plain = vec![8];
    let outcome = coder.decompress(packed, LIMIT, &mut plain);
    if is_code_stream(codec) && outcome == Ok(()) {
        assert!(message.starts_with(&plain[1..]) || plain[1..].starts_with(message), "{name}");
        return;
    }
    assert_eq!((outcome, &plain[..]), (Err(CodecError::Malformed), &[8][..]), "{name}");
    assert_eq!(codec.decompress(packed, LIMIT, &mut plain), Err(CodecError::Malformed), "{name}");
}

/// Whether the codec's format has no end mark, so that a part of a stream is a stream.
fn is_code_stream(codec: &dyn Codec) -> bool {
    ["lzw", "rle", "null"].contains(&codec.name())
}

#[test]
fn a_bomb_is_refused() {
    let input = vec![0; 50_000_000];
    for codec in ALL {
        let mut packed = Vec::new();
        codec.compress(&input, &mut packed);
        let mut coder = codec.coder(&Options::default()).unwrap();
        let mut plain = Vec::new();
        assert_eq!(codec.decompress(&packed, LIMIT, &mut plain), Err(CodecError::TooLarge));
        assert_eq!(coder.decompress(&packed, LIMIT, &mut plain), Err(CodecError::TooLarge));
        assert!(plain.is_empty() && plain.capacity() <= 2 * LIMIT, "{}", codec.name());
    }
}

/// Inputs of 1 KB that claim 4 GB, a window of terabytes, or the largest dictionaries and blocks.
#[test]
fn false_claims_are_refused() {
    let with = |head: &[u8]| [head, &[0; 1000]].concat();
    for (name, packed) in [
        ("lz4", with(&[0xff, 0xff, 0xff, 0x7f])),
        ("lzma", with(&[0xff, 0xff, 0xff, 0x7f])),
        ("snappy", with(&[0xff, 0xff, 0xff, 0xff, 0x0f])),
        // A single segment of 4 GB; a window of 3.75 TB and a block of 128 KB; many blocks of 128
        // KB of one byte.
        ("zstd", with(&[0xa0, 0xff, 0xff, 0xff, 0xff])),
        ("zstd", vec![0x00, 0xff, 0x03, 0x00, 0x10, 7]),
        (
            "zstd",
            [&[0x00, 0x88][..], &[0x02, 0x00, 0x10, 7].repeat(100), &[0x03, 0, 0x10, 7]].concat(),
        ),
        // A window of 16 MB (RFC 7932, section 9.1) and 16 MB of uncompressed data; a large window.
        ("brotli", with(&[0x0f, 0x00, 0x00, 0xf0, 0x1f])),
        ("brotli", with(&[0x11, 0x1e, 0xff, 0xff])),
        // A block of 900,000 bytes without its data.
        ("bzip2", with(b"BZh9\x31\x41\x59\x26\x53\x59")),
    ] {
        let Some(codec) = by_name(name) else { continue };
        let mut coder = codec.coder(&Options::default()).unwrap();
        let mut plain = vec![8];
        let outcome = coder.decompress(&packed, LIMIT, &mut plain);
        assert!(
            outcome.is_err() && plain == [8] && plain.capacity() <= 2 * LIMIT,
            "{name} {outcome:?}"
        );
        assert!(
            coder.memory().decompress <= bounds(name).decompress,
            "{name} {:?}",
            coder.memory()
        );
    }
}

/// The codecs whose streams begin with the length of the original.
fn with_stated_length() -> impl Iterator<Item = &'static dyn Codec> {
    ["lz4", "snappy", "lzo", "lzf"].into_iter().filter_map(by_name)
}

#[test]
fn a_false_length_is_refused() {
    for codec in with_stated_length() {
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
fn one_kilobyte_that_claims_256_megabytes_is_refused() {
    for codec in with_stated_length() {
        let mut packed = vec![0xff, 0xff, 0xff, 0x7f];
        packed.resize(1000, 1);
        let mut plain = Vec::new();
        assert_eq!(codec.decompress(&packed, LIMIT, &mut plain), Err(CodecError::TooLarge));
        assert_eq!(plain.capacity(), 0, "{}", codec.name());
    }
}

#[test]
fn a_dictionary_helps_and_a_missing_one_does_no_harm() {
    let message = [DICTIONARY, b" and more"].concat();
    for codec in ALL.iter().filter(|codec| codec.takes_dictionary()) {
        let with = &mut *codec.coder(&Options { level: None, dictionary: DICTIONARY }).unwrap();
        let without = &mut *codec.coder(&Options::default()).unwrap();
        let (mut packed, mut plain) = (Vec::new(), Vec::new());
        with.compress(&message, &mut packed);
        without.compress(&message, &mut plain);
        assert!(
            packed.len() + 10 < plain.len(),
            "{} {} {}",
            codec.name(),
            packed.len(),
            plain.len()
        );
        let mut out = Vec::new();
        let _ = without.decompress(&packed, LIMIT, &mut out);
        assert_ne!(out, message, "{}", codec.name());
    }
}

#[test]
fn names_and_numbers_are_unique() {
    for pair in ALL.windows(2) {
        assert!(pair[0].number() < pair[1].number(), "{} is out of order", pair[1].name());
    }
    for codec in ALL {
        assert!(codec.number() < 16);
        assert_eq!(by_name(codec.name()).unwrap().number(), codec.number());
        assert_eq!(by_number(codec.number()).unwrap().name(), codec.name());
    }
    assert!(by_number(200).is_none() && by_name("lz5").is_none());
    assert_eq!(by_name("deflate").unwrap().name(), "zlib");
}

#[test]
fn wrong_levels_and_dictionaries_are_refused() {
    for codec in ALL {
        let coder = |level, dictionary| codec.coder(&Options { level, dictionary }).map(|_| ());
        match codec.levels() {
            Some(levels) => {
                assert!((levels.min..=levels.max).contains(&levels.default));
                assert!(coder(Some(levels.min - 1), b"").is_err(), "{}", codec.name());
                assert!(coder(Some(levels.max + 1), b"").is_err(), "{}", codec.name());
            }
            None => assert!(coder(Some(1), b"").is_err(), "{}", codec.name()),
        }
        assert_eq!(coder(None, DICTIONARY).is_ok(), codec.takes_dictionary(), "{}", codec.name());
    }
}

/// The memory that each codec's documentation states, for messages of up to 64 KiB at any level.
fn bounds(name: &str) -> Memory {
    let kib = |compress: usize, decompress: usize| Memory {
        compress: compress << 10,
        decompress: decompress << 10,
    };
    match name {
        "none" => kib(0, 0),
        "lz4" => kib(16, 0),
        "zlib" => kib(400, 56),
        "snappy" => kib(35, 0),
        "zstd" => kib(6 << 10, 512),
        "brotli" => kib(8 << 10, 4 << 10),
        "bzip2" => kib(7500, 3700),
        "lzma" => kib(2560, 256),
        // The codecs that this crate implements.
        _ => kib(1 << 10, 1 << 10),
    }
}

#[test]
fn memory_is_bounded() {
    let text = include_bytes!("../../src/codec.rs").repeat(20);
    for codec in ALL {
        let levels = codec.levels().map_or(vec![None], |levels| {
            [levels.min, levels.default, levels.max].map(Some).to_vec()
        });
        for level in levels {
            let mut coder = codec.coder(&Options { level, dictionary: &[] }).unwrap();
            assert_eq!(coder.memory(), Memory::default(), "{}", codec.name());
            for length in [0, 500, 1400, 65_536, 100] {
                let mut packed = Vec::new();
                coder.compress(&text[..length], &mut packed);
                coder.decompress(&packed, length, &mut Vec::new()).unwrap();
            }
            let (memory, bound) = (coder.memory(), bounds(codec.name()));
            let name = format!("{} {level:?} {memory:?}", codec.name());
            assert!(memory.compress <= bound.compress, "{name}");
            assert!(memory.decompress <= bound.decompress, "{name}");
            let has = |bound: usize, memory: usize| bound == 0 || memory > 0;
            if codec.number() != 0 && codec.name() != "rle" && codec.name() != "null" {
                assert!(has(bound.compress, memory.compress), "{name}");
            }
        }
    }
}

/// Some lists of codecs cannot be made from [`ALL`]: those of the browser, which has no registry of
/// all codecs, and the table in the documentation.
#[test]
fn browser_and_documentation_list_every_codec() {
    let core = include_str!("../../../wasm/src/codecs.rs");
    let client = include_str!("../../../../web/client/src/compress.ts");
    let client = client.split("CODECS = [").nth(1).unwrap().split(']').next().unwrap();
    let client: Vec<&str> = client.split('"').skip(1).step_by(2).collect();
    let page = include_str!("../../../../docs/codecs.md");
    assert_eq!(client, ALL.iter().map(|codec| codec.name()).collect::<Vec<_>>());
    for codec in ALL {
        let (number, name) = (codec.number(), codec.name());
        assert!(page.contains(&format!("| {number} | `{name}` |")), "{name}");
        // The core has the first two codecs itself, and names brotli by a constant.
        if number > 1 && name != "brotli" {
            assert!(core.contains(&format!("&Elsewhere({number}),")), "{name}");
        }
    }
}
