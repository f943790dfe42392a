//! For people who look on: what packets were made of, and how each participant is doing.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_afec::code::{Code, Repeat, Repeats};
use groupwire_gmc::Encoder;

use super::Room;
use super::common::Common;
use super::feed::group::{Group, LADDER, Place};
use super::inspector::Recorded;
use super::peer::{Connection, Peer};
use super::rate_limit::RateLimit;
use super::subscriptions::Opened;
use super::upstream::Upstream;
use crate::trace::{CarrierTotals, Flow, Packet};
use crate::{
    ChannelNo, ChannelQuality, Compress, GroupId, LinkId, ParticipantId, PresenceState, Qos, Tally,
};

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
    pub carrier_totals: Vec<CarrierTotals>,
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
    /// What the way there carries, in bytes per second, if it was measured.
    pub rate: Option<f64>,
    /// The most that may go there as datagrams, in bytes per second with all headers, if the path shows a limit.
    pub rate_limit: Option<u32>,
    /// Whether awareness goes as datagrams.
    pub has_datagrams: bool,
    /// Whether payloads are coded.
    pub is_coded: bool,
    /// The class whose payloads it shares on the stream.
    pub stream_group: Option<GroupId>,
    /// The group whose datagrams it is sent.
    pub datagram_group: Option<GroupId>,
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
    pub received: Option<ChannelQuality>,
    /// What it sends: what became of that on the way here, of the last ten to twenty seconds.
    pub sent: Option<Tally>,
    /// How what it is sent as datagrams is repeated.
    pub code: Option<Code>,
    /// The most values of each key that it asked for, in 1/1000 per second.
    pub limit: Option<u32>,
}

impl Room {
    /// Begins or ends describing packets for [`Room::traced`].
    pub fn set_tracing(&mut self, on: bool) {
        self.common.inspector.trace.turn(on);
        if !on {
            self.peers.values_mut().for_each(Peer::end_quality);
        }
    }

    /// Begins or ends keeping messages for [`Room::recorded`].
    pub fn set_recording(&mut self, on: bool) {
        self.common.inspector.set_recording(on);
    }

    /// The messages since the last call while [recording](Room::set_recording) is on, and how many were missed since
    /// it began, as nobody fetched them in time.
    pub fn recorded(&mut self) -> (Vec<Recorded>, u64) {
        self.common.inspector.recorded()
    }

    /// The packets since the last call, while [tracing](Room::set_tracing) is on.
    pub fn traced(&mut self) -> Vec<Packet> {
        self.common.inspector.trace.take()
    }

    /// How the room is doing. Sums are there while [tracing](Room::set_tracing) is on; so is, soon after, what participants
    /// tell of how channels stand at them.
    pub fn inspect(&mut self, now: Duration) -> Inspection {
        let inspection = self.look(now);
        let Room { peers, common, .. } = self;
        if common.inspector.is_on() {
            peers.values_mut().for_each(|peer| peer.ask_for_quality(now, common));
        }
        inspection
    }

    fn look(&mut self, now: Duration) -> Inspection {
        let Room { peers, common, .. } = self;
        let trace = &mut common.inspector.trace;
        let missed = trace.missed();
        let tallies = trace.tallies();
        tallies.keep(|id| peers.contains_key(&id));
        let channels = common.log.channels();
        Inspection {
            now,
            tick: common.config.timing.tick,
            flows: tallies.flows().cloned().collect(),
            carrier_totals: tallies.carrier_totals().copied().collect(),
            missed,
            channels: channels
                .map(|(id, channel)| ChannelFacts {
                    id,
                    name: channel.name.clone(),
                    qos: channel.qos,
                })
                .collect(),
            participants: peers.values().map(|peer| participant(now, peer, common)).collect(),
        }
    }

    /// What the models know of message types that code what this participant is sent over the stream, and as datagrams.
    #[cfg(feature = "inspector")]
    pub fn templates(
        &self,
        participant: ParticipantId,
    ) -> (Vec<crate::Description>, Vec<crate::Description>) {
        let Some(connection) = self.peers.get(&participant).and_then(Peer::connection) else {
            return Default::default();
        };
        let stream = connection.link.coders.as_ref().and_then(|one| one.encoder.coder_in_use());
        let datagrams = connection.link.datagrams.as_ref().and_then(|one| one.coder());
        let templates = |coder: Option<&Encoder>| coder.map(Encoder::templates).unwrap_or_default();
        (templates(stream), templates(datagrams))
    }

    /// The transport of a participant, if it has one.
    pub fn link_of(&self, participant: ParticipantId) -> Option<LinkId> {
        self.peers.get(&participant)?.connection().map(|connection| connection.id)
    }
}

fn participant(now: Duration, peer: &Peer, common: &Common) -> ParticipantFacts {
    let presence = common.roster.get(peer.id);
    ParticipantFacts {
        id: peer.id,
        state: presence.map_or(PresenceState::Left, |presence| presence.state),
        presence: presence.map(|presence| presence.bytes.clone()).unwrap_or_default(),
        transport: peer.connection().map(|connection| transport(now, peer, connection, common)),
    }
}

fn transport(
    now: Duration,
    peer: &Peer,
    connection: &Connection,
    common: &Common,
) -> TransportFacts {
    let link = &connection.link;
    let opened = || connection.channels.iter();
    let subscribed = opened().filter(|(_, opened)| opened.access.subscribe);
    let path = link.datagrams.as_ref().map(|datagrams| datagrams.path(now)).unwrap_or_default();
    let coder = link.datagrams.as_ref().and_then(|datagrams| datagrams.coder());
    let place = connection.place.as_ref();
    let datagram_group = place.and_then(Place::group);
    let group = datagram_group.and_then(|group| common.groups.get(group));
    TransportFacts {
        link: connection.id,
        round_trip: link.clock.round_trip(),
        clock_error: link.clock.offset().map(|(_, error)| error),
        reason: connection.quality.reason().map(Into::into),
        rate: link.choosing.rate(),
        rate_limit: path.carries,
        has_datagrams: link.datagrams.is_some(),
        is_coded: link.coders.as_ref().is_some_and(|coders| coders.encoder.is_coded()),
        stream_group: connection.member().map(|member| member.group),
        datagram_group,
        epoch: match group {
            Some(group) => Some(group.encoder.coder.epoch()),
            None => coder.map(Encoder::epoch),
        },
        lost_to: match datagram_group {
            Some(_) => place.and_then(|place| place.loss.share()),
            None => path.lost_to,
        },
        lost_from: path.lost_from,
        subscribed: subscribed.map(|(channel, opened)| (channel, opened.compress)).collect(),
        measured: opened()
            .map(|(channel, opened)| measured(channel, *opened, peer, connection, group))
            .collect(),
    }
}

fn measured(
    channel: ChannelNo,
    opened: Opened,
    peer: &Peer,
    connection: &Connection,
    group: Option<&Group>,
) -> Measured {
    let covered = connection.place.as_ref().and_then(Place::covered);
    let serves = covered.is_some_and(|covered| covered.channels.contains(channel));
    let code = match group.filter(|_| serves) {
        Some(group) => Some(code_of(LADDER[usize::from(group.key.step)])),
        None => connection.link.datagrams.as_ref().and_then(|datagrams| {
            let (sent, code, _) = datagrams.stats(channel)?;
            (sent.messages > 0).then_some(code)
        }),
    };
    let sent = peer.upstream.get(&channel).map(Upstream::recent);
    Measured {
        channel,
        received: connection.quality.of(channel).cloned(),
        sent: sent.filter(|sent| opened.access.publish && sent.judged > 0),
        code: code.filter(|_| opened.access.subscribe),
        limit: connection.limits.get(channel).and_then(RateLimit::rate),
    }
}

/// A code by which each message is repeated after these numbers of packets.
fn code_of(ticks: &[u32]) -> Code {
    let rides =
        ticks.iter().map(|&ticks| Repeat::Piggyback(u8::try_from(ticks).unwrap_or(u8::MAX)));
    Code { repeats: Repeats::new(rides), ..Code::PLAIN }
}
