//! Taking what goes again into a packet: the ends of clusters, repeats as they are due, and values.

use core::time::Duration;

use super::channel::Channel;
use super::interleave::NO_PACKET;
use super::schedule::Due;
use super::{Entry, Made, Sender, head, taken};
use crate::path::Path;
use crate::wire::message_len;

impl Sender {
    /// Lets the last message of each cluster that ends go again.
    pub(super) fn close(&mut self, now: Duration, path: &Path) {
        for (place, channel) in self.channels.iter().enumerate() {
            if channel.closing.is_none_or(|at| at > now) {
                continue;
            }
            let index = channel.next_index.wrapping_sub(1);
            if let Some(last) = channel.history.get(index) {
                let until = (last.origin + channel.qos.deadline).saturating_sub(path.one_way());
                self.schedule.push(Due { channel: place, index, ride: None, at: Some(now), until });
            }
        }
    }

    /// Takes the messages that are to be sent again and fit.
    pub(super) fn take_again(
        &mut self,
        now: Duration,
        rides: Option<u32>,
        number: u32,
        left: &mut usize,
        made: &mut Made,
    ) {
        let mut closed = 0u64;
        for (place, channel) in self.channels.iter_mut().enumerate() {
            if channel.closing.is_some_and(|at| at <= now) {
                channel.closing = None;
                closed |= 1 << place;
            }
        }
        let (channels, entries, ratio) = (&mut self.channels, &mut self.entries, self.ratio);
        let closes = |place: usize| closed >> place & 1 == 1;
        self.schedule.take(now, rides, closes, |due| {
            let channel = &mut channels[due.channel];
            match channel.again(now, due.index, number, ratio, left, made) {
                Again::Taken => entries.push(Entry { channel: due.channel, index: due.index }),
                // Twice in a packet is of no use; in a later one it may be.
                Again::Twice => return false,
                Again::Gone | Again::Crowded => {}
            }
            true
        });
    }

    /// Takes the values that are to go again and fit.
    pub(super) fn take_values(
        &mut self,
        now: Duration,
        number: u32,
        left: &mut usize,
        made: &mut Made,
    ) {
        for place in 0..self.channels.len() {
            let channel = &mut self.channels[place];
            let (entries, ratio) = (&mut self.entries, self.ratio);
            let mut values = core::mem::take(&mut channel.values);
            let goes_anyway = made.new + made.repeated > 0;
            values.take(now, goes_anyway, |index| {
                let taken = channel.again(now, index, number, ratio, left, made) == Again::Taken;
                if taken {
                    entries.push(Entry { channel: place, index });
                }
                taken
            });
            channel.values = values;
        }
    }
}

/// What became of a message that was to go again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    Taken,
    /// It is in this packet.
    Twice,
    /// It is kept no more.
    Gone,
    /// It does not fit.
    Crowded,
}

impl Channel {
    /// Counts a message into packet `number`, of which `left` bytes are left.
    fn again(
        &mut self,
        now: Duration,
        index: u32,
        number: u32,
        ratio: f64,
        left: &mut usize,
        made: &mut Made,
    ) -> Again {
        let Some(sent) = self.history.get_mut(index) else {
            return Again::Gone;
        };
        if sent.packet == number {
            return Again::Twice;
        }
        let len = message_len(&head(self.id, sent, now), sent.payload.len());
        let takes = taken(len, ratio);
        if takes > *left && made.new + made.repeated > 0 {
            self.stats.crowded_out += 1;
            self.crowded.get_or_insert(now);
            return Again::Crowded;
        }
        *left = left.saturating_sub(takes);
        made.bytes += len as u32;
        if sent.packet == NO_PACKET {
            self.stats.messages += 1;
            self.stats.bytes += len as u64;
            made.new += 1;
        } else {
            sent.repeated = true;
            self.stats.repeats += 1;
            self.stats.repeat_bytes += len as u64;
            made.repeated += 1;
            made.repeated_bytes += len as u32;
        }
        sent.packet = number;
        Again::Taken
    }
}
