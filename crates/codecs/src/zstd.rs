//! Zstandard: the best of what is quick.

#[cfg(feature = "all")]
mod c;
mod frame;
#[cfg(any(not(feature = "all"), test))]
mod rust;

use alloc::boxed::Box;

use crate::{Codec, Coder, Levels, Options, OptionsError};

/// One zstd frame (RFC 8878) without its four magic octets, without a checksum and without a dictionary's number.
///
/// With the feature `all` it is the reference implementation, in C. Its coder keeps its memory: for compression of
/// messages of up to 64 KiB at most 1 MiB at the levels up to 12 and 6 MiB above, far less for short ones; for
/// decompression 256 KiB, whatever a frame claims. Both with a copy of the dictionary and tables for it.
///
/// With the feature `pure` alone it is `ruzstd`, which has one level, about the reference's 1: every level is accepted
/// and means that one. It takes at most 1 MiB for compression and, for decompression, 512 KiB and the length of the
/// original. Each reads what the other writes.
#[derive(Debug, Clone, Copy)]
pub struct Zstd;

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
        let level = LEVELS.pick(self.name(), options.level)?;
        Ok(coder(level, as_content(options.dictionary)))
    }
}

#[cfg(feature = "all")]
fn coder(level: i8, dictionary: &[u8]) -> Box<dyn Coder> {
    Box::new(c::CCoder::new(level, dictionary))
}

#[cfg(not(feature = "all"))]
fn coder(_: i8, dictionary: &[u8]) -> Box<dyn Coder> {
    Box::new(rust::RustCoder::new(dictionary))
}

/// A dictionary as content and nothing but that: what was trained by zstd is told by its first octets, and would be read
/// otherwise by one implementation than by the other.
fn as_content(dictionary: &[u8]) -> &[u8] {
    match dictionary.strip_prefix(&[0x37]) {
        Some(rest) if rest.starts_with(&[0xa4, 0x30, 0xec]) => rest,
        _ => dictionary,
    }
}
