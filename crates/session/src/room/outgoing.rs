//! Making the records that a participant is sent of the messages that the room keeps.

use core::time::Duration;

use super::Channel;
use super::journal::Stored;
use crate::Compress;
use crate::ids::{ChannelNo, Order};
use crate::packing::{Choosing, Forms, Packing};
use crate::wire::body::Coding;
use crate::wire::record::{Number, Record};

/// What the records for one participant are made with.
pub(super) struct Maker<'a> {
    pub(super) now: Duration,
    pub(super) channels: &'a [Channel],
    pub(super) choosing: &'a mut Choosing,
    pub(super) packing: &'a mut Packing,
    pub(super) forms: &'a mut Forms,
}

impl Stored {
    /// The record of the message by now, as it is, among others that are coded together.
    pub(super) fn record(&self, now: Duration, number: Number) -> Record<'_> {
        Record {
            channel: self.channel,
            sender: self.sender,
            number,
            own: false,
            state: false,
            age: now.saturating_sub(self.born),
            text: self.text,
            key: self.key.as_deref(),
            priority: self.priority,
            bytes: &self.bytes,
            packed: None,
            coding: Coding::Shared,
        }
    }
}

impl Maker<'_> {
    /// How the bodies are coded in which the channel's messages go to a participant who wants them compressed so.
    pub(super) fn coding(&self, channel: ChannelNo, compress: Compress) -> Coding {
        compress.coding(&self.channels[channel.place()].qos)
    }

    /// The record of a message of this order, packed if that makes it smaller.
    pub(super) fn record<'a>(
        &'a mut self,
        message: &'a Stored,
        order: Order,
        number: Number,
        compress: Compress,
    ) -> Record<'a> {
        let coding = self.coding(message.channel, compress);
        let cached = Some((&mut *self.forms, order));
        let packed = self.choosing.pack(compress, &message.bytes, self.packing, cached);
        let packed = packed.map(|(_, packed)| packed);
        Record { packed, coding, ..message.record(self.now, number) }
    }

    /// The place of the receiver's own message.
    pub(super) fn own(
        &self,
        message: &Stored,
        number: Number,
        compress: Compress,
    ) -> Record<'static> {
        Record {
            channel: message.channel,
            sender: message.sender,
            number,
            own: true,
            state: false,
            age: Duration::ZERO,
            text: false,
            key: None,
            priority: None,
            bytes: &[],
            packed: None,
            coding: self.coding(message.channel, compress),
        }
    }
}
