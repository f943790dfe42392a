//! Filling a packet: first new messages, then the repeats that are due.

use core::time::Duration;

use super::history::Sent;
use super::{Entry, PacketSummary, Sender};
use crate::ids::{ChannelId, PacketNumber};
use crate::path::Path;
use crate::sort::sort_by_key;
use crate::wire::{MessageHead, message_len};

/// While the path seems too slow for every message to be in time, one message per channel is sent
/// this often nevertheless: without packets neither end would notice that the path became faster.
/// Chosen by judgement; not tuned.
const PROBE: Duration = Duration::from_millis(200);

/// The packet that is being filled.
#[derive(Debug)]
pub(super) struct Filling {
    pub(super) number: PacketNumber,
    /// The bytes of the packet that are still free for messages.
    pub(super) remaining: usize,
    /// The compression ratio that messages are expected to have: see [`Sender::on_coded`].
    pub(super) ratio: f64,
    pub(super) summary: PacketSummary,
}

impl Filling {
    /// Whether the packet has no message yet.
    pub(super) fn is_empty(&self) -> bool {
        self.summary.new + self.summary.repeated == 0
    }

    /// The bytes that a message of `len` bytes is expected to take in the packet.
    pub(super) fn expected(&self, len: usize) -> usize {
        (len as f64 * self.ratio) as usize
    }

    /// Reserves the bytes of a message.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.remaining = self.remaining.saturating_sub(bytes);
    }
}

impl Sender {
    /// Fills packet `number`, which has `remaining` bytes for messages, and passes the packet's
    /// messages to `take`: those of a channel together, the oldest first.
    pub(crate) fn fill(
        &mut self,
        now: Duration,
        number: PacketNumber,
        path: &Path,
        remaining: usize,
        mut take: impl FnMut(&MessageHead, &[u8]),
    ) -> PacketSummary {
        let summary = PacketSummary::default();
        let mut packet = Filling { number, remaining, ratio: self.ratio, summary };
        self.entries.clear();
        for place in 0..self.channels.len() {
            self.take_new(now, place, path, &mut packet);
        }
        let new = packet.summary.new as usize;
        debug_assert!(new == self.entries.len(), "each new message has one entry");
        let count = (new > 0).then_some(self.packets_with_new.wrapping_add(1));
        self.schedule_tail_flushes(now, path);
        self.take_scheduled(now, count, &mut packet);
        self.take_values(now, &mut packet);
        if let Some(count) = count {
            self.packets_with_new = count;
            self.plan(now, new, path);
        }
        sort_by_key(&mut self.entries, |entry| {
            (entry.channel as u64) << 32 | u64::from(entry.index.0)
        });
        for entry in &self.entries {
            let channel = &self.channels[entry.channel];
            let sent = channel.history.get(entry.index);
            debug_assert!(sent.is_some(), "the history holds all messages of the packet");
            if let Some(sent) = sent {
                take(&head(channel.id, sent, now), &sent.payload);
            }
        }
        packet.summary
    }

    /// Puts those new messages of a channel into the packet that fit. Drops messages that would
    /// arrive too late.
    fn take_new(&mut self, now: Duration, place: usize, path: &Path, packet: &mut Filling) {
        let supersedes = self.supersedes(place);
        // On a narrow path the queue is this sender's own, and sending less empties that queue. So
        // it does not count as delay of the path.
        let one_way = if self.is_narrow(now) { path.unqueued() } else { path.one_way() };
        let delay = one_way + path.jitter();
        let channel = &mut self.channels[place];
        if channel.paced() > now {
            return;
        }
        let before = packet.summary.new;
        while let Some(waiting) = channel.waiting.front() {
            let expired = waiting.origin + channel.qos.deadline < now;
            let hopeless = waiting.origin + channel.qos.deadline < now + path.certain_one_way();
            let probes = channel.cadence.last().is_none_or(|last| last + PROBE <= now);
            if expired || (hopeless && !probes) {
                let stale = channel.waiting.pop_front().expect("the loop looked at it");
                channel.history.recycle(stale.payload);
                channel.stats.stale += 1;
                continue;
            }
            let index = channel.next_index;
            let largest = MessageHead {
                channel: channel.id,
                index: 0,
                age: age(now, waiting.origin),
                repeated: false,
                key: channel.conflates().then_some((waiting.key, u32::MAX)),
            };
            let len = message_len(&largest, waiting.payload.len());
            let bytes = packet.expected(len);
            // The first message is always put into the packet: a caller that compresses messages
            // may find that it fits.
            if bytes > packet.remaining && packet.summary.new > 0 {
                break;
            }
            if channel.history.would_drop(packet.number, waiting.payload.capacity()) {
                break;
            }
            let waiting = channel.waiting.pop_front().expect("the loop looked at it");
            let key = channel.reference_key(waiting.key, index);
            if supersedes {
                let until = channel.useful_until(waiting.origin, delay);
                channel.values.sent(now, packet.number, (waiting.key, index), until);
            }
            packet.reserve(bytes);
            channel.note_age(now.saturating_sub(waiting.origin));
            channel.next_index = index.plus(1);
            // Smoothed over about 32 messages.
            channel.bytes += (len as f64 - channel.bytes) / 32.0;
            channel.stats.messages += 1;
            channel.stats.bytes += len as u64;
            channel.history.push(Sent {
                index,
                origin: waiting.origin,
                key,
                payload: waiting.payload,
                packet: packet.number,
                ..Sent::default()
            });
            self.entries.push(Entry { channel: place, index });
            packet.summary.new += 1;
            packet.summary.bytes += len as u32;
        }
        if packet.summary.new > before {
            channel.cadence.message(now);
            channel.last_new = Some(now);
        }
    }
}

/// The header of a message in the packet.
pub(super) fn head(channel: ChannelId, sent: &Sent, now: Duration) -> MessageHead {
    MessageHead {
        channel,
        index: sent.index.low(),
        age: age(now, sent.origin),
        repeated: sent.repeated,
        key: sent.key,
    }
}

/// The age of a message in ms, rounded up, so that rounding does not make a late message seem to be
/// in time.
fn age(now: Duration, origin: Duration) -> u32 {
    now.saturating_sub(origin).as_micros().div_ceil(1000).min(u128::from(u32::MAX)) as u32
}
