//! Reads and writes the wire format that the pages in docs/wire specify. In the comments of this
//! crate, (wire W22) refers to rule W22 of those pages.

pub(crate) mod acknowledged;
pub(crate) mod coding;
pub(crate) mod contract;
pub(crate) mod frame;
pub(crate) mod handshake;
pub(crate) mod io;
pub(crate) mod numbering;
pub(crate) mod opening;
pub(crate) mod payload;
pub(crate) mod piece;
pub(crate) mod quality;
pub(crate) mod record;
pub(crate) mod snapshot;

/// The version of the protocol that this crate speaks (wire W4).
pub const VERSION: u8 = 1;

/// The bits of `capabilities` in HELLO and WELCOME. A feature is used only where both ends stated
/// its bit (wire W10).
pub(crate) mod capability {
    /// CODED payloads: gmc compresses records together, on the ordered stream (wire W27). Bit 0
    /// stood for gmc before it found messages inside of messages.
    pub(crate) const CODED: u64 = 1 << 10;
    /// The models of CODED payloads and of coded datagrams have 16 KiB (wire W118).
    pub(crate) const SMALL_MODELS: u64 = 1 << 11;
    /// Awareness messages travel in datagrams as well as on the stream (wire W38).
    pub(crate) const DATAGRAMS: u64 = 2;
    /// Fan-out groups on datagrams: many receivers are sent the same encoded bytes (wire W70).
    pub(crate) const DATAGRAM_GROUPS: u64 = 4;
    /// Blocks: a codec compresses chunks of snapshots, and whole payloads (wire W52).
    pub(crate) const BLOCKS: u64 = 32;
    /// QoS contracts: receivers measure whether a channel keeps its QoS, and can ask for another
    /// QoS or a lower rate (wire W76 to W80).
    pub(crate) const CONTRACTS: u64 = 128;

    /// Receivers report the quality of their channels while the inspector of the room is in use
    /// (wire W84).
    pub(crate) const QUALITY: u64 = 512;

    /// Fan-out groups on the stream: many receivers share encoded payloads (wire W60).
    pub(crate) const STREAM_GROUPS: u64 = 64;
    /// Datagrams carry copies of transactions that are also sent on the stream (wire W81).
    pub(crate) const COPIES: u64 = 256;
}
