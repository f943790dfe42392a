//! The wire format, as docs/wire.md states it.

pub(crate) mod body;
pub(crate) mod frame;
pub(crate) mod handshake;
pub(crate) mod io;
pub(crate) mod numbering;
pub(crate) mod record;
pub(crate) mod snapshot;

/// The protocol version this end speaks (W4).
pub const VERSION: u8 = 1;

/// Capability bits (W10).
pub(crate) mod capability {
    /// Bodies coded by gmc in stream mode.
    pub(crate) const CODED: u64 = 1;
    /// Awareness in datagrams, beside the stream.
    pub(crate) const DATAGRAMS: u64 = 2;
    /// Chunks of snapshots, and bodies, that are packed by a codec (W52).
    pub(crate) const BLOCKS: u64 = 32;

    /// What an end offers that compresses, or does not, and has these codecs.
    pub(crate) fn of_compression(compress: bool, codecs: u64) -> u64 {
        let blocks = if codecs & !1 != 0 { BLOCKS } else { 0 };
        if compress { CODED | blocks } else { 0 }
    }
}
