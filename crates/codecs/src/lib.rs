//! Lossless codecs behind one small trait, for one message or block at a time.
//!
//! A codec compresses one message or block alone: the result depends only on the input, the level
//! and the dictionary. Every codec has a name for people and a number for the wire. Decompression
//! takes a limit for its output, so that no input, however made, costs more memory than the caller
//! allows.
//!
//! - [`Codec`] is the trait of all codecs ([`ALL`], [`by_name`], [`by_number`]). Its [`Coder`]
//!   keeps working memory from one message to the next.
//! - [`Choice`] names a codec with a level and a [`Filter`], as in `zstd-3` or `delta4+lz4`.
//! - [`Packer`] makes messages that state how to unpack them.
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
mod registry;
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
pub use registry::{ALL, MESSAGES, by_name, by_number, encoders_for_messages, for_messages};
pub use rle::Rle;
#[cfg(feature = "pure")]
pub use snappy::Snappy;
pub use zlib::Deflate;
#[cfg(feature = "pure")]
pub use zstd::Zstd;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
