//! A receiver's part in shared streams.

use alloc::sync::Arc;
use core::time::Duration;

use super::{SharedStream, SharedStreams, StreamKey};
use crate::room::log::{Covered, Log};
use crate::room::rate_limit::RateLimits;
use crate::room::subscriptions::{Opened, Subscriptions};
use crate::wire::coding::Coding;
use crate::{GroupId, Kind, Order, Position};

/// A member that could not follow, or has changed what it is sent, is not let in again before this.
const STAYS_OUT: Duration = Duration::from_secs(2);

/// Whether, and with whom, a receiver can share a stream.
#[derive(Debug, Default)]
pub(in crate::room) struct Sharing {
    /// Both ends can share streams (wire W10).
    is_agreed: bool,
    /// `None`: its channels have changed since it was determined, or the receiver can share with nobody.
    key: Option<Arc<StreamKey>>,
    /// The receiver is sent messages of other channels as well.
    has_private: bool,
    /// It left a shared stream since `stay_out` was last called.
    has_left: bool,
    /// A receiver that has left is not let in again before.
    not_before: Duration,
}

/// How far a member has been sent its shared stream.
#[derive(Debug, Clone, Copy)]
pub(in crate::room) struct Member {
    pub(in crate::room) group: GroupId,
    /// The number of the payload that it is to be sent next.
    pub(in crate::room) next: u64,
    /// Awareness up to this order was in the payloads before that one.
    pub(in crate::room) awareness: Order,
    /// The same of values that had settled (W41).
    pub(in crate::room) settled: Order,
    /// The last position that it was told, by a transaction or otherwise.
    pub(in crate::room) told: Position,
}

impl Member {
    /// The member's stream, and the number of the payload that it is to be sent next.
    pub(in crate::room) fn stream<'a>(
        &self,
        streams: &'a SharedStreams,
    ) -> Option<(&'a SharedStream, u64)> {
        Some((streams.get(self.group)?, self.next))
    }

    /// The member was sent the next payload, whose last transaction has this position, if it has one.
    pub(in crate::room) fn sent(&mut self, position: Position) {
        self.next += 1;
        self.told = self.told.max(position);
    }
}

impl Sharing {
    pub(in crate::room) fn new(is_agreed: bool) -> Self {
        Sharing { is_agreed, ..Sharing::default() }
    }

    /// Whether the receiver is sent messages of channels that it shares with nobody.
    pub(in crate::room) fn has_private(&self) -> bool {
        self.has_private
    }

    /// What a shared stream brings to a member.
    pub(in crate::room) fn covered(&self) -> Option<Covered<'_>> {
        let channels = &self.key.as_ref()?.channels;
        Some(Covered { channels, from: Order(0), max_size: usize::MAX })
    }

    /// Whether the receiver could share this stream.
    pub(in crate::room) fn wants(&self, now: Duration, key: &Arc<StreamKey>) -> bool {
        self.key.as_ref() == Some(key) && now >= self.not_before
    }

    /// The receiver has left a shared stream.
    pub(in crate::room) fn left(&mut self) {
        self.has_left = true;
    }

    /// What the receiver is sent has changed.
    pub(in crate::room) fn forget_key(&mut self) {
        self.key = None;
    }

    /// With whom the receiver can share. `max_datagram` and the two after it as in [`StreamKey`].
    pub(in crate::room) fn find_key(
        &mut self,
        now: Duration,
        (channels, limits): (&Subscriptions, &RateLimits),
        log: &Log,
        transport: (Option<usize>, usize, bool),
    ) -> Option<&Arc<StreamKey>> {
        // A model is larger than what it saves in so short a time.
        if core::mem::take(&mut self.has_left) {
            self.not_before = now + STAYS_OUT;
        }
        if self.key.is_none() && self.is_agreed {
            self.key = self.determine(channels, limits, log, transport).map(Arc::new);
        }
        self.key.as_ref()
    }

    fn determine(
        &mut self,
        channels: &Subscriptions,
        limits: &RateLimits,
        log: &Log,
        (max_datagram, max_packet, stamped): (Option<usize>, usize, bool),
    ) -> Option<StreamKey> {
        let mut shared = alloc::vec::Vec::new();
        self.has_private = false;
        for (channel, &Opened { access, compress }) in channels.iter() {
            let qos = &log.channel(channel).qos;
            let is_limited = limits.contains(channel);
            if access.subscribe && compress.coding(qos) == Coding::Shared && !is_limited {
                shared.push(channel);
            } else if qos.kind == Kind::Transaction {
                // Transactions come in one order, so that all of them take one way.
                return None;
            } else {
                self.has_private |= access.subscribe;
            }
        }
        let is_any = !shared.is_empty();
        let channels = shared.into_iter().collect();
        is_any.then_some(StreamKey { channels, max_datagram, max_packet, stamped })
    }
}
