//! What the room does for all its participants when its timers are due: at ticks, and at
//! housekeeping four times a second.

mod directs;
mod frames;
mod grouping;
mod housekeeping;
mod release;
mod sharing;
mod tick;

use core::time::Duration;

use super::Room;

/// Up to this many participants, ticks come a little earlier where repeats are due. In larger rooms
/// there may be repeats at any moment, so that all ticks would come earlier, which costs more than
/// packets saved for a few receivers.
const HURRIES_UP_TO: usize = 16;

impl Room {
    /// Runs the timers that are due.
    pub(super) fn run_timers(&mut self, now: Duration) {
        let is_due = |at: Option<Duration>| at.is_some_and(|at| at <= now);
        if self.peers.len() <= HURRIES_UP_TO {
            self.common.timers.hurry_tick(now);
        }
        if is_due(self.common.timers.tick) && !self.gathers && !self.waits_for_store(now) {
            self.tick(now);
        }
        if is_due(self.common.timers.frames) {
            self.send_frames(now);
        }
        if is_due(self.common.timers.turn) {
            self.take_turns(now);
        }
        if is_due(self.common.timers.next_housekeeping()) {
            self.on_housekeeping(now);
        }
        while let Some((at, id)) = self.common.timers.due_datagrams(now) {
            let Room { peers, common, .. } = self;
            let Some(peer) = peers.get_mut(&id) else { continue };
            // The timer may belong to a connection that is gone.
            if let Some(connection) = peer.connection_mut()
                && let Some(datagrams) = &mut connection.datagrams
                && datagrams.planned == Some(at)
            {
                datagrams.planned = None;
                peer.flush_datagrams(now, common);
            }
        }
    }
}
