//! The sending end.

use alloc::vec::Vec;
use core::fmt;

use crate::batch::{Batch, Message};
use crate::config::{Config, Delivery};
use crate::control::Control;
use crate::datagram::chain::Chain;
use crate::datagram::sent::Sent;
use crate::error::{AckError, EncodeError};
use crate::packet::{self, Header};
use crate::packet_number::PacketNumber;
use crate::range_coder::{RangeEncoder, shared};
use crate::settings::Settings;
use crate::stream::{Datagram, Stream};
use crate::trace::Trace;

#[cfg(feature = "describe")]
mod describe;
mod settings;
mod snapshot;

/// Turns messages into packets.
///
/// How the packets must be delivered is up to [`Config::delivery`].
pub struct Encoder {
    stream: Stream,
    /// The packets that wait to be learned and the current epoch; `None` on an ordered link.
    sent: Option<Sent>,
    /// On an ordered link with a check, the hash of all messages so far.
    chain: Chain,
    settings: Settings,
    given: Batch,
    done: Batch,
    /// Training trace of the packet that is being coded; unused on an ordered link.
    trace: Trace,
    plain: Vec<u8>,
}

impl Encoder {
    /// An encoder that knows nothing yet.
    pub fn new(config: Config) -> Self {
        let skips = config.delivery == Delivery::Datagrams;
        let is_ordered = config.delivery == Delivery::Ordered;
        let stream = Stream::new(config);
        Self {
            // Bytes for packets that wait to be learned. A decoder allows 6/8 for them, and uses the rest for the logs
            // that lead back to older versions of the model.
            sent: (!is_ordered).then(|| Sent::new(skips, stream.remaining() / 8 * 5)),
            stream,
            chain: Chain::default(),
            settings: Settings::default(),
            given: Batch::default(),
            done: Batch::default(),
            trace: Trace::default(),
            plain: Vec::new(),
        }
    }

    /// Appends to `out` a packet of one message, whose fields, if any are configured, are all zero.
    pub fn encode(&mut self, message: &[u8], out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let fields = [0; Config::FIELDS_MAX];
        let fields = &fields[..self.stream.config().field_count()];
        self.encode_packet([Message { fields, bytes: message }], out)
    }

    /// Appends to `out` a packet of these messages, coded as a unit. Each message helps to predict the ones after it,
    /// so that messages which resemble each other most should be neighbours, the oldest first.
    ///
    /// On an error nothing is appended and the encoder is as it was.
    pub fn encode_packet<'a>(
        &mut self,
        messages: impl IntoIterator<Item = Message<'a>>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.encode_packet_within(messages, usize::MAX, out).map(|_| ())
    }

    /// Appends to `out` a packet of these messages that takes at most `limit` bytes. If it would take more, returns
    /// `false`: nothing is appended, the encoder is as it was, and no packet number is used. On an ordered link the
    /// limit has no effect.
    ///
    /// ```
    /// use groupwire_gmc::{Config, Delivery, Encoder, Message};
    ///
    /// let mut encoder = Encoder::new(Config { delivery: Delivery::Room, ..Config::default() });
    /// let message = Message { fields: &[], bytes: b"what has never been said before" };
    /// let mut packet = Vec::new();
    /// assert!(!encoder.encode_packet_within([message], 10, &mut packet)?);
    /// assert!(packet.is_empty() && encoder.newest() == 0);
    /// assert!(encoder.encode_packet_within([message], 50, &mut packet)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode_packet_within<'a>(
        &mut self,
        messages: impl IntoIterator<Item = Message<'a>>,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<bool, EncodeError> {
        self.given.clear();
        for message in messages {
            self.given.add(message, self.stream.config())?;
        }
        self.done.clear();
        #[cfg(feature = "describe")]
        self.clear_costs();
        if self.sent.as_ref().is_some_and(Sent::is_stale) {
            self.restart();
        }
        let learns = self.settings.allow(&self.given);
        Ok(match &mut self.sent {
            None => {
                self.encode_ordered(learns, out);
                true
            }
            Some(_) => self.encode_datagram(learns, limit, out),
        })
    }

    fn encode_ordered(&mut self, learns: bool, out: &mut Vec<u8>) {
        let start = out.len();
        let effort = self.settings.effort;
        if self.given.is_bulk() {
            packet::make_bulk(Header::Ordered(true), &self.given, &mut self.plain, out, effort);
        } else {
            self.given.control = core::mem::take(&mut self.settings.wanted);
            let mut coder = RangeEncoder::new(out);
            let search = self.settings.search();
            let suboptimal = self
                .stream
                .code_ordered(shared(&mut coder), learns, search, &self.given, &mut self.done)
                .expect("messages within the limits can be coded");
            coder.finish();
            debug_assert!(self.done.bytes == self.given.bytes, "the model codes what it was given");
            // The decoder of a plain packet searches for the best templates itself, and a plain packet has no control
            // part.
            if self.given.control.is_empty() && !suboptimal {
                let header = Header::Ordered(learns);
                let _is_plain =
                    packet::make_smallest(header, &self.given, &mut self.plain, out, start, effort);
                #[cfg(feature = "describe")]
                if _is_plain {
                    self.clear_costs();
                }
            }
        }
        if self.stream.config().check {
            self.chain = self.chain.then(PacketNumber::default(), &self.given);
            out.push(self.chain.check());
        }
    }

    /// Returns `false` if the packet would take more than `limit` bytes.
    fn encode_datagram(&mut self, learns: bool, limit: usize, out: &mut Vec<u8>) -> bool {
        let Some(sent) = &mut self.sent else { return false };
        let number = sent.next();
        let effort = self.settings.effort;
        let start = out.len();
        let limit = limit.saturating_sub(usize::from(self.stream.config().check));
        // A plain packet has only the low byte of its number, and its decoder may not know the other bytes.
        let mut sealed = (Chain::default(), PacketNumber::new(number.low(8)));
        if self.given.is_bulk() {
            let header = sent.plain_header(false);
            packet::make_bulk(header, &self.given, &mut self.plain, out, effort);
            if out.len() - start > limit {
                out.truncate(start);
                return false;
            }
            sent.add(None);
        } else {
            let learns = learns && sent.can_learn(&self.given);
            let is_single = self.stream.config().delivery == Delivery::Datagrams;
            if learns {
                self.given.control = self.settings.wanted;
            }
            let epoch = sent.epoch();
            let distance = number.since(epoch).wrapping_sub(1);
            let search = self.settings.search();
            let given = Datagram { epoch, distance, learns, search, batch: &self.given };
            let mut coder = RangeEncoder::new(out);
            let name = sent.name().code(shared(&mut coder), is_single);
            let (memory, memory_max) = (self.stream.config().memory, self.stream.memory_max());
            name.code_memory(shared(&mut coder), memory_max, memory)
                .expect("the memory is between its bounds");
            self.stream.record(Some(number));
            self.stream
                .code_datagram(shared(&mut coder), given, &mut self.trace, &mut self.done)
                .expect("messages within the limits can be coded");
            self.stream.undo(number.previous());
            coder.finish();
            debug_assert!(self.done.bytes == self.given.bytes, "the model codes what it was given");
            let header = sent.plain_header(learns);
            let must_name = sent.must_name(learns, &self.given);
            // A plain packet cannot say how much memory an empty model has.
            let must_tell = learns && sent.epoch() == sent.base() && memory != memory_max;
            let is_plain = !(must_name || must_tell)
                && self.given.control.is_empty()
                && packet::make_smallest(header, &self.given, &mut self.plain, out, start, effort);
            if out.len() - start > limit {
                out.truncate(start);
                self.trace.clear();
                return false;
            }
            if is_plain {
                // A plain packet is decoded without the model, so its decoder has no training trace of it.
                self.trace.clear();
                #[cfg(feature = "describe")]
                if let Some(costs) = &mut self.stream.costs {
                    costs.clear();
                }
            } else {
                sealed = (sent.chain(), number);
                sent.name_epoch();
            }
            if learns && !is_single {
                // In a room every packet arrives in the end, so the control part need not be sent again. With a single
                // decoder this packet may be lost for good.
                self.settings.wanted = Control::default();
            }
            sent.add(learns.then_some((&self.given, &self.trace)));
        }
        if self.stream.config().check {
            let (chain, number) = sealed;
            out.push(chain.then(number, &self.given).check());
        }
        true
    }

    /// The number of the newest packet; packets are numbered from 1. On an ordered link always 0.
    pub fn newest(&self) -> u32 {
        self.sent.as_ref().map_or(0, |sent| sent.next().previous().get())
    }

    /// The number of the epoch's packet, the newest one that the model has learned. On an ordered link always 0.
    pub fn epoch(&self) -> u32 {
        self.sent.as_ref().map_or(0, |sent| sent.epoch().get())
    }

    /// Takes an acknowledgement that [`Decoder::acknowledge`](crate::Decoder::acknowledge) made. Acknowledgements may
    /// be lost, repeated and reordered.
    ///
    /// Returns the number of the packet up to which this decoder has all packets that are learned. With
    /// [`Delivery::Datagrams`] the encoder codes its next packets under the epoch of that packet. With
    /// [`Delivery::Room`] the application calls [`Encoder::advance`] when all decoders have acknowledged enough.
    /// Returns `None` if the decoder knows nothing of what was learned so far: a single decoder's encoder has then
    /// started anew; a room's decoder needs a snapshot.
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
        result.map(|top| top.map(PacketNumber::get))
    }

    /// Codes the next packets under the epoch of packet `number`, which must have been sent; for [`Delivery::Room`].
    ///
    /// A decoder that lacks a packet up to `number` can read nothing more until it has the packet: send that packet's
    /// bytes again, reliably, or give the decoder a snapshot.
    pub fn advance(&mut self, number: u32) {
        let number = PacketNumber::new(number);
        let was_sent = !number.is_after(PacketNumber::new(self.newest()));
        if self.stream.config().delivery == Delivery::Room && was_sent {
            self.learn(number);
        }
    }

    /// Forgets everything that was learned: the next packet can be decoded by a decoder that knows nothing. With
    /// [`Delivery::Ordered`] the decoder must be a new one too.
    pub fn restart(&mut self) {
        let memory = match self.sent {
            Some(_) => self.stream.config().memory,
            None => self.stream.memory_max(),
        };
        self.restart_with(memory);
    }

    fn restart_with(&mut self, memory: usize) {
        self.stream = self.stream.empty(memory);
        self.chain = Chain::default();
        self.settings.restart();
        if let Some(sent) = &mut self.sent {
            sent.restart(self.stream.less_memory());
            sent.set_budget(self.stream.remaining() / 8 * 5);
        }
    }

    fn learn(&mut self, top: PacketNumber) {
        let Some(sent) = &mut self.sent else { return };
        self.stream.record(None);
        while let Some(mut packet) = sent.pop(top) {
            self.stream.learn(packet.number(), &packet.batch, &mut packet.trace);
            if self.stream.config().delivery == Delivery::Datagrams {
                self.settings.learned(packet.batch.control);
            }
            sent.keep(packet);
        }
    }

    /// Bytes of state in use: the model, and the packets that wait to be learned. Never more than [`Config::memory`],
    /// except while one packet needs more than a quarter of it. A packet needs up to three times the bytes of its
    /// messages, plus 500 bytes and the fields for each message.
    pub fn memory(&self) -> usize {
        self.stream.memory() + self.sent.as_ref().map_or(0, Sent::memory)
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").field("config", self.stream.config()).finish_non_exhaustive()
    }
}
