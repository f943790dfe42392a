//! The driving interface of a client: its configuration, its inputs and its outputs.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::{ALL, Codec, Costs};

use super::event::Event;
use crate::limits::MAX_STORED_PART;
use crate::{Access, Compress, Limits, ModelMemory, ParticipantId, Redundancy};

/// The configuration of a client.
#[derive(Debug, Clone)]
pub struct Config {
    /// The room to join, a name of 1 to 256 bytes.
    pub room: String,
    /// A token for the server, whose [`Authority`](crate::Authority) decides by it who may join.
    pub token: Vec<u8>,
    /// The presence of this participant: bytes that the other participants receive about it. The
    /// session does not interpret them.
    pub presence: Vec<u8>,
    /// A random number from which the waiting times before reconnections are made, so that clients
    /// do not all reconnect at once. The core has no randomness of its own.
    pub seed: u64,
    /// True if messages are compressed, provided that the server can read that. `false` is for
    /// debugging.
    pub compress: bool,
    /// The memory of the models that compress messages, at both ends of this client's connection.
    /// Less memory takes more bytes for each message.
    pub memory: ModelMemory,
    /// True if the client begins with plain messages over the stream, without compression, codecs
    /// and datagrams, whatever the other fields say. It is for programs that load the code for
    /// these after their first messages; see [`Client::complete`](super::Client::complete).
    pub plain: bool,
    /// Which messages are sent again in datagrams. Values other than the default are for measuring.
    pub redundancy: Redundancy,
    /// The codecs that single messages are packed and unpacked with; see
    /// [`Client::set_codecs`](super::Client::set_codecs).
    pub codecs: &'static [&'static dyn Codec],
    /// The costs of these codecs on this machine, by which the codec is chosen for channels that
    /// name none. [`Costs::measure`] is more exact than the built-in table.
    pub costs: Costs,
    /// A clock that measures how long packing takes. Without one, the time is estimated from
    /// `costs`.
    pub clock: Option<fn() -> Duration>,
    /// The limits of what this end accepts and keeps.
    pub limits: Limits,
}

impl Config {
    /// A configuration for `room` with defaults for everything else.
    pub fn new(room: &str) -> Self {
        Config {
            room: room.to_string(),
            token: Vec::new(),
            presence: Vec::new(),
            seed: 1,
            compress: true,
            memory: ModelMemory::default(),
            plain: false,
            redundancy: Redundancy::default(),
            codecs: ALL,
            costs: Costs::reference(),
            clock: None,
            limits: Limits { max_snapshot: MAX_STORED_PART, ..Limits::default() },
        }
    }
}

/// What happened outside of the client.
#[derive(Debug)]
pub enum Input<'a> {
    /// A transport is open: the one that [`Output::Dial`] asked for, or a better one than the
    /// transport in use. In the second case the session moves to the new transport; the caller
    /// closes the old one and passes no more inputs about it.
    Opened {
        /// Bytes of its largest datagram; 0: it has no datagrams.
        max_datagram: usize,
    },
    /// A packet was received.
    Packet(&'a [u8]),
    /// A datagram was received.
    Datagram(&'a [u8]),
    /// The transport sent one packet of [`Output::Send`] and can accept another.
    Sent,
    /// The transport sent one datagram of [`Output::Datagram`], or dropped it unnoticed.
    DatagramSent,
    /// The transport dropped one datagram of [`Output::Datagram`] before it left.
    DatagramDropped,
    /// The transport is closed, or could not be opened.
    Closed,
    /// The network seems to be back: a client that waits to dial does so now. If the server stated
    /// a waiting time in BYE, the client dials when that time is over.
    Hurry,
    /// Time passed.
    Timeout,
}

/// An output of the client, which the caller carries out.
#[derive(Debug)]
pub enum Output {
    /// Open a transport, then report [`Input::Opened`] or [`Input::Closed`].
    Dial,
    /// Send this packet, then report [`Input::Sent`].
    Send(Vec<u8>),
    /// Send this datagram, or drop it when it cannot leave soon, then report
    /// [`Input::DatagramSent`] or [`Input::DatagramDropped`].
    Datagram(Vec<u8>),
    /// Close the transport once all earlier packets are sent, then report [`Input::Closed`].
    Hangup,
    /// Hand this event to the application.
    Event(Event),
    /// There is nothing to do until the next input. If there is none before this time, pass
    /// [`Input::Timeout`] then; `None`: no timeout is needed.
    Timeout(Option<Duration>),
}

/// The options of a channel that is being opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelOptions {
    /// Whether the channel is for sending, receiving, or both.
    pub access: Access,
    /// How its messages are compressed between this participant and the server, in both directions.
    pub compress: Compress,
}

impl Default for ChannelOptions {
    fn default() -> Self {
        ChannelOptions { access: Access::FULL, compress: Compress::Template }
    }
}

/// A message to send.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outgoing<'a> {
    /// The content; UTF-8 if `text`.
    pub bytes: &'a [u8],
    /// True if receivers get the message as text.
    pub text: bool,
    /// On a conflated channel, the key whose older values of this participant it replaces.
    pub key: Option<&'a [u8]>,
    /// The priority of this message. `None`: the channel's priority.
    pub priority: Option<u8>,
    /// The only participant that receives it; `None`: all that receive the channel. A channel of
    /// awareness permits only `None`. A message to one participant is not cut into pieces, which
    /// limits its size.
    pub to: Option<Recipient>,
}

/// The only receiver of a message. [`Event::Receipt`] tells its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipient {
    /// The participant.
    pub participant: ParticipantId,
    /// A number of the application's own, by which it knows the message in [`Event::Receipt`].
    pub tag: u32,
}

/// What happened to a message that the application passed to [`Client::send`](super::Client::send).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// The message is on its way, or waits to be sent.
    Accepted,
    /// The message waits to be sent, and replaced an older value of its key that had not been sent.
    Conflated,
    /// The message was not accepted, because too many messages wait. [`Event::Drain`] says when to
    /// try again.
    NotNow,
}

/// Totals since the client was made. "Before" counts the bytes of messages, "after" whole packets.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Messages handed to the transport.
    pub messages_out: u64,
    /// Bytes of these messages.
    pub bytes_out_before: u64,
    /// Packets handed to the transport.
    pub packets_out: u64,
    /// Bytes of these packets.
    pub bytes_out_after: u64,
    /// The part of `bytes_out_after` that messages took, repeats included: the payloads. The others
    /// are headers, acknowledgements, pings, presence and snapshots.
    pub payload_bytes_out: u64,
    /// Messages delivered.
    pub messages_in: u64,
    /// Bytes of these messages.
    pub bytes_in_before: u64,
    /// Packets received.
    pub packets_in: u64,
    /// Bytes of these packets.
    pub bytes_in_after: u64,
    /// The part of `bytes_in_after` that messages took, as in `payload_bytes_out`.
    pub payload_bytes_in: u64,
    /// Received datagrams that could not be read: they came too late for their coder, or were
    /// malformed. Those of fan-out groups do not count.
    pub datagrams_unread: u64,
    /// Joins after a transport was lost. A move from a transport in use to another one does not
    /// count.
    pub reconnects: u64,
    /// Awareness values replaced by newer ones before they were sent.
    pub conflated: u64,
}
