//! What the peers of a room have in common, and change while one of them is served.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use super::api::{Config, Output, Stats};
use super::feed::{Groups, SharedStreams};
use super::inspector::Inspector;
use super::log::Log;
use super::roster::Roster;
use super::timers::Timers;
use super::upstream::Upstreams;
use crate::packing::{Cache, EncodingCache, Packing};
use crate::wire::payload::Batch;
use crate::{Authority, ChannelNo, LinkId, Order, ParticipantId};

/// See the [module](self).
pub(super) struct Common {
    pub(super) config: Config,
    pub(super) authority: Box<dyn Authority + Send>,
    pub(super) log: Log,
    pub(super) roster: Roster,
    /// The participants that have a transport.
    pub(super) links: BTreeMap<LinkId, ParticipantId>,
    pub(super) streams: SharedStreams,
    pub(super) groups: Groups,
    pub(super) upstreams: Upstreams,
    pub(super) timers: Timers,
    /// The newest order at the last tick.
    pub(super) ticked: Order,
    pub(super) packing: Packing,
    /// Where the records of a payload that came in lie until they are published.
    pub(super) batch: Batch,
    pub(super) forms: EncodingCache,
    /// Packed chunks of snapshots (wire W55).
    pub(super) chunks: Cache,
    pub(super) outputs: VecDeque<Output>,
    pub(super) stats: Stats,
    pub(super) inspector: Inspector,
    /// What a peer did that concerns the other ones.
    pub(super) effects: Vec<Effect>,
}

/// What a peer did that concerns the other ones. The room carries it out once the peer has been served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The QoS of a channel changed: everybody who has it open is told.
    Changed(ChannelNo),
    /// A whole snapshot came: nobody else has to answer.
    SnapshotCame,
    /// The turns of rate-limited values changed.
    TurnsMoved,
    /// The participant said goodbye.
    Left(ParticipantId),
}

impl Common {
    pub(super) fn new(config: Config, authority: Box<dyn Authority + Send>) -> Self {
        let codecs = if config.compress { config.codecs } else { &[] };
        let packing = Packing::new(codecs, config.costs.clone()).with_clock(config.clock);
        Common {
            authority,
            log: Log::new(config.incarnation, config.limits.clone()),
            roster: Roster::default(),
            links: BTreeMap::new(),
            streams: SharedStreams::default(),
            groups: Groups::default(),
            upstreams: Upstreams::default(),
            timers: Timers::new(config.timing.tick),
            ticked: Order(0),
            packing,
            batch: Batch::default(),
            forms: EncodingCache::default(),
            chunks: Cache::default(),
            outputs: VecDeque::new(),
            stats: Stats::default(),
            inspector: Inspector::default(),
            effects: Vec::new(),
            config,
        }
    }

    /// Everybody else is to be told of this participant at the next tick.
    pub(super) fn announce(&mut self, now: Duration, participant: ParticipantId) {
        self.roster.announce(participant);
        self.timers.schedule_tick(now);
        self.timers.begin_housekeeping(now);
    }

    /// Bytes of memory that the room takes, about.
    pub(super) fn memory(&self) -> usize {
        let packed = self.forms.memory() + self.chunks.memory();
        let coded = self.streams.memory() + self.groups.memory();
        self.log.memory() + packed + self.packing.memory() + coded
    }
}
