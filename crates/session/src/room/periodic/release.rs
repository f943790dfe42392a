//! Sends participants the messages that came up to a tick, as far as one payload of their shared
//! stream is all that they need.
//!
//! In a room with many listeners, nearly all need nothing but the next payload of their shared
//! stream. To look at each of them costs as much as the rest of the room's work for a tick, because
//! its data is spread over memory. Therefore ticks *skip* them: the room has a list of their
//! transports, and moves their cursors only when something else happens to them or to the room.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::room::Room;
use crate::room::api::{SharedPacket, Stats};
use crate::room::attention::skipped::{List, Skipped};
use crate::room::common::Common;
use crate::room::delivery::Delivery;
use crate::room::delivery::outputs::share;
use crate::room::feed::shared_stream::SharedStreams;
use crate::room::log::{Cursor, Log};
use crate::room::members::news::News;
use crate::room::peer::{Connection, Peer};
use crate::{GroupId, Order, ParticipantId};

/// The changes of participants that the others are sent at a tick.
struct Changes<'a> {
    changed: &'a BTreeSet<ParticipantId>,
    counts: bool,
    /// The same changes, coded once for all participants, if they fit a packet.
    news: Option<Arc<News>>,
}

impl Room {
    /// Lets all participants be sent messages up to `until` and the changes of the participants in
    /// `changed`, with `counts` also their number. Sends the newest payload to members of shared
    /// streams that need nothing else, which are nearly all. Returns the other participants, and
    /// the least order up to which awareness was sent to those members.
    pub(in crate::room) fn release(
        &mut self,
        now: Duration,
        until: Cursor,
        (changed, counts): (&BTreeSet<ParticipantId>, bool),
    ) -> (Vec<ParticipantId>, Order) {
        let changes = match counts || !changed.is_empty() {
            true => {
                let news = News::new(changed, counts, &self.common.members.roster).map(Arc::new);
                Some(Changes { changed, counts, news })
            }
            false => None,
        };
        let (mut others, mut served, mut shared) = (Vec::new(), Order(u64::MAX), Vec::new());
        let Common { delivery, accounting, attention, .. } = &self.common;
        let is_inspected = accounting.inspector.is_on();
        let skipped = &attention.skipped;
        let may_skip =
            changes.is_none() && !is_inspected && skipped.goes_on(until, &delivery.streams);
        if !may_skip {
            self.end_skipping();
        }
        let Room { peers, common, .. } = self;
        let Common { log, members, delivery, accounting, attention, .. } = common;
        let skipped = &mut attention.skipped;
        let members = members.links.len();
        let mut serve = |id: ParticipantId, peer: &mut Peer, delivery: &mut Delivery| {
            if !peer.release(now, until, changes.as_ref(), log) {
                return None;
            }
            let is_served = peer.send_plain(now, members, delivery, accounting, &mut shared);
            match is_served {
                true => served = peer.connection().map_or(served, |one| served.min(one.served())),
                false => others.push(id),
            }
            Some(is_served)
        };
        if !may_skip {
            for (&id, peer) in peers {
                if let Some(is_served) = serve(id, peer, delivery) {
                    let skips = is_served && !is_inspected;
                    peer.skip_if_possible(skips, until, &delivery.streams, skipped);
                }
            }
            skipped.begin(until);
        } else {
            for id in skipped.others.clone() {
                if let Some(peer) = peers.get_mut(&id) {
                    serve(id, peer, delivery);
                }
            }
            let is_skipped = |id: ParticipantId, group| {
                let peer = peers.get(&id).filter(|peer| peer.is_skipped);
                let member = peer.and_then(|peer| peer.connection()?.member());
                member.is_some_and(|member| member.group == group)
            };
            let streams = &delivery.streams;
            let to = (&mut shared, members);
            let sent = skipped.send(until, streams, to, &mut accounting.stats, is_skipped);
            served = served.min(sent);
        }
        shared.into_iter().for_each(|packet| delivery.outputs.push_shared(packet));
        (others, served)
    }

    /// Makes the next tick look at all participants, and moves the cursors of those that ticks
    /// skipped.
    pub(in crate::room) fn end_skipping(&mut self) {
        let Room { peers, common, .. } = self;
        if common.attention.skipped.lists.is_empty() {
            return;
        }
        let Skipped { lists, until, .. } = core::mem::take(&mut common.attention.skipped);
        for list in &lists {
            for link in &list.links {
                let peer = common.members.links.get(link).and_then(|id| peers.get_mut(id));
                if let Some(peer) = peer.filter(|peer| peer.is_skipped) {
                    peer.is_skipped = false;
                    peer.connection_mut().into_iter().for_each(|one| one.move_to(list, until));
                }
            }
        }
    }
}

impl Peer {
    /// Lets the participant be sent messages up to `until` and the changes of others. Returns false
    /// if it is away.
    fn release(
        &mut self,
        now: Duration,
        until: Cursor,
        changes: Option<&Changes<'_>>,
        log: &Log,
    ) -> bool {
        let id = self.id;
        let Some(connection) = self.connection_mut() else { return false };
        connection.release(until);
        if let Some(Changes { changed, counts, news }) = changes {
            let is_ready = connection.link.ready() && !connection.link.has_control();
            let news = news.as_ref();
            connection.participants.tell_of(id, (changed, *counts), news, is_ready);
        }
        connection.take_turns(now, id, log);
        true
    }

    /// Makes ticks look at this participant again. Called before any other change of the
    /// participant.
    pub(in crate::room) fn end_skip(&mut self, skipped: &mut Skipped) {
        if !core::mem::take(&mut self.is_skipped) {
            return;
        }
        let id = self.id;
        let Some(connection) = self.connection_mut() else { return };
        let Some(group) = connection.member().map(|member| member.group) else { return };
        let Skipped { lists, others, until } = skipped;
        let Some(list) = lists.iter_mut().find(|list| list.group == group) else { return };
        connection.move_to(list, *until);
        if let Ok(at) = list.links.binary_search(&connection.id) {
            list.links.remove(at);
        }
        if let Err(at) = others.binary_search(&id) {
            others.insert(at, id);
        }
    }

    /// Notes that ticks can skip this participant, or that they cannot. `is_served`: it needed
    /// nothing but the newest payload.
    fn skip_if_possible(
        &mut self,
        is_served: bool,
        until: Cursor,
        streams: &SharedStreams,
        skipped: &mut Skipped,
    ) {
        let id = self.id;
        let connection = self.connection().filter(|_| is_served);
        let skips = connection.and_then(|one| Some((one.id, one.skips(streams, until)?)));
        let Some((link, (group, next, at))) = skips else {
            skipped.others.push(id);
            return;
        };
        self.is_skipped = true;
        match skipped.lists.iter_mut().find(|list| list.group == group) {
            Some(list) => list.links.push(link),
            None => skipped.lists.push(List { group, next, at, links: [link].into() }),
        }
    }
}

impl Connection {
    /// If the participant needs nothing but further payloads of its shared stream: the stream, the
    /// number of its next payload, and its place in the log.
    fn skips(&self, streams: &SharedStreams, until: Cursor) -> Option<(GroupId, u64, Cursor)> {
        let member = self.member()?;
        let (stream, next) = member.stream(streams)?;
        let at = stream.feed.cursor;
        let is_plain = self.datagrams.is_none()
            && self.place.is_none()
            && self.rates.limits.is_empty()
            && !self.sharing.has_private()
            && self.link.is_idle()
            && !self.owes_position()
            && self.has_all(streams);
        (is_plain && at.log == until.log).then_some((member.group, next, at))
    }

    /// Moves the cursors to where they would be if ticks had not skipped the participant.
    fn move_to(&mut self, list: &List, until: Cursor) {
        self.release(until);
        self.served_shared(list.at);
        self.member_mut().into_iter().for_each(|member| member.next = list.next);
    }
}

impl Skipped {
    /// Sends the newest payloads to the participants that ticks skip. Returns the least order up to
    /// which they were sent awareness. `shared` is given the packets, each of which can have at
    /// most `members` receivers. `is_skipped`: whether a participant is one that ticks skip.
    fn send(
        &mut self,
        until: Cursor,
        streams: &SharedStreams,
        (shared, members): (&mut Vec<SharedPacket>, usize),
        stats: &mut Stats,
        is_skipped: impl Fn(ParticipantId, GroupId) -> bool,
    ) -> Order {
        self.until = until;
        let mut served = Order(u64::MAX);
        for list in &mut self.lists {
            let Some(stream) = streams.get(list.group) else { continue };
            list.at = stream.feed.cursor;
            served = served.min(list.at.awareness);
            let count = list.links.len() as u64;
            let Some(payload) = stream.payload(list.next).filter(|_| count > 0) else { continue };
            list.next += 1;
            let counts = payload.contents.counts_of(count, |id| is_skipped(id, list.group));
            stats.deliveries += counts.messages;
            stats.bytes_out_before += counts.bytes;
            stats.packets_out += count;
            stats.bytes_out_after += payload.bytes.len() as u64 * count;
            share(shared, &list.links, &payload.bytes, members);
        }
        served
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::client::{self, Client};
    use crate::room::{Config, Input, Output, Publication, RequestKey, Stats, whole_packet};
    use crate::{AllowAll, Identity, LinkId, Opening, Qos, Secret, Secrets, SessionName};

    /// People in the room at first: enough for a shared stream.
    const PEOPLE: u64 = 40;

    #[derive(Debug)]
    struct NoSecrets;

    impl Secrets for NoSecrets {
        fn secret(&self, _: &SessionName<'_>) -> Secret {
            [1; 16]
        }
    }

    /// The first packet of a client that opens channels.
    fn opening() -> Vec<u8> {
        let mut client = Client::new(Duration::ZERO, client::Config::new("demo")).unwrap();
        client.channel("pointer", Qos::awareness()).unwrap();
        client.channel("draw", Qos::transaction()).unwrap();
        loop {
            match client.poll_output(Duration::ZERO) {
                client::Output::Dial => {
                    client.handle_input(Duration::ZERO, client::Input::Opened { max_datagram: 0 });
                }
                client::Output::Send(packet) => return packet,
                _ => {}
            }
        }
    }

    /// A room with transports that only record the packets sent to them.
    struct Recorded {
        room: Room,
        now: Duration,
        next: Option<Duration>,
        /// Whether packets for several transports are taken together. A member whose packets are
        /// taken one by one is not skipped.
        polls_shared: bool,
        packets: BTreeMap<LinkId, Vec<Vec<u8>>>,
        /// The transports that keep the packets that they are given.
        stalled: BTreeSet<LinkId>,
        /// The most members that ticks skipped.
        most_skipped: usize,
    }

    impl Recorded {
        fn new(polls_shared: bool) -> Self {
            let mut config = Config::new("demo", 1);
            config.timing.tick = Duration::from_millis(40);
            let mut recorded = Recorded {
                room: Room::new(config, Box::new(AllowAll)),
                now: Duration::ZERO,
                next: None,
                polls_shared,
                packets: BTreeMap::new(),
                stalled: BTreeSet::new(),
                most_skipped: 0,
            };
            (0..PEOPLE).for_each(|_| recorded.join());
            recorded
        }

        fn join(&mut self) {
            let link = LinkId(self.packets.len() as u64);
            self.packets.insert(link, Vec::new());
            let packet = opening();
            let (opening, identity) = (&Opening::read(&packet).unwrap(), &Identity::default());
            let secrets = &NoSecrets;
            self.put(Input::Join { link, opening, identity, secrets, max_datagram: 0 });
        }

        fn publish(&mut self, channel: &str, bytes: &[u8]) {
            let number = bytes.first().copied().unwrap_or_default();
            let request = RequestKey { key: [number; 16], content: [number; 8] };
            let (text, key, request) = (false, None, (channel == "draw").then_some(request));
            let publication = Publication { channel, bytes, text, key, request };
            self.room.publish(self.now, &publication).unwrap();
            self.put(Input::Timeout);
        }

        /// Hands the room a packet without messages: an answer to a ping that was not sent.
        fn speak(&mut self, link: u64) {
            self.put(Input::Packet { link: LinkId(link), packet: &[0x0f, 3, 0, 0, 0] });
        }

        fn revive(&mut self, link: u64) {
            let link = LinkId(link);
            self.stalled.remove(&link);
            // Reports that exceed the number of packets are ignored.
            (0..3).for_each(|_| self.put(Input::Sent { link }));
        }

        fn run(&mut self, ms: u64) {
            let end = self.now + Duration::from_millis(ms);
            while let Some(next) = self.next.filter(|next| *next <= end) {
                self.now = self.now.max(next);
                self.put(Input::Timeout);
            }
            self.now = end;
        }

        fn put(&mut self, input: Input<'_>) {
            self.room.handle_input(self.now, input);
            loop {
                self.most_skipped = self.most_skipped.max(self.skipped());
                if self.polls_shared
                    && let Some(SharedPacket { links, packet }) = self.room.poll_shared()
                {
                    for link in links {
                        self.packets.entry(link).or_default().push(packet.to_vec());
                        if self.stalled.contains(&link) {
                            self.room.handle_input(self.now, Input::Unsent { link });
                        }
                    }
                    continue;
                }
                match self.room.poll_output() {
                    Output::Send { link, packet, body } => {
                        let packet = whole_packet(packet, body.as_deref());
                        self.packets.entry(link).or_default().push(packet);
                        if !self.stalled.contains(&link) {
                            self.room.handle_input(self.now, Input::Sent { link });
                        }
                    }
                    Output::Timeout(next) => {
                        self.next = next;
                        return;
                    }
                    _ => {}
                }
            }
        }

        fn skipped(&self) -> usize {
            self.room.common.attention.skipped.lists.iter().map(|list| list.links.len()).sum()
        }
    }

    #[test]
    fn ticks_skip_members_of_shared_streams_that_nothing_happens_to() {
        let mut recorded = Recorded::new(true);
        for round in 0..90_u8 {
            recorded.publish("pointer", &[round]);
            recorded.run(45);
        }
        assert_eq!(recorded.most_skipped, PEOPLE as usize);
        // The last tick was after the last housekeeping.
        assert_eq!(recorded.skipped(), PEOPLE as usize);
        // Ticks look at the participants that sent or were sent something else.
        [3, 3, 4].into_iter().for_each(|link| recorded.speak(link));
        recorded.put(Input::Unsent { link: LinkId(5) });
        assert_eq!(recorded.skipped(), PEOPLE as usize - 3);
        recorded.room.end_skipping();
        assert_eq!(recorded.skipped(), 0);
    }

    /// What happens in a room between two messages.
    #[derive(Debug, Clone, Copy)]
    enum Step {
        Joins,
        Closes(u64),
        Stalls(u64),
        Revives(u64),
        Speaks(u64),
        /// The room publishes a transaction.
        Transaction,
        /// Time passes, in milliseconds.
        Waits(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let link = || 0..PEOPLE;
        let step = prop_oneof![
            1 => Just(Step::Joins),
            1 => link().prop_map(Step::Closes),
            2 => link().prop_map(Step::Stalls),
            2 => link().prop_map(Step::Revives),
            4 => link().prop_map(Step::Speaks),
            2 => Just(Step::Transaction),
            20 => (0..150_u64).prop_map(Step::Waits),
        ];
        proptest::collection::vec(step, 0..80)
    }

    fn play(polls_shared: bool, steps: &[Step]) -> (BTreeMap<LinkId, Vec<Vec<u8>>>, Stats) {
        let mut recorded = Recorded::new(polls_shared);
        // Everybody becomes a member of the shared stream.
        recorded.run(1000);
        for (round, &step) in steps.iter().enumerate() {
            match step {
                Step::Joins => recorded.join(),
                Step::Closes(link) => recorded.put(Input::Closed { link: LinkId(link) }),
                Step::Stalls(link) => _ = recorded.stalled.insert(LinkId(link)),
                Step::Revives(link) => recorded.revive(link),
                Step::Speaks(link) => recorded.speak(link),
                Step::Transaction => recorded.publish("draw", &[round as u8]),
                Step::Waits(ms) => recorded.run(ms),
            }
            recorded.publish("pointer", &[round as u8, 1]);
        }
        recorded.stalled.clone().into_iter().for_each(|link| recorded.revive(link.0));
        recorded.run(1000);
        (recorded.packets, recorded.room.stats())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
        #[test]
        fn members_that_ticks_skip_are_sent_the_same_as_if_they_were_looked_at(steps in steps()) {
            let ((skipped, totals), (looked_at, expected)) = (play(true, &steps), play(false, &steps));
            prop_assert_eq!(skipped, looked_at);
            prop_assert_eq!(totals, expected);
        }
    }
}
