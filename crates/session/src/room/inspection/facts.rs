//! Reads the state of a room and of each participant for the inspector.

use alloc::vec::Vec;
use core::time::Duration;

use groupwire_afec::code::{Code, Repeat, Repeats};
use groupwire_gmc::Encoder;

use super::{ChannelFacts, Inspection, Measured, ParticipantFacts, TransportFacts};
use crate::room::Room;
use crate::room::accounting::upstream::Upstream;
use crate::room::api::Input;
use crate::room::common::Common;
use crate::room::feed::group::{Group, GroupMembership, LADDER};
use crate::room::inspector::Recorded;
use crate::room::peer::{Connection, Peer};
use crate::room::subscriptions::Opened;
use crate::room::subscriptions::rate_limit::RateLimit;
use crate::trace::Packet;
use crate::{ChannelNo, Error, Identity, LinkId, ParticipantId, PresenceState};

impl Room {
    /// Begins or ends tracing: packets are described for [`Room::traced`].
    pub fn set_tracing(&mut self, on: bool) {
        self.end_skipping();
        self.common.accounting.inspector.trace.turn(on);
        if !on {
            self.wake_all();
            self.peers.values_mut().for_each(Peer::end_quality);
        }
    }

    /// Begins or ends recording: published messages are kept for [`Room::recorded`].
    pub fn set_recording(&mut self, on: bool) {
        self.common.accounting.inspector.set_recording(on);
    }

    /// True while the room is traced or recorded.
    pub fn is_watched(&self) -> bool {
        let inspector = &self.common.accounting.inspector;
        inspector.is_on() || inspector.is_recording()
    }

    /// The messages since the last call while [recording](Room::set_recording) is on, and how many
    /// were dropped since it began because this function was not called in time.
    pub fn recorded(&mut self) -> (Vec<Recorded>, u64) {
        let durable = self.common.log.durable();
        self.common.accounting.inspector.recorded(durable)
    }

    /// Descriptions of the packets since the last call, while [tracing](Room::set_tracing) is on.
    pub fn traced(&mut self) -> Vec<Packet> {
        let durable = self.common.log.durable();
        self.common.accounting.inspector.trace.take(durable)
    }

    /// The state of the room and of its participants. While [tracing](Room::set_tracing) is on, it
    /// includes sums of the traffic and, soon after the first call, the participants' reports of
    /// the quality of their channels.
    pub fn inspect(&mut self, now: Duration) -> Inspection {
        let inspection = self.look(now);
        let Room { peers, common, .. } = self;
        if common.accounting.inspector.is_on() {
            for peer in peers.values_mut() {
                if peer.ask_for_quality(&mut common.attention) {
                    peer.flush(now, common);
                }
            }
        }
        inspection
    }

    fn look(&mut self, now: Duration) -> Inspection {
        let Room { peers, common, mirrors, .. } = self;
        let trace = &mut common.accounting.inspector.trace;
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
            participants: peers
                .values()
                .chain(mirrors.guests.values().map(|guest| &guest.peer))
                .map(|peer| participant(now, peer, common))
                .collect(),
        }
    }

    /// The templates in the compression models of this participant's private stream and of its
    /// private datagrams.
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

    /// The participant's identity from its last token; `None` if there is no such participant.
    pub fn identity_of(&self, participant: ParticipantId) -> Option<&Identity> {
        let guest = || self.mirrors.guests.get(&participant).map(|guest| &guest.peer);
        self.peers.get(&participant).or_else(guest).map(|peer| &peer.identity)
    }

    /// Closes the transport of a participant because of this error, at this server or at a mirror.
    /// Returns false if it has none.
    pub fn disconnect(&mut self, now: Duration, participant: ParticipantId, error: Error) -> bool {
        self.common.now = now;
        if self.close_guest(now, participant, error.clone()) {
            return true;
        }
        let Some(link) = self.link_of(participant) else { return false };
        self.handle_input(now, Input::Fail { link, error });
        true
    }

    /// The transport of a participant, if it has one at this server.
    pub fn link_of(&self, participant: ParticipantId) -> Option<LinkId> {
        self.peers.get(&participant)?.connection().map(|connection| connection.id)
    }
}

fn participant(now: Duration, peer: &Peer, common: &Common) -> ParticipantFacts {
    let presence = common.members.roster.get(peer.id);
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
    let datagram_group = place.and_then(GroupMembership::group);
    let group = datagram_group.and_then(|group| common.delivery.groups.get(group));
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
    let covered = connection.place.as_ref().and_then(GroupMembership::covered);
    let serves = covered.is_some_and(|covered| covered.channels.contains(channel));
    let code = match group.filter(|_| serves) {
        Some(group) => Some(code_of(LADDER[usize::from(group.key.step)])),
        None => connection.link.datagrams.as_ref().and_then(|datagrams| {
            let (sent, code, _) = datagrams.stats(channel)?;
            (sent.messages > 0).then_some(code)
        }),
    };
    let sent = peer.sender.upstream.get(&channel).map(Upstream::recent);
    Measured {
        channel,
        received: connection.quality.of(channel).cloned(),
        sent: sent.filter(|sent| opened.access.publish && sent.judged > 0),
        code: code.filter(|_| opened.access.subscribe),
        limit: connection.rates.limits.get(channel).and_then(RateLimit::rate),
    }
}

/// The code that repeats each message after these numbers of ticks.
fn code_of(ticks: &[u32]) -> Code {
    let rides =
        ticks.iter().map(|&ticks| Repeat::Piggyback(u8::try_from(ticks).unwrap_or(u8::MAX)));
    Code { repeats: Repeats::new(rides), ..Code::PLAIN }
}
