//! Counters and forecasts of a stream, for display.

use core::time::Duration;

use crate::{Candidate, Forecast};

/// Counters and forecasts of one end of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The candidate of the last block.
    pub candidate: Candidate,
    /// Bytes that the application wrote, of the blocks that were compressed so far.
    pub plain_out: u64,
    /// The bytes on the wire of the blocks that were compressed so far, including headers.
    pub wire_out: u64,
    /// Bytes that were decompressed for the application.
    pub plain_in: u64,
    /// The bytes on the wire of the blocks that were decompressed so far, including headers.
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
    /// The time that compression saved compared with sending everything uncompressed at the measured bandwidth, in seconds;
    /// negative if it lost time.
    pub saved: f64,
    /// The memory of this end in bytes.
    pub memory: usize,
}
