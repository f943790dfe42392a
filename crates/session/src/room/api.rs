//! The configuration of a room, its inputs and its outputs.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::{ALL, Codec, Costs};

use super::storage::stored::Write;
use crate::ids::{LinkId, ParticipantId, Position};
use crate::wire::opening::Opening;
use crate::{Durability, Error, Identity, Limits, Owner, Qos, Quotas, Redundancy, Secrets, Timing};

/// The configuration of a room.
#[derive(Debug, Clone)]
pub struct Config {
    /// The name by which clients join the room.
    pub name: String,
    /// A number that differs each time a room with this name is made anew, without its old log:
    /// random, or the present time.
    pub incarnation: u64,
    /// The times of ticks and keep-alives.
    pub timing: Timing,
    /// The limits of what the room accepts and stores.
    pub limits: Limits,
    /// What participants may send before they are slowed down.
    pub quotas: Quotas,
    /// When more receivers than this have the same channels open, the datagrams to them are coded
    /// once for all of them.
    pub share_datagrams_above: usize,
    /// Whether payloads, and single messages for clients that ask for a codec, are compressed for
    /// clients that support it. Switch it off only for debugging.
    pub compress: bool,
    /// How messages in datagrams are repeated. Values other than the default are only for
    /// measurements.
    pub redundancy: Redundancy,
    /// The codecs for single messages. Each codec takes memory once it is used, and the slow ones
    /// take time.
    pub codecs: &'static [&'static dyn Codec],
    /// The time that the codecs take on this machine, to choose one for participants that leave the
    /// choice to the room.
    pub costs: Costs,
    /// When more receivers than this have the same channels open, the streams to them are coded
    /// once for all of them.
    pub share_stream_above: usize,
    /// With more participants than this, the room is large: its participants are told only their
    /// number and the participants that act (wire W103).
    pub announce_everybody_up_to: usize,
    /// What a confirmed transaction survives. In every mode but [`Durability::Memory`], the caller
    /// has a store, carries out [`Output::Store`] and reports [`Input::Durable`].
    pub durability: Durability,
    /// The time of day at the room's time 0, as Unix time; zero if nothing is stored.
    pub wall: Duration,
    /// A number that differs each time the room is made or loaded: random, or the present time.
    pub load: u64,
    /// A clock to measure the time that the codecs take. `None`: the room uses the times in
    /// `costs`.
    pub clock: Option<fn() -> Duration>,
}

impl Config {
    /// A configuration with this name and incarnation, and defaults for everything else.
    pub fn new(name: &str, incarnation: u64) -> Self {
        Config {
            name: name.to_string(),
            incarnation,
            timing: Timing::default(),
            limits: Limits::default(),
            quotas: Quotas::default(),
            share_datagrams_above: 16,
            compress: true,
            redundancy: Redundancy::default(),
            codecs: ALL,
            costs: Costs::reference(),
            share_stream_above: 4,
            announce_everybody_up_to: 256,
            durability: Durability::Memory,
            wall: Duration::ZERO,
            load: 0,
            clock: None,
        }
    }
}

/// An event outside of the room that the room has to handle.
#[derive(Debug)]
pub enum Input<'a> {
    /// A client's first packet came over a new transport.
    Join {
        /// The transport.
        link: LinkId,
        /// The packet, of which HELLO has been read because it names the room.
        opening: &'a Opening<'a>,
        /// The identity of the client, which the server has permitted to join.
        identity: &'a Identity,
        /// Makes and checks the secrets by which participants resume.
        secrets: &'a dyn Secrets,
        /// The most bytes of a datagram; 0 if the transport has no datagrams.
        max_datagram: usize,
    },
    /// The participant sent a new token, which the server accepted.
    Renewed {
        /// The transport.
        link: LinkId,
        /// The identity from the new token. Its subject is the same as before; its rights may
        /// differ.
        identity: &'a Identity,
    },
    /// The participant's token expires soon: the client is asked for another one.
    TokenWanted {
        /// The transport.
        link: LinkId,
    },
    /// The client is connected to another server, which passes its packets on. It is told where it
    /// reaches this one.
    Owner {
        /// The transport.
        link: LinkId,
        /// The address of this server.
        owner: &'a Owner,
    },
    /// A later packet came over the stream.
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
    /// The transport took the packet of an [`Output::Send`].
    Sent {
        /// The transport.
        link: LinkId,
    },
    /// The transport could not send a packet of [`Room::poll_shared`](super::Room::poll_shared) at
    /// once, and keeps it. [`Input::Sent`] follows.
    Unsent {
        /// The transport.
        link: LinkId,
    },
    /// A datagram of [`Output::Datagram`] was sent, or dropped unnoticed.
    DatagramSent {
        /// The transport.
        link: LinkId,
    },
    /// A datagram of [`Output::Datagram`] was dropped before it left.
    DatagramDropped {
        /// The transport.
        link: LinkId,
    },
    /// The transport noticed that the client broke the protocol.
    Fail {
        /// The transport.
        link: LinkId,
        /// The rule that the client broke.
        error: Error,
    },
    /// The transport is closed.
    Closed {
        /// The transport.
        link: LinkId,
    },
    /// The server stops: the room sends BYE to all clients, each with another time to come back.
    Shutdown {
        /// The waiting time of the first client: after it, a new server will probably run.
        retry: Duration,
        /// The difference between the waiting times of two clients, so that they do not all come to
        /// the new server at once.
        step: Duration,
    },
    /// Another server has a [mirror](super::Room::mirror) of the room, over this transport. The
    /// room sends it packets by [`Output::Send`]; here, [`Input::Sent`] means that the mirror has
    /// handled a packet.
    Mirror {
        /// The transport.
        link: LinkId,
    },
    /// A packet came from a mirror.
    MirrorPacket {
        /// The transport.
        link: LinkId,
        /// The packet.
        packet: &'a [u8],
        /// Makes and checks the secrets by which participants resume.
        secrets: &'a dyn Secrets,
    },
    /// Changes of [`Output::Store`] are durable. They become durable in the order in which they
    /// were put out.
    Durable {
        /// The transactions up to this position are durable.
        position: Position,
        /// Numbers of participants up to this one are reserved.
        reserved: ParticipantId,
    },
    /// The time of [`Output::Timeout`] has come.
    Timeout,
}

/// A thing that the caller has to do.
#[derive(Debug)]
pub enum Output {
    /// Send this packet, then report [`Input::Sent`].
    Send {
        /// The transport.
        link: LinkId,
        /// The beginning of the packet, or all of it if `body` is `None`. May be empty if there is
        /// a body.
        packet: Vec<u8>,
        /// The rest of the packet: bytes that several transports are sent.
        body: Option<Arc<[u8]>>,
    },
    /// Send this datagram, or drop it if it cannot be sent soon. Then report
    /// [`Input::DatagramSent`] or [`Input::DatagramDropped`], but not for a datagram with a `body`:
    /// the room sends those at each tick without waiting for reports.
    Datagram {
        /// The transport.
        link: LinkId,
        /// The beginning of the datagram, or all of it if `body` is `None`.
        packet: Vec<u8>,
        /// The rest of the datagram: bytes that several transports are sent.
        body: Option<Arc<[u8]>>,
    },
    /// Send this last packet if the transport takes it at once, and close the transport. Do not
    /// report [`Input::Closed`].
    Close {
        /// The transport.
        link: LinkId,
        /// The last packet, which gives the reason.
        packet: Vec<u8>,
        /// The reason to give in the transport's own close message; `None` if the transport closes
        /// without an error.
        reason: Option<Error>,
    },
    /// The participant sent another token. Find out who it is, then report [`Input::Renewed`], or
    /// [`Input::Fail`] if the token is not good.
    Token {
        /// The transport.
        link: LinkId,
        /// The token, of at most 4,096 bytes.
        token: Vec<u8>,
    },
    /// The participant is above a quota: do not read the transport any further until this time has
    /// passed. What was read already may still be handed to the room.
    Delay {
        /// The transport.
        link: LinkId,
        /// The time from now on, of at most a second.
        delay: Duration,
    },
    /// Make this change durable, after those before it, then report [`Input::Durable`]. If the
    /// store has no space, try again later: the room takes only some more transactions meanwhile.
    Store(Write),
    /// Something changed in the room: for the server's own log and statistics.
    Event(Event),
    /// Nothing to do until the next input. At this time, if one is given, pass [`Input::Timeout`].
    Timeout(Option<Duration>),
}

/// A packet that several transports are sent at the same time.
/// [`Room::poll_shared`](super::Room::poll_shared) returns it.
#[derive(Debug)]
pub struct SharedPacket {
    /// The transports.
    pub links: Vec<LinkId>,
    /// The packet.
    pub packet: Arc<[u8]>,
}

/// Joins the two parts of an [`Output::Send`], for transports that need a packet in one piece.
pub fn whole_packet(mut packet: Vec<u8>, body: Option<&[u8]>) -> Vec<u8> {
    packet.extend_from_slice(body.unwrap_or_default());
    packet
}

/// A change in the room, which the server can log.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A participant joined.
    Joined {
        /// The participant.
        participant: ParticipantId,
        /// Its transport.
        link: LinkId,
        /// True if the participant resumed its session.
        resumed: bool,
    },
    /// A program without a transport became a participant ([`Room::visit`](super::Room::visit)).
    Visits {
        /// The participant.
        participant: ParticipantId,
    },
    /// A client was refused.
    Refused {
        /// The transport.
        link: LinkId,
        /// Why the client was refused.
        error: Error,
    },
    /// A participant's transport is gone; it may come back.
    Away {
        /// The participant.
        participant: ParticipantId,
        /// The error for which the room closed the transport; `None` if the room did not close it.
        error: Option<Error>,
    },
    /// A participant left for good.
    Left {
        /// The participant.
        participant: ParticipantId,
    },
    /// A channel was opened for the first time.
    Channel {
        /// The name of the channel.
        name: String,
        /// The QoS that the channel has now.
        qos: Qos,
    },
    /// The QoS of a channel changed.
    Changed {
        /// The name of the channel.
        name: String,
        /// The QoS that the channel has now.
        qos: Qos,
        /// The participant that asked for the change.
        participant: ParticipantId,
    },
    /// A participant uploaded a part of the snapshot.
    Snapshot {
        /// The name of the part.
        part: String,
        /// The part stands for the transactions of its channels up to this position.
        as_of: Position,
        /// The size of the part in bytes.
        size: usize,
    },
}

/// Totals of a room. "Before" counts the bytes of messages, "after" whole packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Participants with a connection.
    pub here: usize,
    /// Messages that participants published.
    pub messages_in: u64,
    /// The bytes of these messages before compression.
    pub bytes_in_before: u64,
    /// Packets that came in.
    pub packets_in: u64,
    /// The bytes of these packets.
    pub bytes_in_after: u64,
    /// Messages sent out, counted once per receiver. Acknowledgements of own transactions are not
    /// messages.
    pub deliveries: u64,
    /// The bytes of these messages before compression.
    pub bytes_out_before: u64,
    /// Packets that went out.
    pub packets_out: u64,
    /// The bytes of these packets.
    pub bytes_out_after: u64,
    /// Awareness values replaced by newer ones of their key.
    pub conflated: u64,
    /// Aggregated awareness values that were dropped before every receiver was sent them.
    pub expired: u64,
    /// Received datagrams that could not be read: they came too late for their coder, or were
    /// malformed.
    pub datagrams_unread: u64,
    /// Messages of late-joiner state that were coded, counted once for all participants that were
    /// sent the same bytes.
    pub state_coded: u64,
    /// Messages of late-joiner state that participants were sent as they had been coded for others.
    pub state_shared: u64,
    /// Clients that joined, those that resumed included.
    pub joins: u64,
    /// Sessions that were resumed.
    pub resumed: u64,
    /// Sessions that could not be resumed: those of the two following counters.
    pub lost: u64,
    /// Sessions that the room did not know any more.
    pub lost_sessions: u64,
    /// Sessions of another incarnation of the room.
    pub lost_incarnations: u64,
    /// Reports to participants that transactions of a channel are missing, which the room no longer
    /// has.
    pub gaps: u64,
    /// Participants that are above a quota, and are slowed down.
    pub limited: usize,
    /// How often a participant came above a quota.
    pub limitations: u64,
    /// How often reading a transport was delayed because of a quota ([`Output::Delay`]).
    pub delayed_reads: u64,
    /// The memory in bytes, about, that the room takes for messages, their compressed forms, the
    /// snapshot and the codecs in use.
    pub memory: usize,
}
