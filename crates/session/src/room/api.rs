//! What goes into a room and what comes out of it.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::{ALL, Codec, Costs};

use crate::ids::{LinkId, ParticipantId, Position};
use crate::wire::handshake::Secret;
use crate::wire::opening::Opening;
use crate::{Error, Limits, Qos, Redundancy, Timing};

/// What a room is made of.
#[derive(Debug, Clone)]
pub struct Config {
    /// Its name, as clients ask for it.
    pub name: String,
    /// A number that no earlier life of this room had: random, or the time of its making.
    pub incarnation: u64,
    /// Tick and keep-alive.
    pub timing: Timing,
    /// What it accepts and keeps.
    pub limits: Limits,
    /// With more receivers of the same channels than this, what they are sent as datagrams is coded once for all.
    pub share_datagrams_above: usize,
    /// Whether messages are compressed for clients that can: payloads, and messages for those who ask for a codec. Off is
    /// for debugging.
    pub compress: bool,
    /// What is sent again over datagrams. Other than the default is for measuring.
    pub redundancy: Redundancy,
    /// What single messages are unpacked and packed with. Each costs memory once it is used, and the slow ones time.
    pub codecs: &'static [&'static dyn Codec],
    /// What they cost here, for participants who leave the choice to the room.
    pub costs: Costs,
    /// When more participants than this have the same channels open, what goes over their streams is coded once for all.
    pub share_stream_above: usize,
    /// A clock, to measure what packing takes while it is done; without one it is held to take what `costs` say.
    pub clock: Option<fn() -> Duration>,
}

impl Config {
    /// A room with everything else as usual.
    pub fn new(name: &str, incarnation: u64) -> Self {
        Config {
            name: name.to_string(),
            incarnation,
            timing: Timing::default(),
            limits: Limits::default(),
            share_datagrams_above: 16,
            compress: true,
            redundancy: Redundancy::default(),
            codecs: ALL,
            costs: Costs::reference(),
            share_stream_above: 4,
            clock: None,
        }
    }
}

/// What happened outside.
#[derive(Debug)]
pub enum Input<'a> {
    /// A client's first packet came over a new transport.
    Join {
        /// The transport.
        link: LinkId,
        /// The packet, read so far as to know the room.
        opening: &'a Opening<'a>,
        /// Fresh random bytes, should the client become a new participant.
        secret: Secret,
        /// Octets that a datagram of the transport may have; 0: it has none.
        max_datagram: usize,
    },
    /// A later packet.
    Packet {
        /// The transport.
        link: LinkId,
        /// The packet.
        packet: &'a [u8],
    },
    /// A datagram came.
    Datagram {
        /// The transport.
        link: LinkId,
        /// The packet.
        packet: &'a [u8],
    },
    /// The transport took one packet of [`Output::Send`].
    Sent {
        /// The transport.
        link: LinkId,
    },
    /// One of [`Output::Datagram`] has left, or was dropped.
    DatagramSent {
        /// The transport.
        link: LinkId,
    },
    /// The transport saw the other end break the rules.
    Fail {
        /// The transport.
        link: LinkId,
        /// Which rule.
        error: Error,
    },
    /// The transport is closed.
    Closed {
        /// The transport.
        link: LinkId,
    },
    /// The server stops: say goodbye to everybody, who may come back after `retry`.
    Shutdown {
        /// When a new server will be there, about.
        retry: Duration,
    },
    /// Time passed.
    Timeout,
}

/// What to do outside.
#[derive(Debug)]
pub enum Output {
    /// Send this packet, then report [`Input::Sent`].
    Send {
        /// The transport.
        link: LinkId,
        /// The packet, or its beginning, which may be empty.
        packet: Vec<u8>,
        /// The rest of it, which others are sent as well.
        body: Option<Arc<[u8]>>,
    },
    /// Send this datagram, or drop it when it cannot leave soon, then report [`Input::DatagramSent`], unless it has a body
    /// that others share: those follow the tick, whatever becomes of them.
    Datagram {
        /// The transport.
        link: LinkId,
        /// The packet, or what is to stand before the body.
        packet: Vec<u8>,
        /// The same bytes for many.
        body: Option<Arc<[u8]>>,
    },
    /// Send this last packet if the transport takes it at once, and close. No [`Input::Closed`] is due.
    Close {
        /// The transport.
        link: LinkId,
        /// The last packet, which gives the reason.
        packet: Vec<u8>,
        /// The same for the transport's own close message; `None`: all is well.
        reason: Option<Error>,
    },
    /// For the log.
    Event(Event),
    /// Nothing more until an input comes, or until this time with [`Input::Timeout`].
    Timeout(Option<Duration>),
}

/// The packet of an [`Output::Send`] in one piece, for transports that need it so.
pub fn whole_packet(mut packet: Vec<u8>, body: Option<&[u8]>) -> Vec<u8> {
    packet.extend_from_slice(body.unwrap_or_default());
    packet
}

/// Something for the log.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A participant joined.
    Joined {
        /// Who.
        participant: ParticipantId,
        /// Over which transport.
        link: LinkId,
        /// Whether it came back to its session.
        resumed: bool,
    },
    /// A transport was turned away before it became a participant.
    Refused {
        /// Which.
        link: LinkId,
        /// Why.
        error: Error,
    },
    /// A participant's transport is gone; it may come back.
    Away {
        /// Who.
        participant: ParticipantId,
        /// Why, if it was closed from here.
        error: Option<Error>,
    },
    /// A participant left for good.
    Left {
        /// Who.
        participant: ParticipantId,
    },
    /// A channel was opened for the first time.
    Channel {
        /// Its name.
        name: String,
        /// What holds.
        qos: Qos,
    },
    /// A channel's QoS became another one.
    Changed {
        /// Its name.
        name: String,
        /// What holds.
        qos: Qos,
        /// Who asked for it.
        participant: ParticipantId,
    },
    /// A participant uploaded a snapshot.
    Snapshot {
        /// For all transactions up to this one.
        as_of: Position,
        /// In bytes.
        size: usize,
    },
}

/// Totals of a room. "Before" counts the bytes of messages, "after" whole packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Participants with a connection.
    pub here: usize,
    /// Messages that came in.
    pub messages_in: u64,
    /// Their bytes.
    pub bytes_in_before: u64,
    /// Packets that came in.
    pub packets_in: u64,
    /// Their bytes.
    pub bytes_in_after: u64,
    /// Messages sent out, counted once per receiver. Acknowledgements of own transactions are not messages.
    pub deliveries: u64,
    /// Their bytes.
    pub bytes_out_before: u64,
    /// Packets that went out.
    pub packets_out: u64,
    /// Their bytes.
    pub bytes_out_after: u64,
    /// Awareness values replaced by newer ones of their key.
    pub conflated: u64,
    /// Aggregated awareness that some receiver was too slow for.
    pub expired: u64,
    /// Datagrams that came too late to be understood, or were nonsense.
    pub datagrams_unread: u64,
    /// Bytes of messages, packed forms of them and snapshot that the room holds, and of the codecs at work.
    pub memory: usize,
}
