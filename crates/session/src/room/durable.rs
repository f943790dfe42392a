//! Lets the transactions of a stored room go to the participants once they are durable (wire W92, W93).

use core::time::Duration;

use super::Room;
use crate::{Error, ParticipantId, Position};

impl Room {
    /// The transactions up to `position` are durable, and numbers of participants up to `reserved` are reserved. Lets the
    /// transactions go to the participants.
    pub(super) fn on_durable(
        &mut self,
        now: Duration,
        position: Position,
        reserved: ParticipantId,
    ) {
        let common = &mut self.common;
        let Some(storing) = &mut common.storing else { return };
        let position = storing.on_durable(position, reserved);
        let before = common.log.durable();
        if position <= before {
            return;
        }
        common.log.set_durable(position);
        match before < common.ticked_head {
            // Some came before the last tick: they have waited long enough.
            true => common.timers.tick_at(now),
            false => common.timers.schedule_tick(now),
        }
        self.end_hold();
    }

    /// If the room takes transactions again, closes the transports of the participants whose transactions it dropped. They
    /// come back at once, and send them again (W93).
    pub(super) fn end_hold(&mut self) {
        if self.common.log.is_full() {
            return;
        }
        let now = self.common.now;
        let Room { peers, common, .. } = self;
        for peer in peers.values_mut().filter(|peer| peer.is_held) {
            peer.is_held = false;
            peer.fail(now, Error::NotNow { what: "the store was full" }, common);
        }
    }
}
