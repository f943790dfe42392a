//! Zstandard: the smallest results among the fast codecs.

#[cfg(feature = "all")]
mod c;
mod frame;
// Tests of the feature `all` compare both implementations.
#[cfg(any(not(feature = "all"), test))]
mod rust;

use alloc::boxed::Box;

#[cfg(feature = "all")]
pub(crate) use c::{compress_after, decompress_after};
#[cfg(not(feature = "all"))]
pub(crate) use rust::{compress_after, decompress_after};

use crate::{Codec, Coder, Levels, Options, OptionsError};

/// One zstd frame (RFC 8878) without its four magic bytes, checksum and dictionary number.
///
/// With the feature `all` the codec is the reference implementation in C. Its coder keeps its
/// memory. Compression of messages of up to 64 KiB takes at most 1 MiB at the levels up to 12 and 6
/// MiB above, far less for short messages; decompression takes 256 KiB, whatever a frame claims. A
/// dictionary adds a copy of itself and tables.
///
/// With the feature `pure` alone the codec is `ruzstd`, which has one level, about level 1 of the
/// reference: it accepts every level and uses that one. It takes at most 1 MiB for compression and,
/// for decompression, 512 KiB and the length of the original. Each implementation reads the frames
/// of the other.
#[derive(Debug, Clone, Copy)]
pub struct Zstd;

/// The default is that of the reference implementation, whose levels above 19 need far more memory.
const LEVELS: Levels = Levels { min: -7, max: 19, default: 3 };

impl Codec for Zstd {
    fn name(&self) -> &'static str {
        "zstd"
    }

    fn number(&self) -> u8 {
        7
    }

    fn levels(&self) -> Option<Levels> {
        Some(LEVELS)
    }

    fn takes_dictionary(&self) -> bool {
        true
    }

    fn coder(&self, options: &Options<'_>) -> Result<Box<dyn Coder>, OptionsError> {
        let level = level(options.level)?;
        Ok(coder(level, as_content(options.dictionary)))
    }
}

/// `level`, or the default level.
pub(crate) fn level(level: Option<i8>) -> Result<i8, OptionsError> {
    LEVELS.pick(Zstd.name(), level)
}

#[cfg(feature = "all")]
fn coder(level: i8, dictionary: &[u8]) -> Box<dyn Coder> {
    Box::new(c::CCoder::new(level, dictionary))
}

#[cfg(not(feature = "all"))]
fn coder(_: i8, dictionary: &[u8]) -> Box<dyn Coder> {
    Box::new(rust::RustCoder::new(dictionary))
}

/// Makes both implementations use a dictionary as plain content. They recognise a dictionary
/// trained by zstd by its magic number and treat it differently, so the first byte of the number is
/// left out.
fn as_content(dictionary: &[u8]) -> &[u8] {
    match dictionary.strip_prefix(&[0x37]) {
        Some(rest) if rest.starts_with(&[0xa4, 0x30, 0xec]) => rest,
        _ => dictionary,
    }
}

#[cfg(all(test, feature = "all"))]
mod tests {
    use super::*;
    use crate::CodecError;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const DICTIONARY: &[u8] = include_bytes!("codec.rs");

    fn coders(dictionary: &[u8]) -> [Box<dyn Coder>; 3] {
        let c = |level| Box::new(c::CCoder::new(level, dictionary));
        [c(-3), c(3), Box::new(rust::RustCoder::new(dictionary))]
    }

    /// Each coder reads the frames of all coders, and refuses them if the limit is below the
    /// original's length.
    fn read_each_other(message: &[u8], dictionary: &[u8]) {
        let length = message.len();
        for writer in &mut coders(dictionary) {
            let mut packed = Vec::new();
            writer.compress(message, &mut packed);
            for reader in &mut coders(dictionary) {
                let mut plain = vec![7];
                assert_eq!(reader.decompress(&packed, length, &mut plain), Ok(()));
                assert_eq!(&plain[1..], message);
                plain.truncate(1);
                if let Some(less) = length.checked_sub(1) {
                    let outcome = reader.decompress(&packed, less, &mut plain);
                    assert_eq!((outcome, &plain[..]), (Err(CodecError::TooLarge), &[7][..]));
                }
            }
        }
    }

    #[test]
    fn both_implementations_read_each_other() {
        let large = DICTIONARY.repeat(40);
        let random: Vec<u8> = (0u32..4000)
            .map(|n| (n.wrapping_mul(n).wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let lengths =
            [0, 1, 255, 256, 1023, 1024, 65_791, 65_792, (128 << 10) - 1, 128 << 10, 150_000];
        for dictionary in [&b""[..], b"tiny", DICTIONARY] {
            for length in lengths {
                read_each_other(&large[..length], dictionary);
            }
            read_each_other(&random, dictionary);
            read_each_other(&[5; 3000], dictionary);
        }
    }

    #[test]
    fn the_rust_coder_uses_a_dictionary_and_no_earlier_message() {
        let mut coder = rust::RustCoder::new(DICTIONARY);
        let mut sizes = Vec::new();
        for message in [&DICTIONARY[500..1900], b"another one", &DICTIONARY[500..1900]] {
            let mut packed = Vec::new();
            coder.compress(message, &mut packed);
            sizes.push(packed.len());
        }
        assert!(sizes[0] < 48 && sizes[0] == sizes[2], "{sizes:?}");
        let memory = coder.memory();
        assert!((1..1 << 20).contains(&memory.compress), "{memory:?}");
    }

    #[test]
    fn frames_without_a_length_keep_the_limit() {
        // A window of 1 GiB, then three blocks of 128 KiB of one repeated byte.
        let packed =
            [&[0x00, 0xa0][..], &[0x02, 0x00, 0x10, 7], &[0x02, 0, 0x10, 7], &[0x03, 0, 0x10, 7]];
        let (packed, length) = (packed.concat(), 3 * (128 << 10));
        for coder in &mut coders(b"") {
            let mut plain = vec![7];
            assert_eq!(
                coder.decompress(&packed, length - 1, &mut plain),
                Err(CodecError::TooLarge)
            );
            assert_eq!(plain, [7]);
            assert_eq!(coder.decompress(&packed, 1000, &mut plain), Err(CodecError::TooLarge));
            assert_eq!(coder.decompress(&packed, length, &mut plain), Ok(()));
            assert_eq!(plain.len(), length + 1);
        }
    }

    /// Compresses after a history with all coders, and decompresses with all.
    struct After<'a>(&'a [u8]);

    impl After<'_> {
        fn read_each_other(&self, message: &[u8]) -> usize {
            let After(history) = *self;
            let mut packed = [Vec::new(), Vec::new(), Vec::new()];
            let [fast, small, rust] = &mut packed;
            c::compress_after(-3, history, message, fast);
            c::compress_after(7, history, message, small);
            rust::compress_after(1, history, message, rust);
            for packed in &packed {
                for read in [c::decompress_after, rust::decompress_after] {
                    let mut plain = vec![7];
                    assert_eq!(read(history, packed, message.len(), &mut plain), Ok(()));
                    assert!(plain[1..] == *message, "{} after {}", message.len(), history.len());
                    plain.truncate(1);
                    if let Some(less) = message.len().checked_sub(1) {
                        let outcome = read(history, packed, less, &mut plain);
                        assert_eq!((outcome, &plain[..]), (Err(CodecError::TooLarge), &[7][..]));
                    }
                }
            }
            packed[1].len()
        }
    }

    #[test]
    fn both_implementations_find_matches_in_the_history() {
        let mut number = 1u32;
        let random = core::iter::repeat_with(|| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 24) as u8
        });
        let random: Vec<u8> = random.take(1 << 20).collect();
        for history in [0, 1, 1000, 128 << 10, 300_000, 1 << 20] {
            // The message is a copy, because zstd treats an overlap of history and message
            // differently.
            let after = After(&random[..history]);
            for message in [0, 1, 1000, 64 << 10, 200_000, 1 << 20] {
                let size = after.read_each_other(&random.clone()[..message]);
                assert!(history < message || size < 60 + message / 4000, "{size} of {message}");
            }
        }
        // This history begins with the magic number of trained dictionaries.
        let trained = [&[0x37, 0xa4, 0x30, 0xec][..], &random[..5000]].concat();
        let size = After(&trained).read_each_other(&trained.clone()[..4500]);
        assert!(size < 40, "{size}");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_after_a_history_keep_the_limit(packed: Vec<u8>, history: Vec<u8>) {
            for read in [c::decompress_after, rust::decompress_after] {
                let mut plain = vec![7];
                if read(&history, &packed, 100, &mut plain).is_err() {
                    prop_assert_eq!(&plain, &[7]);
                }
                prop_assert!(plain.len() <= 101);
            }
        }

        #[test]
        fn damaged_bytes_after_a_history_keep_the_limit(
            message in proptest::collection::vec(0u8..4, 1..2000),
            history in proptest::collection::vec(0u8..4, 0..2000),
            at in any::<prop::sample::Index>(),
            byte: u8,
        ) {
            let mut packed = Vec::new();
            c::compress_after(3, &history, &message, &mut packed);
            *at.get_mut(&mut packed) = byte;
            for read in [c::decompress_after, rust::decompress_after] {
                let mut plain = vec![7];
                if read(&history, &packed, 3000, &mut plain).is_err() {
                    prop_assert_eq!(&plain, &[7]);
                }
                prop_assert!(plain.len() <= 3001);
            }
        }

        #[test]
        fn damaged_bytes_keep_the_limit(
            message in proptest::collection::vec(0u8..4, 1..2000),
            at in any::<prop::sample::Index>(),
            byte: u8,
        ) {
            for writer in &mut coders(b"") {
                let mut packed = Vec::new();
                writer.compress(&message, &mut packed);
                *at.get_mut(&mut packed) = byte;
                for reader in &mut coders(b"") {
                    let mut plain = vec![7];
                    if reader.decompress(&packed, 3000, &mut plain).is_err() {
                        prop_assert_eq!(&plain, &[7]);
                    }
                    prop_assert!(plain.len() <= 3001);
                }
            }
        }

        #[test]
        fn arbitrary_bytes_keep_the_limit(packed: Vec<u8>) {
            for reader in &mut coders(b"") {
                let mut plain = vec![7];
                if reader.decompress(&packed, 100, &mut plain).is_err() {
                    prop_assert_eq!(&plain, &[7]);
                }
                prop_assert!(plain.len() <= 101);
            }
        }
    }
}
