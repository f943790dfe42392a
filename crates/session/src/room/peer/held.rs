//! Tells a participant that the room drops its transactions for now (wire W93).

use alloc::vec::Vec;

use super::Peer;
use crate::Error;
use crate::ids::ChannelNo;
use crate::room::intake::Intake;
use crate::room::log::Log;
use crate::wire::frame::error_frame;

/// Sent if no part of the snapshot stands for the channel. The transactions then wait until the
/// application changes.
const PARTLESS: &str = "the log of this channel is full, and no part of a snapshot stands for it: \
                        its transactions wait until a participant offers one";
const FULL: &str = "the store takes no transactions at present: they wait until it does";

impl Peer {
    /// Tells the participant that its transactions wait, if it was not told of that since `before`.
    pub(super) fn tell_if_held(&mut self, before: Option<ChannelNo>, log: &Log, intake: &Intake) {
        if let Some(frame) = self.held_frame(before, log, intake)
            && let Some(connection) = self.connection_mut()
        {
            connection.link.queue_raw(frame);
        }
    }

    /// The frame that tells the participant that its transactions wait, if it was not told of that
    /// since `before`.
    pub(super) fn held_frame(
        &self,
        before: Option<ChannelNo>,
        log: &Log,
        intake: &Intake,
    ) -> Option<Vec<u8>> {
        let channel = self.sender.held.filter(|_| before.is_none())?;
        let what = if intake.has_part(log, channel) { FULL } else { PARTLESS };
        let mut frame = Vec::new();
        error_frame(&Error::NotNow { what }, false, channel.get(), &mut frame);
        Some(frame)
    }
}
