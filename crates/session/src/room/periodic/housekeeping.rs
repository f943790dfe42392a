//! Housekeeping, four times a second: the room checks transports, arranges groups and streams, and
//! tells participants what can wait until then.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::time::Duration;

use crate::datagrams::Datagrams;
use crate::events::event;
use crate::room::Room;
use crate::room::common::Common;
use crate::room::peer::{Connection, MEASURE_EVERY, Peer, SNAPSHOT_PATIENCE, State};
use crate::room::timers::HOUSEKEEPING;
use crate::wire::contract::{self, Entry};
use crate::wire::frame::Frame;
use crate::{ChannelNo, Error, Order, ParticipantId, Timing};

/// If no participant can make the parts that are needed, the room looks for one again after this
/// time.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// The room keeps place for this many outputs for each participant, which is more than a tick
/// needs, and for some more.
const OUTPUTS_EACH: usize = 4;
const FEW_OUTPUTS: usize = 64;

impl Room {
    /// Closes silent and stalled connections, ends long absences, sends settled values, and
    /// rearranges fan-out groups and shared streams.
    pub(super) fn on_housekeeping(&mut self, now: Duration) {
        self.end_skipping();
        debug_assert!(
            self.common.members.links.iter().all(|(&link, id)| {
                let connection = self.peers.get(id).and_then(Peer::connection);
                connection.is_some_and(|connection| connection.id == link)
            }),
            "the transports of the room are those of its participants"
        );
        debug_assert!(self.is_rest_justified(), "there is nothing to do for those who rest");
        let settled = self.settling;
        self.wake_due(now);
        self.settling = self.common.log.order();
        self.common.members.roster.next_step();
        if self.common.members.roster.owes_count(now) {
            self.common.timers.schedule_tick(now);
        }
        let coded = self.common.delivery.streams.coded();
        self.encode_shared(now, self.common.delivery.streams.until.with_settled(settled));
        if self.common.delivery.streams.coded() != coded {
            self.wake_all();
        }
        self.arrange_groups(now);
        // The frames of this call are queued before the participants are served, so that they share
        // packets with what the participants are sent.
        self.tell_upstream(now);
        self.remind_guests(now);
        if self.common.members.roster.has_touched() {
            self.tell_mirrors(now);
        }
        for id in self.common.attention.resting.awake() {
            self.check(now, id, settled);
        }
        self.end_absences(now);
        self.review_streams(now);
        let compression = &mut self.common.delivery.compression;
        match self.peers.is_empty() {
            true => compression.release(),
            false => compression.release_if_idle(now),
        }
        if core::mem::take(&mut self.common.intake.has_new_subscriptions) {
            self.count_subscriptions();
        }
        self.end_hold();
        // The queue of outputs may have grown while the room was larger.
        let Common { delivery, members, .. } = &mut self.common;
        delivery.outputs.shrink_to(members.links.len() * OUTPUTS_EACH + FEW_OUTPUTS);
        // Housekeeping may have waited for a tick. The next one is counted from the time at which
        // this one was due.
        let due = self.common.timers.housekeeping.map_or(now, |due| due + HOUSEKEEPING);
        let next = if due > now { due } else { now + HOUSEKEEPING };
        self.common.timers.housekeeping = (!self.is_empty()).then_some(next);
        self.ask_for_part(now);
    }

    /// Wakes the resting participants whose time has come. A participant that sent packets in the
    /// meantime goes on resting.
    fn wake_due(&mut self, now: Duration) {
        let Room { peers, common, .. } = self;
        let Common { config, delivery, attention, .. } = common;
        let (timing, streams) = (&config.timing, &delivery.streams);
        while let Some(id) = attention.resting.pop_due(now) {
            attention.visits += 1;
            let Some(peer) = peers.get_mut(&id) else { continue };
            peer.wake(attention);
            if peer.may_rest(timing, streams).is_some_and(|rest| rest.until > now) {
                peer.rest(timing, streams, attention);
            }
        }
    }

    /// Wakes everybody, because there is something to send to all.
    pub(in crate::room) fn wake_all(&mut self) {
        self.end_skipping();
        let Room { peers, common, .. } = self;
        peers.values_mut().for_each(|peer| peer.wake(&mut common.attention));
    }

    /// True if no resting participant has anything to do.
    fn is_rest_justified(&self) -> bool {
        let Common { config, delivery, .. } = &self.common;
        let may_rest = |peer: &Peer| peer.may_rest(&config.timing, &delivery.streams).is_some();
        self.peers.values().all(|peer| peer.rest.is_none() || may_rest(peer))
    }

    /// Counts the receivers of each channel, and finds the participants that receive frames of
    /// sound, and the channels of the parts that participants offer.
    fn count_subscriptions(&mut self) {
        let mut receivers = core::mem::take(&mut self.common.intake.receivers);
        receivers.clear();
        self.common.attention.visits += self.peers.len() as u64;
        self.common.intake.offered = self
            .connections()
            .flat_map(|connection| connection.upload.offers.values())
            .flat_map(|offer| offer.channels.iter().copied())
            .collect();
        let mut count = |channel: ChannelNo, more: u64| {
            let place = channel.place();
            if receivers.len() <= place {
                receivers.resize(place + 1, 0);
            }
            receivers[place] += more;
        };
        let Room { peers, common, mirrors, .. } = self;
        common.attention.listeners.clear();
        for (&id, peer) in peers.iter() {
            let Some(connection) = peer.connection() else { continue };
            let mut listens = false;
            for channel in connection.channels.received() {
                listens |= common.log.channel(channel).qos.has_speakers();
                count(channel, 1);
            }
            if listens {
                common.attention.listeners.push(id);
            }
        }
        for (channel, more) in mirrors.receivers() {
            count(channel, more);
        }
        self.common.intake.offered.extend(self.mirrors.offered());
        let Common { intake, upward, .. } = &mut self.common;
        if let Some(upward) = upward {
            upward.receivers(&receivers, &intake.offered);
        }
        intake.receivers = receivers;
    }

    /// The part of housekeeping for one participant.
    fn check(&mut self, now: Duration, id: ParticipantId, settled: Order) {
        let Room { peers, common, .. } = self;
        let Timing { ping, dead, away, .. } = common.config.timing;
        let Some(peer) = peers.get_mut(&id) else { return };
        common.attention.visits += 1;
        peer.flush_datagrams(now, common);
        peer.remind(now, common);
        let connection = match &mut peer.state {
            State::Here(connection) => connection,
            State::Away { since } => {
                match now >= *since + away {
                    true => self.leave(id),
                    false => {
                        let Common { config, delivery, attention, .. } = common;
                        peer.rest(&config.timing, &delivery.streams, attention);
                    }
                }
                return;
            }
        };
        connection.settle(settled);
        connection.participants.may_page = true;
        let silence = now.saturating_sub(connection.link.last_packet());
        let since_ping = now.saturating_sub(connection.link.last_ping());
        if silence >= dead {
            return peer.fail(now, Error::Silent { ms: silence.as_millis() as u64 }, common);
        }
        if since_ping >= ping * MEASURE_EVERY || (silence >= ping && since_ping >= ping) {
            connection.link.ping(now);
        }
        let waits = connection.has_anything();
        match if waits { connection.link.check_stall(now, dead) } else { Ok(()) } {
            Ok(()) => peer.flush(now, common),
            Err(error) => peer.fail(now, error, common),
        }
        let Common { config, delivery, attention, .. } = common;
        peer.rest(&config.timing, &delivery.streams, attention);
    }

    /// If the log needs a new part of the snapshot, asks a participant for it that can make it.
    pub(in crate::room) fn ask_for_part(&mut self, now: Duration) {
        let Room { peers, common, last_asked, snapshot_due, mirrors, .. } = self;
        // The room says when a mirror is to ask.
        if common.upward.as_ref().is_some_and(|upward| !upward.part_wanted) {
            return;
        }
        if !common.log.may_want_part() || snapshot_due.is_some_and(|due| now < due) {
            return;
        }
        // Participants and parts are asked in turn, so that the room does not wait for the same one
        // for ever.
        let (last, part) = *last_asked;
        let same = peers
            .get(&last)
            .and_then(|peer| Some((last, peer.wanted_part(Some(part), &common.log)?)));
        let next = same.or_else(|| {
            let later = peers.range(last.next()..).chain(peers.range(..=last));
            let mut wanted =
                later.map(|(&id, peer)| Some((id, peer.wanted_part(None, &common.log)?)));
            wanted.find_map(|wanted| wanted)
        });
        let Some((id, part)) = next else {
            let asked = mirrors.ask_for_part(now, &common.log);
            *snapshot_due = Some(now + if asked { SNAPSHOT_PATIENCE } else { LOOK_AGAIN });
            return;
        };
        // The room receives only one part at a time, which bounds the memory of parts that have not
        // arrived completely.
        peers.values_mut().filter_map(Peer::connection_mut).for_each(|one| one.upload.forget());
        let Some(peer) = peers.get_mut(&id) else { return };
        common.upward.iter_mut().for_each(|upward| upward.part_wanted = false);
        (*last_asked, *snapshot_due) = ((id, part), Some(now + SNAPSHOT_PATIENCE));
        peer.wake(&mut common.attention);
        peer.ask_for_part(part, common.config.limits.max_snapshot);
        peer.flush(now, common);
    }

    /// Sends receivers, if it changed, the share of a channel's messages that reached the room late
    /// or not at all, and the share that will miss at best on the whole way (W80).
    fn tell_upstream(&mut self, now: Duration) {
        if !self.common.accounting.upstreams.is_due(now) {
            return;
        }
        let Room { peers, common, .. } = self;
        // Resting participants have sent nothing lately.
        for id in common.attention.resting.awake() {
            common.attention.visits += 1;
            let Some(peer) = peers.get_mut(&id) else { continue };
            for (&channel, upstream) in &mut peer.sender.upstream {
                common.accounting.upstreams.add(channel, upstream.take(now));
            }
        }
        self.count_upstream_of_guests(now);
        let common = &mut self.common;
        let news = match &mut common.upward {
            Some(upward) => upward.take_shares(),
            None => common.accounting.upstreams.news(),
        };
        if !news.is_empty() {
            self.wake_all();
        }
        let Room { peers, common, .. } = self;
        let Common { accounting, attention, .. } = common;
        let upstreams = &accounting.upstreams;
        // Resting participants have no datagrams, and so no notices of their own.
        for id in attention.resting.awake() {
            attention.visits += 1;
            let Some(connection) = peers.get_mut(&id).and_then(Peer::connection_mut) else {
                continue;
            };
            let mut told = connection.heed_path(id);
            told.extend(&news);
            told.retain(|&channel| connection.channels.receives(channel).is_some());
            let entry = |&channel: &ChannelNo| {
                let upstream = upstreams.share(channel).unwrap_or(0);
                let expected = connection.notices.outlook.get(&channel).copied().unwrap_or(0);
                Entry { channel, upstream, expected }
            };
            let entries: Vec<Entry> = told.iter().map(entry).collect();
            if connection.link.stamps.agreed && !entries.is_empty() {
                connection.link.queue(&Frame::Contract(&contract::write(None, &entries)));
            }
        }
    }
}

impl Connection {
    /// Reads afec's notices that the loss target of a channel cannot be met on the way to this
    /// participant, or can be met again. Returns the channels that they name.
    fn heed_path(&mut self, participant: ParticipantId) -> BTreeSet<ChannelNo> {
        let mut news = BTreeSet::new();
        while let Some(notice) = self.link.datagrams.as_mut().and_then(Datagrams::notice) {
            let (channel, expected) = (notice.channel, notice.outlook());
            match expected {
                0 => event!(DEBUG, "loss target within reach again", %participant, %channel),
                _ => event!(DEBUG, "loss target out of reach", %participant, %channel, expected),
            }
            self.notices.outlook.insert(channel, expected);
            news.insert(channel);
        }
        news
    }
}
