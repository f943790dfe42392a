//! What a stream has done so far, for people.

use core::time::Duration;

use crate::{Candidate, Forecast};

/// One end of a stream, so far.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// How the last block was packed.
    pub candidate: Candidate,
    /// Octets that the application wrote, of blocks that were packed.
    pub plain_out: u64,
    /// What they became, with all that goes with them.
    pub wire_out: u64,
    /// Octets that the application could read.
    pub plain_in: u64,
    /// What they were on the wire.
    pub wire_in: u64,
    /// Packing, in all.
    pub packing: Duration,
    /// Unpacking, in all.
    pub unpacking: Duration,
    /// What is expected at present.
    pub forecast: Forecast,
    /// What the network carried lately, octets per second, as measured. 0: not known.
    pub bandwidth: f64,
    /// The last block's wire octets per plain octet.
    pub ratio: f64,
    /// Time that was saved so far, against sending everything as it is, by the measured bandwidth; negative if lost.
    /// Seconds.
    pub saved: f64,
    /// Working memory of this end, octets.
    pub memory: usize,
}
