//! Makes records, the form in which messages of the log are written into payloads.

use core::time::Duration;

use crate::packing::{Choosing, EncodingCache, Packing};
use crate::room::log::{Log, Message};
use crate::wire::coding::Coding;
use crate::wire::piece::Piece;
use crate::wire::record::{Number, Record};
use crate::{ChannelNo, Compress, Order};

/// Makes the records for one receiver.
pub(in crate::room) struct RecordBuilder<'a> {
    pub(in crate::room) now: Duration,
    pub(in crate::room) log: &'a Log,
    pub(in crate::room) choosing: &'a mut Choosing,
    pub(in crate::room) packing: &'a mut Packing,
    /// Messages compressed with a codec. Each is kept for all receivers that asked for the same
    /// codec.
    pub(in crate::room) forms: &'a mut EncodingCache,
}

impl Message {
    /// The record of the message without a codec: the payload's encoder compresses it together with
    /// other messages.
    pub(super) fn record(&self, now: Duration, number: Number) -> Record<'_> {
        Record {
            channel: self.channel,
            sender: self.sender,
            number,
            own: false,
            piece: self.piece,
            state: false,
            age: now.saturating_sub(self.born),
            text: self.text,
            key: self.key.as_deref(),
            priority: self.priority,
            departed: self.departed,
            to: None,
            bytes: &self.bytes,
            packed: None,
            coding: Coding::Shared,
        }
    }
}

impl RecordBuilder<'_> {
    /// How a payload with messages of this channel is coded, for a receiver that asked for this
    /// compression.
    pub(super) fn coding(&self, channel: ChannelNo, compress: Compress) -> Coding {
        compress.coding(&self.log.channel(channel).qos)
    }

    /// The record of the message at this order, compressed with the receiver's codec if that makes
    /// it smaller.
    pub(super) fn record<'a>(
        &'a mut self,
        message: &'a Message,
        order: Order,
        number: Number,
        compress: Compress,
    ) -> Record<'a> {
        let coding = self.coding(message.channel, compress);
        // A direct transaction has one receiver, so its packed form is not cached.
        let cached = message.to.is_none().then_some((&mut *self.forms, order));
        let packed = self.choosing.pack(compress, &message.bytes, self.packing, cached);
        let packed = packed.map(|(_, packed)| packed);
        Record { packed, coding, ..message.record(self.now, number) }
    }

    /// The record that confirms the receiver's own message: its number, without its bytes.
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
            piece: Piece::Whole,
            state: false,
            age: Duration::ZERO,
            text: false,
            key: None,
            priority: None,
            departed: None,
            to: None,
            bytes: &[],
            packed: None,
            coding: self.coding(message.channel, compress),
        }
    }
}
