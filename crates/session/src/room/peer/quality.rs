//! Reports of the quality of channels, which the inspector asks for (wire W84).

use super::Peer;
use super::connection::Connection;
use crate::Error;
use crate::room::attention::Attention;
use crate::wire::frame::Frame;

impl Peer {
    /// Asks the participant to report, unless it was asked before. Returns true if a request was
    /// queued.
    pub(in crate::room) fn ask_for_quality(&mut self, attention: &mut Attention) -> bool {
        self.wake(attention);
        let Some(connection) = self.connection_mut() else { return false };
        let Some(request) = connection.quality.ask() else { return false };
        connection.link.queue(&Frame::Quality(&request));
        true
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
