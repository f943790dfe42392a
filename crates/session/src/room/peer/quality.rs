//! Reports of the quality of channels, which the inspector asks for (wire W84).

use core::time::Duration;

use super::Peer;
use super::connection::Connection;
use crate::Error;
use crate::room::common::Common;
use crate::wire::frame::Frame;

impl Peer {
    /// Asks the participant to report, unless it was asked before.
    pub(in crate::room) fn ask_for_quality(&mut self, now: Duration, common: &mut Common) {
        self.wake(&mut common.attention);
        let Some(connection) = self.connection_mut() else { return };
        if let Some(request) = connection.quality.ask() {
            connection.link.queue(&Frame::Quality(&request));
            self.flush(now, common);
        }
    }

    /// Tells the participant that no reports are needed any more.
    pub(in crate::room) fn end_quality(&mut self) {
        let Some(connection) = self.connection_mut() else { return };
        if let Some(request) = connection.quality.end() {
            connection.link.queue(&Frame::Quality(&request));
        }
    }
}

impl Connection {
    /// Keeps the participant's report for the inspector.
    pub(super) fn receive_quality(&mut self, report: &[u8]) -> Result<(), Error> {
        let Connection { quality, channels, .. } = self;
        quality.receive(report, |channel| channels.receives(channel).is_some())
    }
}
