//! Delivers direct transactions, each of which is for one participant alone, and sends receipts to
//! their senders (wire W114 to W116).

use alloc::vec::Vec;
use core::time::Duration;

use crate::room::Room;
use crate::room::peer::State;
use crate::wire::frame::Frame;
use crate::{ParticipantId, Position, Receipt};

impl Room {
    /// Releases new direct transactions up to this position to their feeds. Gives up transactions
    /// whose receivers are not in the room.
    pub(in crate::room) fn deliver_directs(&mut self, until: Position) {
        let is_mirror = self.common.upward.is_some();
        for id in self.common.log.directs.take_fresh(until) {
            if self.mirrors.guests.contains_key(&id) {
                self.tell_directs(self.common.now, id, until);
                continue;
            }
            match self.peers.get_mut(&id).map(|peer| &mut peer.state) {
                Some(State::Here(connection)) => connection.stream.directs.due = until,
                Some(State::Away { .. }) => {}
                None if is_mirror => {}
                // After a room was loaded, any known participant may still resume.
                None if self.absent_until.is_some() && self.common.log.session(id).is_some() => {
                    self.absent.insert(id);
                }
                None => self.common.log.directs.give_up(id, until, Receipt::Gone),
            }
        }
    }

    /// Sends the new receipts to the senders of direct transactions.
    pub(in crate::room) fn tell_receipts(&mut self, now: Duration) {
        let mut told: Option<ParticipantId> = None;
        for (sender, counter, receipt) in self.common.log.directs.take_untold() {
            let Some(peer) = self.peers.get_mut(&sender) else {
                let mut frame = Vec::new();
                Frame::Receipt { counter, receipt }.write(&mut frame);
                self.tell_guest(now, sender, &frame);
                continue;
            };
            peer.wake(&mut self.common.attention);
            let Some(connection) = peer.connection_mut() else { continue };
            connection.link.queue(&Frame::Receipt { counter, receipt });
            if let Some(before) = told.replace(sender).filter(|before| *before != sender) {
                self.flush(now, before);
            }
        }
        if let Some(last) = told {
            self.flush(now, last);
        }
    }

    fn flush(&mut self, now: Duration, participant: ParticipantId) {
        let Room { peers, common, .. } = self;
        if let Some(peer) = peers.get_mut(&participant) {
            peer.flush(now, common);
        }
    }
}
