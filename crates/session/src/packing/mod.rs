//! Packs single messages (wire W45 to W51) and blocks (wire W52 to W55) with codecs.

mod blocks;
mod choosing;
mod codecs;
mod encoding_cache;
mod idle;
mod next_chunk;

#[cfg(feature = "ace")]
pub(crate) use blocks::BlockChoice;
pub(crate) use blocks::Cache;
pub(crate) use choosing::Choosing;
pub(crate) use codecs::Packing;
pub(crate) use encoding_cache::EncodingCache;
pub(crate) use next_chunk::NextChunk;
