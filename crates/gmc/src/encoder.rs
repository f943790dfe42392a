//! The sending end.

use alloc::vec::Vec;
use core::fmt;

use crate::batch::{Batch, Message};
use crate::config::{Config, Delivery};
use crate::datagram;
use crate::datagram::sent::Sent;
use crate::error::{AckError, EncodeError};
use crate::packet::{self, Front};
use crate::range_coder::RangeEncoder;
use crate::stream::Stream;
use crate::table::is_later;

/// Turns messages into packets.
///
/// What must become of the packets is up to [`Config::delivery`].
pub struct Encoder {
    stream: Stream,
    /// Packets on their way, unless the link is ordered.
    sent: Option<Sent>,
    /// The hash of all messages so far, on an ordered link with a check.
    chain: u32,
    given: Batch,
    done: Batch,
    plain: Vec<u8>,
}

impl Encoder {
    /// An encoder that knows nothing yet.
    pub fn new(config: Config) -> Self {
        let skips = config.delivery == Delivery::Datagrams;
        let is_ordered = config.delivery == Delivery::Ordered;
        let stream = Stream::new(config);
        Self {
            // As much as a decoder keeps, which needs the rest to go back.
            sent: (!is_ordered).then(|| Sent::new(skips, stream.room() / 8 * 5)),
            stream,
            chain: 0,
            given: Batch::default(),
            done: Batch::default(),
            plain: Vec::new(),
        }
    }

    /// Appends to `out` a packet of one message, whose fields, if any are configured, are all zero.
    pub fn encode(&mut self, message: &[u8], out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let fields = [0; Config::FIELDS_MAX];
        let fields = &fields[..self.stream.config().field_count()];
        self.encode_packet([Message { fields, bytes: message }], out)
    }

    /// Appends to `out` a packet of these messages, coded as a unit: each message is coded against its
    /// neighbours too, so that those which resemble each other most should stand together, the oldest
    /// first.
    ///
    /// On an error nothing is appended and the encoder is as it was.
    pub fn encode_packet<'a>(
        &mut self,
        messages: impl IntoIterator<Item = Message<'a>>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.given.clear();
        for message in messages {
            self.given.add(message, self.stream.config())?;
        }
        self.done.clear();
        match &mut self.sent {
            None => self.encode_ordered(out),
            Some(_) => self.encode_datagram(out),
        }
        Ok(())
    }

    fn encode_ordered(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        if self.given.is_bulk() {
            packet::make_bulk(Front::Ordered, &self.given, &mut self.plain, out);
        } else {
            let mut coder = RangeEncoder::new(out);
            self.stream
                .code(&mut coder, &self.given, &mut self.done)
                .expect("messages within the limits can be coded");
            coder.finish();
            debug_assert!(self.done.bytes == self.given.bytes, "the model codes what it was given");
            packet::make_smallest(Front::Ordered, &self.given, &mut self.plain, out, start);
        }
        if self.stream.config().check {
            self.chain = datagram::chain(self.chain, 0, &self.given);
            out.push(packet::check(self.chain));
        }
    }

    fn encode_datagram(&mut self, out: &mut Vec<u8>) {
        if self.sent.as_ref().is_some_and(Sent::is_stale) {
            self.restart();
        }
        let Some(sent) = &mut self.sent else { return };
        let number = sent.next();
        // A plain packet's decoder may not know the whole number.
        let mut seal = (0, number & 0xff);
        if self.given.is_bulk() {
            let front = sent.front(false);
            packet::make_bulk(front, &self.given, &mut self.plain, out);
            sent.add(None);
        } else {
            let start = out.len();
            let learns = sent.has_room(&self.given);
            let distance = number.wrapping_sub(sent.epoch()).wrapping_sub(1);
            let mut coder = RangeEncoder::new(out);
            sent.name().code(&mut coder, self.stream.config().delivery == Delivery::Datagrams);
            self.stream.record(Some(number));
            self.stream
                .code_datagram(
                    &mut coder,
                    sent.epoch(),
                    distance,
                    learns,
                    &self.given,
                    &mut self.done,
                )
                .expect("messages within the limits can be coded");
            self.stream.undo(number.wrapping_sub(1));
            coder.finish();
            debug_assert!(self.done.bytes == self.given.bytes, "the model codes what it was given");
            let front = sent.front(learns);
            let must_name = !learns && sent.must_name();
            if !must_name && packet::make_smallest(front, &self.given, &mut self.plain, out, start)
            {
                // The decoder knows nothing of how the packet was coded before.
                self.stream.clear_lesson();
            } else {
                seal = (sent.chain(), number);
            }
            sent.add(learns.then(|| (&self.given, self.stream.lesson())));
        }
        if self.stream.config().check {
            out.push(packet::check(datagram::chain(seal.0, seal.1, &self.given)));
        }
    }

    /// The number of the newest packet; packets are numbered from 1. On an ordered link always 0.
    pub fn newest(&self) -> u32 {
        self.sent.as_ref().map_or(0, |sent| sent.next().wrapping_sub(1))
    }

    /// Takes what [`Decoder::acknowledge`](crate::Decoder::acknowledge) made. Acknowledgements may be
    /// lost, repeated and reordered.
    ///
    /// Returns the newest packet up to which this decoder has all that is to be learned. With
    /// [`Delivery::Datagrams`] the next packets are coded under what is acknowledged; with
    /// [`Delivery::Room`] it is up to the application to call [`Encoder::advance`] when all decoders
    /// have acknowledged enough. `None` says that the decoder knows nothing of what was learned so
    /// far: a single decoder's encoder has started anew; a room's decoder needs a snapshot.
    pub fn acknowledge(&mut self, acknowledgement: &[u8]) -> Result<Option<u32>, AckError> {
        let sent = self.sent.as_mut().ok_or(AckError::OrderedLink)?;
        let skips = self.stream.config().delivery == Delivery::Datagrams;
        let result = sent.check(acknowledgement);
        if skips {
            match result {
                Ok(Some(top)) => self.learn(top),
                Ok(None) | Err(AckError::Diverged) => self.restart(),
                Err(_) => {}
            }
        }
        result
    }

    /// Codes the next packets under what all decoders know that have everything up to packet
    /// `number`, a packet that was sent; for [`Delivery::Room`].
    ///
    /// A decoder that lacks one of these packets can read nothing more until it has it: send that packet's bytes again,
    /// reliably, or give the decoder a snapshot.
    pub fn advance(&mut self, number: u32) {
        let was_sent = !is_later(number, self.newest());
        if self.stream.config().delivery == Delivery::Room && was_sent {
            self.learn(number);
        }
    }

    /// Forgets all that was learned: the next packet can be decoded by a decoder that knows nothing.
    /// With [`Delivery::Ordered`] the decoder must be a new one too.
    pub fn restart(&mut self) {
        let config = self.stream.config().clone();
        self.stream = Stream::new(config);
        self.chain = 0;
        if let Some(sent) = &mut self.sent {
            sent.restart();
        }
    }

    fn learn(&mut self, top: u32) {
        let Some(sent) = &mut self.sent else { return };
        self.stream.record(None);
        while let Some(mut packet) = sent.pop(top) {
            self.stream.learn(packet.number(), &packet.batch, &mut packet.lesson);
            sent.keep(packet);
        }
    }

    /// Bytes of state in use: the model, and what waits to be learned. Never more than
    /// [`Config::memory`], unless one packet takes more than a quarter of it: up to three times the bytes of its
    /// messages, 500 bytes and their fields for each.
    pub fn memory(&self) -> usize {
        self.stream.memory() + self.sent.as_ref().map_or(0, Sent::memory)
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").field("config", self.stream.config()).finish_non_exhaustive()
    }
}
