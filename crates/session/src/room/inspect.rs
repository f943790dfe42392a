//! For people who look on: what packets were made of, and how each participant is doing.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_afec::code::{Code, Repeat, Repeats};
use groupwire_gmc::Description;

use super::Room;
use super::change::Upstream;
use super::class::{Classes, Member};
use super::participant::{Connection, Opened, Participant};
use super::thinning::Thinned;
use crate::ids::{ChannelNo, GroupId, LinkId, ParticipantId};
use crate::trace::{Carriage, Flow, OCTET, Packet, Part, Way};
use crate::wire::body::account::price;
use crate::wire::frame::{Frame, Frames};
use crate::{Compress, PresenceState, Qos, Standing, Tally};

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
    pub id: ChannelNo,
    /// Its name.
    pub name: String,
    /// What it promises.
    pub qos: Qos,
}

/// A participant.
#[derive(Debug, Clone, PartialEq)]
pub struct ParticipantFacts {
    /// Its number in the room.
    pub id: ParticipantId,
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
    pub link: LinkId,
    /// Smoothed.
    pub round_trip: Option<Duration>,
    /// How wrong the comparison of clocks may be.
    pub clock_error: Option<Duration>,
    /// Why the participant has this transport, in its own words.
    pub reason: Option<String>,
    /// What the way there carries, in octets per second, if it was measured.
    pub rate: Option<f64>,
    /// The most that may go there as datagrams, in octets per second with all headers, if the path shows a limit.
    pub rate_limit: Option<u32>,
    /// Whether awareness goes as datagrams.
    pub has_datagrams: bool,
    /// Whether bodies are coded.
    pub is_coded: bool,
    /// The class whose bodies it shares on the stream.
    pub stream_class: Option<GroupId>,
    /// The class whose datagrams it is sent.
    pub datagram_class: Option<GroupId>,
    /// The version of the model that its next datagram is coded under.
    pub epoch: Option<u32>,
    /// The share of datagrams to it that were lost (PER), once some went.
    pub lost_to: Option<f64>,
    /// The same from it.
    pub lost_from: Option<f64>,
    /// Channels it is sent, and how their messages are made small.
    pub subscribed: Vec<(ChannelNo, Compress)>,
    /// How channels fare that it has open.
    pub measured: Vec<Measured>,
}

/// How a channel fares towards a participant, and from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The channel.
    pub channel: ChannelNo,
    /// What it is sent, from application to application, as it tells.
    pub received: Option<Standing>,
    /// What it sends: what became of that on the way here, of the last ten to twenty seconds.
    pub sent: Option<Tally>,
    /// How what it is sent as datagrams is repeated.
    pub code: Option<Code>,
    /// The most values of each key that it asked for, in 1/1000 per second.
    pub limit: Option<u32>,
}

/// Octets before the feedback in a datagram: flags, number, time (wire.md W68).
const DATAGRAM_HEADER: usize = 4;

impl Room {
    /// Begins or ends describing packets for [`Room::traced`].
    pub fn set_tracing(&mut self, on: bool) {
        self.trace.turn(on);
        if !on {
            self.forget_standings();
        }
    }

    /// The packets since the last call, while [tracing](Room::set_tracing) is on.
    pub fn traced(&mut self) -> Vec<Packet> {
        self.trace.take()
    }

    /// How the room is doing. Sums are there while [tracing](Room::set_tracing) is on; so is, soon after, what participants
    /// tell of how channels stand at them.
    pub fn inspect(&mut self, now: Duration) -> Inspection {
        let inspection = self.look(now);
        if self.trace.is_on() {
            self.ask_standings(now);
        }
        inspection
    }

    fn look(&mut self, now: Duration) -> Inspection {
        let participants = &self.participants;
        let tallies = self.trace.tallies();
        tallies.keep(|id| participants.contains_key(&id));
        let flows = tallies.flows().cloned().collect();
        let carriages = tallies.carriages().copied().collect();
        let channels = self.channels.iter().zip((1..).map(ChannelNo));
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
            participants: participants
                .iter()
                .map(|(&id, one)| one.facts(id, now, &self.classes))
                .collect(),
            flows,
            carriages,
            missed: self.trace.missed(),
        }
    }

    /// What the models know of message types that code what this participant is sent over the stream, and as datagrams.
    pub fn templates(&self, participant: ParticipantId) -> (Vec<Description>, Vec<Description>) {
        let found = self.participants.get(&participant);
        let Some(connection) = found.and_then(|one| one.connection.as_deref()) else {
            return Default::default();
        };
        let stream = connection.link.bodies.as_ref().map(|bodies| bodies.encoder.templates());
        let datagrams = connection.link.datagrams.as_ref().and_then(|one| one.coder());
        let datagrams = datagrams.map(groupwire_gmc::Encoder::templates);
        (stream.unwrap_or_default(), datagrams.unwrap_or_default())
    }

    /// The transport of a participant, if it has one.
    pub fn link_of(&self, participant: ParticipantId) -> Option<LinkId> {
        self.participants.get(&participant)?.connection.as_deref().map(|connection| connection.id)
    }

    /// A packet of so many octets goes over the stream.
    pub(super) fn describe_packet(&mut self, now: Duration, id: ParticipantId, octets: usize) {
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
    pub(super) fn describe_received(&mut self, now: Duration, id: ParticipantId, packet: &[u8]) {
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
        id: ParticipantId,
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
    fn facts(&self, id: ParticipantId, now: Duration, classes: &Classes) -> ParticipantFacts {
        let connection = self.connection.as_ref();
        ParticipantFacts {
            id,
            state: self.presence_state,
            presence: self.presence.clone(),
            transport: connection.map(|connection| self.transport(now, connection, classes)),
        }
    }

    fn transport(
        &self,
        now: Duration,
        connection: &Connection,
        classes: &Classes,
    ) -> TransportFacts {
        let link = &connection.link;
        let opened = || connection.channels.iter();
        let subscribed = opened().filter(|(_, opened)| opened.access.subscribe);
        let path = link.datagrams.as_ref().map(|datagrams| datagrams.path(now)).unwrap_or_default();
        let coder = link.datagrams.as_ref().and_then(|datagrams| datagrams.coder());
        let member = connection.member.as_ref();
        let datagram_class = member.and_then(Member::class);
        let class = datagram_class.and_then(|class| classes.describe(class));
        TransportFacts {
            link: connection.id,
            round_trip: link.clock.round_trip(),
            clock_error: link.clock.offset().map(|(_, error)| error),
            reason: connection.watched.reason().map(Into::into),
            rate: link.choosing.rate(),
            rate_limit: path.carries,
            has_datagrams: link.datagrams.is_some(),
            is_coded: link.bodies.as_ref().is_some_and(|bodies| bodies.encoder.is_coded()),
            stream_class: connection.membership.class(),
            datagram_class,
            epoch: match class {
                Some((epoch, _)) => Some(epoch),
                None => coder.map(groupwire_gmc::Encoder::epoch),
            },
            lost_to: match datagram_class {
                Some(_) => member.and_then(Member::lost),
                None => path.lost_to,
            },
            lost_from: path.lost_from,
            subscribed: subscribed.map(|(&channel, opened)| (channel, opened.compress)).collect(),
            measured: opened()
                .map(|(&channel, opened)| {
                    let ladder = class.map(|(_, ladder)| ladder);
                    self.measured(channel, *opened, connection, ladder)
                })
                .collect(),
        }
    }

    /// `ladder`: after how many ticks its class repeats.
    fn measured(
        &self,
        channel: ChannelNo,
        opened: Opened,
        connection: &Connection,
        ladder: Option<&[u32]>,
    ) -> Measured {
        let serves =
            |_: &&[u32]| connection.member.as_ref().is_some_and(|one| one.is_served(channel, 0));
        let code = match ladder.filter(serves) {
            Some(ticks) => Some(code_of(ticks)),
            None => connection.link.datagrams.as_ref().and_then(|datagrams| {
                datagrams
                    .stats(channel)
                    .filter(|(sent, ..)| sent.messages > 0)
                    .map(|(_, code, _)| code)
            }),
        };
        let sent = self.upstream.get(&channel).map(Upstream::recent);
        Measured {
            channel,
            received: connection.watched.standing(channel).cloned(),
            sent: sent.filter(|sent| opened.access.publish && sent.judged > 0),
            code: code.filter(|_| opened.access.subscribe),
            limit: connection.thinned.get(&channel).and_then(Thinned::rate),
        }
    }
}

/// Each message again after so many packets.
fn code_of(ticks: &[u32]) -> Code {
    let rides = ticks.iter().map(|&ticks| Repeat::Ride(u8::try_from(ticks).unwrap_or(u8::MAX)));
    Code { repeats: Repeats::new(rides), ..Code::PLAIN }
}
