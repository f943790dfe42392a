//! The codecs of this build, and how to find one by name or number.

#[cfg(feature = "brotli")]
use crate::Brotli;
#[cfg(feature = "pure")]
use crate::{Bzip2, Lzf, Lzma, Lzo, Lzw, Null, Rle, Snappy, Zstd};
use crate::{Codec, Deflate, Lz4, Plain};

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

/// The codecs that the crate `groupwire-gmc` uses, which are the ones in the browser's core module.
/// A codec that is only in [`ALL`] is left out of that module by the linker.
pub static MESSAGES: [&dyn Codec; 3] = [&Plain, &Lz4, &Deflate];

/// The codecs of [`MESSAGES`] that can compress in this build: Deflate can with the feature
/// `deflate-encoder` only.
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
