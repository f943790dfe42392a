//! The state that outlives a client's transports: its channels, the messages that wait to be sent,
//! and which messages were delivered.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::api::{Config, Output, Stats};
use super::channel::{Channel, Stage};
use super::channel_id::ChannelId;
use super::delivered::Delivered;
use super::directs::Directs;
use super::event::{Event, GapReason, Status};
use super::outbox::{Outbox, Pending};
use super::participants::Participants;
use super::provided::Provided;
use super::transports::Transports;
use crate::ids::{Counter, ParticipantId, Position};
use crate::wire::handshake::{Outcome, Resume, Secret};
use crate::{Durability, Error, Kind, Receipt};

/// The state that a client carries from one transport to the next.
pub(super) struct Session {
    pub(super) config: Config,
    /// What the room stated in its last WELCOME; `None` before the first.
    pub(super) membership: Option<Membership>,
    pub(super) transports: Transports,
    /// Indexed by [`ChannelId`].
    pub(super) channels: Vec<Channel>,
    pub(super) outbox: Outbox,
    pub(super) delivered: Delivered,
    pub(super) directs: Directs,
    /// The parts of the snapshot that the application makes. The index of a part is its number on
    /// the wire.
    pub(super) parts: Vec<Provided>,
    pub(super) participants: Participants,
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
    /// What a confirmed transaction survives, and the number of the room's load, which changes when
    /// the room loses its awareness; `None` if the room stores nothing (W94).
    pub(super) stored: Option<(Durability, u64)>,
}

impl Session {
    pub(super) fn new(config: Config) -> Self {
        let mut session = Session {
            config,
            membership: None,
            transports: Transports::default(),
            channels: Vec::new(),
            outbox: Outbox::default(),
            delivered: Delivered::default(),
            directs: Directs::default(),
            parts: Vec::new(),
            participants: Participants::default(),
            stats: Stats::default(),
            outputs: VecDeque::new(),
        };
        session.emit(Event::Status(Status::Connecting));
        session
    }

    /// Tells the application whether the transport may be dead, if that changed.
    pub(super) fn set_quiet(&mut self, quiet: bool) {
        if self.transports.is_quiet != quiet {
            self.transports.is_quiet = quiet;
            self.emit(Event::Quiet { quiet });
        }
    }

    /// Tells the application whether own transactions wait for their confirmation, if that changed.
    pub(super) fn report_pending(&mut self) {
        if let Some(count) = self.outbox.take_news() {
            self.emit(Event::Pending { count });
        }
    }

    /// The channel, which the application has open.
    ///
    /// # Errors
    /// A channel that the application never opened, or that it closed.
    pub(super) fn open_mut(&mut self, channel: ChannelId) -> Result<&mut Channel, Error> {
        let known = self.channels.get_mut(channel.0 as usize);
        let known = known.ok_or(Error::UnknownChannel { channel: channel.0 })?;
        if known.stage != Stage::Open {
            return Err(Error::NotAllowed { what: "using a channel that was closed" });
        }
        Ok(known)
    }

    /// Tells the application that there is room for messages again, once the queues are half empty.
    pub(super) fn emit_drain(&mut self) {
        let limits = &self.config.limits;
        let full = |channel: &Channel| {
            channel.qos.kind == Kind::Awareness && channel.values.is_half_full(limits)
        };
        if self.outbox.wants_drain
            && self.outbox.is_half_empty(limits)
            && !self.channels.iter().any(full)
        {
            self.outbox.wants_drain = false;
            self.emit(Event::Drain);
        }
    }

    /// The server refused a part.
    pub(super) fn on_part_refused(&mut self, number: u32, why: &str) {
        let name = self.parts.get(number as usize).map_or("", |part| part.name.as_str());
        let error = Error::PartRefused { why: [name, ": ", why].concat() };
        self.emit(Event::Error { error, channel: None, fatal: false });
    }

    /// Handles COUNT (W103): the number of participants. `everybody`: the room announces all of
    /// them.
    pub(super) fn on_count(&mut self, everybody: bool, count: u32) {
        if !everybody {
            // A large room does not announce all participants from before its load, so the missing
            // ones count as left at once.
            self.participants.missing_until = Some(Duration::ZERO);
            let left = self.participants.take_missing(Duration::ZERO);
            self.emit_if(left);
        }
        self.emit(Event::Count { count, everybody });
    }

    /// Handles RECEIPT (W116).
    pub(super) fn on_receipt(&mut self, counter: Counter, receipt: Receipt) {
        let event = self.directs.on_receipt(counter, receipt, &self.outbox);
        self.emit_if(event);
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

    /// Counts the payload of a received packet, with the byte of its tag.
    pub(super) fn count_payload(&mut self, payload: &[u8]) {
        self.stats.payload_bytes_in += 1 + payload.len() as u64;
    }

    /// W14: the session to be resumed, as HELLO names it. `None` before the first WELCOME.
    pub(super) fn resume(&self) -> Option<Resume> {
        self.membership.map(|membership| Resume {
            participant: membership.participant,
            secret: membership.secret,
            incarnation: membership.incarnation,
            position: self.delivered.position,
            counter: self.outbox.ordered,
        })
    }

    /// W94: takes in ROOM. If the room was loaded since the last ROOM, it has lost the values of
    /// channels that conflate, and the client sends them again. Participants from before the load
    /// have until `away` to resume.
    pub(super) fn on_room(&mut self, durability: Durability, load: u64, away: Duration) {
        let Some(membership) = &mut self.membership else { return };
        let before = membership.stored.replace((durability, load));
        if before.is_some_and(|(_, before)| before != load) {
            self.channels.iter_mut().for_each(|channel| channel.values.restate());
            self.participants.missing_until = Some(away);
        }
    }

    /// W41: what was sent over the stream before the PING at `time` has arrived.
    pub(super) fn on_pong(&mut self, time: u64) {
        let (asked, transport) = (Duration::from_micros(time), self.transports.opened);
        let keeps = self.is_stored();
        self.channels
            .iter_mut()
            .for_each(|channel| channel.values.arrived(transport, asked, keeps));
    }

    /// True if the room may lose values that it had, and keep its incarnation.
    pub(super) fn is_stored(&self) -> bool {
        self.membership.is_some_and(|membership| membership.stored.is_some())
    }

    /// Begins a new session under another participant number, because the room does not know the
    /// old one any more.
    pub(super) fn start_over(&mut self, outcome: Outcome, same_incarnation: bool) {
        let is_uncertain =
            |pending: &&Pending| pending.counter.is_some() && !pending.piece.goes_on();
        let uncertain = self.outbox.pending.iter().filter(is_uncertain).count();
        self.directs.start_over(same_incarnation, &mut self.outbox, &mut self.outputs);
        // The messages that wait for their senders belong to the old session, too.
        self.participants = Participants::default();
        for channel in &mut self.channels {
            channel.received.keep_own_begun(&self.outbox.pending, self.delivered.position);
        }
        self.outbox.start_over();
        for channel in &mut self.channels {
            channel.values.restate();
            channel.values.count_anew(&channel.qos, |order| self.outbox.submitted_before(order));
        }
        if !same_incarnation {
            self.delivered.clear();
            for channel in &mut self.channels {
                channel.received.have = Position(0);
                channel.synced = false;
                channel.received.forget_begun();
            }
        }
        if outcome == Outcome::Lost {
            let reason = if same_incarnation { GapReason::Session } else { GapReason::Incarnation };
            self.emit(Event::Gap { reason, uncertain, missing: None });
        }
    }
}
