//! Hostile input: damaged, truncated, with false lengths, made to expand, with unknown codecs and
//! filters, with other dictionaries. The result is a typed error, nothing is delivered, and memory
//! stays small.

use groupwire_codecs::{ALL, Choice, Codec, CodecError, Filter, Options, Packer};

/// The limit for decompression, bytes.
const LIMIT: usize = 10_000;
/// The most memory for decompression, whatever the input claims: bzip2 takes nearly 4 MB for its
/// largest blocks. Bytes.
const MEMORY: usize = 8 << 20;
/// The capacity that a decompressor's output may have beyond twice the limit. Bytes.
const SLACK: usize = 8192;

/// A message that every codec makes smaller.
fn message() -> Vec<u8> {
    let mut message = br#"{"kind":"stroke","points":[[100,200],[101,203],[104,208]]}"#.repeat(6);
    message.extend([0; 200]);
    message
}

fn choices() -> impl Iterator<Item = Choice> {
    let codecs = ALL.iter().map(|codec| Choice::codec(codec.number()));
    codecs.flat_map(|choice| Filter::ALL.iter().map(move |&filter| Choice { filter, ..choice }))
}

fn packed(packer: &mut Packer, choice: Choice, message: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    packer.pack(choice, message, &mut packed).expect("every codec packs");
    packed
}

/// Decompresses input that must be refused. Returns the error.
fn refused(codec: &dyn Codec, input: &[u8], what: &str) -> CodecError {
    let mut coder = codec.coder(&Options::default()).expect("every codec has a default level");
    let mut out = vec![1, 2, 3];
    let outcome = coder.decompress(input, LIMIT, &mut out);
    let what = format!("{}: {what}", codec.name());
    assert!(out == [1, 2, 3], "{what} is delivered");
    assert!(out.capacity() <= 2 * (3 + LIMIT) + SLACK, "{what} takes {}", out.capacity());
    assert!(coder.memory().decompress <= MEMORY, "{what} takes {:?}", coder.memory());
    outcome.expect_err(&what)
}

#[test]
fn the_limit_holds() {
    let message = message();
    let mut packer = Packer::new(ALL);
    for choice in choices() {
        let mut wrong = packed(&mut packer, choice, &message);
        for at in 0..wrong.len() {
            let right = wrong[at];
            for byte in [0, 0x7f, 0xff, right ^ 0x10] {
                wrong[at] = byte;
                let mut out = vec![9];
                let outcome = packer.unpack(&wrong, LIMIT, &mut out);
                assert!(out.len() <= 1 + if outcome.is_ok() { LIMIT } else { 0 }, "{choice}");
                assert!(out.capacity() <= 2 * (1 + LIMIT) + SLACK, "{choice}");
            }
            wrong[at] = right;
        }
    }
}

#[test]
fn false_lengths_are_refused() {
    // The streams of these codecs begin with the length of the original, LEB128.
    for name in ["lz4", "snappy", "lzo", "lzf", "lzma"] {
        let Some(codec) = codec(name) else { continue };
        let message = message();
        let mut whole = Vec::new();
        codec.compress(&message, &mut whole);
        let (rest, length) = (&whole[2..], message.len());
        assert_eq!(whole[..2], leb(length as u64)[..], "{name}");
        for lie in [0, 1, length - 1, length + 1, 2 * length, LIMIT] {
            let lying = [&leb(lie as u64), rest].concat();
            refused(codec, &lying, &format!("{lie} instead of {length}"));
        }
        for lie in [LIMIT as u64 + 1, 1 << 27] {
            let lying = [&leb(lie), rest].concat();
            assert_eq!(refused(codec, &lying, "too much"), CodecError::TooLarge, "{name}");
        }
    }
}

#[test]
fn claims_of_gigabytes_are_refused() {
    const FOUR_GIB: u64 = 1 << 32;
    // Each claim is followed by a kilobyte of filling.
    let claims: &[(&str, &[u8])] = &[
        ("lz4", &leb(FOUR_GIB)),
        ("lz4", &leb(FOUR_GIB - 1)),
        ("snappy", &leb(FOUR_GIB - 1)),
        ("snappy", &leb(FOUR_GIB)),
        ("snappy", &leb(u64::MAX)),
        ("lzo", &leb(FOUR_GIB)),
        ("lzf", &leb(FOUR_GIB)),
        ("lzma", &leb(FOUR_GIB - 1)),
        ("lzma", &leb(FOUR_GIB)),
        // A content of 4 GiB in one segment, and a content of 16 EiB.
        ("zstd", &[0xe0, 0, 0, 0, 0, 1, 0, 0, 0]),
        ("zstd", &[0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        // A window of 2 GiB, of nearly 4 TiB, and one of 2 GiB with a content of 4.
        ("zstd", &[0x00, 0xa8]),
        ("zstd", &[0x00, 0xff]),
        ("zstd", &[0xc0, 0xa8, 0, 0, 0, 0, 1, 0, 0, 0]),
        // A window of 16 MiB and an uncompressed block of as much; a large window of 1 GiB.
        ("brotli", &[0xcf, 0xff, 0xff, 0xff]),
        ("brotli", &[0x11, 0x1e]),
        // Blocks of 900 kB.
        ("bzip2", b"BZh9\x31\x41\x59\x26\x53\x59"),
    ];
    for (name, claim) in claims {
        let Some(codec) = codec(name) else { continue };
        for filling in [vec![0; 1024], vec![0xff; 1024], zstd_repeats(), literal_then_copies()] {
            let bomb = [claim, &filling[..]].concat();
            refused(codec, &bomb, &format!("{claim:x?} and {:x?}", &filling[..4]));
        }
    }
}

#[test]
fn regular_input_keeps_the_limits() {
    for codec in ALL {
        let mut coder = codec.coder(&Options::default()).expect("there is a default");
        for first in 0..=255 {
            for second in [0, 1, 0x55, 0x80, 0xfe, 0xff] {
                let mut input = vec![second; 1024];
                input[0] = first;
                let mut out = Vec::new();
                let outcome = coder.decompress(&input, LIMIT, &mut out);
                assert!(out.len() <= if outcome.is_ok() { LIMIT } else { 0 }, "{}", codec.name());
                assert!(out.capacity() <= 2 * LIMIT + SLACK, "{}", codec.name());
            }
        }
        assert!(coder.memory().decompress <= MEMORY, "{}: {:?}", codec.name(), coder.memory());
    }
}

#[test]
fn errors_name_unknown_codecs_and_filters() {
    let mut packer = Packer::new(ALL);
    for first in 0..=255u8 {
        let mut out = Vec::new();
        let outcome = packer.unpack(&[first, 1, 2, 3], LIMIT, &mut out);
        let number = first & 15;
        if Filter::by_number(first >> 5).is_none() {
            assert_eq!(outcome, Err(CodecError::Malformed), "{first:#x}");
        } else if ALL.iter().all(|codec| codec.number() != number) {
            assert_eq!(outcome, Err(CodecError::UnknownCodec { number }), "{first:#x}");
        } else if first & 16 != 0 {
            assert_eq!(outcome, Err(CodecError::WrongDictionary), "{first:#x}");
        }
    }
}

fn codec(name: &str) -> Option<&'static dyn Codec> {
    groupwire_codecs::by_name(name)
}

fn leb(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A kilobyte of zstd blocks that each repeat a byte 128 Ki times: 32 MiB.
fn zstd_repeats() -> Vec<u8> {
    let size_and_kind = (128u32 << 10) << 3 | 1 << 1;
    let [a, b, c, _] = size_and_kind.to_le_bytes();
    [a, b, c, b'x'].repeat(256)
}

/// In snappy's format a literal and copies of 64 bytes at distance 1.
fn literal_then_copies() -> Vec<u8> {
    let copies = [0xfe, 1, 0].repeat(340);
    [&[0, b'x'][..], &copies].concat()
}
