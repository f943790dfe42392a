//! Ticks, at which participants are sent the messages and changes since the last tick, and the
//! turns of rate-limited values.

use alloc::vec::Vec;
use core::time::Duration;

use crate::ParticipantId;
use crate::room::Room;
use crate::room::common::Common;
use crate::room::peer::{Connection, Peer};

/// A tick waits this long at most for transactions to become durable. A commit is usually faster.
const WORTH_WAITING: Duration = Duration::from_millis(10);

impl Room {
    /// Delays a tick of transactions alone by at most [`WORTH_WAITING`] if the newest of them are
    /// about to become durable: otherwise these would be sent right after the tick (W92), and every
    /// receiver would be sent two packets.
    pub(super) fn waits_for_store(&mut self, now: Duration) -> bool {
        let Common { log, timers, members, .. } = &mut self.common;
        let released = timers.released.awareness;
        let has_others = members.roster.has_changed() || log.has_values_after(released);
        if log.durable() == log.head() || has_others {
            timers.waiting = None;
            return false;
        }
        let (since, head) = *timers.waiting.get_or_insert((now, log.head()));
        let waits = log.durable() < head && now < since + WORTH_WAITING;
        timers.tick = Some(since + WORTH_WAITING);
        if !waits {
            timers.waiting = None;
        }
        waits
    }

    /// Sends the messages and changes since the last tick.
    pub(super) fn tick(&mut self, now: Duration) {
        let until = self.common.log.end();
        let timers = &mut self.common.timers;
        (timers.tick, timers.last_tick) = (None, Some(now));
        if timers.frames.is_some() {
            timers.frames_sent(now);
        }
        (timers.released, timers.head) = (until, self.common.log.head());
        let roster = &mut self.common.members.roster;
        let turned = roster.take_turned();
        let counts = turned || roster.owes_count(now);
        let changed = roster.take_changed();
        if counts {
            roster.tell_count(now);
        }
        if turned && !roster.is_large() {
            self.tell_of_all();
        }
        self.deliver_directs(until.log);
        self.tell_mirrors(now);
        let settled = self.common.delivery.streams.until.settled;
        self.encode_shared(now, until.with_settled(settled));
        self.flush_groups(now, until.awareness);
        let (others, served) = self.release(now, until, (&changed, counts));
        let mut sent = self.common.delivery.groups.needs_after().min(served);
        for id in others {
            let Room { peers, common, .. } = self;
            if let Some(peer) = peers.get_mut(&id) {
                peer.flush_datagrams(now, common);
                peer.flush(now, common);
                let Common { config, delivery, attention, .. } = &mut *common;
                peer.review_rest(&config.timing, &delivery.streams, attention);
                sent = peer.connection().map_or(sent, |connection| sent.min(connection.served()));
            }
        }
        self.find_next_turn();
        self.common.log.expire(now, sent);
        self.common.delivery.compression.forms.sent(sent.min(self.common.log.durable_order()));
        self.ask_for_part(now);
        if let Some(at) = self.common.delivery.groups.next_round() {
            self.common.timers.tick_at(at);
        }
    }

    /// Queues the complete list of participants for each participant, because the room is no longer
    /// large.
    fn tell_of_all(&mut self) {
        let Room { peers, common, .. } = self;
        for (&id, peer) in peers {
            if let Some(connection) = peer.connection_mut() {
                connection.participants.tell_of_all(common.members.roster.others(id).collect());
            }
        }
    }

    /// Sends the values of rate-limited channels that may be sent now.
    pub(super) fn take_turns(&mut self, now: Duration) {
        let Room { peers, common, .. } = self;
        let ids: Vec<ParticipantId> = common.attention.rate_limited.iter().copied().collect();
        for id in ids {
            common.attention.visits += 1;
            let Some(peer) = peers.get_mut(&id) else { continue };
            let Some(connection) = peer.connection_mut() else { continue };
            if connection.next_turn().is_some_and(|at| at <= now) {
                connection.take_turns(now, id, &common.log);
                peer.wake(&mut common.attention);
                peer.flush_datagrams(now, common);
                peer.flush(now, common);
            }
        }
        self.find_next_turn();
    }

    /// Finds the time at which rate-limited values may be sent next.
    pub(in crate::room) fn find_next_turn(&mut self) {
        let Room { peers, common, .. } = self;
        let mut turn = None;
        common.attention.rate_limited.retain(|id| {
            let connection = peers.get(id).and_then(Peer::connection);
            let limited = connection.filter(|connection| !connection.rates.limits.is_empty());
            turn = limited.and_then(Connection::next_turn).into_iter().chain(turn).min();
            limited.is_some()
        });
        common.timers.turn = turn;
    }
}
