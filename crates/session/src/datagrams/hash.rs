//! A 32-bit hash: it identifies the key of a value, and checks the copy of a transaction.

use crate::wire::record::Record;
use crate::{Overflow, Qos};

/// FNV-1a of 32 bits. It is fast, and an attacker gains nothing by a collision.
pub(super) fn fnv1a<'a>(bytes: impl Iterator<Item = &'a u8>) -> u32 {
    let step = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    bytes.fold(0x811c_9dc5, step)
}

/// A hash of a value's sender and key: a message replaces earlier ones with the same hash on a
/// conflated channel. A collision makes the loss statistics of two values less exact, and on an
/// overloaded path loses a value.
pub(super) fn key_of(record: &Record<'_>, qos: &Qos) -> Option<u32> {
    if qos.overflow != Overflow::Conflate {
        return None;
    }
    let start = record.sender.get().to_le_bytes();
    Some(fnv1a(start.iter().chain(record.key.unwrap_or_default())))
}
