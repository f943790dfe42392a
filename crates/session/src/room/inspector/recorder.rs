//! What participants publish, for the recording of a session.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use crate::ids::{ChannelNo, ParticipantId};
use crate::wire::record::Record;

/// Octets of messages that may wait to be fetched: some seconds of a busy room.
const MOST_BYTES: usize = 16 << 20;

/// What a message takes beside its bytes.
const OVERHEAD: usize = 64;

/// A message as it came into the room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// When it was sent, by the room's clock.
    pub at: Duration,
    /// By whom.
    pub sender: ParticipantId,
    /// On which channel.
    pub channel: ChannelNo,
    /// The message.
    pub bytes: Box<[u8]>,
}

/// Keeps messages while it is on.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    is_on: bool,
    messages: Vec<Recorded>,
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
        self.messages.push(Recorded {
            at,
            sender,
            channel: record.channel,
            bytes: record.bytes.into(),
        });
    }
}

impl Recorder {
    /// Begins or ends keeping messages.
    pub(super) fn turn(&mut self, on: bool) {
        *self = Recorder { is_on: on, ..Recorder::default() };
    }

    /// The messages since the last call, and how many were missed since recording began, as nobody fetched them in time.
    pub(super) fn take(&mut self) -> (Vec<Recorded>, u64) {
        self.bytes = 0;
        (core::mem::take(&mut self.messages), self.missed)
    }
}
