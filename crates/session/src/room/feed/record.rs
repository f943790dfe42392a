//! Makes the records that receivers are sent of messages in the log.

use core::time::Duration;

use crate::packing::{Choosing, EncodingCache, Packing};
use crate::room::log::{Log, Message};
use crate::wire::coding::Coding;
use crate::wire::record::{Number, Record};
use crate::{ChannelNo, Compress, Order};

/// What the records for one receiver are made with.
pub(in crate::room) struct RecordBuilder<'a> {
    pub(in crate::room) now: Duration,
    pub(in crate::room) log: &'a Log,
    pub(in crate::room) choosing: &'a mut Choosing,
    pub(in crate::room) packing: &'a mut Packing,
    /// Packed messages, each kept for all who asked for the same codec.
    pub(in crate::room) forms: &'a mut EncodingCache,
}

impl Message {
    /// The record of the message as it is, to be coded together with others.
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

impl RecordBuilder<'_> {
    /// How the payloads are coded in which the channel's messages go to a receiver who wants them compressed so.
    pub(super) fn coding(&self, channel: ChannelNo, compress: Compress) -> Coding {
        compress.coding(&self.log.channel(channel).qos)
    }

    /// The record of the message at this order, packed if that makes it smaller.
    pub(super) fn record<'a>(
        &'a mut self,
        message: &'a Message,
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

    /// The record that confirms the receiver's own message: its place, without its bytes.
    pub(super) fn own(
        &self,
        message: &Message,
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
