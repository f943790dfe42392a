//! Which messages are to be sent again, and when.

use alloc::vec::Vec;
use core::time::Duration;

/// The most entries; what is more is not sent again. FEC-32 needs 528, our own codes some 40.
const ENTRIES: usize = 640;

/// One sending of a message that was sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Due {
    /// Of the channel in the sender's list.
    pub(super) channel: usize,
    pub(super) index: u32,
    /// It rides on the first packet with new messages whose count is at least this.
    pub(super) ride: Option<u32>,
    /// It gets a packet at this time, unless one came first.
    pub(super) at: Option<Duration>,
    /// After this it is worth nothing.
    pub(super) until: Duration,
}

/// All that is to be sent again.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    due: Vec<Due>,
}

impl Schedule {
    pub(super) fn push(&mut self, due: Due) {
        if self.due.len() < ENTRIES {
            self.due.push(due);
        }
    }

    /// When something is due, packets with new messages aside.
    pub(super) fn next(&self) -> Option<Duration> {
        self.due.iter().filter_map(|due| due.at).min()
    }

    /// The earliest time after which a repeat that waits for a ride is worth nothing.
    pub(super) fn first_until(&self, channel: usize) -> Option<Duration> {
        let rides = self.due.iter().filter(|due| due.channel == channel && due.ride.is_some());
        rides.map(|due| due.until).min()
    }

    /// Hands what goes into a packet at `now` to `send`, which says whether that is done with.
    ///
    /// `rides`: the count of packets with new messages, if this is one. `closes` says for which channels this packet
    /// ends a cluster: it takes all that wait for a ride.
    pub(super) fn take(
        &mut self,
        now: Duration,
        rides: Option<u32>,
        closes: impl Fn(usize) -> bool,
        mut send: impl FnMut(&Due) -> bool,
    ) {
        self.due.retain(|due| {
            if due.until < now {
                return false;
            }
            let rides = match (due.ride, rides) {
                (Some(from), Some(count)) => count.wrapping_sub(from) as i32 >= 0,
                _ => false,
            };
            let closes = due.ride.is_some() && closes(due.channel);
            let timed = due.at.is_some_and(|at| at <= now);
            if !(rides || closes || timed) {
                return true;
            }
            let done = send(due);
            !(done || closes || timed)
        });
    }

    pub(super) fn memory(&self) -> usize {
        self.due.capacity() * size_of::<Due>()
    }
}
