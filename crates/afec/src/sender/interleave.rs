//! Interleaving (paper, section 2.4.1): neighbouring messages go in different packets, so that one lost packet leaves
//! short gaps. No message goes twice; each waits until its block is full.

use core::time::Duration;

use super::Sender;
use super::history::{MESSAGES, Sent};
use super::schedule::Due;
use crate::ids::PacketNumber;
use crate::path::Path;
use crate::scheme::Scheme;

/// The packet of a message that has been in no packet yet.
pub(super) const NO_PACKET: PacketNumber = PacketNumber(u32::MAX);

impl Sender {
    /// When the waiting messages of a channel go, if the scheme interleaves: once the block is full, or once it should have
    /// been full if messages had gone on.
    pub(super) fn block_due(&self, place: usize, now: Duration) -> Option<Duration> {
        let Scheme::Interleaved { packets, each } = self.scheme else {
            return None;
        };
        let channel = &self.channels[place];
        let block = (usize::from(packets) * usize::from(each)).clamp(1, MESSAGES);
        if channel.waiting.len() >= block {
            return Some(now);
        }
        let oldest = channel.waiting.front()?.origin;
        Some(oldest + channel.cadence.interval() * block as u32)
    }

    /// Distributes the messages of a block that is due among its packets.
    pub(super) fn take_block(&mut self, now: Duration, place: usize, path: &Path) {
        let Scheme::Interleaved { packets, each } = self.scheme else {
            return;
        };
        if self.block_due(place, now).is_none_or(|at| at > now) {
            return;
        }
        let channel = &mut self.channels[place];
        let spacing = channel.cadence.interval() * u32::from(each);
        let packets = u32::from(packets.max(1));
        for nth in 0..(packets * u32::from(each.max(1))).min(MESSAGES as u32) {
            let Some(waiting) = channel.waiting.pop_front() else {
                break;
            };
            let index = channel.next_index;
            channel.next_index = index.plus(1);
            let key = channel.reference_key(waiting.key, index);
            let until = (waiting.origin + channel.qos.deadline).saturating_sub(path.one_way());
            let at = Some(now + spacing * (nth % packets));
            channel.cadence.message(waiting.origin);
            let (origin, payload) = (waiting.origin, waiting.payload);
            channel.history.push(Sent {
                index,
                origin,
                key,
                payload,
                packet: NO_PACKET,
                ..Sent::default()
            });
            self.schedule.push(Due { channel: place, index, from_packet: None, at, until });
        }
    }
}
