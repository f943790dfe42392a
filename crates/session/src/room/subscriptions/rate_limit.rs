//! Lower rates that a receiver asked for (wire W78). This needs no memory for values: a value that
//! comes before the receiver's next turn stays in the log, where a newer value of its key replaces
//! it.

use alloc::collections::BTreeMap;
use core::time::Duration;

use crate::{ChannelNo, Order, Rate};

/// The rate limit of one channel.
#[derive(Debug)]
pub(in crate::room) struct RateLimit {
    /// The shortest time between two values of a key.
    pub(in crate::room) interval: Duration,
    /// The next turn: when the receiver may be sent the channel's values again.
    pub(in crate::room) turn: Duration,
    /// Values up to this order were released in earlier turns.
    pub(in crate::room) cursor: Order,
}

impl RateLimit {
    /// The limit; `None` if the receiver wants all values again.
    pub(in crate::room) fn rate(&self) -> Option<Rate> {
        let millihertz = 1_000_000_000u128.checked_div(self.interval.as_micros())?;
        u32::try_from(millihertz).ok().map(Rate::from_millihertz)
    }
}

/// The rate limits of a receiver, by channel.
#[derive(Debug, Default)]
pub(in crate::room) struct RateLimits(BTreeMap<ChannelNo, RateLimit>);

impl RateLimits {
    pub(in crate::room) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::room) fn contains(&self, channel: ChannelNo) -> bool {
        self.0.contains_key(&channel)
    }

    pub(in crate::room) fn get(&self, channel: ChannelNo) -> Option<&RateLimit> {
        self.0.get(&channel)
    }

    pub(in crate::room) fn remove(&mut self, channel: ChannelNo) {
        self.0.remove(&channel);
    }

    /// Sets a channel's limit, zero for none. `cursor`: the order up to which the receiver was
    /// sent values. Returns false if there was no limit and none is set.
    pub(in crate::room) fn set(
        &mut self,
        now: Duration,
        channel: ChannelNo,
        rate: Rate,
        cursor: Order,
    ) -> bool {
        let interval = rate.interval();
        match self.0.get_mut(&channel) {
            Some(limit) => {
                limit.turn = limit.turn.min(now + interval);
                limit.interval = interval;
            }
            None if !rate.is_zero() => {
                self.0.insert(channel, RateLimit { interval, turn: now, cursor });
            }
            None => return false,
        }
        true
    }

    /// The earliest next turn of the channels that may have values to send. `newest`: the order of
    /// the last value that may be sent.
    pub(in crate::room) fn next_turn(&self, newest: Order) -> Option<Duration> {
        let waiting = self.0.values().filter(|limit| limit.cursor < newest);
        waiting.map(|limit| limit.turn).min()
    }

    pub(in crate::room) fn iter_mut(
        &mut self,
    ) -> impl Iterator<Item = (ChannelNo, &mut RateLimit)> {
        self.0.iter_mut().map(|(&channel, limit)| (channel, limit))
    }
}
