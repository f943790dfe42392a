//! The server's end: one room with its participants, channels, late-joiner state and ticks.
//!
//! A room has three layers below it, and each imports only from those after it: `Room` → `peer` →
//! `feed` → `log`. The log stores channels, sessions and messages. Feeds send messages of the log
//! to receivers. Peers are the participants. The room itself hands inputs to its peers and runs the
//! timers.
//!
//! What all peers share is in `common.rs`, in parts: `intake` takes messages in, `delivery` gives
//! them out, `accounting` counts, `members` says who takes part, `timers` and `attention` say when
//! the room has to do something for whom. A function is handed the parts that it may touch.

mod accounting;
mod administration;
mod admission;
mod api;
mod attention;
mod common;
mod delivery;
mod feed;
mod inspection;
mod inspector;
mod intake;
mod log;
mod members;
mod mirror;
mod peer;
mod periodic;
mod permissions;
mod poll;
mod storage;
mod subscriptions;
mod timers;
mod visitors;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_afec::code::Code;
use groupwire_afec::stats::{ReceiverStats, SenderStats};

pub use administration::{
    ChannelContents, LookedAt, Newest, NotPublished, NotReset, Ordered, PartFacts, Publication,
    Published,
};
pub use api::{Config, Event, Input, Output, SharedPacket, Stats, whole_packet};
pub use inspection::{ChannelFacts, Inspection, Measured, ParticipantFacts, TransportFacts};
pub use inspector::Recorded;
pub use log::RequestKey;
pub use storage::stored::{
    RESERVED_AT_ONCE, RESET_SIZE, Stored, StoredPart, StoredTransaction, Write,
};
pub use visitors::{
    MAX_VISITOR_NAME, MissedBefore, NotAccepted, NotRead, Page, PeopleNews, Person, Place,
    ReadMessage, Reading, Tidings, Visit, VisitorMessage,
};

use crate::datagrams::{Datagrams, PathNeeds};
use crate::events::event;
use crate::limits::DEFAULT_MAX_PACKET;
use crate::wire::frame::Frame;
use crate::{Authority, ChannelNo, Error, Limits, LinkId, Order, ParticipantId, Receipt};
use common::{Common, Effect};
use log::Log;
use members::Members;
use mirror::{MIRRORS, Mirrors};
use peer::{Connection, Peer, SNAPSHOT_PATIENCE, State};
use storage::storing::Storing;
use visitors::Visitors;

/// The room's state machine, driven as the [crate](crate#the-driving-interface) says.
///
/// ```
/// use core::time::Duration;
/// use groupwire_session::room::{Config, Input, Output, Room};
/// use groupwire_session::AllowAll;
///
/// let mut room = Room::new(Config::new("demo", 1), Box::new(AllowAll));
/// room.handle_input(Duration::ZERO, Input::Timeout);
/// assert!(matches!(room.poll_output(), Output::Timeout(None)));
/// ```
pub struct Room {
    peers: BTreeMap<ParticipantId, Peer>,
    common: Common,
    /// The newest order at the last housekeeping. Values up to this order that are still in the log
    /// at the next housekeeping have settled (wire W41).
    settling: Order,
    /// The time from which the room asks for a part of the snapshot again, even if the last
    /// participant has not sent its part.
    snapshot_due: Option<Duration>,
    /// In a room that was loaded: participants that have not resumed yet, and whose leaving will
    /// cause departure entries (wire W113), or receipts for the direct transactions that wait for
    /// them.
    absent: BTreeSet<ParticipantId>,
    /// In a room that was loaded, the time until which its earlier participants may resume. After
    /// it they have left.
    absent_until: Option<Duration>,
    /// The room was loaded, and has had no input yet.
    was_loaded: bool,
    /// True if ticks wait for the next [`Input::Timeout`].
    gathers: bool,
    /// The participant that was asked for a part of the snapshot last, and the part's number there.
    last_asked: (ParticipantId, u32),
    /// The room's other ends at further servers.
    mirrors: Mirrors,
    /// The participants without a transport.
    visitors: Visitors,
}

impl Room {
    /// An empty room.
    pub fn new(mut config: Config, authority: Box<dyn Authority + Send>) -> Self {
        // A message has to fit into a packet, even if the configuration permits larger ones.
        let largest = DEFAULT_MAX_PACKET - Limits::packet_for(0);
        config.limits.max_message = config.limits.max_message.min(largest);
        Room {
            peers: BTreeMap::new(),
            common: Common::new(config, authority),
            settling: Order(0),
            snapshot_due: None,
            absent: BTreeSet::new(),
            absent_until: None,
            was_loaded: false,
            gathers: false,
            last_asked: (ParticipantId(0), 0),
            mirrors: Mirrors::default(),
            visitors: Visitors::default(),
        }
    }

    /// A room that was stored, with the transactions, snapshot, channels and participants' counters
    /// that the store has. Its participants resume as if their transports had broken.
    ///
    /// # Errors
    /// [`Error::Malformed`] if what is stored is not a whole room.
    pub fn load(
        config: Config,
        authority: Box<dyn Authority + Send>,
        stored: Stored,
    ) -> Result<Self, Error> {
        let mut room = Room::new(config, authority);
        let Config { limits, wall, .. } = &room.common.config;
        let reserved = stored.reserved;
        let mut log = Log::load(limits.clone(), stored, *wall)?;
        // The server may have ended before it stored the rest of a reset.
        let resets = log.apply_resets();
        let mut storing = Storing::restored(&log, reserved);
        storing.reset(resets);
        room.common.storing = Some(storing);
        let timers = &mut room.common.timers;
        (timers.head, timers.released) = (log.head(), log.end());
        room.settling = log.order();
        room.absent = log.authors_to_depart().chain(log.directs.receivers()).collect();
        room.was_loaded = true;
        room.common.log = log;
        Ok(room)
    }

    /// The room's name.
    pub fn name(&self) -> &str {
        &self.common.config.name
    }

    /// A number that differs each time the room is made anew, without its old log.
    pub fn incarnation(&self) -> u64 {
        self.common.log.incarnation()
    }

    /// True if the room has no participants, neither connected nor away, and no mirror. In a room
    /// that was loaded, participants that have not resumed yet count as away if channels record
    /// their departures or direct transactions wait for them.
    pub fn is_empty(&self) -> bool {
        let has_pending = self.common.upward.as_ref().is_some_and(|it| it.has_pending());
        // A mirror is there for a client that is about to join.
        let is_empty = self.peers.is_empty() && self.mirrors.is_empty();
        is_empty && self.absent.is_empty() && !has_pending
    }

    /// True if the room holds something that those who come later would miss: it has or had
    /// transactions, or it has a part of a snapshot, or a value. A participant's values go when it
    /// leaves, those that the room itself published stay.
    ///
    /// ```
    /// use groupwire_session::AllowAll;
    /// use groupwire_session::room::{Config, Room};
    ///
    /// assert!(!Room::new(Config::new("demo", 1), Box::new(AllowAll)).has_content());
    /// ```
    pub fn has_content(&self) -> bool {
        self.common.log.has_content()
    }

    /// Totals since the room was made.
    pub fn stats(&self) -> Stats {
        let here = self.peers.values().filter(|peer| peer.connection().is_some()).count();
        let expired = self.common.log.expired();
        let guests = self.mirrors.guests.values().map(|guest| &guest.peer);
        let all = self.peers.values().chain(guests);
        let limited = all.filter(|peer| peer.account.is_limited()).count();
        Stats {
            here,
            limited,
            expired,
            memory: self.common.memory() + self.mirrors.memory(),
            ..self.common.accounting.stats
        }
    }

    /// How often a timer or an event of another participant made the room look at a participant,
    /// outside of ticks. The room does not look at participants that have nothing to do, so that
    /// idle ones cost nothing.
    ///
    /// ```
    /// use groupwire_session::AllowAll;
    /// use groupwire_session::room::{Config, Room};
    ///
    /// assert_eq!(Room::new(Config::new("demo", 1), Box::new(AllowAll)).visits(), 0);
    /// ```
    pub fn visits(&self) -> u64 {
        self.common.attention.visits
    }

    /// Statistics of a channel's datagrams: those sent to a participant, how their messages are
    /// repeated, and those received from the participant.
    pub fn path(
        &self,
        participant: ParticipantId,
        channel: ChannelNo,
    ) -> Option<(SenderStats, Code, ReceiverStats)> {
        let connection = self.peers.get(&participant)?.connection()?;
        let (sent, code, received) = connection.link.datagrams.as_ref()?.stats(channel)?;
        Some((sent, code, *received))
    }

    /// What the datagrams to a participant need of the congestion control of its transport.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::{AllowAll, LinkId};
    /// use groupwire_session::room::{Config, Room};
    ///
    /// let room = Room::new(Config::new("demo", 1), Box::new(AllowAll));
    /// assert_eq!(room.path_needs(Duration::ZERO, LinkId(1)).minimum_rate, 0);
    /// ```
    pub fn path_needs(&self, now: Duration, link: LinkId) -> PathNeeds {
        let peer = self.common.members.links.get(&link).and_then(|id| self.peers.get(id));
        let datagrams = peer.and_then(|peer| peer.connection()?.link.datagrams.as_ref());
        datagrams.map(|datagrams| datagrams.path_needs(now)).unwrap_or_default()
    }

    /// Handles an input.
    pub fn handle_input(&mut self, now: Duration, input: Input<'_>) {
        debug_assert!(self.common.timers.last_tick <= Some(now), "time never goes back");
        self.common.now = now;
        self.gathers &= !matches!(input, Input::Timeout);
        if core::mem::take(&mut self.was_loaded) {
            self.absent_until = Some(now + self.common.config.timing.away);
            self.common.timers.begin_housekeeping(now);
        }
        if self.is_mirror() && self.take_as_mirror(now, &input) {
            self.finish_input(now);
            return;
        }
        match input {
            Input::Mirror { .. } | Input::MirrorPacket { .. } if !MIRRORS => {}
            Input::Mirror { link } => self.admit_mirror(now, link),
            Input::MirrorPacket { link, packet, secrets } => {
                self.on_mirror_packet(now, link, packet, secrets);
            }
            Input::Sent { link } if self.mirrors.has(link) => self.mirrors.handled(link),
            Input::Closed { link } | Input::Fail { link, .. } if self.mirrors.has(link) => {
                self.end_mirror(now, link, None);
            }
            Input::Join { link, opening, identity, secrets, max_datagram } => {
                self.join(now, link, opening, identity, secrets, max_datagram);
            }
            Input::Renewed { link, identity } => self.serve(
                link,
                |peer, common| {
                    peer.renew(identity, common).map_or_else(Served::Failed, |()| Served::Flush)
                },
                now,
            ),
            Input::TokenWanted { link } => self.tell(now, link, &Frame::TokenWanted),
            Input::Owner { link, owner } => {
                let after_ms = owner.after.as_millis() as u64;
                let (address, port) = (owner.address.as_str(), owner.port.into());
                self.tell(now, link, &Frame::Owner { after_ms, address, port });
            }
            Input::Packet { link, packet } => self.handle_packet(now, link, packet),
            Input::Sent { link } => self.on_sent(now, link),
            Input::Unsent { link } => self.on_unsent(link),
            Input::Fail { link, error } => self.serve(link, |_, _| Served::Failed(error), now),
            Input::Closed { link } => {
                if let Some(id) = self.common.members.links.remove(&link)
                    && let Some(peer) = self.peers.get_mut(&id)
                {
                    peer.away(now, None, &mut self.common);
                }
            }
            Input::Datagram { link, packet } => self.serve(
                link,
                |peer, common| {
                    peer.receive_datagram(now, packet, common);
                    if peer.charge(now, common) { Served::Flush } else { Served::Done }
                },
                now,
            ),
            Input::DatagramSent { link } => self.on_datagram_gone(now, link, Datagrams::sent),
            Input::DatagramDropped { link } => {
                self.on_datagram_gone(now, link, Datagrams::dropped);
            }
            Input::Durable { position, reserved } => self.on_durable(now, position, reserved),
            Input::Shutdown { retry, step } => self.shut_down(now, retry, step),
            Input::Timeout => {}
        }
        self.finish_input(now);
    }

    /// Does what is left to do after each input.
    fn finish_input(&mut self, now: Duration) {
        self.run_timers(now);
        self.tell_receipts(now);
        if !self.mirrors.is_empty() {
            self.end_stalled_mirrors(now);
        }
        self.end_input_of_mirror();
    }

    fn handle_packet(&mut self, now: Duration, link: LinkId, packet: &[u8]) {
        self.serve(
            link,
            |peer, common| {
                let received = peer.receive(now, packet, common);
                let coders = peer.connection().and_then(|one| one.link.coders.as_ref());
                common.accounting.inspector.received_packet(now, peer.id, coders, packet);
                peer.charge(now, common);
                received.map_or_else(Served::Failed, |()| Served::Flush)
            },
            now,
        );
    }

    /// The transport has place for another packet.
    fn on_sent(&mut self, now: Duration, link: LinkId) {
        let Room { peers, common, .. } = self;
        let Some(peer) = common.members.links.get(&link).and_then(|id| peers.get_mut(id)) else {
            return;
        };
        peer.end_skip(&mut common.attention.skipped);
        let Some(connection) = peer.connection_mut() else { return };
        connection.link.sent();
        // A member of a shared stream usually needs nothing more, and goes on resting.
        if !connection.has_all(&common.delivery.streams) {
            peer.wake(&mut common.attention);
            peer.flush(now, common);
        }
    }

    /// The transport has place for another datagram.
    fn on_datagram_gone(&mut self, now: Duration, link: LinkId, note: fn(&mut Datagrams)) {
        let gone = |peer: &mut Peer, common: &mut Common| {
            let connection = peer.connection_mut();
            if let Some(datagrams) = connection.and_then(|one| one.link.datagrams.as_mut()) {
                note(datagrams);
            }
            peer.flush_datagrams(now, common);
            Served::Done
        };
        self.serve(link, gone, now);
    }

    /// Delays ticks until the next [`Input::Timeout`], so that a caller with several inputs at one
    /// time needs one tick for all of them.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::{AllowAll, LinkId};
    /// use groupwire_session::room::{Config, Input, Room};
    ///
    /// let mut room = Room::new(Config::new("demo", 1), Box::new(AllowAll));
    /// room.gather();
    /// room.handle_input(Duration::ZERO, Input::Closed { link: LinkId(1) });
    /// room.handle_input(Duration::ZERO, Input::Closed { link: LinkId(2) });
    /// room.handle_input(Duration::ZERO, Input::Timeout);
    /// ```
    pub fn gather(&mut self) {
        self.gathers = true;
    }

    /// Sets the shortest time between two ticks for now, if that is longer than the configured
    /// tick: a caller that finds ticks expensive lets them be fewer, and each carry more.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::AllowAll;
    /// use groupwire_session::room::{Config, Room};
    ///
    /// let mut room = Room::new(Config::new("demo", 1), Box::new(AllowAll));
    /// room.space_ticks(Duration::from_millis(5));
    /// ```
    pub fn space_ticks(&mut self, at_least: Duration) {
        self.common.timers.space_ticks(at_least);
    }

    /// Calls `serve` for the peer with this transport. Then carries out its effects on other peers,
    /// and flushes or closes the transport as `serve` returned.
    fn serve(
        &mut self,
        link: LinkId,
        serve: impl FnOnce(&mut Peer, &mut Common) -> Served,
        now: Duration,
    ) {
        let Room { peers, common, .. } = self;
        let Some(id) = common.members.links.get(&link).copied() else { return };
        let Some(peer) = peers.get_mut(&id) else { return };
        peer.end_skip(&mut common.attention.skipped);
        let served = serve(peer, common);
        // Nearly all inputs have no effects on others. Then the peer need not be looked up again.
        if common.effects.is_empty() {
            return served.finish(now, peer, common);
        }
        self.carry_out_effects();
        if let Some(peer) = self.peers.get_mut(&id) {
            served.finish(now, peer, &mut self.common);
        }
    }

    /// Sends a frame to the participant at a transport.
    fn tell(&mut self, now: Duration, link: LinkId, frame: &Frame<'_>) {
        let queue = |peer: &mut Peer, _: &mut Common| {
            if let Some(connection) = peer.connection_mut() {
                connection.link.queue(frame);
            }
            Served::Flush
        };
        self.serve(link, queue, now);
    }

    /// Carries out the effects that a peer's input has on other peers and on the room.
    fn carry_out_effects(&mut self) {
        while let Some(effect) = self.common.effects.pop() {
            match effect {
                Effect::Changed(channel) => {
                    self.wake_all();
                    let open = |one: &&mut Connection| one.channels.get(channel).is_some();
                    let connections = self.connections_mut().filter(open);
                    connections
                        .for_each(|connection| _ = connection.notices.renewed.insert(channel));
                }
                Effect::SnapshotComes => {
                    self.snapshot_due = Some(self.common.now + SNAPSHOT_PATIENCE);
                }
                Effect::SnapshotCame => {
                    self.connections_mut().for_each(|connection| connection.upload.forget());
                    self.snapshot_due = None;
                    self.end_hold();
                }
                Effect::TurnsMoved => self.find_next_turn(),
                Effect::Left(id) => self.leave(id),
            }
        }
    }

    /// Removes a participant that left. Its session can still be resumed for a while.
    fn leave(&mut self, id: ParticipantId) {
        if self.common.upward.is_some() {
            return self.leave_mirror(id);
        }
        let Some(peer) = self.peers.remove(&id) else { return };
        self.visitors.forget(id);
        let Common { config, now, log, members, intake, accounting, timers, attention, .. } =
            &mut self.common;
        let Members { roster, links, .. } = members;
        intake.pieces.forget(id);
        attention.resting.leave(id, peer.rest);
        if let State::Here(connection) = &peer.state {
            links.remove(&connection.id);
            intake.has_new_subscriptions = true;
        }
        log.end_session(id, (config.wall + *now).as_secs());
        roster.leave(id);
        let head = log.head();
        log.append_departure(id, *now);
        accounting.inspector.advance(log.head());
        // If no participant knew this one, there is nothing to send.
        if roster.has_changed() || log.head() != head {
            timers.tick_for_leaver();
        }
        self.common.delivery.outputs.emit(Event::Left { participant: id });
    }

    /// Once the time to resume is over: records that the participants in `absent` left, and gives
    /// up their direct transactions.
    fn end_absences(&mut self, now: Duration) {
        if self.absent_until.is_none_or(|until| now < until) {
            return;
        }
        self.absent_until = None;
        if self.absent.is_empty() {
            return;
        }
        let Common { log, accounting, timers, .. } = &mut self.common;
        for id in core::mem::take(&mut self.absent) {
            log.append_departure(id, now);
            log.directs.give_up(id, log.durable(), Receipt::Gone);
        }
        accounting.inspector.advance(log.head());
        timers.schedule_tick(now);
    }

    fn shut_down(&mut self, now: Duration, retry: Duration, step: Duration) {
        event!(DEBUG, "room shuts down", ?retry, ?step);
        self.end_skipping();
        self.shut_mirrors_down(now, retry);
        let mut retry = retry;
        while let Some((link, id)) = self.common.members.links.pop_first() {
            let mut packet = Vec::new();
            Frame::Bye { reason: 0, retry_ms: retry.as_millis() as u64 }.write(&mut packet);
            retry += step;
            self.common.delivery.outputs.push_back(Output::Close { link, packet, reason: None });
            self.common.intake.end_transport(id);
            if let Some(peer) = self.peers.get_mut(&id) {
                peer.wake(&mut self.common.attention);
                peer.state = State::Away { since: now };
            }
        }
    }

    fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.peers.values().filter_map(Peer::connection)
    }

    fn connections_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.peers.values_mut().filter_map(Peer::connection_mut)
    }
}

/// What the room has to do for a peer after it handled an input.
enum Served {
    Done,
    /// Flush the peer's stream: there may be something to send.
    Flush,
    /// Close the peer's transport because of this error.
    Failed(Error),
}

impl Served {
    fn finish(self, now: Duration, peer: &mut Peer, common: &mut Common) {
        match self {
            Served::Done => {}
            Served::Flush => peer.flush(now, common),
            Served::Failed(error) => peer.fail(now, error, common),
        }
        let Common { config, delivery, attention, .. } = common;
        peer.review_rest(&config.timing, &delivery.streams, attention);
    }
}
