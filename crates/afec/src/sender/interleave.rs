//! Interleaving (paper, section 2.4.1): neighbouring messages go in different packets, so that a lost packet leaves small
//! holes. No message goes twice; each waits until its block is full.

use core::time::Duration;

use super::Sender;
use super::history::{MESSAGES, Sent};
use super::schedule::Due;
use crate::path::Path;
use crate::scheme::Scheme;

/// A message that is in no packet yet.
pub(super) const NO_PACKET: u32 = u32::MAX;

impl Sender {
    /// When the waiting messages of a channel go, if the scheme interleaves: the block is full, or nothing comes any more.
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

    /// Shares a block out to its packets.
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
            channel.next_index = index.wrapping_add(1);
            let key = channel.key(waiting.key, index);
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
            self.schedule.push(Due { channel: place, index, ride: None, at, until });
        }
    }
}
