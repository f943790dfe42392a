//! Within-message codecs behind one small trait.
//!
//! A codec turns bytes into fewer bytes, alone: it remembers nothing between calls. Every codec has
//! a name, for people, and a number, for the wire. Decompression takes a hard limit on its output,
//! so that no input, however made, costs more memory than the caller allows.
//!
//! ```
//! let codec = groupwire_codecs::by_name("deflate").ok_or("no such codec")?;
//! let mut packed = Vec::new();
//! codec.compress(b"to be or not to be or not to be", &mut packed);
//! let mut plain = Vec::new();
//! codec.decompress(&packed, 1000, &mut plain)?;
//! assert_eq!(plain, b"to be or not to be or not to be");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![no_std]

extern crate alloc;

mod deflate;
mod lz4;
mod plain;

use alloc::vec::Vec;

pub use deflate::Deflate;
pub use lz4::Lz4;
pub use plain::Plain;

/// A lossless codec without memory between calls.
pub trait Codec: Sync {
    /// The codec's name, for configuration and reports.
    fn name(&self) -> &'static str;

    /// The codec's number on the wire. Never reused for another codec.
    fn number(&self) -> u8;

    /// Appends the compressed form of `input` to `out`.
    fn compress(&self, input: &[u8], out: &mut Vec<u8>);

    /// Appends the original of `input` to `out`, at most `limit` bytes of it.
    ///
    /// On an error `out` is as it was.
    fn decompress(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), CodecError>;
}

/// Why compressed bytes could not be decompressed. The fault is the sender's, or the link's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The bytes were not made by this codec, or were damaged since.
    #[error("peer sent bytes that are not valid for this codec")]
    Malformed,
    /// The original is, or claims to be, larger than the caller's limit.
    #[error("peer sent bytes that expand beyond the limit")]
    TooLarge,
}

/// Every codec, in the order of their numbers.
pub static ALL: [&dyn Codec; 3] = [&Plain, &Lz4, &Deflate];

/// The codecs that messages are coded with: all that the module of a browser holds. A codec for other uses stands in [`ALL`]
/// only, and is then left out of it by the linker.
pub static MESSAGES: [&dyn Codec; 3] = [&Plain, &Lz4, &Deflate];

/// The codec for messages with this number on the wire.
pub fn for_messages(number: u8) -> Option<&'static dyn Codec> {
    MESSAGES.into_iter().find(|codec| codec.number() == number)
}

/// The codec with this number on the wire.
pub fn by_number(number: u8) -> Option<&'static dyn Codec> {
    ALL.into_iter().find(|codec| codec.number() == number)
}

/// The codec with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Codec> {
    ALL.into_iter().find(|codec| codec.name() == name)
}
