//! The messages of one channel that the agent can still read.

use std::collections::VecDeque;

use groupwire_client::Incoming;

use crate::limits::Limits;

/// A message with its number in the room's buffers.
#[derive(Debug)]
pub(crate) struct Stored {
    /// Numbers rise by arrival, over all channels of a room.
    pub(crate) number: u64,
    pub(crate) message: Incoming,
}

/// The newest messages of a channel, within limits.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    messages: VecDeque<Stored>,
    bytes: usize,
    /// The number of the newest message that was dropped; 0: none was.
    dropped_up_to: u64,
}

impl Buffer {
    pub(crate) fn push(&mut self, limits: &Limits, number: u64, message: Incoming) {
        self.bytes += cost(&message);
        self.messages.push_back(Stored { number, message });
        while self.messages.len() > limits.buffered_messages || self.bytes > limits.buffered_bytes {
            let Some(oldest) = self.messages.pop_front() else { break };
            self.bytes -= cost(&oldest.message);
            self.dropped_up_to = oldest.number;
        }
    }

    /// The messages with numbers above `after`, oldest first.
    pub(crate) fn after(&self, after: u64) -> impl Iterator<Item = &Stored> {
        let first = self.messages.partition_point(|stored| stored.number <= after);
        self.messages.range(first..)
    }

    /// True if messages with numbers above `after` were dropped.
    pub(crate) fn has_dropped(&self, after: u64) -> bool {
        self.dropped_up_to > after
    }

    /// Forgets all messages: an administrator reset the channel.
    pub(crate) fn clear(&mut self) {
        *self = Buffer::default();
    }
}

/// Approximate bytes of memory of a message.
fn cost(message: &Incoming) -> usize {
    size_of::<Stored>() + message.bytes.len() + message.key.as_ref().map_or(0, Vec::len)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::*;

    pub(crate) fn message(bytes: usize) -> Incoming {
        Incoming {
            channel: Default::default(),
            sender: 1.into(),
            bytes: vec![b'x'; bytes],
            text: true,
            key: None,
            priority: None,
            age: Duration::ZERO,
            position: Default::default(),
            index: Default::default(),
            own: false,
            stale: false,
            state: false,
            departed: None,
            to: None,
        }
    }

    #[test]
    fn the_oldest_messages_are_dropped_and_that_shows() {
        let limits = Limits { buffered_messages: 3, buffered_bytes: 5000, ..Limits::default() };
        let mut buffer = Buffer::default();
        (1..=4).for_each(|number| buffer.push(&limits, number, message(1)));
        let numbers = |buffer: &Buffer, after| {
            buffer.after(after).map(|stored| stored.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&buffer, 0), [2, 3, 4]);
        assert_eq!(numbers(&buffer, 3), [4]);
        assert!(buffer.has_dropped(0) && !buffer.has_dropped(1));
        // One message that is larger than the limit leaves nothing.
        buffer.push(&limits, 5, message(6000));
        assert_eq!((buffer.messages.len(), buffer.bytes), (0, 0));
        assert!(buffer.has_dropped(4));
    }
}
