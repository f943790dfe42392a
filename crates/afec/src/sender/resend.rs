//! Puts repeats into a packet: those of the [`Schedule`](super::schedule::Schedule), and those of
//! values of conflated channels, on which a newer value of a key replaces the older ones.

use core::time::Duration;

use super::channel::Channel;
use super::fill::{Filling, head};
use super::{Entry, Sender};
use crate::ids::MessageIndex;
use crate::wire::message_len;

impl Sender {
    /// Puts those scheduled repeats into the packet that are due and fit. `packets_with_new` is the
    /// count of packets with new messages, if this packet has new messages.
    pub(super) fn take_scheduled(
        &mut self,
        now: Duration,
        packets_with_new: Option<u32>,
        packet: &mut Filling,
    ) {
        // Bit n is set if this packet is the tail flush of the n-th channel: the packet at the end
        // of a run of messages.
        let mut flushed = 0u64;
        for (place, channel) in self.channels.iter_mut().enumerate() {
            if channel.flush_at.is_some_and(|at| at <= now) {
                channel.flush_at = None;
                flushed |= 1 << place;
            }
        }
        let (channels, entries) = (&mut self.channels, &mut self.entries);
        let flushes = |place: usize| flushed >> place & 1 == 1;
        self.schedule.take(now, packets_with_new, flushes, |due| {
            let channel = &mut channels[due.channel];
            match channel.resend(now, due.index, packet) {
                Resend::Taken => entries.push(Entry { channel: due.channel, index: due.index }),
                // A second copy of a message in one packet is useless, so the repeat waits for a
                // later packet.
                Resend::AlreadyInPacket => return false,
                Resend::Forgotten | Resend::TooLarge => {}
            }
            true
        });
    }

    /// Puts those values of conflated channels into the packet that are due for a repeat and fit.
    pub(super) fn take_values(&mut self, now: Duration, packet: &mut Filling) {
        for place in 0..self.channels.len() {
            let channel = &mut self.channels[place];
            let entries = &mut self.entries;
            let mut values = core::mem::take(&mut channel.values);
            let goes_anyway = !packet.is_empty();
            values.take(now, goes_anyway, |index| {
                let taken = channel.resend(now, index, packet) == Resend::Taken;
                if taken {
                    entries.push(Entry { channel: place, index });
                }
                taken
            });
            channel.values = values;
        }
    }
}

/// The result of [`Channel::resend`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resend {
    /// The message is put into this packet.
    Taken,
    /// The message is in this packet already.
    AlreadyInPacket,
    /// The history does not hold the message any more.
    Forgotten,
    /// The message does not fit into the packet.
    TooLarge,
}

impl Channel {
    /// Puts a message of the history into the packet, if it fits, and counts it as repeated.
    fn resend(&mut self, now: Duration, index: MessageIndex, packet: &mut Filling) -> Resend {
        let Some(sent) = self.history.get_mut(index) else {
            return Resend::Forgotten;
        };
        if sent.packet == packet.number {
            return Resend::AlreadyInPacket;
        }
        let len = message_len(&head(self.id, sent, now), sent.payload.len());
        let bytes = packet.expected(len);
        if bytes > packet.remaining && !packet.is_empty() {
            self.stats.crowded_out += 1;
            self.overflowing.get_or_insert(now);
            return Resend::TooLarge;
        }
        packet.reserve(bytes);
        let summary = &mut packet.summary;
        summary.bytes += len as u32;
        sent.repeated = true;
        self.stats.repeats += 1;
        self.stats.repeat_bytes += len as u64;
        summary.repeated += 1;
        summary.repeated_bytes += len as u32;
        sent.packet = packet.number;
        Resend::Taken
    }
}
