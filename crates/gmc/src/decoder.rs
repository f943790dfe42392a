//! The receiving end. Its model is all that it has learned from messages so far. An epoch is a
//! version of the model under which packets are coded, and which both ends are known to have.

use alloc::vec::Vec;
use core::fmt;

use crate::batch::{Batch, Message};
use crate::config::{Config, Delivery};
use crate::datagram::chain::Chain;
use crate::datagram::header::Name;
use crate::datagram::received::{Epoch, Move, Received};
use crate::error::DecodeError;
use crate::packet::{self, Header, Kind};
use crate::packet_number::PacketNumber;
use crate::range_coder::{RangeDecoder, Silent, shared};
use crate::stream::{Datagram, StreamModel};
use crate::trace::Trace;

mod snapshot;

/// Turns packets into the messages from which they were made.
///
/// Takes any bytes: they decode to messages within the limits of the [`Config`], or to an error. On
/// an ordered link the stream is over after an error: see [`DecodeError`].
///
/// A decoder that replaces an earlier one needs [`Config::check`] if packets for the earlier one
/// may still arrive: packets name epochs by a few bits, and one name may stand for an epoch of
/// either decoder.
pub struct Decoder {
    stream: StreamModel,
    /// The packets that arrived, and the epochs that the decoder has. `None` on an ordered link.
    received: Option<Received>,
    /// On an ordered link with check bytes: the hash of all messages so far.
    chain: Chain,
    done: Batch,
    /// The training trace of the packet that is being decoded: its decisions, for the model to
    /// learn later. Unused on an ordered link.
    trace: Trace,
    plain: Vec<u8>,
    unused: Batch,
    /// The memory, in bytes, for packets that wait to be learned, and for the logs that lead back
    /// to older versions of the model.
    remaining: usize,
    /// More bytes for these logs: see [`Decoder::keep_more`].
    extra_memory: usize,
    /// The bytes that these logs take now.
    log_memory: usize,
    poisoned: bool,
}

impl Decoder {
    /// A decoder that knows nothing yet.
    pub fn new(config: Config) -> Self {
        let skips = config.delivery == Delivery::Datagrams;
        let is_ordered = config.delivery == Delivery::Ordered;
        let stream = StreamModel::new(config);
        let remaining = stream.remaining();
        Self {
            received: (!is_ordered).then(|| Received::new(skips, remaining / 4 * 3)),
            remaining,
            stream,
            chain: Chain::default(),
            done: Batch::default(),
            trace: Trace::default(),
            plain: Vec::new(),
            unused: Batch::default(),
            extra_memory: 0,
            log_memory: 0,
            poisoned: false,
        }
    }

    /// Appends to `out` the message of a packet that [`Encoder::encode`](crate::Encoder::encode)
    /// made.
    ///
    /// On an error nothing is appended.
    pub fn decode(&mut self, packet: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
        self.read(packet)?;
        if self.done.len() != 1 {
            self.poisoned = self.received.is_none();
            return Err(DecodeError::NotOneMessage);
        }
        out.extend_from_slice(&self.done.bytes);
        Ok(())
    }

    /// Passes the messages of a packet to `each`, in order.
    ///
    /// On an error `each` is not called at all.
    pub fn decode_packet(
        &mut self,
        packet: &[u8],
        each: impl FnMut(Message<'_>),
    ) -> Result<(), DecodeError> {
        self.read(packet)?;
        self.done.iter().for_each(each);
        Ok(())
    }

    /// Appends to `out` an acknowledgement of the packets that arrived so far, for
    /// [`Encoder::acknowledge`](crate::Encoder::acknowledge). It has at most 140 bytes and mostly
    /// six. Appends nothing on an ordered link.
    ///
    /// The sooner and the more often the encoder gets acknowledgements, the smaller are its
    /// packets. Acknowledgements may be lost.
    pub fn acknowledge(&mut self, out: &mut Vec<u8>) {
        if let Some(received) = &mut self.received {
            received.acknowledge(out);
        }
    }

    /// Allows `bytes` bytes more than [`Config::memory`] for the logs that lead back to older
    /// versions of the model. In a room a packet that was lost is sent again when other decoders
    /// are already far ahead; an old version is then needed to decode it. The encoder need not know
    /// of these bytes.
    pub fn keep_more(&mut self, bytes: usize) {
        self.extra_memory += bytes;
    }

    /// The number of the newest packet that arrived, and 128 bits: bit `k` is set if the packet `k`
    /// before the newest arrived. The caller can use them to have lost packets sent again, and to
    /// count them. On an ordered link both numbers are zero.
    pub fn received(&self) -> (u32, u128) {
        self.received.as_ref().map_or((0, 0), |received| {
            let (newest, mask) = received.came_lately();
            (newest.get(), mask)
        })
    }

    /// The memory in use, in bytes: the model, the packets that wait to be learned, and the logs
    /// that lead back to older versions of the model. Never more than [`Config::memory`] and what
    /// [`Decoder::keep_more`] allows, except while one packet needs more than a quarter of that. A
    /// packet needs up to three times the bytes of its messages, plus 500 bytes and the fields for
    /// each message.
    pub fn memory(&self) -> usize {
        self.stream.memory() + self.log_memory + self.received.as_ref().map_or(0, Received::memory)
    }

    /// Switches [`Decoder::costs`] on or off from the next packet on.
    #[cfg(feature = "describe")]
    pub fn set_costing(&mut self, costing: bool) {
        self.stream.costs = costing.then(Vec::new);
    }

    /// How many eighths of a bit each message of the last packet took, as in
    /// [`Encoder::costs`](crate::Encoder::costs).
    #[cfg(feature = "describe")]
    pub fn costs(&self) -> &[u32] {
        self.stream.costs.as_deref().unwrap_or_default()
    }

    fn read(&mut self, packet: &[u8]) -> Result<(), DecodeError> {
        if self.poisoned {
            return Err(DecodeError::Poisoned);
        }
        let (check, body) = match (self.stream.config().check, packet) {
            (false, body) => (None, body),
            (true, [body @ .., check]) => (Some(*check), body),
            (true, []) => (None, packet),
        };
        self.done.clear();
        #[cfg(feature = "describe")]
        if let Some(costs) = &mut self.stream.costs {
            costs.clear();
        }
        if body.is_empty() {
            self.poisoned = self.received.is_none();
            return Err(DecodeError::Malformed);
        }
        if self.received.is_some() {
            return self.read_datagram(body, check);
        }
        let result = self.read_ordered(body, check);
        self.poisoned = result.is_err();
        result
    }

    fn read_ordered(&mut self, body: &[u8], check: Option<u8>) -> Result<(), DecodeError> {
        if packet::is_plain(body) {
            packet::read_plain(body, &mut self.plain, &mut self.done, self.stream.config())?;
            // Large messages ("bulk") are not learned.
            if !self.done.is_bulk() {
                // The model learns from the messages as if they had been coded.
                self.unused.clear();
                self.stream.code_ordered(shared(&mut Silent), &self.done, &mut self.unused)?;
            }
        } else {
            let mut coder = RangeDecoder::new(body);
            self.stream.code_ordered(shared(&mut coder), &Batch::default(), &mut self.done)?;
            if !coder.is_complete() {
                return Err(DecodeError::Malformed);
            }
        }
        if let Some(check) = check {
            self.chain = self.chain.then(PacketNumber::default(), &self.done);
            if check != self.chain.check() {
                return Err(DecodeError::CheckFailed);
            }
        }
        Ok(())
    }

    fn read_datagram(&mut self, body: &[u8], check: Option<u8>) -> Result<(), DecodeError> {
        if packet::is_plain(body) {
            return self.read_plain_datagram(body, check);
        }
        let Read { number, learns, chain } = self.read_coded(body, check)?;
        let Some(received) = &mut self.received else { return Err(DecodeError::Malformed) };
        if received.is_old(number) {
            return Err(DecodeError::Duplicate);
        }
        if !is_intact(check, chain, number, &self.done) {
            return Err(DecodeError::CheckFailed);
        }
        received.note_modelled(number);
        received.add(number, learns.then_some((&self.done, &self.trace)));
        self.trim();
        Ok(())
    }

    fn read_plain_datagram(&mut self, body: &[u8], check: Option<u8>) -> Result<(), DecodeError> {
        let Some(received) = &mut self.received else { return Err(DecodeError::Malformed) };
        let header =
            packet::read_plain(body, &mut self.plain, &mut self.done, self.stream.config())?;
        let Header::Datagram(number, kind) = header else { return Err(DecodeError::Malformed) };
        let number = received.number(u32::from(number), u8::BITS);
        if received.is_old(number) {
            return Err(DecodeError::Duplicate);
        }
        if !is_intact(check, Chain::default(), PacketNumber::new(number.low(8)), &self.done) {
            return Err(DecodeError::CheckFailed);
        }
        let base = received.base();
        let learns = received.follow(kind) && !self.done.is_bulk();
        if kind != Kind::Unlearned {
            received.note_modelled(number);
        }
        if received.base() != base {
            self.stream = self.stream.empty();
            self.log_memory = 0;
            self.remaining = self.stream.remaining();
            received.set_budget(self.remaining / 4 * 3);
        }
        self.trace.clear();
        received.add(number, learns.then_some((&self.done, &self.trace)));
        self.trim();
        Ok(())
    }

    /// Decodes the messages of a coded packet.
    fn read_coded(&mut self, body: &[u8], check: Option<u8>) -> Result<Read, DecodeError> {
        let Some(received) = &mut self.received else { return Err(DecodeError::Malformed) };
        let is_single = self.stream.config().delivery == Delivery::Datagrams;
        let mut coder = RangeDecoder::new(body);
        let name = Name::Empty(0).code(shared(&mut coder), is_single);
        name.code_reserved(shared(&mut coder))?;
        if let Name::Empty(_) = name {
            let base = name.number_near(received.current().number);
            if received.starts(base) {
                return self.start(coder, base, check);
            }
        }
        let newest = received.current();
        let destination = received.move_to(name)?;
        let Self { stream, trace, done, .. } = self;
        let read = match destination {
            Move::Stay => read_at(stream, &mut coder, newest, newest.number, trace, done)?,
            Move::On(epoch) => {
                learn(stream, received, epoch);
                // Nothing else changes the logs: what is logged while a packet is read is undone.
                self.log_memory = stream.log_memory();
                read_at(stream, &mut coder, epoch, epoch.number, trace, done)?
            }
            Move::Back(epoch) => {
                stream.rewind(epoch.number);
                let read = read_at(stream, &mut coder, epoch, newest.number, trace, done);
                stream.forward(epoch.number);
                read?
            }
            Move::Begin => {
                let base = received.base();
                let epoch = Epoch::empty(base);
                let mut empty = stream.empty();
                read_at(&mut empty, &mut coder, epoch, base, trace, done)?
            }
        };
        Ok(read)
    }

    /// Decodes a packet that names a new, empty model, and replaces this decoder's model by that
    /// one.
    fn start(
        &mut self,
        mut coder: RangeDecoder<'_>,
        base: PacketNumber,
        check: Option<u8>,
    ) -> Result<Read, DecodeError> {
        let Some(received) = &mut self.received else { return Err(DecodeError::Malformed) };
        if !received.may_start(base) {
            return Err(DecodeError::UnknownEpoch);
        }
        // The new model replaces the old one only if the packet can be decoded.
        let mut stream = self.stream.empty();
        let epoch = Epoch::empty(base);
        let (trace, done) = (&mut self.trace, &mut self.done);
        let read = read_at(&mut stream, &mut coder, epoch, base, trace, done)?;
        if received.would_be_old(read.number, base) {
            return Err(DecodeError::Duplicate);
        }
        if !is_intact(check, read.chain, read.number, &self.done) {
            return Err(DecodeError::CheckFailed);
        }
        self.stream = stream;
        self.log_memory = self.stream.log_memory();
        received.start(base);
        self.remaining = self.stream.remaining();
        received.set_budget(self.remaining / 4 * 3);
        Ok(read)
    }

    /// Gives up the oldest epochs until the logs, together with the packets that wait to be
    /// learned, fit into the memory.
    fn trim(&mut self) {
        let Some(received) = &mut self.received else { return };
        debug_assert_eq!(
            self.log_memory,
            self.stream.log_memory(),
            "only learning changes the logs"
        );
        while self.log_memory + received.memory() > self.remaining + self.extra_memory
            && let Some(oldest) = received.forget_oldest()
        {
            self.log_memory = self.stream.forget(oldest);
        }
    }
}

/// Whether the check byte of datagram `number` confirms the messages `done`; true if there is no
/// check byte. `chain` is the hash of all that the datagram's epoch has learned, or that of an
/// empty model if the datagram needs no model.
fn is_intact(check: Option<u8>, chain: Chain, number: PacketNumber, done: &Batch) -> bool {
    check.is_none_or(|check| check == chain.then(number, done).check())
}

/// A datagram that was decoded.
struct Read {
    number: PacketNumber,
    /// Whether the packet will be learned.
    learns: bool,
    /// The hash of everything that the packet's epoch has learned.
    chain: Chain,
}

/// Learns packets up to an epoch, to which an acknowledgement has committed this decoder.
fn learn(stream: &mut StreamModel, received: &mut Received, epoch: Epoch) {
    while let Some(mut packet) = received.pop(epoch) {
        stream.record(Some(packet.number()));
        stream.learn(packet.number(), &packet.batch, &mut packet.trace);
        received.keep(packet);
    }
}

/// Decodes a packet that was coded under `epoch`, the version that the model is at now, and undoes
/// all changes that decoding makes in the model. `newest` is the newest version that the model was
/// at.
fn read_at(
    stream: &mut StreamModel,
    coder: &mut RangeDecoder<'_>,
    epoch: Epoch,
    newest: PacketNumber,
    trace: &mut Trace,
    done: &mut Batch,
) -> Result<Read, DecodeError> {
    stream.record(Some(newest.next()));
    let given = Batch::default();
    let given = Datagram::unknown(epoch.number, &given);
    let result = stream.code_datagram(shared(coder), given, trace, done);
    stream.undo(newest);
    let (number, learns) = result?;
    if !coder.is_complete() {
        return Err(DecodeError::Malformed);
    }
    Ok(Read { number, learns, chain: epoch.chain })
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("config", self.stream.config()).finish_non_exhaustive()
    }
}
