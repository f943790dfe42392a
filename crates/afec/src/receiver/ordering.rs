//! The message as it is passed to the application, and the newest message of each key of a
//! conflated channel (one on which a newer value of a key replaces the older ones).

use core::time::Duration;

use super::channel::Channel;
use crate::ids::{ChannelId, Key, MessageIndex};

/// The most keys whose newest message is remembered; the sender has the same limit.
const KEYS: usize = 64;

/// A message as it is passed to the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The number of the message's channel.
    pub channel: ChannelId,
    /// The count of the message among the messages of the channel, from 0.
    pub index: u32,
    /// The key of the message, if the channel is conflated.
    pub key: Option<u32>,
    /// The age of the message: the time since the application at the message's first sender had it.
    /// It is the sum of the age when the packet was sent, half of the round trip, and the delay in
    /// queues.
    pub age: Duration,
    /// True if the message arrived only because it was repeated.
    pub recovered: bool,
    /// The bytes of the message.
    pub payload: &'a [u8],
}

impl Channel {
    /// Whether the message with index `index` is the newest value of its key so far. If it is, it
    /// is remembered as the newest one.
    pub(super) fn is_newest(&mut self, key: Option<Key>, index: MessageIndex) -> bool {
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
