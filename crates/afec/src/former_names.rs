//! The former names of public items, until all callers use the new ones.

use alloc::vec::Vec;
use core::time::Duration;

pub use crate::{Arrival as Came, PacketSummary as Made, ShortHeader as Front};
use crate::{ChannelId, Endpoint, PacketError, Qos};

#[doc(hidden)]
impl Endpoint {
    /// See [`Endpoint::next_header`].
    pub fn next_front(&mut self, now: Duration, packet: &mut Vec<u8>) -> u32 {
        self.next_header(now, packet)
    }

    /// See [`Endpoint::on_sent`].
    pub fn went(&mut self, now: Duration, bytes: usize) {
        self.on_sent(now, bytes);
    }

    /// See [`Endpoint::on_coded`].
    pub fn coded(&mut self, raw: usize, coded: usize) {
        self.on_coded(raw, coded);
    }

    /// See [`Endpoint::receive_header`].
    ///
    /// # Errors
    /// As [`Endpoint::receive_header`].
    pub fn receive_front<'a>(
        &mut self,
        now: Duration,
        packet: &'a [u8],
    ) -> Result<Front<'a>, PacketError> {
        self.receive_header(now, packet)
    }

    /// See [`Endpoint::on_message`].
    ///
    /// # Errors
    /// As [`Endpoint::on_message`].
    pub fn came(&mut self, now: Duration, message: &Came) -> Result<(), PacketError> {
        self.on_message(now, message)
    }

    /// See [`Endpoint::set_qos`].
    pub fn change(&mut self, channel: impl Into<ChannelId>, sent: Qos, received: Qos, anew: bool) {
        self.set_qos(channel, sent, received, anew);
    }

    /// See [`Endpoint::report_misses`].
    pub fn judged(&mut self, channel: impl Into<ChannelId>, beyond: f64) {
        self.report_misses(channel, beyond);
    }
}
