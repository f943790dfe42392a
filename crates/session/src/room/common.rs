//! The state of a room that all its peers share. A peer may change it while the room handles an input for that peer.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::accounting::upstream::Upstreams;
use super::api::{Config, Stats};
use super::attention::resting::Resting;
use super::attention::skipped::Skipped;
use super::delivery::outputs::Outputs;
use super::feed::{Groups, SharedStreams};
use super::inspector::Inspector;
use super::intake::pieces::Pieces;
use super::log::{Cursor, Log};
use super::members::roster::Roster;
use super::storage::storing::Storing;
use super::timers::Timers;
use crate::packing::{Cache, EncodingCache, Packing};
use crate::quota::{Meter, Used};
use crate::wire::payload::{Batch, StatePayloads};
use crate::{
    Access, Authority, ChannelNo, Durability, Grant, Identity, LinkId, OpenRequest, Order,
    PartRequest, ParticipantId, Position, Qos,
};

/// See the [module](self).
pub(super) struct Common {
    pub(super) config: Config,
    pub(super) authority: Box<dyn Authority + Send>,
    pub(super) log: Log,
    pub(super) pieces: Pieces,
    pub(super) roster: Roster,
    /// The participants that have a transport, by transport.
    pub(super) links: BTreeMap<LinkId, ParticipantId>,
    pub(super) streams: SharedStreams,
    pub(super) groups: Groups,
    pub(super) upstreams: Upstreams,
    pub(super) timers: Timers,
    pub(super) resting: Resting,
    pub(super) skipped: Skipped,
    /// The newest order at the last tick.
    pub(super) ticked: Order,
    /// The end of the log at the last tick: participants may be sent messages up to there.
    pub(super) released: Cursor,
    /// The position of the newest transaction at the last tick.
    pub(super) ticked_head: Position,
    /// The state of storing; `None` if the room is not stored.
    pub(super) storing: Option<Storing>,
    /// The channels of the parts of the snapshot that participants have offered to make lately.
    pub(super) offered: BTreeSet<ChannelNo>,
    /// The time of the present input.
    pub(super) now: Duration,
    pub(super) packing: Packing,
    /// Buffer for the records of a received payload until they are published.
    pub(super) batch: Batch,
    pub(super) forms: EncodingCache,
    /// Compressed chunks of snapshots (wire W55), kept for all receivers of the same chunk.
    pub(super) chunks: Cache,
    /// Payloads with late-joiner state, kept for further newcomers.
    pub(super) state: StatePayloads,
    pub(super) outputs: Outputs,
    pub(super) stats: Stats,
    /// The bytes, deliveries and transactions of the present input, as quotas count them.
    pub(super) used: Used,
    /// The bytes of the present input that belong to a part of the snapshot that the room asked for.
    pub(super) asked_for: u64,
    /// The usage of all participants together, measured by the room's quota.
    pub(super) usage: Meter,
    /// The number of receivers of each channel, indexed by the channel's place in the log. Housekeeping counts them, so
    /// that counting the deliveries of a message does not visit all participants.
    pub(super) receivers: Vec<u64>,
    /// True if `receivers` and `offered` have to be determined anew: participants came or went, or opened or closed channels.
    pub(super) has_new_subscriptions: bool,
    /// The participants that asked for a lower rate of a channel. Some may have left since.
    pub(super) rate_limited: BTreeSet<ParticipantId>,
    /// The participants whose transactions the room drops ([`Peer::held`](super::peer::Peer::held)). Some may have left since.
    pub(super) held: BTreeSet<ParticipantId>,
    /// How often a timer or an event of another participant made the room look at a participant, outside of ticks.
    pub(super) visits: u64,
    pub(super) inspector: Inspector,
    /// The changes to other peers that the present input makes. The room carries them out after it.
    pub(super) effects: Vec<Effect>,
}

/// A change that a peer's input makes to other peers or to the room. The room carries it out after it handled the
/// input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The QoS of a channel changed: all participants that have it open are sent the new one.
    Changed(ChannelNo),
    /// A piece of a part of the snapshot came: the participant that sends it is given more time.
    SnapshotComes,
    /// A complete part of the snapshot came: answers of other participants are not needed any more.
    SnapshotCame,
    /// A rate limit changed: the time of the next turn of rate-limited values has to be found again.
    TurnsMoved,
    /// The participant sent BYE.
    Left(ParticipantId),
}

impl Common {
    pub(super) fn new(config: Config, authority: Box<dyn Authority + Send>) -> Self {
        let codecs = if config.compress { config.codecs } else { &[] };
        let packing = Packing::new(codecs, config.costs.clone()).with_clock(config.clock);
        let is_stored = config.durability != Durability::Memory;
        Common {
            authority,
            log: match is_stored {
                true => Log::new_stored(config.incarnation, config.limits.clone()),
                false => Log::new(config.incarnation, config.limits.clone()),
            },
            pieces: Pieces::new(config.limits.max_volatile_bytes),
            roster: Roster::new(config.announce_everybody_up_to),
            links: BTreeMap::new(),
            streams: SharedStreams::default(),
            groups: Groups::default(),
            upstreams: Upstreams::default(),
            timers: Timers::new(config.timing.tick),
            resting: Resting::default(),
            skipped: Skipped::default(),
            ticked: Order(0),
            released: Cursor::default(),
            ticked_head: Position(0),
            storing: is_stored.then(Storing::default),
            offered: BTreeSet::new(),
            now: Duration::ZERO,
            packing,
            batch: Batch::default(),
            forms: EncodingCache::default(),
            chunks: Cache::default(),
            state: StatePayloads::default(),
            outputs: Outputs::default(),
            stats: Stats::default(),
            used: Used::default(),
            asked_for: 0,
            usage: Meter::default(),
            receivers: Vec::new(),
            has_new_subscriptions: false,
            rate_limited: BTreeSet::new(),
            held: BTreeSet::new(),
            visits: 0,
            inspector: Inspector::default(),
            effects: Vec::new(),
            config,
        }
    }

    /// Plans to send this participant's state to the others at the next tick. In a large room, only if it acted lately.
    pub(super) fn announce(&mut self, now: Duration, participant: ParticipantId) {
        if self.roster.announce(participant) || self.roster.has_changed() {
            self.timers.schedule_tick(now);
        }
        self.timers.begin_housekeeping(now);
    }

    /// Notes that the participant acted: in a large room, others are told of it before its message (wire W104).
    pub(super) fn act(&mut self, now: Duration, participant: ParticipantId) {
        if self.roster.act(participant) {
            self.timers.schedule_tick(now);
        }
    }

    /// Asks the authority whether, and how, a participant may open a channel.
    pub(super) fn may_open(
        &self,
        identity: &Identity,
        channel: &str,
        access: Access,
        qos: Qos,
    ) -> Result<Grant, String> {
        let existing = self.log.find_channel(channel);
        self.authority.open(&OpenRequest {
            room: &self.config.name,
            identity,
            channel,
            access,
            qos,
            existing: existing.map(|channel| self.log.channel(channel).qos),
        })
    }

    /// Asks the authority whether a participant may make a part of the snapshot that stands for these channels.
    pub(super) fn may_make(
        &self,
        identity: &Identity,
        part: &str,
        channels: &[ChannelNo],
    ) -> Result<(), String> {
        let names: Vec<&str> =
            channels.iter().map(|&channel| self.log.channel(channel).name.as_str()).collect();
        let room = &self.config.name;
        self.authority.part(&PartRequest { room, identity, part, channels: &names })
    }

    /// Counts the bytes of a packet or datagram, or of its messages if these are more. `before`: the room's total of the bytes of
    /// messages before the packet.
    pub(super) fn use_bytes(&mut self, packet: usize, before: u64) {
        let packet = (packet as u64).saturating_sub(core::mem::take(&mut self.asked_for));
        self.used.bytes += packet.max(self.stats.bytes_in_before - before);
    }

    /// Bytes of memory that the room takes, about.
    pub(super) fn memory(&self) -> usize {
        let packed = self.forms.memory() + self.chunks.memory() + self.state.memory();
        let coded = self.streams.memory() + self.groups.memory();
        self.log.memory() + self.pieces.memory() + packed + self.packing.memory() + coded
    }
}

/// True if the room can take no further transactions on this channel at present (W93). `offered`: the channels of the parts
/// of the snapshot that a participant can make.
pub(super) fn is_full(
    log: &Log,
    pieces: &Pieces,
    offered: &BTreeSet<ChannelNo>,
    channel: ChannelNo,
) -> bool {
    let has_part = |channel| offered.contains(&channel) || log.part_of(channel).is_some();
    pieces.is_full() || log.is_full(channel, has_part)
}
