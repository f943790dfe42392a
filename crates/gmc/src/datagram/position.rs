//! The position of a decoder in the stream of packets, as a snapshot stores it.

use crate::batch::Batch;
use crate::datagram::acknowledgement::AckIndex;
use crate::datagram::chain::Chain;
use crate::packet_number::PacketNumber;
use crate::trace::Trace;

/// Which packets a decoder has, and which of them its model has learned. On an ordered link only the chain is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The number of the packet before the first one of the model.
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
    /// The packet's training trace: what coding it teaches the model.
    pub(crate) trace: Trace,
}
