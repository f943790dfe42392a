//! The room's end of its mirrors: lets them in, sends them batches, and ends them.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::batch::Told;
use super::down::{RoomFacts, ToMirror};
use super::guests::Guest;
use super::pieces::{Joined, cut};
use crate::events::event;
use crate::limits::MAX_STORED_PART;
use crate::room::Room;
use crate::room::api::Output;
use crate::room::delivery::outputs::Outputs;
use crate::room::log::Log;
use crate::wire::frame::Frame;
use crate::{ChannelNo, Error, LinkId, ParticipantId};

/// The most bytes under way to a mirror: what a connection between two machines far apart carries
/// in a round trip, and little beside what waits for all clients of a server.
const WINDOW: usize = 4 << 20;

/// When more bytes than this wait for a mirror, beside its copy of the room, it is ended: its
/// people come back, and are better served by another server.
const MOST_WAITING: usize = 64 << 20;

/// The most bytes of frames that a mirror sends as one: the largest part of a snapshot, and more
/// than waits beside it.
const MOST_ARRIVING: usize = MAX_STORED_PART + (16 << 20);

/// The mirrors of a room, and the participants there.
#[derive(Default)]
pub(in crate::room) struct Mirrors {
    pub(super) mirrors: BTreeMap<LinkId, Mirror>,
    /// The participants whose transports are at mirrors. They are not among the room's peers.
    pub(in crate::room) guests: BTreeMap<ParticipantId, Guest>,
    pub(super) told: Told,
    /// Guests that are above a quota.
    pub(super) limited: BTreeSet<ParticipantId>,
    /// Guests that have sent awareness lately.
    pub(super) senders: BTreeSet<ParticipantId>,
    /// The mirror that was asked for a part of the snapshot last.
    asked: LinkId,
}

/// A mirror.
#[derive(Default)]
pub(super) struct Mirror {
    /// The participants at the mirror, by the numbers of their transports there.
    pub(super) seats: BTreeMap<LinkId, ParticipantId>,
    /// Frames for this mirror alone that were not cut into packets yet.
    frames: Vec<u8>,
    waiting: VecDeque<Arc<[u8]>>,
    waiting_bytes: usize,
    /// The sizes of the packets that the mirror has not handled.
    under_way: VecDeque<usize>,
    under_way_bytes: usize,
    /// The bytes of its copy of the room that wait.
    copy: usize,
    arriving: Joined,
    /// The number of receivers of each channel there.
    pub(super) receivers: BTreeMap<ChannelNo, u64>,
    /// The channels of the parts of the snapshot that participants there can make.
    pub(super) offered: BTreeSet<ChannelNo>,
}

impl Mirror {
    /// Cuts the frames for this mirror alone into packets.
    fn cut(&mut self) {
        let frames = core::mem::take(&mut self.frames);
        cut(&frames).for_each(|packet| self.put(packet));
    }

    fn put(&mut self, packet: Arc<[u8]>) {
        self.waiting_bytes += packet.len();
        self.waiting.push_back(packet);
    }

    fn is_stalled(&self) -> bool {
        self.waiting_bytes + self.frames.len() > MOST_WAITING + self.copy
    }
}

impl Mirrors {
    pub(in crate::room) fn is_empty(&self) -> bool {
        self.mirrors.is_empty()
    }

    /// True if this is the transport of a mirror.
    pub(in crate::room) fn has(&self, link: LinkId) -> bool {
        self.mirrors.contains_key(&link)
    }

    /// Tells one mirror something, before all that is put later.
    pub(super) fn tell(&mut self, now: Duration, mirror: LinkId, frame: &ToMirror<'_>) {
        if let Some(mirror) = self.mirrors.get_mut(&mirror) {
            frame.write(now, &mut mirror.frames);
        }
    }

    /// The mirror has handled a packet.
    pub(in crate::room) fn handled(&mut self, mirror: LinkId) {
        if let Some(mirror) = self.mirrors.get_mut(&mirror)
            && let Some(size) = mirror.under_way.pop_front()
        {
            mirror.under_way_bytes -= size;
        }
    }

    /// Takes a packet of a mirror. Returns its frames, once all of their packets have come.
    pub(super) fn join(&mut self, mirror: LinkId, packet: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let Some(mirror) = self.mirrors.get_mut(&mirror) else { return Ok(None) };
        mirror.arriving.add(packet, MOST_ARRIVING)
    }

    /// Puts a batch behind what each mirror was told before.
    fn put_batch(&mut self, batch: &[u8]) {
        let packets: Vec<_> = cut(batch).collect();
        for mirror in self.mirrors.values_mut() {
            mirror.cut();
            packets.iter().for_each(|packet| mirror.put(Arc::clone(packet)));
        }
    }

    /// Puts out the packets that may be under way.
    pub(in crate::room) fn flush(&mut self, outputs: &mut Outputs) {
        for (&link, mirror) in &mut self.mirrors {
            mirror.cut();
            while mirror.under_way_bytes < WINDOW
                && let Some(packet) = mirror.waiting.pop_front()
            {
                let size = packet.len();
                mirror.waiting_bytes -= size;
                mirror.copy = mirror.copy.min(mirror.waiting_bytes);
                mirror.under_way.push_back(size);
                mirror.under_way_bytes += size;
                outputs.push_back(Output::Send { link, packet: Vec::new(), body: Some(packet) });
            }
        }
    }

    /// The mirrors for which too much waits.
    fn stalled(&self) -> Vec<LinkId> {
        let stalled = self.mirrors.iter().filter(|(_, mirror)| mirror.is_stalled());
        stalled.map(|(&link, _)| link).collect()
    }

    /// The number of receivers of each channel at mirrors.
    pub(in crate::room) fn receivers(&self) -> impl Iterator<Item = (ChannelNo, u64)> {
        let all = self.mirrors.values().flat_map(|mirror| &mirror.receivers);
        all.map(|(&channel, &count)| (channel, count))
    }

    /// The channels of the parts of the snapshot that participants at mirrors can make.
    pub(in crate::room) fn offered(&self) -> impl Iterator<Item = ChannelNo> {
        self.mirrors.values().flat_map(|mirror| mirror.offered.iter().copied())
    }

    /// Asks one mirror, in turn, for a part of the snapshot that the log needs. Returns false if
    /// no participant at a mirror can make one.
    pub(in crate::room) fn ask_for_part(&mut self, now: Duration, log: &Log) -> bool {
        let can_make =
            |mirror: &Mirror| log.wants_part(&mirror.offered.iter().copied().collect::<Vec<_>>());
        let later = self.mirrors.range(self.asked.next()..);
        let mut all = later.chain(self.mirrors.range(..=self.asked));
        let Some((&link, _)) = all.find(|(_, mirror)| can_make(mirror)) else { return false };
        self.asked = link;
        self.tell(now, link, &ToMirror::PartWanted);
        true
    }

    /// Bytes of memory that what waits takes, about.
    pub(in crate::room) fn memory(&self) -> usize {
        let each = |one: &Mirror| one.waiting_bytes + one.frames.len() + one.arriving.memory();
        self.mirrors.values().map(each).sum()
    }
}

impl Room {
    /// Lets in a mirror, which is sent a copy of the room.
    pub(in crate::room) fn admit_mirror(&mut self, now: Duration, link: LinkId) {
        event!(INFO, "mirror joined", %link);
        self.tell_mirrors(now);
        let Room { common, mirrors, .. } = self;
        let config = &common.config;
        if mirrors.is_empty() {
            common.members.roster.set_mirrored(true);
        }
        let facts = RoomFacts {
            incarnation: common.log.incarnation(),
            durability: config.durability,
            load: config.load,
            max_message: config.limits.max_message,
            max_snapshot: config.limits.max_snapshot,
            announce_everybody_up_to: config.announce_everybody_up_to,
        };
        let mut mirror = Mirror::default();
        ToMirror::Room(facts).write(now, &mut mirror.frames);
        let roster = &common.members.roster;
        let everybody = roster.everybody().map(|id| (id, false)).collect();
        let mut told = Told::default();
        let upstreams = &common.accounting.upstreams;
        let facts = (&common.log, roster, upstreams);
        mirror.frames.extend(told.batch(now, &everybody, core::iter::empty(), facts));
        ToMirror::End { durable: told.cursor.log }.write(now, &mut mirror.frames);
        mirrors.told = told;
        mirror.cut();
        mirror.copy = mirror.waiting_bytes;
        mirrors.mirrors.insert(link, mirror);
        common.timers.begin_housekeeping(now);
    }

    /// Tells the mirrors what has changed, if anything has.
    pub(in crate::room) fn tell_mirrors(&mut self, now: Duration) {
        if self.mirrors.is_empty() {
            return;
        }
        let common = &mut self.common;
        // The contents of direct transactions go before their places.
        let until = common.log.durable();
        let receivers: Vec<ParticipantId> = common.log.directs.receivers().collect();
        receivers.into_iter().for_each(|id| self.tell_directs(now, id, until));
        let Room { common, mirrors, .. } = self;
        let people = common.members.roster.take_touched();
        let (roster, upstreams) = (&common.members.roster, &common.accounting.upstreams);
        let (guests, facts) = (mirrors.guests.keys().copied(), (&common.log, roster, upstreams));
        let batch = mirrors.told.batch(now, &people, guests, facts);
        if !batch.is_empty() {
            mirrors.put_batch(&batch);
        }
    }

    /// A mirror is gone: its participants are away. `error`: why the room ends it, if it does.
    pub(in crate::room) fn end_mirror(
        &mut self,
        now: Duration,
        link: LinkId,
        error: Option<Error>,
    ) {
        let Some(mirror) = self.mirrors.mirrors.get_mut(&link) else { return };
        event!(INFO, "mirror ended", %link, ?error);
        let seats = core::mem::take(&mut mirror.seats);
        seats.into_values().for_each(|id| self.guest_away(now, id, None));
        self.mirrors.mirrors.remove(&link);
        if self.mirrors.is_empty() {
            self.common.members.roster.set_mirrored(false);
        }
        self.common.intake.has_new_subscriptions = true;
        if let Some(error) = error {
            let (packet, reason) = (Vec::new(), Some(error));
            self.common.delivery.outputs.push_back(Output::Close { link, packet, reason });
        }
    }

    /// Ends the mirrors for which too much waits.
    pub(in crate::room) fn end_stalled_mirrors(&mut self, now: Duration) {
        for link in self.mirrors.stalled() {
            self.end_mirror(now, link, Some(Error::Stalled));
        }
    }

    /// The server stops: mirrors say goodbye to their clients, and end.
    pub(in crate::room) fn shut_mirrors_down(&mut self, now: Duration, retry: Duration) {
        while let Some((link, _)) = self.mirrors.mirrors.pop_first() {
            let mut packet = Vec::new();
            Frame::Bye { reason: 0, retry_ms: retry.as_millis() as u64 }.write(&mut packet);
            self.common.delivery.outputs.push_back(Output::Close { link, packet, reason: None });
        }
        self.common.members.roster.set_mirrored(false);
        let guests: Vec<ParticipantId> = self.mirrors.guests.keys().copied().collect();
        guests.into_iter().for_each(|id| _ = self.recall(now, id));
    }
}
