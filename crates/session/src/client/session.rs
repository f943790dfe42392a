//! The state that outlives a client's transports: its channels, the messages that wait to be sent, and which messages
//! were delivered.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::api::{Config, Output, Stats};
use super::channel::Channel;
use super::channel_id::ChannelId;
use super::delivered::Delivered;
use super::directs::Directs;
use super::event::GapReason;
use super::event::{Event, Status};
use super::outbox::Pending;
use super::participants::Participants;
use super::provided::Provided;
use crate::Durability;
use crate::ids::{Counter, Order, ParticipantId, Position};
use crate::seen::Seen;
use crate::wire::handshake::{Outcome, Resume, Secret};

/// The state that a client carries from one transport to the next.
pub(super) struct Session {
    pub(super) config: Config,
    /// What the room stated in its last WELCOME; `None` before the first.
    pub(super) membership: Option<Membership>,
    /// The position up to which all transactions were delivered, are replaced by a part of the snapshot, or are not for this client.
    pub(super) position: Position,
    /// The newest own transaction that is known to be ordered.
    pub(super) ordered: Counter,
    /// The newest own transaction that was numbered.
    pub(super) numbered: Counter,
    /// Transports opened so far, the one in use included.
    pub(super) transports: u32,
    /// Own transactions that are not ordered yet, the oldest first. The transactions that have a number come before
    /// those that have none.
    pub(super) pending: VecDeque<Pending>,
    /// The bytes of memory of `pending`, as [`Item::cost`](super::outbox::Item::cost) counts it.
    pub(super) pending_bytes: usize,
    /// True if the last [`Event::Pending`] told the application that transactions wait.
    pub(super) has_pending: bool,
    /// The order number of the newest message that the application submitted.
    pub(super) order: Order,
    /// Indexed by [`ChannelId`].
    pub(super) channels: Vec<Channel>,
    /// The parts of the snapshot that the application makes. The index of a part is its number on the wire.
    pub(super) parts: Vec<Provided>,
    /// The newest transaction delivered of each sender.
    pub(super) delivered: Delivered,
    pub(super) participants: Participants,
    pub(super) directs: Directs,
    /// Recognises awareness messages that were delivered before.
    pub(super) seen: Seen<ChannelId>,
    /// The token has expired or was revoked, and the application has not given another one.
    pub(super) lacks_token: bool,
    /// The number of HELLOs that asked to resume this session and were not answered: each of them may still reach the room, after a
    /// later one, and then the room takes the session over to a transport that is gone (W44).
    pub(super) unanswered: u32,
    /// True if the newest presence was not sent to the room yet.
    pub(super) presence_changed: bool,
    /// True if the last [`Event::Quiet`] told the application that the transport may be dead.
    pub(super) is_quiet: bool,
    /// True if the application received [`Sent::NotNow`](super::Sent::NotNow) and waits for [`Event::Drain`].
    pub(super) wants_drain: bool,
    /// Why the transport in use was chosen, for the inspector.
    pub(super) reason: String,
    pub(super) stats: Stats,
    pub(super) outputs: VecDeque<Output>,
}

/// The values of WELCOME that stay valid after the transport is closed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Membership {
    pub(super) participant: ParticipantId,
    pub(super) secret: Secret,
    pub(super) incarnation: u64,
    /// Bytes of the largest message that the room takes.
    pub(super) max_message: usize,
    /// Bytes of the largest snapshot that the room takes.
    pub(super) max_snapshot: usize,
    /// What a confirmed transaction survives, and the number of the room's load, which changes when the room loses its
    /// awareness; `None` if the room stores nothing (W94).
    pub(super) stored: Option<(Durability, u64)>,
}

impl Session {
    pub(super) fn new(config: Config) -> Self {
        let mut session = Session {
            config,
            membership: None,
            position: Position(0),
            ordered: Counter(0),
            numbered: Counter(0),
            transports: 0,
            pending: VecDeque::new(),
            pending_bytes: 0,
            has_pending: false,
            order: Order(0),
            channels: Vec::new(),
            parts: Vec::new(),
            delivered: Delivered::default(),
            participants: Participants::default(),
            directs: Directs::default(),
            seen: Seen::default(),
            lacks_token: false,
            unanswered: 0,
            presence_changed: false,
            is_quiet: false,
            wants_drain: false,
            reason: String::new(),
            stats: Stats::default(),
            outputs: VecDeque::new(),
        };
        session.emit(Event::Status(Status::Connecting));
        session
    }

    /// Tells the application whether the transport may be dead, if that changed.
    pub(super) fn set_quiet(&mut self, quiet: bool) {
        if self.is_quiet != quiet {
            self.is_quiet = quiet;
            self.emit(Event::Quiet { quiet });
        }
    }

    /// The number of own transactions that are not ordered yet.
    pub(super) fn waiting(&self) -> usize {
        self.pending.iter().filter(|pending| !pending.piece.goes_on()).count()
    }

    /// Tells the application whether own transactions wait for their confirmation, if that changed.
    pub(super) fn report_pending(&mut self) {
        let count = self.waiting();
        if self.has_pending == (count == 0) {
            self.has_pending = count > 0;
            self.emit(Event::Pending { count });
        }
    }

    /// Counts a packet or datagram that was handed to the transport.
    pub(super) fn count_out(&mut self, bytes: usize) {
        self.stats.packets_out += 1;
        self.stats.bytes_out_after += bytes as u64;
    }

    /// Counts a received packet or datagram, which shows that the transport is alive.
    pub(super) fn count_in(&mut self, bytes: usize) {
        self.set_quiet(false);
        self.stats.packets_in += 1;
        self.stats.bytes_in_after += bytes as u64;
    }

    /// Counts the payload of a received packet, with the octet of its tag.
    pub(super) fn count_payload(&mut self, payload: &[u8]) {
        self.stats.payload_bytes_in += 1 + payload.len() as u64;
    }

    /// W14: the session to be resumed, as HELLO names it. `None` before the first WELCOME.
    pub(super) fn resume(&self) -> Option<Resume> {
        self.membership.map(|membership| Resume {
            participant: membership.participant,
            secret: membership.secret,
            incarnation: membership.incarnation,
            position: self.position,
            counter: self.ordered,
        })
    }

    /// W94: takes in ROOM. If the room was loaded since the last ROOM, it has lost the values of channels that
    /// conflate, and the client sends them again. Participants from before the load have until `away` to resume.
    pub(super) fn on_room(&mut self, durability: Durability, load: u64, away: Duration) {
        let Some(membership) = &mut self.membership else { return };
        let before = membership.stored.replace((durability, load));
        if before.is_some_and(|(_, before)| before != load) {
            self.channels.iter_mut().for_each(Channel::restate);
            self.participants.missing_until = Some(away);
        }
    }

    /// W41: what was sent over the stream before the PING at `time` has arrived.
    pub(super) fn on_pong(&mut self, time: u64) {
        let (asked, transport) = (Duration::from_micros(time), self.transports);
        let keeps = self.is_stored();
        self.channels.iter_mut().for_each(|channel| channel.arrived(transport, asked, keeps));
    }

    /// True if the room may lose values that it had, and keep its incarnation.
    pub(super) fn is_stored(&self) -> bool {
        self.membership.is_some_and(|membership| membership.stored.is_some())
    }

    /// Begins a new session under another participant number, because the room does not know the old one any more.
    pub(super) fn start_over(&mut self, outcome: Outcome, same_incarnation: bool) {
        let is_uncertain =
            |pending: &&Pending| pending.counter.is_some() && !pending.piece.goes_on();
        let uncertain = self.pending.iter().filter(is_uncertain).count();
        self.forget_directs(same_incarnation);
        self.ordered = Counter(0);
        self.numbered = Counter(0);
        // The messages that wait for their senders belong to the old session, too.
        self.participants = Participants::default();
        for channel in &mut self.channels {
            channel.keep_own_begun(&self.pending, self.position);
        }
        for pending in &mut self.pending {
            pending.counter = None;
            pending.sent = false;
        }
        let pending = &self.pending;
        let before =
            |order| Counter(pending.partition_point(|pending| pending.order < order) as u32);
        self.channels.iter_mut().for_each(|channel| {
            channel.restate();
            channel.count_anew(before);
        });
        if !same_incarnation {
            self.position = Position(0);
            self.delivered.clear();
            self.seen.clear();
            for channel in &mut self.channels {
                channel.have = Position(0);
                channel.synced = false;
                channel.forget_begun();
            }
        }
        if outcome == Outcome::Lost {
            let reason = if same_incarnation { GapReason::Session } else { GapReason::Incarnation };
            self.emit(Event::Gap { reason, uncertain, missing: None });
        }
    }
}
