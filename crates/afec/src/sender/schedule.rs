//! The schedule: the repeats of single messages that are still to be sent, and when each is due. A
//! piggyback is a repeat in a packet with new messages; a dedicated packet carries repeats only.

use alloc::vec::Vec;
use core::time::Duration;

use crate::ids::MessageIndex;

/// The most entries. Further repeats are not sent. A fixed code that repeats the last 32 messages
/// needs 528 (a triangle of 32 messages); the codes that this crate chooses need about 40.
const ENTRIES: usize = 640;

/// One repeat of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Due {
    /// The index of the channel in [`Sender::channels`](super::Sender::channels).
    pub(super) channel: usize,
    pub(super) index: MessageIndex,
    /// For a piggyback: the count of packets with new messages from which on a packet may carry the
    /// repeat.
    pub(super) from_packet: Option<u32>,
    /// When the repeat gets a dedicated packet, unless another packet carries it before.
    pub(super) at: Option<Duration>,
    /// The last moment for the repeat: if it is sent later, it arrives too late.
    pub(super) until: Duration,
}

/// All scheduled repeats.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    due: Vec<Due>,
}

impl Schedule {
    pub(super) fn push(&mut self, due: Due) {
        let count = self.due.len();
        if count == ENTRIES {
            return;
        }
        if count == self.due.capacity() {
            // The capacity doubles as usual, but never exceeds [`ENTRIES`].
            self.due.reserve_exact(count.max(4).min(ENTRIES - count));
        }
        self.due.push(due);
    }

    /// Drops the repeats of a channel.
    pub(super) fn forget(&mut self, channel: usize) {
        self.due.retain(|due| due.channel != channel);
    }

    /// When the next dedicated packet is due.
    pub(super) fn next(&self) -> Option<Duration> {
        self.due.iter().filter_map(|due| due.at).min()
    }

    /// The earliest [`Due::until`] among the piggybacks of a channel.
    pub(super) fn first_until(&self, channel: usize) -> Option<Duration> {
        let is_piggyback = |due: &&Due| due.channel == channel && due.from_packet.is_some();
        self.due.iter().filter(is_piggyback).map(|due| due.until).min()
    }

    /// Passes the repeats that a packet at `now` is to carry to `send`, which returns whether the
    /// repeat is done.
    ///
    /// `packets_with_new` is the count of packets with new messages, if this packet has new
    /// messages. `flushes` says for a channel whether this packet is its tail flush (the packet at
    /// the end of a run of messages), which carries all piggybacks of the channel.
    pub(super) fn take(
        &mut self,
        now: Duration,
        packets_with_new: Option<u32>,
        flushes: impl Fn(usize) -> bool,
        mut send: impl FnMut(&Due) -> bool,
    ) {
        self.due.retain(|due| {
            if due.until < now {
                return false;
            }
            let piggybacks = match (due.from_packet, packets_with_new) {
                (Some(from), Some(count)) => count.wrapping_sub(from) as i32 >= 0,
                _ => false,
            };
            let flushed = due.from_packet.is_some() && flushes(due.channel);
            let timed = due.at.is_some_and(|at| at <= now);
            if !(piggybacks || flushed || timed) {
                return true;
            }
            let done = send(due);
            !(done || flushed || timed)
        });
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.due.capacity() * size_of::<Due>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_is_that_of_the_most_entries_at_most() {
        let mut schedule = Schedule::default();
        let due = Due {
            channel: 0,
            index: MessageIndex::default(),
            from_packet: None,
            at: None,
            until: Duration::MAX,
        };
        (0..2 * ENTRIES).for_each(|_| schedule.push(due));
        assert_eq!(schedule.due.len(), ENTRIES);
        assert_eq!(schedule.memory(), ENTRIES * size_of::<Due>());
    }
}
