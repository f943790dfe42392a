//! The position of a decoder in the stream of packets, as a snapshot stores it. A snapshot is the
//! model (all that was learned from earlier packets) as bytes, for a decoder that joins late. The
//! chain is a hash of all that was learned; an epoch is a version of the model that both ends are
//! known to have.

use crate::batch::Batch;
use crate::datagram::acknowledgement::AckIndex;
use crate::datagram::chain::Chain;
use crate::packet_number::PacketNumber;
use crate::trace::Trace;

/// Which packets a decoder has, and which of these its model has learned. On an ordered link only
/// the chain is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The number of the packet before the first one of the model.
    pub(crate) base: PacketNumber,
    /// The number of the packet that the model has learned last.
    pub(crate) epoch: PacketNumber,
    /// The hash of everything that the model has learned.
    pub(crate) chain: Chain,
    /// The index of the acknowledgement with which a decoder agreed to learn up to `epoch`.
    pub(crate) index: AckIndex,
    /// The number of the newest packet.
    pub(crate) newest: PacketNumber,
}

/// A packet that is not learned yet: it is learned when it is acknowledged.
pub(crate) struct Pending {
    pub(crate) number: PacketNumber,
    pub(crate) batch: Batch,
    /// The packet's training trace: the decisions that coding it took, from which the model learns.
    pub(crate) trace: Trace,
}
