//! Schedules the repeats of new messages by the code of their channel (the plan of its repeats),
//! and the tail flush: one more packet when a cluster of messages ends with a pause. A piggyback is
//! a repeat in a packet with new messages.

use core::time::Duration;

use super::schedule::Due;
use super::{Entry, Sender};
use crate::code::Repeat;
use crate::path::Path;

impl Sender {
    /// Schedules the repeats of the first `new` entries, which are the new messages in the packet.
    pub(super) fn plan(&mut self, now: Duration, new: usize, path: &Path) {
        for entry in 0..new {
            let Entry { channel: place, index } = self.entries[entry];
            let channel = &mut self.channels[place];
            let Some(sent) = channel.history.get(index) else {
                continue;
            };
            let until = (sent.origin + channel.qos.deadline).saturating_sub(path.one_way());
            let interval = channel.cadence.interval();
            let repeats = channel.next_repeats();
            for repeat in repeats.iter() {
                let (from_packet, at) = match repeat {
                    Repeat::Piggyback(lag) => {
                        (Some(self.packets_with_new.wrapping_add(u32::from(lag))), None)
                    }
                    Repeat::Dedicated(after) => (None, Some(now + after)),
                };
                self.schedule.push(Due { channel: place, index, from_packet, at, until });
            }
            let code = channel.code;
            channel.flush_at = None;
            if code.tail_flush {
                // The tail flush is due when the first piggyback of the last message is, or earlier
                // if an older message would be late by then.
                let piggyback =
                    |repeat| if let Repeat::Piggyback(lag) = repeat { Some(lag) } else { None };
                let lag = repeats.iter().filter_map(piggyback).min().unwrap_or(1);
                let due = now + interval * u32::from(lag) + interval / 2;
                let late = self.schedule.first_until(place).map_or(until, |first| first.min(until));
                channel.flush_at = Some(due.min(late).max(now));
            }
        }
    }

    /// For each channel whose tail flush is due, schedules a repeat of the last message, which this
    /// packet is to carry.
    pub(super) fn schedule_tail_flushes(&mut self, now: Duration, path: &Path) {
        for (place, channel) in self.channels.iter().enumerate() {
            if channel.flush_at.is_none_or(|at| at > now) {
                continue;
            }
            let index = channel.next_index.minus(1);
            if let Some(last) = channel.history.get(index) {
                let until = (last.origin + channel.qos.deadline).saturating_sub(path.one_way());
                let due = Due { channel: place, index, from_packet: None, at: Some(now), until };
                self.schedule.push(due);
            }
        }
    }
}
