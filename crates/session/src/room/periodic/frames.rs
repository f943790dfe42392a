//! Sends frames of sound between ticks (wire W119). Participants that receive none are not
//! concerned, and transactions wait for the tick.

use core::time::Duration;

use crate::room::Room;

impl Room {
    /// Sends the frames since the last tick to all who receive some, with the other values for
    /// them.
    pub(super) fn send_frames(&mut self, now: Duration) {
        let Room { peers, common, .. } = self;
        common.timers.frames_sent(now);
        let until = common.log.end().awareness;
        let listeners = core::mem::take(&mut common.attention.listeners);
        for id in &listeners {
            let Some(peer) = peers.get_mut(id).filter(|peer| peer.connection().is_some()) else {
                continue;
            };
            peer.wake(&mut common.attention);
            if let Some(connection) = peer.connection_mut() {
                connection.release_values(until);
            }
            peer.flush_datagrams(now, common);
            peer.flush(now, common);
        }
        common.attention.listeners = listeners;
    }
}
