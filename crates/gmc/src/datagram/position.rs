//! The position of a decoder in the stream of packets, as snapshots have it.

use crate::batch::Batch;
use crate::datagram::acknowledgement::AckIndex;
use crate::datagram::chain::Chain;
use crate::packet_number::PacketNumber;
use crate::trace::Trace;

/// Which packets a decoder has, and which of them its model has learned. On an ordered link only the chain counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The number before the first packet of the model.
    pub(crate) base: PacketNumber,
    /// The number of the packet that was learned last.
    pub(crate) epoch: PacketNumber,
    /// The hash of everything that the model has learned.
    pub(crate) chain: Chain,
    /// The index of the acknowledgement that made the epoch.
    pub(crate) index: AckIndex,
    /// The newest packet.
    pub(crate) newest: PacketNumber,
}

/// A packet that waits to be learned.
pub(crate) struct Pending {
    pub(crate) number: PacketNumber,
    pub(crate) batch: Batch,
    /// What the packet teaches.
    pub(crate) trace: Trace,
}
