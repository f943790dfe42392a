//! Selects the values for a receiver that asked for a lower rate (wire W78).

use alloc::collections::BTreeSet;
use core::time::Duration;

use super::carry::Feed;
use crate::room::log::{Carries, Channels, Filter, Item, Log};
use crate::room::subscriptions::rate_limit::RateLimits;
use crate::{Order, ParticipantId};

/// The lower rates that one receiver asked for.
#[derive(Debug, Default)]
pub(in crate::room) struct Downsampling {
    pub(in crate::room) limits: RateLimits,
    pub(in crate::room) released: Released,
}

/// Values of rate-limited channels that may be sent now, by the carrier that they take.
#[derive(Debug, Default)]
pub(in crate::room) struct Released {
    pub(in crate::room) stream: BTreeSet<Order>,
    pub(in crate::room) datagrams: BTreeSet<Order>,
}

impl Released {
    /// Adds the values of the channels whose turn has come: the newest value of each key, up to the
    /// order `newest`. `stream` says which values take the stream; the others take datagrams.
    pub(in crate::room) fn release(
        &mut self,
        now: Duration,
        receiver: ParticipantId,
        limits: &mut RateLimits,
        newest: Order,
        stream: Carries,
        log: &Log,
    ) {
        let open =
            limits.iter_mut().filter(|(_, limit)| limit.turn <= now && limit.cursor < newest);
        for (channel, limit) in open {
            let channels = [channel];
            let filter = Filter {
                receiver: Some(receiver),
                ..Filter::new(Channels::Few(&channels), Carries::All)
            };
            let mut feed = Feed::default();
            feed.cursor.awareness = limit.cursor;
            feed.until.awareness = newest;
            let mut is_any = false;
            let carried = feed.carry(log, filter, |item| {
                if let Item::Value(order, value) = item {
                    is_any = true;
                    match stream.takes(order, value) {
                        true => self.stream.insert(order),
                        false => self.datagrams.insert(order),
                    };
                }
                true
            });
            debug_assert!(carried.is_ok(), "no transactions are due");
            limit.cursor = newest;
            if is_any {
                // The next turn is counted from the planned time of this one, so that late ticks do
                // not lower the average rate.
                let next = limit.turn + limit.interval;
                limit.turn = if next > now { next } else { now + limit.interval };
            }
        }
        // Values that newer ones replaced before the transport was ready are not sent.
        for waiting in [&mut self.stream, &mut self.datagrams] {
            waiting.retain(|&order| log.value(order).is_some());
        }
    }
}
