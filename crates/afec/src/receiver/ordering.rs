//! Handing messages to the application in the order that the channel asks for.

use alloc::vec::Vec;
use core::time::Duration;

use super::channel::Channel;
use crate::ids::{Key, MessageIndex};
use crate::qos::Order;

/// The most messages that are held back until an older one comes: two seconds of telepointer messages. Chosen by judgement;
/// not tuned.
const HELD: usize = 64;
/// The most bytes of held messages, whatever the size of the packets that a peer sends: a quarter of the 16 KB that
/// [`Endpoint`](crate::Endpoint) promises for a channel and direction.
const HELD_BYTES: usize = 4 * 1024;
/// The most emptied buffers that are kept for reuse.
const SPARE: usize = 8;
/// The largest of these buffers, in bytes.
const SPARE_BYTES: usize = 256;
/// The most keys whose newest message is remembered, as at the sender.
const KEYS: usize = 64;

/// A message as it is handed to the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The number of its channel.
    pub channel: u32,
    /// Its place among the messages of the channel, from 0.
    pub index: u32,
    /// Its key, if the channel is conflated.
    pub key: Option<u32>,
    /// The time since the first application had the message: its age when the packet was sent, half of the round trip, and the
    /// delay in queues.
    pub age: Duration,
    /// True if the message came only because it was repeated.
    pub recovered: bool,
    /// The bytes of the message.
    pub payload: &'a [u8],
}

/// A message that is handed over, or held back until older ones have come.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) index: MessageIndex,
    /// When the first application had the message.
    pub(super) origin: Duration,
    pub(super) key: Option<Key>,
    pub(super) recovered: bool,
    /// The bytes of the message, while it is held back.
    pub(super) payload: Vec<u8>,
}

impl Channel {
    /// Hands a message to `deliver`, now or once the older ones have come, or drops it if the channel is conflated and a newer
    /// value was handed over before.
    pub(super) fn hand_over<F: FnMut(Delivery<'_>)>(
        &mut self,
        now: Duration,
        mut held: Held,
        payload: &[u8],
        deliver: &mut F,
    ) {
        if self.qos.order == Order::Newest && !self.is_newest(held.key, held.index) {
            self.stats.superseded += 1;
            return;
        }
        // An older message may be held back that waits for none any more.
        let older_held = self.held.front().is_some_and(|front| front.index.is_before(held.index));
        let in_order = self.qos.order == Order::InOrder;
        if !(in_order && (older_held || self.waits_for_older(held.index))) {
            deliver(self.delivery(now, &held, payload));
            return self.release(now, deliver);
        }
        // A missing message is no younger than this one. If its guessed origin were younger, this message would wait beyond
        // its own deadline.
        for missing in self.missing.iter_mut().filter(|missing| missing.index.is_before(held.index))
        {
            missing.origin = missing.origin.min(held.origin);
        }
        held.payload = self.spare.pop().unwrap_or_default();
        held.payload.extend_from_slice(payload);
        self.held_bytes += held.payload.capacity();
        let place = self.held.partition_point(|other| other.index.is_before(held.index));
        self.held.insert(place, held);
        self.release(now, deliver);
        while self.held.len() >= HELD || self.held_bytes > HELD_BYTES {
            let oldest = self.held.front().expect("too many messages are held").index;
            while self.missing.front().is_some_and(|missing| missing.index.is_before(oldest)) {
                self.give_up_oldest();
            }
            self.release(now, deliver);
        }
    }

    fn delivery<'a>(&self, now: Duration, held: &Held, payload: &'a [u8]) -> Delivery<'a> {
        Delivery {
            channel: self.id.0,
            index: held.index.0,
            key: held.key.map(|key| key.0),
            age: now.saturating_sub(held.origin),
            recovered: held.recovered,
            payload,
        }
    }

    /// Hands over the held messages that wait for no older one any more.
    pub(super) fn release<F: FnMut(Delivery<'_>)>(&mut self, now: Duration, deliver: &mut F) {
        while let Some(index) = self.held.front().map(|held| held.index) {
            if self.waits_for_older(index) {
                return;
            }
            let mut held = self.held.pop_front().expect("the loop looked at it");
            let mut payload = core::mem::take(&mut held.payload);
            self.held_bytes -= payload.capacity();
            deliver(self.delivery(now, &held, &payload));
            if self.spare.len() < SPARE && payload.capacity() <= SPARE_BYTES {
                payload.clear();
                self.spare.push(payload);
            }
        }
    }

    fn waits_for_older(&self, index: MessageIndex) -> bool {
        self.missing.iter().any(|missing| !missing.judged && missing.index.is_before(index))
    }

    /// Whether this is the newest value of its key so far; remembers it if so.
    fn is_newest(&mut self, key: Option<Key>, index: MessageIndex) -> bool {
        let key = key.unwrap_or_default();
        if let Some(place) = self.keys.iter().position(|(known, _)| *known == key) {
            if index.is_before(self.keys[place].1) {
                return false;
            }
            self.keys.remove(place);
        } else if self.keys.len() == KEYS {
            self.keys.remove(0);
        }
        self.keys.push((key, index));
        true
    }
}
