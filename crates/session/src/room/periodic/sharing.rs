//! Decides which participants share which stream (wire W60 to W64).

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::time::Duration;

use crate::events::event;
use crate::room::Room;
use crate::room::common::Common;
use crate::room::feed::shared_stream::{SharedStream, StreamKey};
use crate::room::log::Cursor;
use crate::room::peer::{Connection, Peer};
use crate::{Error, GroupId, LinkId, ParticipantId};

/// The most shared streams of a room: each takes memory for a compression model and its last
/// payloads.
const MAX_STREAMS: usize = 8;

/// For each possible shared stream, the number of participants that could share it.
type Census = BTreeMap<Arc<StreamKey>, usize>;

impl Room {
    /// Codes the messages up to `until`, once for every shared stream. Ends streams that cannot go
    /// on.
    pub(in crate::room) fn encode_shared(&mut self, now: Duration, until: Cursor) {
        let Common { log, delivery, accounting, timers, .. } = &mut self.common;
        let streams = &mut delivery.streams;
        streams.until = until;
        let (is_all, broken) = streams.encode(now, log, accounting.inspector.is_on());
        if !is_all {
            timers.schedule_tick(now);
        }
        broken.into_iter().for_each(|group| self.end_stream(group));
    }

    /// Begins and ends shared streams, and makes participants members that have caught up with a
    /// stream.
    pub(in crate::room) fn review_streams(&mut self, now: Duration) {
        let census = self.take_census(now);
        self.end_small_streams(&census);
        self.begin_streams(&census);
        let groups: Vec<GroupId> =
            self.common.delivery.streams.iter().map(|(group, _)| group).collect();
        for group in groups {
            if self.let_in(now, group).is_err() {
                self.end_stream(group);
            }
        }
    }

    fn take_census(&mut self, now: Duration) -> Census {
        let Room { peers, common, .. } = self;
        let mut census = Census::new();
        for (group, count) in common.attention.resting.members() {
            if let Some(stream) = common.delivery.streams.get(group) {
                *census.entry(Arc::clone(&stream.key)).or_insert(0) += count;
            }
        }
        for id in common.attention.resting.awake() {
            common.attention.visits += 1;
            let Some(connection) = peers.get_mut(&id).and_then(Peer::connection_mut) else {
                continue;
            };
            if let Some(key) = connection.find_stream_key(now, &common.log) {
                *census.entry(Arc::clone(key)).or_insert(0) += 1;
            }
        }
        census
    }

    /// Ends streams that have become small. The bound is half of that for beginning a stream, so
    /// that streams near it do not begin and end again and again.
    fn end_small_streams(&mut self, census: &Census) {
        let least = self.common.config.share_stream_above / 2;
        let size = |stream: &SharedStream| census.get(&stream.key).copied().unwrap_or(0);
        let small = self.common.delivery.streams.iter().filter(|(_, stream)| size(stream) <= least);
        let small: Vec<GroupId> = small.map(|(group, _)| group).collect();
        small.into_iter().for_each(|group| self.end_stream(group));
    }

    /// Begins streams for keys without a stream that more than `share_stream_above` participants
    /// could share, the most wanted first.
    fn begin_streams(&mut self, census: &Census) {
        let above = self.common.config.share_stream_above;
        let streams = &self.common.delivery.streams;
        let has_none = |key: &Arc<StreamKey>| streams.iter().all(|(_, stream)| stream.key != *key);
        let mut wanted: Vec<_> = census
            .iter()
            .filter(|(key, size)| **size > above && has_none(key))
            .map(|(key, size)| (*size, Arc::clone(key)))
            .collect();
        wanted.sort_unstable_by_key(|(size, _)| Reverse(*size));
        for (size, key) in wanted {
            if self.common.delivery.streams.iter().len() >= MAX_STREAMS {
                let sizes =
                    self.common.delivery.streams.iter().map(|(group, stream)| {
                        (census.get(&stream.key).copied().unwrap_or(0), group)
                    });
                match sizes.min() {
                    // A stream is only replaced by one with at least twice as many participants.
                    Some((smallest, group)) if smallest * 2 <= size => self.end_stream(group),
                    _ => return,
                }
            }
            let group = self.common.delivery.streams.begin(key);
            event!(DEBUG, "shared stream began", %group, size);
            debug_assert!(
                self.common.delivery.streams.iter().len() <= MAX_STREAMS,
                "a smaller stream was ended first"
            );
        }
    }

    /// Makes the participants members that have been sent exactly what the stream has coded. The
    /// model snapshot is made once for all of them.
    fn let_in(&mut self, now: Duration, group: GroupId) -> Result<(), Error> {
        let Room { peers, common, .. } = self;
        let Some(stream) = common.delivery.streams.get_mut(group) else { return Ok(()) };
        let coded = stream.end();
        stream.tidy()?;
        let may_enter =
            |peer: &Peer| peer.connection().is_some_and(|one| one.may_enter(now, stream));
        // Resting participants are members already, or away.
        let awake = common.attention.resting.awake();
        common.attention.visits += awake.len() as u64;
        let entrants: Vec<ParticipantId> =
            awake.into_iter().filter(|id| peers.get(id).is_some_and(may_enter)).collect();
        if !entrants.is_empty() && stream.makes_models(now) {
            let frames = stream.model(now, group)?;
            let (next, at) = (stream.end(), stream.feed.cursor);
            for id in &entrants {
                let Some(connection) = peers.get_mut(id).and_then(Peer::connection_mut) else {
                    continue;
                };
                connection.enter_stream(*id, group, next, at);
                frames.iter().for_each(|frame| connection.link.queue_raw(frame.clone()));
            }
        }
        // If the stream's numbering was restarted, its members have to be sent the payload that
        // says so.
        if stream.end() != coded {
            self.wake_all();
        }
        let Room { peers, common, .. } = self;
        // The participants are flushed in the order of their transports.
        let link_of = |id| Some((peers.get(&id)?.connection()?.id, id));
        let here: BTreeMap<LinkId, ParticipantId> =
            common.attention.resting.awake().into_iter().filter_map(link_of).collect();
        for id in here.values() {
            common.attention.visits += 1;
            if let Some(peer) = peers.get_mut(id) {
                peer.flush(now, common);
            }
        }
        Ok(())
    }

    /// Ends a stream: all its members have private streams again.
    fn end_stream(&mut self, group: GroupId) {
        self.end_skipping();
        self.common.delivery.streams.end(group);
        event!(DEBUG, "shared stream ended", %group);
        let Room { peers, common, .. } = self;
        for (&id, peer) in peers {
            let member = peer.connection().and_then(Connection::member);
            if member.is_none_or(|member| member.group != group) {
                continue;
            }
            peer.wake(&mut common.attention);
            if let Some(connection) = peer.connection_mut() {
                connection.leave_stream(id);
            }
        }
    }
}
