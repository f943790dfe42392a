//! What an application hands in, and what it hears of it.

use core::time::Duration;

use thiserror::Error;

use super::{CHANNELS, LAST_CHANNEL};

/// A message as an application hands it in.
#[derive(Debug, Clone, Copy)]
pub struct Submission<'a> {
    /// What it replaces, on a channel that conflates; else ignored.
    pub key: u32,
    /// How old it is already, if it came over another hop.
    pub age: Duration,
    /// Its bytes.
    pub payload: &'a [u8],
}

impl<'a> Submission<'a> {
    /// A new message without a key.
    pub fn new(payload: &'a [u8]) -> Self {
        Submission { key: 0, age: Duration::ZERO, payload }
    }
}

/// Why a message was not taken, or a channel not opened. The application is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SendError {
    /// The channel was not opened.
    #[error("channel {0} is not open: open it first")]
    NotOpen(u32),
    /// The channel is open already.
    #[error("channel {0} is open already")]
    Open(u32),
    /// The channel's number is too large.
    #[error("channel {0}: the largest number is {LAST_CHANNEL}")]
    Id(u32),
    /// Too many channels.
    #[error("no more than {CHANNELS} channels can be open")]
    TooManyChannels,
    /// Something in the QoS makes no sense.
    #[error("the channel's {0}")]
    Qos(&'static str),
    /// The message fits no packet.
    #[error(
        "a message of {len} bytes does not fit a packet of the path, which takes {room}: send it reliably"
    )]
    TooLarge {
        /// Its bytes.
        len: usize,
        /// What would fit.
        room: usize,
    },
}

/// What became of a message that was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// It goes with one of the next packets.
    Accepted,
    /// It goes, in the place of an older one of its key that had not been sent.
    Conflated,
    /// Too many messages wait; the oldest was dropped for it.
    Dropped,
}
