//! What the room counts: totals, the use of quotas, late messages, and packets for the inspector.

pub(super) mod upstream;

use super::api::Stats;
use super::inspector::Inspector;
use crate::quota::{Meter, Used};
use upstream::Upstreams;

/// See the [module](self).
#[derive(Default)]
pub(super) struct Accounting {
    pub(super) stats: Stats,
    pub(super) inspector: Inspector,
    pub(super) upstreams: Upstreams,
    /// The bytes, deliveries and transactions of the present input, as quotas count them.
    pub(super) used: Used,
    /// The bytes of the present input that belong to a part of the snapshot that the room asked
    /// for.
    pub(super) asked_for: u64,
    /// The usage of all participants together, measured by the room's quota.
    pub(super) usage: Meter,
}

impl Accounting {
    /// Counts the bytes of a packet or datagram for the quotas, or of its messages if these are
    /// more. `before`: the room's total of the bytes of messages before the packet.
    pub(super) fn use_bytes(&mut self, packet: usize, before: u64) {
        let packet = (packet as u64).saturating_sub(core::mem::take(&mut self.asked_for));
        self.used.bytes += packet.max(self.stats.bytes_in_before - before);
    }

    /// Counts a packet that was received.
    pub(super) fn count_received(&mut self, size: usize) {
        self.stats.packets_in += 1;
        self.stats.bytes_in_after += size as u64;
    }

    /// Counts a message that was published, and its bytes before compression.
    pub(super) fn count_published(&mut self, bytes: usize) {
        self.stats.messages_in += 1;
        self.stats.bytes_in_before += bytes as u64;
    }

    /// Counts a packet that is sent.
    pub(super) fn count_sent(&mut self, size: usize) {
        self.stats.packets_out += 1;
        self.stats.bytes_out_after += size as u64;
    }

    /// Counts messages that one receiver is sent, and their bytes before compression.
    pub(super) fn count_delivered(&mut self, messages: u64, bytes: u64) {
        self.stats.deliveries += messages;
        self.stats.bytes_out_before += bytes;
    }
}
