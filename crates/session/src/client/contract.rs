//! What goes into a client and what comes out of it.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::{ALL, Codec, Costs};

use super::Event;
use crate::{Access, Compress, Limits, Redundancy};

/// What a client is made of.
#[derive(Debug, Clone)]
pub struct Config {
    /// The room to join, 1 to 256 octets.
    pub room: String,
    /// For the server's authorisation hook; opaque.
    pub token: Vec<u8>,
    /// What the others are told of this participant; opaque.
    pub presence: Vec<u8>,
    /// Spreads reconnections apart; any random number. The core has no randomness of its own.
    pub seed: u64,
    /// Whether messages are compressed, if the server can: bodies, and messages of channels that ask for a codec. Off
    /// is for debugging.
    pub compress: bool,
    /// What is sent again over datagrams. Other than the default is for measuring.
    pub redundancy: Redundancy,
    /// What this end can pack and unpack single messages with; see [`Client::set_codecs`](super::Client::set_codecs).
    pub codecs: &'static [&'static dyn Codec],
    /// What they cost here, for channels that leave the choice to Groupwire: [`Costs::measure`] knows better than what is
    /// built in.
    pub costs: Costs,
    /// A clock, to measure what packing takes while it is done; without one it is held to take what `costs` say.
    pub clock: Option<fn() -> Duration>,
    /// What this end accepts and keeps.
    pub limits: Limits,
}

impl Config {
    /// A participant of `room` with everything else as usual.
    pub fn new(room: &str) -> Self {
        Config {
            room: room.to_string(),
            token: Vec::new(),
            presence: Vec::new(),
            seed: 1,
            compress: true,
            redundancy: Redundancy::default(),
            codecs: ALL,
            costs: Costs::reference(),
            clock: None,
            limits: Limits::default(),
        }
    }
}

/// What happened outside.
#[derive(Debug)]
pub enum Input<'a> {
    /// A transport is open: the one asked for by [`Output::Dial`], or a better one than that in use. Then the session
    /// moves to it; the shell closes the old one and reports nothing more of it.
    Opened {
        /// Octets that a datagram of it may have; 0: it has none.
        max_datagram: usize,
    },
    /// A packet came.
    Packet(&'a [u8]),
    /// A datagram came.
    Datagram(&'a [u8]),
    /// The transport took one packet of [`Output::Send`]; there is room for another.
    Sent,
    /// One of [`Output::Datagram`] has left, or was dropped.
    DatagramSent,
    /// The transport is closed, or could not be opened.
    Closed,
    /// There is reason to believe that the network is back: what waits to dial does so now.
    Hurry,
    /// Time passed.
    Timeout,
}

/// What to do outside.
#[derive(Debug)]
pub enum Output {
    /// Open a transport, then report [`Input::Opened`] or [`Input::Closed`].
    Dial,
    /// Send this packet, then report [`Input::Sent`].
    Send(Vec<u8>),
    /// Send this datagram, or drop it when it cannot leave soon, then report [`Input::DatagramSent`].
    Datagram(Vec<u8>),
    /// Close the transport once what was sent is out, then report [`Input::Closed`].
    Hangup,
    /// Tell the application.
    Event(Event),
    /// Nothing more until an input comes, or until this time with [`Input::Timeout`].
    Timeout(Option<Duration>),
}

/// A channel of one client, by the order in which they were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ChannelId(pub u32);

/// How a channel is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelOptions {
    /// Whether it is for sending, receiving, or both.
    pub access: Access,
    /// How its messages become small, both ways, on the link of this participant.
    pub compress: Compress,
}

impl Default for ChannelOptions {
    fn default() -> Self {
        ChannelOptions { access: Access::FULL, compress: Compress::Template }
    }
}

/// What to send.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outgoing<'a> {
    /// The message; UTF-8 if `text`.
    pub bytes: &'a [u8],
    /// Whether the receiver is handed text.
    pub text: bool,
    /// On a conflated channel: only the newest value of each of this participant's keys matters.
    pub key: Option<&'a [u8]>,
    /// Instead of the channel's.
    pub priority: Option<u8>,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// On its way, or waiting for its turn.
    Accepted,
    /// The same, and it replaced an older value of its key that had not been sent.
    Conflated,
    /// Too much is waiting; nothing was taken. [`Event::Drain`] says when to try again.
    NotNow,
}

/// Totals since the client was made. "Before" counts the bytes of messages, "after" whole packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Messages handed to the transport.
    pub messages_out: u64,
    /// Their bytes.
    pub bytes_out_before: u64,
    /// Packets handed to the transport.
    pub packets_out: u64,
    /// Their bytes.
    pub bytes_out_after: u64,
    /// Messages delivered.
    pub messages_in: u64,
    /// Their bytes.
    pub bytes_in_before: u64,
    /// Packets received.
    pub packets_in: u64,
    /// Their bytes.
    pub bytes_in_after: u64,
    /// Transports opened after the first.
    pub reconnects: u64,
    /// Awareness values replaced by newer ones before they were sent.
    pub conflated: u64,
}
