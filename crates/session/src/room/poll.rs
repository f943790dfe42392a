//! The room's outputs: packets to send, and other things that the caller has to do.

use alloc::vec::Vec;
use core::time::Duration;

use super::Room;
use super::api::{Output, SharedPacket};
use super::common::Common;
use crate::LinkId;

impl Room {
    /// Returns the next packet for several transports, if that is the next thing that the caller
    /// has to do. A caller whose transports usually send a packet at once calls this before each
    /// [`Room::poll_output`], and then sends the packet to each of the transports. It reports
    /// [`Input::Unsent`](super::Input::Unsent) for those that could not send it at once, and
    /// nothing for all others, which saves time in a room of hundreds. Other callers get the same
    /// packets as [`Output::Send`], one for each transport.
    ///
    /// ```
    /// use groupwire_session::AllowAll;
    /// use groupwire_session::room::{Config, Room};
    ///
    /// let mut room = Room::new(Config::new("demo", 1), Box::new(AllowAll));
    /// assert!(room.poll_shared().is_none());
    /// ```
    pub fn poll_shared(&mut self) -> Option<SharedPacket> {
        self.common.delivery.outputs.pop_shared()
    }

    /// Returns the next thing that the caller has to do.
    pub fn poll_output(&mut self) -> Output {
        if let Some((link, packet)) = self.common.delivery.outputs.pop_one_of_shared() {
            self.on_unsent(link);
            return Output::Send { link, packet: Vec::new(), body: Some(packet) };
        }
        let Common { delivery, timers, storing, log, config, now, upward, .. } = &mut self.common;
        if let Some(output) = delivery.outputs.pop_front() {
            return output;
        }
        // What goes to other servers waits until here, so that it shares packets.
        if !self.mirrors.is_empty() {
            self.mirrors.flush(&mut delivery.outputs);
        }
        if let Some(upward) = upward {
            upward.flush(&mut delivery.outputs);
        }
        if let Some(output) = delivery.outputs.pop_front() {
            return output;
        }
        if let Some(storing) = storing
            && let Some(write) = storing.next(log, config.wall, *now)
        {
            return Output::Store(write);
        }
        Output::Timeout(timers.next())
    }

    /// The time of the last tick, at which messages were sent; `None` before the first one.
    ///
    /// ```
    /// use groupwire_session::AllowAll;
    /// use groupwire_session::room::{Config, Room};
    ///
    /// assert_eq!(Room::new(Config::new("demo", 1), Box::new(AllowAll)).last_tick(), None);
    /// ```
    pub fn last_tick(&self) -> Option<Duration> {
        self.common.timers.last_tick
    }

    /// The transport keeps a packet of [`Room::poll_shared`] that it could not send at once.
    pub(super) fn on_unsent(&mut self, link: LinkId) {
        let Room { peers, common, .. } = self;
        let Some(peer) = common.members.links.get(&link).and_then(|id| peers.get_mut(id)) else {
            return;
        };
        peer.end_skip(&mut common.attention.skipped);
        if let Some(connection) = peer.connection_mut() {
            connection.link.keeps();
        }
    }
}
