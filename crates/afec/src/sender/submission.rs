//! The messages that an application submits, and the results of submitting them. On a conflated
//! channel only the newest value of each key matters.

use core::time::Duration;

use thiserror::Error;

use crate::ids::ChannelId;

/// The most channels of an endpoint. While the sender fills a packet, it marks channels in the bits
/// of a `u64`.
pub const CHANNELS: usize = 64;

/// The number of messages and bytes in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PacketSummary {
    /// Messages that are sent for the first time.
    pub new: u32,
    /// Messages that are sent again.
    pub repeated: u32,
    /// Bytes of the repeated messages, each with its header.
    pub repeated_bytes: u32,
    /// Bytes of all messages, each with its header.
    pub bytes: u32,
    /// Bytes of the report to the other end.
    pub report_bytes: u32,
}

/// A message as an application hands it in.
#[derive(Debug, Clone, Copy)]
pub struct Submission<'a> {
    /// The key whose older values this message replaces, on a conflated channel. Ignored on other
    /// channels.
    pub key: u32,
    /// The age of the message. It is zero unless the message came over an earlier path.
    pub age: Duration,
    /// The bytes of the message.
    pub payload: &'a [u8],
}

impl<'a> Submission<'a> {
    /// A new message without a key.
    pub fn new(payload: &'a [u8]) -> Self {
        Submission { key: 0, age: Duration::ZERO, payload }
    }
}

/// Why a message was not accepted, or a channel not opened. The application is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SendError {
    /// The channel was not opened.
    #[error("channel {0} is not open: open it first")]
    NotOpen(u32),
    /// The channel is open already.
    #[error("channel {0} is open already")]
    Open(u32),
    /// The channel's number is too large.
    #[error("channel {0}: the largest number is {max}", max = ChannelId::MAX)]
    Id(u32),
    /// Too many channels are open.
    #[error("no more than {CHANNELS} channels can be open")]
    TooManyChannels,
    /// The QoS contradicts itself; the text says how.
    #[error("the channel's {0}")]
    Qos(&'static str),
    /// The message fits into no packet.
    #[error(
        "a message of {len} bytes does not fit a packet of the path, which takes {room}: send it reliably"
    )]
    TooLarge {
        /// The bytes of the message with its header.
        len: usize,
        /// The bytes that a packet holds for messages.
        room: usize,
    },
}

/// What happened to a message that was submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// The message waits and will be sent in one of the next packets.
    Accepted,
    /// The message waits in place of an older value of the same key, which is not sent any more.
    Conflated,
    /// The message waits, but too many messages were waiting already, so the oldest of these was
    /// dropped.
    Dropped,
}
