//! The message as it is handed to the application, and the newest message of each key of a conflated channel.

use core::time::Duration;

use super::channel::Channel;
use crate::ids::{Key, MessageIndex};

/// The most keys whose newest message is remembered, as at the sender.
const KEYS: usize = 64;

/// A message as it is handed to the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The number of the message's channel.
    pub channel: u32,
    /// The message's place among the messages of the channel, from 0.
    pub index: u32,
    /// Its key, if the channel is conflated.
    pub key: Option<u32>,
    /// The time since the application at the message's first sender had it: its age when the packet was sent, half of
    /// the round trip, and the delay in queues.
    pub age: Duration,
    /// True if the message came only because it was repeated.
    pub recovered: bool,
    /// The bytes of the message.
    pub payload: &'a [u8],
}

impl Channel {
    /// Whether this is the newest value of its key so far; remembers it if so.
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
