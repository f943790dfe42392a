//! Packs, which means compresses with a codec such as LZ4: single messages (wire W45 to W51), and
//! blocks, which are chunks of snapshots or large payloads (wire W52 to W55).

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
pub(crate) use idle::Idle;
pub(crate) use next_chunk::NextChunk;
