//! Lower rates that a receiver asked for (wire W78). No value is decoded or kept for this: a value that comes before the
//! receiver's next turn stays in the log, where a newer one of its key takes its place.

use alloc::collections::BTreeMap;
use core::time::Duration;

use crate::qos::interval_of;
use crate::{ChannelNo, Order};

/// The limit of one channel.
#[derive(Debug)]
pub(super) struct RateLimit {
    /// The shortest time between two values of a key.
    pub(super) interval: Duration,
    /// When the receiver may be sent values again.
    pub(super) turn: Duration,
    /// Values up to this order had their turn.
    pub(super) cursor: Order,
}

impl RateLimit {
    /// The limit in 1/1000 values per second; `None` if the receiver wants all values again.
    pub(super) fn rate(&self) -> Option<u32> {
        u32::try_from(1_000_000_000u128.checked_div(self.interval.as_micros())?).ok()
    }
}

/// The limits of a receiver, by channel.
#[derive(Debug, Default)]
pub(super) struct RateLimits(BTreeMap<ChannelNo, RateLimit>);

impl RateLimits {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, channel: ChannelNo) -> bool {
        self.0.contains_key(&channel)
    }

    pub(super) fn get(&self, channel: ChannelNo) -> Option<&RateLimit> {
        self.0.get(&channel)
    }

    pub(super) fn remove(&mut self, channel: ChannelNo) {
        self.0.remove(&channel);
    }

    /// Sets a channel's limit in 1/1000 values per second, 0 for none. `cursor`: the order up to which the receiver has been
    /// served. Returns false if nothing changed.
    pub(super) fn set(
        &mut self,
        now: Duration,
        channel: ChannelNo,
        rate: u32,
        cursor: Order,
    ) -> bool {
        let interval = interval_of(rate);
        match self.0.get_mut(&channel) {
            Some(limit) => {
                limit.turn = limit.turn.min(now + interval);
                limit.interval = interval;
            }
            None if rate > 0 => {
                self.0.insert(channel, RateLimit { interval, turn: now, cursor });
            }
            None => return false,
        }
        true
    }

    /// When the next turn comes of a channel that has values up to `newest` to send.
    pub(super) fn next_turn(&self, newest: Order) -> Option<Duration> {
        let waiting = self.0.values().filter(|limit| limit.cursor < newest);
        waiting.map(|limit| limit.turn).min()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (ChannelNo, &mut RateLimit)> {
        self.0.iter_mut().map(|(&channel, limit)| (channel, limit))
    }
}
