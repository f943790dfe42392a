//! Releases the transactions of a stored room to the participants once they are durable (wire W92,
//! W93).

use core::time::Duration;

use crate::room::Room;
use crate::room::common::Common;
use crate::{ChannelNo, Error, ParticipantId, Position};

impl Room {
    /// The transactions up to `position` are durable, and numbers of participants up to `reserved`
    /// are reserved. Lets the transactions go to the participants.
    pub(in crate::room) fn on_durable(
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
        storing.reset(common.log.apply_resets());
        let is_awaited = common.timers.waiting.is_some_and(|(_, head)| position >= head);
        match before < common.timers.head || is_awaited {
            // Some of the transactions came before the last tick, or the due tick waits for them.
            // They are sent at once.
            true => common.timers.tick_at(now),
            false => common.timers.schedule_tick(now),
        }
        self.end_hold();
    }

    /// Closes the transports of participants whose transactions the room dropped because a channel
    /// was full, if that channel takes transactions again. Their clients resume at once and send
    /// the transactions again (W93).
    pub(in crate::room) fn end_hold(&mut self) {
        let now = self.common.now;
        for id in core::mem::take(&mut self.common.intake.held) {
            let Room { peers, common, .. } = self;
            common.attention.visits += 1;
            let Some(peer) = peers.get_mut(&id) else {
                self.end_hold_of_guest(now, id);
                continue;
            };
            let Common { log, intake, .. } = &*common;
            let is_free = |channel: &mut ChannelNo| !intake.is_full(log, *channel);
            if peer.sender.held.take_if(is_free).is_some() {
                peer.fail(now, Error::NotNow { what: "the store was full" }, common);
            } else if peer.sender.held.is_some() {
                common.intake.held.insert(id);
            }
        }
    }

    /// The same for a participant whose transport is at a mirror.
    fn end_hold_of_guest(&mut self, now: Duration, id: ParticipantId) {
        let Room { common, mirrors, .. } = self;
        let Some(guest) = mirrors.guests.get_mut(&id) else { return };
        let Common { log, intake, .. } = &mut *common;
        let held = &mut guest.peer.sender.held;
        let is_free = |channel: &mut ChannelNo| !intake.is_full(log, *channel);
        if held.take_if(is_free).is_some() {
            self.close_guest(now, id, Error::NotNow { what: "the store was full" });
        } else if held.is_some() {
            intake.held.insert(id);
        }
    }
}
