//! The chain: the hash by which both ends find out whether they have learned the same. A model is
//! all that one end has learned from packets.

use crate::batch::Batch;
use crate::datagram::acknowledgement::AckIndex;
use crate::hash::{hash, hash_message};
use crate::packet_number::PacketNumber;

/// A hash of everything that a model has learned, packet after packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Chain(u32);

impl Chain {
    pub(crate) const fn new(hash: u32) -> Self {
        Self(hash)
    }

    pub(crate) const fn get(self) -> u32 {
        self.0
    }

    /// The chain of an empty model that learns the packets after number `base`.
    pub(crate) fn empty(base: PacketNumber) -> Self {
        Self(hash(0xc4a1, base.low(16)))
    }

    /// The chain after packet `number` with these messages was learned. On an ordered link all
    /// packets have the number 0.
    pub(crate) fn then(self, number: PacketNumber, batch: &Batch) -> Self {
        let start = batch.control.chain(hash(self.0, number.get()));
        Self(batch.iter().fold(start, |chain, message| {
            let fields = message.fields.iter().fold(chain, |chain, &field| hash(chain, field));
            hash_message(hash(fields, message.bytes.len() as u32), message.bytes)
        }))
    }

    /// The seal of an acknowledgement: sixteen bits by which the encoder confirms that the decoder
    /// will have this chain after packet `top`. `index` is the number of the acknowledgement.
    pub(crate) fn seal(self, index: AckIndex, top: PacketNumber) -> u16 {
        (hash(hash(self.0, u32::from(index.low_byte())), top.low(16)) >> 16) as u16
    }

    /// The check byte of a packet, if this is the chain after the packet's own messages.
    pub(crate) fn check(self) -> u8 {
        (self.0 >> 24) as u8
    }
}
