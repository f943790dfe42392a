//! Counters and forecasts of a stream, for display. The stream is cut into blocks, and the bytes of
//! a block on the wire include its header. The policy chooses how each block is compressed.

use core::time::Duration;

use crate::{Candidate, Forecast};

/// Counters and forecasts of one end of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The candidate (codec and level) of the last block.
    pub candidate: Candidate,
    /// The bytes that the blocks compressed so far had before compression.
    pub plain_out: u64,
    /// The bytes that the blocks compressed so far take on the wire.
    pub wire_out: u64,
    /// The bytes that the blocks decompressed so far have after decompression.
    pub plain_in: u64,
    /// The bytes that the blocks decompressed so far took on the wire.
    pub wire_in: u64,
    /// The total duration of compression.
    pub packing: Duration,
    /// The total duration of decompression.
    pub unpacking: Duration,
    /// The current forecasts of the policy.
    pub forecast: Forecast,
    /// The measured bandwidth of the network in bytes per second; 0 if unknown.
    pub bandwidth: f64,
    /// The ratio of the last block: wire bytes per plain byte.
    pub ratio: f64,
    /// The time in seconds that compression saved compared with sending everything uncompressed at
    /// the measured bandwidth; negative if compression lost time.
    pub saved: f64,
    /// The memory of this end in bytes.
    pub memory: usize,
}
