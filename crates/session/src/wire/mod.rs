//! The wire format, as docs/wire.md states it.

pub(crate) mod acknowledged;
pub(crate) mod body;
pub(crate) mod contract;
pub(crate) mod frame;
pub(crate) mod handshake;
pub(crate) mod io;
pub(crate) mod numbering;
pub(crate) mod record;
pub(crate) mod snapshot;
pub(crate) mod standing;

/// The protocol version this end speaks (W4).
pub const VERSION: u8 = 1;

/// Capability bits (W10).
pub(crate) mod capability {
    /// Bodies coded by gmc in stream mode.
    pub(crate) const CODED: u64 = 1;
    /// Awareness in datagrams, beside the stream.
    pub(crate) const DATAGRAMS: u64 = 2;
    /// Datagrams for classes of receivers (W70).
    pub(crate) const DATAGRAM_CLASSES: u64 = 4;
    /// Chunks of snapshots, and bodies, that are packed by a codec (W52).
    pub(crate) const BLOCKS: u64 = 32;
    /// Contracts that are judged, changed and thinned (W76 to W80).
    pub(crate) const CONTRACTS: u64 = 128;

    /// Receivers tell how their channels stand while somebody looks on (W84).
    pub(crate) const STANDINGS: u64 = 512;

    /// Bodies that a class of receivers shares, on the stream (W60).
    pub(crate) const SHARED_STREAMS: u64 = 64;
    /// Copies of transactions in datagrams (W81).
    pub(crate) const COPIES: u64 = 256;

    /// What an end offers whose transport has datagrams of so many octets.
    pub(crate) fn of_datagrams(max: usize, compress: bool) -> u64 {
        match (max, compress) {
            (0, _) => 0,
            (_, true) => DATAGRAMS | DATAGRAM_CLASSES | COPIES,
            (_, false) => DATAGRAMS | COPIES,
        }
    }

    /// What an end offers that compresses, or does not, and has these codecs.
    pub(crate) fn of_compression(compress: bool, codecs: u64) -> u64 {
        let blocks = if codecs & !1 != 0 { BLOCKS } else { 0 };
        if compress { CODED | SHARED_STREAMS | blocks } else { 0 }
    }
}
