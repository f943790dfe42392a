//! What a room knows of one participant.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::change::Upstream;
use super::class::Member;
use super::journal::{Journal, Snapshot, Stored};
use super::shared::Membership;
use super::thinning::{Slotted, Thinned};
#[cfg(feature = "describe")]
use super::watched::Watched;
use crate::ids::{ChannelNo, Counter, LinkId, Order, ParticipantId, Position};
use crate::link::Link;
use crate::seen::Seen;
use crate::wire::frame::Access;
use crate::wire::handshake::Secret;
use crate::wire::snapshot::Assembly;
use crate::{Compress, Error, PresenceState};

pub(super) struct Participant {
    pub(super) secret: Secret,
    /// What the authority answered when it joined.
    pub(super) identity: Vec<u8>,
    pub(super) presence: Vec<u8>,
    /// Its last transaction that the room has.
    pub(super) counter: Counter,
    pub(super) presence_state: PresenceState,
    /// On its own, as maps are half empty and it is large.
    pub(super) connection: Option<Box<Connection>>,
    /// Since when it is away.
    pub(super) away_since: Duration,
    /// Set while it has been asked for a snapshot at least so new.
    pub(super) asked: Option<Position>,
    pub(super) upload: Option<Assembly>,
    /// Awareness of its own that the room has.
    pub(super) seen: Seen<ChannelNo>,
    /// How its awareness comes here, by channel.
    pub(super) upstream: BTreeMap<ChannelNo, Upstream>,
}

/// A participant's transport and how far it has been served.
pub(super) struct Connection {
    pub(super) id: LinkId,
    pub(super) link: Link,
    /// Its place in a class, if it takes the datagrams of classes.
    pub(super) member: Option<Member>,
    pub(super) channels: BTreeMap<ChannelNo, Opened>,
    /// Awareness up to this order was sent or is none of its business.
    pub(super) awareness_cursor: Order,
    /// On transports with datagrams: how far those have served it.
    pub(super) fresh: Option<Fresh>,
    /// Where it stands in [`super::Room::datagrams_due`].
    pub(super) datagrams_at: Option<Duration>,
    /// Transactions up to this position likewise.
    pub(super) log_cursor: Position,
    /// The last tick's order and position: what may be sent now.
    pub(super) due: (Order, Position),
    /// What came up to this order and position is state to it, not news; `None` once it was told that it is synced.
    pub(super) joining: Option<(Order, Position)>,
    /// It was asked for a snapshot: an answer may still come when another one's was taken.
    pub(super) was_asked: bool,
    /// Aggregated values up to this order were meant for those present then.
    pub(super) present_from: Order,
    pub(super) fills: VecDeque<Fill>,
    /// Channels opened after the opening but before the join was synced: they are told so with it.
    pub(super) unsynced: BTreeSet<ChannelNo>,
    /// Participants whose news it has not been sent.
    pub(super) changed: BTreeSet<ParticipantId>,
    /// The next PARTICIPANTS replaces all it knew.
    pub(super) complete: bool,
    pub(super) download: Option<Download>,
    /// Channels whose QoS changed since it was told.
    pub(super) renewed: BTreeSet<ChannelNo>,
    /// By channel, the share that will miss at best, if it is more than may; in 1/1000.
    pub(super) outlook: BTreeMap<ChannelNo, u16>,
    /// Channels of which it wants fewer values.
    pub(super) thinned: BTreeMap<ChannelNo, Thinned>,
    pub(super) slotted: Slotted,
    pub(super) membership: Membership,
    #[cfg(feature = "describe")]
    pub(super) watched: Watched,
    pub(super) requests: Requests,
}

/// A channel that a participant has open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opened {
    pub(super) access: Access,
    /// How it wants to be sent messages.
    pub(super) compress: Compress,
}

/// Awareness that goes as datagrams, and over the stream once it has rested (W41).
#[derive(Debug, Clone, Copy)]
pub(super) struct Fresh {
    /// Up to this order it was sent as datagrams, or is not meant to be.
    pub(super) cursor: Order,
    /// Up to this order it was sent over the stream as well, if nothing newer came.
    pub(super) rested: Order,
    /// What came up to this order has rested.
    pub(super) rests: Order,
}

impl Fresh {
    pub(super) fn at(order: Order) -> Self {
        Fresh { cursor: order, rested: order, rests: order }
    }
}

/// What a participant asked for in the present second that costs the room more than it costs to ask: CHANGE and RATE.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Requests {
    second: u64,
    count: usize,
}

impl Requests {
    /// Requests in a second, at most: so many ...
    const MOST: usize = 64;

    /// ... and so many for each channel that is open, as a transport begins by asking for all of them.
    const PER_CHANNEL: usize = 4;

    /// W77, W78: one more.
    pub(super) fn count(&mut self, now: Duration, channels: usize) -> Result<(), Error> {
        if self.second != now.as_secs() {
            *self = Requests { second: now.as_secs(), count: 0 };
        }
        self.count += 1;
        let limit = Self::MOST + Self::PER_CHANNEL * channels;
        match self.count <= limit {
            true => Ok(()),
            false => Err(Error::TooMany { what: "requests in a second", limit }),
        }
    }
}

/// Older transactions of a channel that was opened late.
#[derive(Debug)]
pub(super) struct Fill {
    pub(super) channel: ChannelNo,
    pub(super) cursor: Position,
    pub(super) until: Position,
}

/// A snapshot on its way to a participant.
pub(super) struct Download {
    pub(super) snapshot: Arc<Snapshot>,
    /// The participant's own last transaction within.
    pub(super) counter: Counter,
    pub(super) offset: usize,
}

impl Participant {
    /// Its last transaction at or before `position`.
    pub(super) fn counter_at(
        &self,
        id: ParticipantId,
        position: Position,
        journal: &Journal,
    ) -> Counter {
        let later = journal.transactions_after(position).filter(|later| later.message.sender == id);
        Counter(self.counter.get().saturating_sub(later.count() as u32))
    }

    pub(super) fn is_here(&self) -> bool {
        self.connection.is_some()
    }
}

impl Connection {
    /// The channel, if it wants to be sent messages of it.
    pub(super) fn subscription(&self, channel: ChannelNo) -> Option<Opened> {
        self.channels.get(&channel).copied().filter(|opened| opened.access.subscribe)
    }

    /// Whether the last tick left something to send.
    pub(super) fn has_due(&self) -> bool {
        let (order, position) = self.due;
        let rests = self.fresh.is_some_and(|fresh| fresh.rested < fresh.rests);
        if !self.slotted.stream.is_empty() {
            return true;
        }
        if self.membership.is_member() {
            return self.membership.has_private() && (self.awareness_cursor < order || rests);
        }
        self.awareness_cursor < order
            || self.log_cursor < position
            || !self.fills.is_empty()
            || rests
    }

    /// Whether the last tick left something to send in datagrams to it alone.
    pub(super) fn has_fresh(&self) -> bool {
        self.fresh.is_some_and(|fresh| fresh.cursor < self.due.0)
            || !self.slotted.datagrams.is_empty()
    }

    /// What everybody was sent up to here needs not be kept for this one.
    pub(super) fn served(&self) -> Order {
        let shared = self.membership.served().unwrap_or(Order(u64::MAX));
        let stream = self.awareness_cursor.min(shared);
        self.fresh.map_or(stream, |fresh| fresh.cursor.min(stream))
    }

    /// Whether a value takes the stream at once although there are datagrams, or because there are none.
    pub(super) fn takes_stream(&self, order: Order, message: &Stored) -> bool {
        let is_state = self.joining.is_some_and(|(until, _)| order <= until);
        let key = message.key.as_ref().map_or(0, |key| key.len());
        let datagrams = self.link.datagrams.as_ref();
        is_state
            || datagrams
                .is_none_or(|datagrams| !datagrams.takes(message.channel, message.bytes.len(), key))
    }

    /// Changes with everything that is sent or passed over.
    pub(super) fn progress(&self) -> (Order, Position, usize, Order, usize) {
        let rested = self.fresh.map_or(Order(0), |fresh| fresh.rested);
        let slotted = self.slotted.stream.len();
        (self.awareness_cursor, self.log_cursor, self.fills.len(), rested, slotted)
    }

    pub(super) fn has_anything(&self) -> bool {
        self.link.has_control()
            || self.download.is_some()
            || !self.changed.is_empty()
            || !self.renewed.is_empty()
            || self.complete
            || self.member.as_ref().is_some_and(Member::has_piece)
            || self.has_due()
    }
}
