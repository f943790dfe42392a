//! Lossless codecs behind one small trait, for one message or block at a time.
//!
//! A codec compresses one message or block alone: the result depends only on the input, the level and the dictionary.
//! Every codec has a name for people and a number for the wire. Decompression takes a limit for its output, so that no
//! input, however made, costs more memory than the caller allows.
//!
//! - [`Codec`] is the trait of all codecs ([`ALL`], [`by_name`], [`by_number`]). Its [`Coder`] keeps working memory from
//!   one message to the next.
//! - [`Choice`] names a codec with a level and a [`Filter`], as in `zstd-3` or `delta4+lz4`.
//! - [`Packer`] makes messages that state how they are to be read.
//! - [`Auto`] chooses for each message the codec with which it arrives soonest.
//!
//! ```
//! let codec = groupwire_codecs::by_name("lz4").ok_or("no such codec")?;
//! let mut packed = Vec::new();
//! codec.compress(b"to be or not to be or not to be", &mut packed);
//! let mut plain = Vec::new();
//! codec.decompress(&packed, 1000, &mut plain)?;
//! assert_eq!(plain, b"to be or not to be or not to be");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![no_std]

extern crate alloc;
#[cfg(any(feature = "pure", feature = "brotli"))]
extern crate std;

mod auto;
#[cfg(feature = "brotli")]
mod brotli;
#[cfg(feature = "pure")]
mod bzip2;
mod choice;
mod codec;
mod error;
mod escape;
mod filter;
mod history;
mod length;
mod lz4;
mod lz77;
mod lzf;
#[cfg(feature = "pure")]
mod lzma;
mod lzo;
mod lzw;
#[cfg(feature = "pure")]
mod matches;
mod null;
mod output;
mod packer;
mod plain;
mod rle;
#[cfg(test)]
mod samples;
#[cfg(feature = "pure")]
mod snappy;
mod zlib;
#[cfg(feature = "pure")]
mod zstd;

pub use auto::{Auto, Cost, Costs, LinearTime, Link, Pick};
#[cfg(feature = "brotli")]
pub use brotli::Brotli;
#[cfg(feature = "pure")]
pub use bzip2::Bzip2;
pub use choice::Choice;
pub use codec::{Codec, Coder, Levels, Memory, Options};
pub use error::{ChoiceError, CodecError, OptionsError};
pub use filter::Filter;
pub use history::{compress_after, decompress_after};
pub use lz4::Lz4;
pub use lzf::Lzf;
#[cfg(feature = "pure")]
pub use lzma::Lzma;
pub use lzo::Lzo;
pub use lzw::Lzw;
pub use null::Null;
pub use packer::Packer;
pub use plain::Plain;
pub use rle::Rle;
#[cfg(feature = "pure")]
pub use snappy::Snappy;
pub use zlib::Deflate;
#[cfg(feature = "pure")]
pub use zstd::Zstd;

/// All codecs of this build, ordered by number.
pub static ALL: &[&dyn Codec] = &[
    &Plain,
    &Lz4,
    &Deflate,
    #[cfg(feature = "pure")]
    &Snappy,
    #[cfg(feature = "pure")]
    &Lzo,
    #[cfg(feature = "pure")]
    &Lzf,
    #[cfg(feature = "pure")]
    &Lzw,
    #[cfg(feature = "pure")]
    &Zstd,
    #[cfg(feature = "brotli")]
    &Brotli,
    #[cfg(feature = "pure")]
    &Bzip2,
    #[cfg(feature = "pure")]
    &Lzma,
    #[cfg(feature = "pure")]
    &Rle,
    #[cfg(feature = "pure")]
    &Null,
];

/// Other names of codecs, each with the name that the codec has here.
const ALIASES: &[(&str, &str)] = &[("deflate", "zlib")];

/// The codecs that gmc uses, which are the ones in the browser's core module. A codec that is only in [`ALL`] is left out
/// of that module by the linker.
pub static MESSAGES: [&dyn Codec; 3] = [&Plain, &Lz4, &Deflate];

/// The codecs of [`MESSAGES`] that can compress in this build: Deflate can with the feature `deflate-encoder` only.
pub fn encoders_for_messages() -> &'static [&'static dyn Codec] {
    if cfg!(feature = "deflate-encoder") { &MESSAGES } else { &MESSAGES[..2] }
}

/// The codec of [`MESSAGES`] with this number on the wire.
pub fn for_messages(number: u8) -> Option<&'static dyn Codec> {
    MESSAGES.into_iter().find(|codec| codec.number() == number)
}

/// The codec with this number on the wire.
pub fn by_number(number: u8) -> Option<&'static dyn Codec> {
    ALL.iter().copied().find(|codec| codec.number() == number)
}

/// The codec with this name; `deflate` is `zlib`.
pub fn by_name(name: &str) -> Option<&'static dyn Codec> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let name = alias.map_or(name, |(_, name)| name);
    ALL.iter().copied().find(|codec| codec.name() == name)
}
