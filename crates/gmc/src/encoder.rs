//! The sending end. Its model is all that it has learned from messages so far. An epoch is a
//! version of the model under which packets are coded, and which both ends are known to have.

use alloc::vec::Vec;
use core::fmt;

#[cfg(feature = "accounting")]
use crate::account::Part;
use crate::batch::{Batch, Message};
use crate::config::{Config, Delivery};
use crate::control::Control;
use crate::datagram::chain::Chain;
use crate::datagram::sent::Sent;
use crate::error::{AckError, EncodeError};
use crate::packet::{self, Header};
use crate::packet_number::PacketNumber;
#[cfg(feature = "accounting")]
use crate::range_coder::Coder;
use crate::range_coder::{RangeEncoder, shared};
use crate::stream::{Datagram, StreamModel};
use crate::trace::Trace;

#[cfg(feature = "accounting")]
mod account;
#[cfg(feature = "describe")]
mod describe;
mod snapshot;

/// Turns messages into packets.
///
/// [`Config::delivery`] says how the packets must be delivered.
pub struct Encoder {
    stream: StreamModel,
    /// The packets that wait to be learned, and the newest epoch. `None` on an ordered link.
    sent: Option<Sent>,
    /// On an ordered link with check bytes: the hash of all messages so far.
    chain: Chain,
    /// The control part (a request to all models) that packets are to carry until one has been
    /// sent. With a single decoder of datagrams they carry it until one has been learned.
    wanted: Control,
    given: Batch,
    done: Batch,
    /// The training trace of the packet that is being coded: its decisions, for the model to learn
    /// later. Unused on an ordered link.
    trace: Trace,
    plain: Vec<u8>,
    /// What the bits of the last packet were spent on.
    #[cfg(feature = "accounting")]
    expenses: account::Expenses,
}

impl Encoder {
    /// An encoder that knows nothing yet.
    pub fn new(config: Config) -> Self {
        let skips = config.delivery == Delivery::Datagrams;
        let is_ordered = config.delivery == Delivery::Ordered;
        let stream = StreamModel::new(config);
        Self {
            // Memory for packets that wait to be learned. A decoder allows 6/8 for these, and uses
            // the rest for the logs that lead back to older versions of the model.
            sent: (!is_ordered).then(|| Sent::new(skips, stream.remaining() / 8 * 5)),
            stream,
            chain: Chain::default(),
            wanted: Control::default(),
            given: Batch::default(),
            done: Batch::default(),
            trace: Trace::default(),
            plain: Vec::new(),
            #[cfg(feature = "accounting")]
            expenses: account::Expenses::default(),
        }
    }

    /// Appends to `out` a packet of one message. Its fields, if any are configured, are all zero.
    pub fn encode(&mut self, message: &[u8], out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let fields = [0; Config::FIELDS_MAX];
        let fields = &fields[..self.stream.config().field_count()];
        self.encode_packet([Message { fields, bytes: message }], out)
    }

    /// Appends to `out` a packet of these messages, coded as a unit. Each message helps to predict
    /// the next ones. Messages that resemble each other most should therefore be neighbours, the
    /// oldest first.
    ///
    /// On an error nothing is appended and the encoder is as it was.
    pub fn encode_packet<'a>(
        &mut self,
        messages: impl IntoIterator<Item = Message<'a>>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.encode_packet_within(messages, usize::MAX, out).map(|_| ())
    }

    /// Appends to `out` a packet of these messages that takes at most `limit` bytes. If it would
    /// take more, returns `false`: then nothing is appended, the encoder is as it was, and no
    /// packet number is used. On an ordered link the limit has no effect.
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
        Ok(match &mut self.sent {
            None => {
                self.encode_ordered(out);
                true
            }
            Some(_) => self.encode_datagram(limit, out),
        })
    }

    fn encode_ordered(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        if self.given.is_bulk() {
            packet::make_bulk(Header::Ordered, &self.given, &mut self.plain, out);
            #[cfg(feature = "accounting")]
            self.expenses.set_plain(&out[start..]);
        } else {
            self.given.control = core::mem::take(&mut self.wanted);
            let mut coder = RangeEncoder::new(out);
            #[cfg(feature = "accounting")]
            coder.open_account(self.expenses.are_kept());
            self.stream
                .code_ordered(shared(&mut coder), &self.given, &mut self.done)
                .expect("messages within the limits can be coded");
            #[cfg(feature = "accounting")]
            self.expenses.set(coder.close_account());
            coder.finish();
            debug_assert!(self.done.bytes == self.given.bytes, "the model codes what it was given");
            // A plain packet (compressed without the model) has no control part.
            if self.given.control.is_empty() {
                let header = Header::Ordered;
                let _is_plain =
                    packet::make_smallest(header, &self.given, &mut self.plain, out, start);
                #[cfg(feature = "accounting")]
                if _is_plain {
                    self.expenses.set_plain(&out[start..]);
                }
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

    /// Encodes the given messages for a link that loses packets. Returns `false` if the packet
    /// would take more than `limit` bytes.
    fn encode_datagram(&mut self, limit: usize, out: &mut Vec<u8>) -> bool {
        let Some(sent) = &mut self.sent else { return false };
        let number = sent.next();
        let start = out.len();
        let limit = limit.saturating_sub(usize::from(self.stream.config().check));
        // The check byte of a plain packet covers only the low byte of its number, since its
        // decoder may not know the others.
        let mut sealed = (Chain::default(), PacketNumber::new(number.low(8)));
        if self.given.is_bulk() {
            let header = sent.plain_header(false);
            packet::make_bulk(header, &self.given, &mut self.plain, out);
            #[cfg(feature = "accounting")]
            self.expenses.set_plain(&out[start..]);
            if out.len() - start > limit {
                out.truncate(start);
                return false;
            }
            sent.add(None);
        } else {
            let learns = sent.can_learn(&self.given);
            let is_single = self.stream.config().delivery == Delivery::Datagrams;
            if learns {
                self.given.control = self.wanted;
            }
            let epoch = sent.epoch();
            let distance = number.since(epoch).wrapping_sub(1);
            let given = Datagram { epoch, distance, learns, batch: &self.given };
            let mut coder = RangeEncoder::new(out);
            #[cfg(feature = "accounting")]
            coder.open_account(self.expenses.are_kept());
            let name = sent.name().code(shared(&mut coder), is_single);
            name.code_reserved(shared(&mut coder)).expect("the bit is not set");
            #[cfg(feature = "accounting")]
            coder.charge(Part::Epoch);
            self.stream.record(Some(number));
            self.stream
                .code_datagram(shared(&mut coder), given, &mut self.trace, &mut self.done)
                .expect("messages within the limits can be coded");
            self.stream.undo(number.previous());
            #[cfg(feature = "accounting")]
            self.expenses.set(coder.close_account());
            coder.finish();
            debug_assert!(self.done.bytes == self.given.bytes, "the model codes what it was given");
            let header = sent.plain_header(learns);
            let must_name = sent.must_name(learns, &self.given);
            let is_plain = !must_name
                && self.given.control.is_empty()
                && packet::make_smallest(header, &self.given, &mut self.plain, out, start);
            if out.len() - start > limit {
                out.truncate(start);
                self.trace.clear();
                return false;
            }
            if is_plain {
                // A plain packet is decoded without the model, so its decoder has no training trace
                // of the packet.
                self.trace.clear();
                #[cfg(feature = "accounting")]
                self.expenses.set_plain(&out[start..]);
                #[cfg(feature = "describe")]
                if let Some(costs) = &mut self.stream.costs {
                    costs.clear();
                }
            } else {
                sealed = (sent.chain(), number);
                sent.name_epoch();
            }
            if learns && !is_single {
                // In a room (many decoders) every packet arrives in the end, so the control part
                // need not be sent again. With a single decoder this packet may be lost for good.
                self.wanted = Control::default();
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

    /// The number of the newest packet that the model has learned: the packet of the newest epoch.
    /// On an ordered link always 0.
    pub fn epoch(&self) -> u32 {
        self.sent.as_ref().map_or(0, |sent| sent.epoch().get())
    }

    /// Takes an acknowledgement that [`Decoder::acknowledge`](crate::Decoder::acknowledge) made.
    /// Acknowledgements may be lost, repeated and reordered.
    ///
    /// Returns the number of the packet up to which this decoder has all packets that are to be
    /// learned. With [`Delivery::Datagrams`] the encoder codes its next packets under the epoch of
    /// that packet. With [`Delivery::Room`] the application calls [`Encoder::advance`] when all
    /// decoders have acknowledged enough. Returns `None` if the decoder has nothing of what was
    /// learned so far: with a single decoder the encoder has then started with a new, empty model;
    /// in a room the decoder needs a snapshot.
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

    /// Codes the next packets under the epoch of packet `number`, which must have been sent. For
    /// [`Delivery::Room`].
    ///
    /// A decoder that lacks a packet up to `number` can read nothing more until that packet
    /// arrives: send the packet's bytes again, reliably, or give the decoder a snapshot.
    pub fn advance(&mut self, number: u32) {
        let number = PacketNumber::new(number);
        let was_sent = !number.is_after(PacketNumber::new(self.newest()));
        if self.stream.config().delivery == Delivery::Room && was_sent {
            self.learn(number);
        }
    }

    /// Forgets everything that was learned: the next packet can be decoded by a decoder that has
    /// learned nothing. With [`Delivery::Ordered`] the decoder must be a new one too.
    pub fn restart(&mut self) {
        self.stream = self.stream.empty();
        self.chain = Chain::default();
        self.wanted = Control::default();
        if let Some(sent) = &mut self.sent {
            sent.restart();
        }
    }

    /// Makes the model small enough for a snapshot of less than 4 KiB: rounds probabilities, and
    /// forgets what was used little or long ago. In most sessions this costs one to two percent of
    /// the bytes of the next thousand messages. Both ends compact their models when they have
    /// learned the next packet that is learned. Snapshots after that are small.
    ///
    /// Compaction takes some milliseconds for a model of 64 KiB, at both ends. On links that are
    /// not ordered a decoder cannot go back to a version of the model before the compaction. A
    /// packet that was coded before it, and arrives after a packet that was coded after it, is
    /// answered with [`DecodeError::UnknownEpoch`](crate::DecodeError::UnknownEpoch); in a room the
    /// decoder that lacks the packet then needs a snapshot.
    pub fn compact(&mut self) {
        self.wanted.compact = true;
    }

    fn learn(&mut self, top: PacketNumber) {
        let Some(sent) = &mut self.sent else { return };
        self.stream.record(None);
        while let Some(mut packet) = sent.pop(top) {
            self.stream.learn(packet.number(), &packet.batch, &mut packet.trace);
            // With a single decoder the control part is repeated until a packet that carries it was
            // learned.
            let is_single = self.stream.config().delivery == Delivery::Datagrams;
            if is_single && packet.batch.control == self.wanted {
                self.wanted = Control::default();
            }
            sent.keep(packet);
        }
    }

    /// The memory in use, in bytes: the model, and the packets that wait to be learned. Never more
    /// than [`Config::memory`], except while one packet needs more than a quarter of that. A packet
    /// needs up to three times the bytes of its messages, plus 500 bytes and the fields for each
    /// message.
    pub fn memory(&self) -> usize {
        self.stream.memory() + self.sent.as_ref().map_or(0, Sent::memory)
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").field("config", self.stream.config()).finish_non_exhaustive()
    }
}
