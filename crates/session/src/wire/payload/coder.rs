//! The settings of gmc, which compresses payloads. The protocol fixes them, so that both ends have
//! the same ones.

use groupwire_gmc as gmc;

use crate::ModelMemory;
use crate::limits::MAX_RECORDS;
use crate::trace::Carrier;
use crate::wire::record::FIELDS;

impl Carrier {
    /// The settings of gmc on this carrier. The protocol fixes them but for the memory, on which
    /// both ends agreed, so that both ends have the same ones (wire W27, W39, W118).
    pub(super) fn coder_config(self, memory: ModelMemory) -> gmc::Config {
        let is_ordered = self == Carrier::Stream;
        gmc::Config {
            delivery: if is_ordered { gmc::Delivery::Ordered } else { gmc::Delivery::Datagrams },
            memory: memory.bytes(),
            fields: FIELDS,
            max_message: 65_536,
            max_messages_per_packet: MAX_RECORDS,
            // A datagram names the version of the model that encoded it by the low bits of an
            // acknowledgement's number. Without gmc's check byte, a datagram that is sixteen or
            // more acknowledgements late could be decoded with the wrong version.
            check: !is_ordered,
            ..gmc::Config::default()
        }
    }
}

/// The settings of gmc for the datagrams of a fan-out group. The protocol fixes them, so that both
/// ends have the same ones (wire W70).
///
/// The memory is twice that of the model for a single receiver, because packets that not all
/// receivers have acknowledged take a quarter of it. For the pointers of ten people, this saves
/// half a byte per message; doubling it again saves almost nothing.
pub(super) fn group_config() -> gmc::Config {
    gmc::Config {
        delivery: gmc::Delivery::Room,
        memory: 128 << 10,
        fields: FIELDS,
        max_message: 65_536,
        max_messages_per_packet: MAX_RECORDS,
        // Without gmc's check byte, a datagram that arrives late could be decoded with the wrong
        // version of the model.
        check: true,
        ..gmc::Config::default()
    }
}
