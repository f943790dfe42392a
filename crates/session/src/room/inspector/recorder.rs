//! Records the messages that participants publish.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use crate::ids::{ChannelNo, ParticipantId, Position};
use crate::wire::record::Record;

/// The most bytes of messages that wait to be fetched: some seconds of a busy room. Further
/// messages are dropped.
const MOST_BYTES: usize = 16 << 20;

/// Bytes of memory that a message takes in addition to its content.
const OVERHEAD: usize = 64;

/// A message as it came into the room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// When the sender's application made the message, on the room's clock.
    pub at: Duration,
    /// The participant that sent it.
    pub sender: ParticipantId,
    /// The channel on which it was sent.
    pub channel: ChannelNo,
    /// The message.
    pub bytes: Box<[u8]>,
}

/// Keeps messages while recording is on.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) is_on: bool,
    /// Each message with the log's newest position at that time.
    messages: VecDeque<(Position, Recorded)>,
    bytes: usize,
    missed: u64,
}

impl Recorder {
    pub(super) fn push(
        &mut self,
        now: Duration,
        one_way: Duration,
        sender: ParticipantId,
        record: &Record<'_>,
        head: Position,
    ) {
        if !self.is_on {
            return;
        }
        let bytes = record.bytes.len() + OVERHEAD;
        if self.bytes + bytes > MOST_BYTES {
            self.missed += 1;
            return;
        }
        self.bytes += bytes;
        let at = now.saturating_sub(record.age).saturating_sub(one_way);
        let (channel, bytes) = (record.channel, record.bytes.into());
        self.messages.push_back((head, Recorded { at, sender, channel, bytes }));
    }
}

impl Recorder {
    /// Begins or ends keeping messages.
    pub(super) fn turn(&mut self, on: bool) {
        *self = Recorder { is_on: on, ..Recorder::default() };
    }

    /// The messages since the last call that came while the log's head was at most `durable`, and
    /// the number of messages that were dropped since recording began because they were not fetched
    /// in time.
    pub(super) fn take(&mut self, durable: Position) -> (Vec<Recorded>, u64) {
        let count = self.messages.partition_point(|(head, _)| *head <= durable);
        let taken: Vec<Recorded> = self.messages.drain(..count).map(|(_, one)| one).collect();
        self.bytes -= taken.iter().map(|one| one.bytes.len() + OVERHEAD).sum::<usize>();
        (taken, self.missed)
    }
}
