//! Whether a receiver can share a stream, and its place in the stream if it does.

use alloc::sync::Arc;
use core::time::Duration;

use super::{SharedStream, SharedStreams, StreamKey};
use crate::room::log::{Covered, Log};
use crate::room::subscriptions::rate_limit::RateLimits;
use crate::room::subscriptions::{Opened, Subscriptions};
use crate::{GroupId, Kind, Order, Position};

/// How long a participant that left a shared stream is not let in again: it was too slow, or
/// changed its channels, codecs or rate limits.
const STAYS_OUT: Duration = Duration::from_secs(2);

/// Whether a receiver can share a stream, and which.
#[derive(Debug, Default)]
pub(in crate::room) struct Sharing {
    /// True if both ends support shared streams (wire W10).
    is_agreed: bool,
    /// The key of the stream that the receiver can share. `None` if it can share none, or if its
    /// channels have changed since the key was determined.
    key: Option<Arc<StreamKey>>,
    /// True if the receiver is also sent messages of channels that are not in the shared stream.
    has_private: bool,
    /// True if the receiver left a shared stream since [`Sharing::find_key`] was last called.
    has_left: bool,
    /// The receiver is not let in before this time.
    not_before: Duration,
}

/// A member of a shared stream, and its place in the stream.
#[derive(Debug, Clone, Copy)]
pub(in crate::room) struct Member {
    pub(in crate::room) group: GroupId,
    /// The number of the payload that it is to be sent next.
    pub(in crate::room) next: u64,
    /// Awareness up to this order was in the payloads before `next`.
    pub(in crate::room) awareness: Order,
    /// Settled values (W41) up to this order were in the payloads before `next`.
    pub(in crate::room) settled: Order,
    /// The last log position that the member knows, from a transaction or a POSITION frame.
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

    /// Notes that the member was sent the next payload. `position`: that of the payload's last
    /// transaction, or 0.
    pub(in crate::room) fn sent(&mut self, position: Position) {
        self.next += 1;
        self.told = self.told.max(position);
    }
}

impl Sharing {
    pub(in crate::room) fn new(is_agreed: bool) -> Self {
        Sharing { is_agreed, ..Sharing::default() }
    }

    /// True if the receiver is also sent messages of channels that are not in the shared stream.
    pub(in crate::room) fn has_private(&self) -> bool {
        self.has_private
    }

    /// The messages that a member gets from the shared stream. `None` if the receiver can share no
    /// stream.
    pub(in crate::room) fn covered(&self) -> Option<Covered<'_>> {
        let channels = &self.key.as_ref()?.channels;
        Some(Covered { channels, from: Order(0), max_size: usize::MAX })
    }

    /// True if the receiver can share the stream with this key, and did not leave a shared stream
    /// just before.
    pub(in crate::room) fn wants(&self, now: Duration, key: &Arc<StreamKey>) -> bool {
        self.key.as_ref() == Some(key) && now >= self.not_before
    }

    /// Notes that the receiver left a shared stream.
    pub(in crate::room) fn left(&mut self) {
        self.has_left = true;
    }

    /// Notes that the receiver's channels, codecs or rate limits changed, so that the key must be
    /// determined anew.
    pub(in crate::room) fn forget_key(&mut self) {
        self.key = None;
    }

    /// The key of the stream that the receiver can share, if any. `transport`: the `max_datagram`,
    /// `max_packet` and `stamped` of the [`StreamKey`].
    pub(in crate::room) fn find_key(
        &mut self,
        now: Duration,
        (channels, limits): (&Subscriptions, &RateLimits),
        log: &Log,
        transport: (Option<usize>, usize, bool),
    ) -> Option<&Arc<StreamKey>> {
        // A receiver that enters again is sent the model, which costs more bytes than sharing saves
        // in so short a time.
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
            if access.subscribe && compress.is_shareable(qos) && !is_limited {
                shared.push(channel);
            } else if qos.kind == Kind::Transaction {
                // The order of transactions must be kept, so all of them have to come over the same
                // stream.
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
