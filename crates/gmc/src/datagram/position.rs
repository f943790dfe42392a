//! Where a decoder is in the stream of packets, as snapshots have it.

use crate::batch::Batch;
use crate::trace::Trace;

/// Where a decoder stands. On an ordered link there is only the hash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The number before the first packet of the model.
    pub(crate) base: u32,
    /// The number of the packet that was learned last.
    pub(crate) epoch: u32,
    /// The hash of all that is learned.
    pub(crate) chain: u32,
    /// The index of the acknowledgement that made the epoch.
    pub(crate) index: u32,
    /// The newest packet's number.
    pub(crate) newest: u32,
}

/// A packet that waits to be learned.
pub(crate) struct Pending {
    pub(crate) number: u32,
    pub(crate) batch: Batch,
    /// What it teaches.
    pub(crate) trace: Trace,
}
