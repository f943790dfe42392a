//! For people who look on: what packets were made of, and how each participant is doing.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_gmc::Description;

use super::Room;
use super::participant::{Connection, Participant};
use crate::trace::{Carriage, Flow, OCTET, Packet, Part, Way};
use crate::wire::body::account::price;
use crate::wire::frame::{Frame, Frames};
use crate::{Compress, PresenceState, Qos};

/// A room as [`Room::inspect`] finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// The room's clock.
    pub now: Duration,
    /// Its tick.
    pub tick: Duration,
    /// All channels that were ever opened.
    pub channels: Vec<ChannelFacts>,
    /// Who is here or away.
    pub participants: Vec<ParticipantFacts>,
    /// Sums by participant and channel since tracing began.
    pub flows: Vec<Flow>,
    /// The same by participant and way.
    pub carriages: Vec<Carriage>,
    /// Packets that were described but not fetched in time.
    pub missed: u64,
}

/// A channel.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelFacts {
    /// Its number in the room.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// What it promises.
    pub qos: Qos,
}

/// A participant.
#[derive(Debug, Clone, PartialEq)]
pub struct ParticipantFacts {
    /// Its number in the room.
    pub id: u32,
    /// Whether it is here.
    pub state: PresenceState,
    /// What it shows of itself.
    pub presence: Vec<u8>,
    /// Its transport, while it has one.
    pub transport: Option<TransportFacts>,
}

/// A participant's transport.
#[derive(Debug, Clone, PartialEq)]
pub struct TransportFacts {
    /// The shell's name for it.
    pub link: super::LinkId,
    /// Smoothed.
    pub round_trip: Option<Duration>,
    /// How wrong the comparison of clocks may be.
    pub clock_error: Option<Duration>,
    /// What the way there carries, in octets per second, if it was measured.
    pub rate: Option<f64>,
    /// Whether awareness goes as datagrams.
    pub has_datagrams: bool,
    /// Whether bodies are coded.
    pub is_coded: bool,
    /// The class whose bodies it shares.
    pub class: Option<u32>,
    /// The version of the model that its next datagram is coded under.
    pub epoch: Option<u32>,
    /// The share of packets to it that were lost (PER).
    pub packet_loss: Option<f64>,
    /// Channels it is sent, and how their messages are made small.
    pub subscribed: Vec<(u32, Compress)>,
    /// What receivers made of channels.
    pub measured: Vec<Measured>,
}

/// How a channel's promise is kept towards a participant.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The channel.
    pub channel: u32,
    /// The share of messages that never came or came late (MER).
    pub missed: f64,
    /// What 99 of 100 took from application to application.
    pub p99: Option<Duration>,
}

/// Octets before the feedback in a datagram: flags, number, time (wire.md W68).
const DATAGRAM_HEADER: usize = 4;

impl Room {
    /// Begins or ends describing packets for [`Room::traced`].
    pub fn set_tracing(&mut self, on: bool) {
        self.trace.turn(on);
    }

    /// The packets since the last call, while [tracing](Room::set_tracing) is on.
    pub fn traced(&mut self) -> Vec<Packet> {
        self.trace.take()
    }

    /// How the room is doing. Sums are there while [tracing](Room::set_tracing) is on.
    pub fn inspect(&mut self, now: Duration) -> Inspection {
        let participants = &self.participants;
        let tallies = self.trace.tallies();
        tallies.keep(|id| participants.contains_key(&id));
        let flows = tallies.flows().cloned().collect();
        let carriages = tallies.carriages().copied().collect();
        let channels = self.channels.iter().zip(1..);
        Inspection {
            now,
            tick: self.config.timing.tick,
            channels: channels
                .map(|(channel, id)| ChannelFacts {
                    id,
                    name: channel.name.clone(),
                    qos: channel.qos,
                })
                .collect(),
            participants: participants.iter().map(|(&id, one)| one.facts(id)).collect(),
            flows,
            carriages,
            missed: self.trace.missed(),
        }
    }

    /// What the models know of message types that code what this participant is sent over the stream, and as datagrams.
    pub fn templates(&self, participant: u32) -> (Vec<Description>, Vec<Description>) {
        let found = self.participants.get(&participant);
        let Some(connection) = found.and_then(|one| one.connection.as_ref()) else {
            return Default::default();
        };
        let stream = connection.link.bodies.as_ref().map(|bodies| bodies.encoder.templates());
        let datagrams = connection.link.datagrams.as_ref().and_then(|one| one.coder());
        let datagrams = datagrams.map(groupwire_gmc::Encoder::templates);
        (stream.unwrap_or_default(), datagrams.unwrap_or_default())
    }

    /// The transport of a participant, if it has one.
    pub fn link_of(&self, participant: u32) -> Option<super::LinkId> {
        self.participants.get(&participant)?.connection.as_ref().map(|connection| connection.id)
    }

    /// A packet of so many octets goes over the stream.
    pub(super) fn describe_packet(&mut self, now: Duration, id: u32, octets: usize) {
        if !self.trace.is_on() {
            return;
        }
        let mut parts = self.trace.noted();
        let Some(connection) = self.connection(id) else { return };
        let bodies = connection.link.bodies.as_mut();
        let made = bodies.map(|bodies| bodies.encoder.take_account()).unwrap_or_default();
        let mut body = apart(&parts);
        for mut made in made {
            body += made.octets;
            parts.append(&mut made.parts);
        }
        self.trace.push(Packet {
            at: now,
            participant: id,
            out: true,
            way: Way::Stream,
            class: None,
            epoch: None,
            octets,
            private: octets.saturating_sub(body),
            feedback: 0,
            parts,
        });
    }

    /// A packet came over the stream and was read.
    pub(super) fn describe_received(&mut self, now: Duration, id: u32, packet: &[u8]) {
        if !self.trace.is_on() {
            return;
        }
        let costs = self.connection(id).and_then(|one| one.link.bodies.as_ref());
        let costs = costs.map(|bodies| bodies.decoder.costs().to_vec()).unwrap_or_default();
        let mut parts = self.trace.noted();
        let mut body = 0;
        let mut frames = Frames::new(packet);
        while let Ok(Some(frame)) = frames.next() {
            match frame {
                Frame::Coded(coded) => {
                    price(&mut parts, &costs);
                    body += 1 + coded.len();
                }
                Frame::Messages(octets) | Frame::PackedMessages(octets) => body += 1 + octets.len(),
                Frame::Snapshot(chunk) | Frame::PackedSnapshot(chunk) => {
                    let octets = chunk.bytes.len();
                    body += octets;
                    parts.push(Part::of_snapshot(chunk.offset as usize, octets, octets));
                }
                _ => {}
            }
        }
        self.trace.push(Packet {
            at: now,
            participant: id,
            out: false,
            way: Way::Stream,
            class: None,
            epoch: None,
            octets: packet.len(),
            private: packet.len().saturating_sub(body),
            feedback: 0,
            parts,
        });
    }

    /// A datagram of so many octets came and was read; so many of them are no body.
    pub(super) fn describe_datagram(
        &mut self,
        now: Duration,
        id: u32,
        octets: usize,
        private: usize,
    ) {
        if !self.trace.is_on() {
            return;
        }
        let parts = self.trace.noted();
        self.trace.push(Packet {
            at: now,
            participant: id,
            out: false,
            way: Way::Datagram,
            class: None,
            epoch: None,
            octets,
            private,
            feedback: private.saturating_sub(DATAGRAM_HEADER),
            parts,
        });
    }
}

/// Octets that these take.
fn apart(parts: &[Part]) -> usize {
    parts.iter().filter_map(|part| part.cost).map(|cost| (cost / OCTET) as usize).sum()
}

impl Participant {
    fn facts(&self, id: u32) -> ParticipantFacts {
        ParticipantFacts {
            id,
            state: self.presence_state,
            presence: self.presence.clone(),
            transport: self.connection.as_ref().map(Connection::facts),
        }
    }
}

impl Connection {
    fn facts(&self) -> TransportFacts {
        let link = &self.link;
        let subscribed = self.channels.iter().filter(|(_, opened)| opened.access.subscribe);
        TransportFacts {
            link: self.id,
            round_trip: link.clock.round_trip(),
            clock_error: link.clock.offset().map(|(_, error)| error),
            rate: link.choosing.rate(),
            has_datagrams: link.datagrams.is_some(),
            is_coded: link.bodies.as_ref().is_some_and(|bodies| bodies.encoder.is_coded()),
            class: None,
            epoch: link
                .datagrams
                .as_ref()
                .and_then(|one| one.coder())
                .map(groupwire_gmc::Encoder::epoch),
            packet_loss: None,
            subscribed: subscribed.map(|(&channel, opened)| (channel, opened.compress)).collect(),
            measured: Vec::new(),
        }
    }
}
