//! The encoder's side of epochs: packets that wait to be acknowledged, and the epoch to code under.
//!
//! An epoch is a version of the model (all that was learned) that the decoder is known to have. The
//! encoder codes each packet under its newest epoch and names the epoch in the packet. It learns a
//! packet, which makes a new epoch, when a decoder has acknowledged the packet. In a room, where
//! one encoder has many decoders, no packet may be left out.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem::size_of;

use crate::batch::Batch;
use crate::control;
use crate::datagram::acknowledgement::{AckIndex, Acknowledgement, DISTANCE_MAX};
use crate::datagram::chain::Chain;
use crate::datagram::header::{self, Name};
use crate::datagram::position::Position;
use crate::error::AckError;
use crate::packet::{Header, Kind};
use crate::packet_number::PacketNumber;
use crate::trace::Trace;

/// A packet that will be learned when it is acknowledged.
#[derive(Default, Clone)]
pub(crate) struct Packet {
    number: PacketNumber,
    /// Whether the packet will be learned: true until an acknowledgement says that the decoder does
    /// not have it.
    learns: bool,
    /// In a room: the hash of everything that is learned up to and including this packet.
    chain: Chain,
    pub(crate) batch: Batch,
    pub(crate) trace: Trace,
}

/// Bytes that each packet takes besides its messages and its trace. The number is fixed, so that
/// packets of the same messages count the same on all machines.
const PACKET: usize = 176;
const _: () = assert!(size_of::<Packet>() <= PACKET);

impl Packet {
    pub(crate) fn number(&self) -> PacketNumber {
        self.number
    }

    fn memory(&self) -> usize {
        PACKET + control::RESERVED + self.batch.memory() + self.trace.memory()
    }
}

/// What an encoder knows of the packets that it sent.
#[derive(Clone)]
pub(crate) struct Sent {
    /// Whether lost packets are left out of what is learned. True with a single decoder, false in a
    /// room.
    skips: bool,
    /// The number of the packet before the first one that the present model can learn.
    base: PacketNumber,
    /// The number of the packet of the newest epoch.
    epoch: PacketNumber,
    /// The index of the acknowledgement that made the newest epoch.
    index: AckIndex,
    /// The number of the next packet.
    next: PacketNumber,
    /// The hash of everything that is learned up to the newest epoch.
    chain: Chain,
    /// Packets after the newest epoch that will be learned, in the order of their numbers.
    pending: VecDeque<Packet>,
    spare: Vec<Packet>,
    /// The memory of the pending packets, in bytes.
    memory: usize,
    /// The memory, in bytes, of the packets that were learned since a packet last named an epoch.
    unnamed: usize,
    budget: usize,
}

/// Estimated bytes of the training trace of one message: the record of decisions that is kept until
/// the message is learned. The estimate decides whether a packet is learned.
const TRACE: usize = 440;
/// How often a packet that is not learned must name the epoch: if its number is a multiple of this.
/// Otherwise it may be a plain packet, which names no epoch, where that is smaller.
const NAMED_EVERY: u32 = 8;
/// The most unused buffers that are kept for later packets.
const SPARE_MAX: usize = 4;

impl Sent {
    /// `skips` is true with a single decoder. `budget` is the memory for packets that wait to be
    /// learned, in bytes.
    pub(crate) fn new(skips: bool, budget: usize) -> Self {
        Self {
            skips,
            base: PacketNumber::default(),
            epoch: PacketNumber::default(),
            index: AckIndex::default(),
            next: PacketNumber::new(1),
            chain: Chain::empty(PacketNumber::default()),
            pending: VecDeque::new(),
            spare: Vec::new(),
            memory: 0,
            unnamed: 0,
            budget,
        }
    }

    /// The memory of the packets that wait to be learned, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// The number of the next packet.
    pub(crate) fn next(&self) -> PacketNumber {
        self.next
    }

    /// The number of the packet of the epoch to code under.
    pub(crate) fn epoch(&self) -> PacketNumber {
        self.epoch
    }

    /// The hash of everything that is learned up to this epoch.
    pub(crate) fn chain(&self) -> Chain {
        self.chain
    }

    /// The name of the epoch to code under.
    pub(crate) fn name(&self) -> Name {
        if self.epoch == self.base {
            Name::empty(self.base)
        } else if self.skips {
            Name::index(self.index)
        } else {
            Name::number(self.epoch)
        }
    }

    /// The header for the next packet if it is plain: compressed by a codec, without the model.
    pub(crate) fn plain_header(&self, learns: bool) -> Header {
        let kind = match self.base.get() {
            _ if !learns => Kind::Unlearned,
            _ if self.epoch != self.base => Kind::Known,
            0 => Kind::First,
            base => Kind::Anew(base as u16),
        };
        Header::Datagram(self.next.low(8) as u8, kind)
    }

    /// Whether there is memory left to learn these messages. If no packet waits, they are learned
    /// however large they are.
    pub(crate) fn can_learn(&self, batch: &Batch) -> bool {
        self.memory + estimate(batch) <= self.budget || self.pending.is_empty()
    }

    /// Whether the next packet must name the epoch, even if a plain packet, which names none, would
    /// be smaller. Until a decoder sees an epoch named, it keeps the packets that it will learn up
    /// to this epoch, and may have no memory left for others.
    pub(crate) fn must_name(&self, learns: bool, batch: &Batch) -> bool {
        if learns {
            // A single decoder skips packets for which it has no memory.
            !self.skips
                && self.unnamed > 0
                && self.unnamed + self.memory + estimate(batch) > self.budget
        } else {
            self.next.get().is_multiple_of(NAMED_EVERY)
        }
    }

    /// Notes that the next packet names the epoch.
    pub(crate) fn name_epoch(&mut self) {
        self.unnamed = 0;
    }

    /// Notes that the next packet was made. `taught` has its messages and its training trace if it
    /// will be learned.
    pub(crate) fn add(&mut self, taught: Option<(&Batch, &Trace)>) {
        if let Some((batch, trace)) = taught {
            self.keep_pending(batch, trace);
        }
        self.next = self.next.next();
    }

    /// Keeps the next packet until it is acknowledged.
    fn keep_pending(&mut self, batch: &Batch, trace: &Trace) {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.number = self.next;
        packet.learns = true;
        if !self.skips {
            let before = self.pending.back().map_or(self.chain, |packet| packet.chain);
            packet.chain = before.then(self.next, batch);
        }
        packet.batch.clone_from(batch);
        packet.trace.clone_from(trace);
        self.memory += packet.memory();
        debug_assert!(self.pending.back().is_none_or(|last| self.next.is_after(last.number)));
        self.pending.push_back(packet);
    }

    /// Whether more packets were sent since the newest epoch than one acknowledgement can span.
    pub(crate) fn is_stale(&self) -> bool {
        self.next.since(self.epoch) > DISTANCE_MAX
    }

    /// Checks an acknowledgement. Returns the number of the packet up to which the decoder promises
    /// to learn. `None` says that the decoder has nothing of the model, so that the encoder must
    /// start with a new one. Packets after the newest epoch that the decoder does not have will be
    /// left out; in a room they make the acknowledgement contradictory.
    pub(crate) fn check(&mut self, bytes: &[u8]) -> Result<Option<PacketNumber>, AckError> {
        let Some(ack) = Acknowledgement::read(bytes)? else {
            return Ok(if self.epoch == self.base { Some(self.epoch) } else { None });
        };
        let last = self.next.previous();
        let top = last.nearest(u32::from(ack.top), header::NUMBER_BITS);
        let is_before_the_first = self.base.is_after(top) && top.get() > self.base.get();
        if top.is_after(last) || is_before_the_first {
            return Err(AckError::NeverSent);
        }
        if !top.is_after(self.epoch) {
            // In a room other decoders may be ahead of this one.
            return Ok(Some(if self.skips { self.epoch } else { top }));
        }
        if top.minus(ack.distance).is_after(self.epoch) {
            return Err(AckError::Contradictory);
        }
        if !self.skips {
            return self.check_all(&ack, top);
        }
        let index = AckIndex::new(u32::from(ack.index));
        let mut chain_there = self.chain;
        let mut numbers = ack.numbers(top).filter(|&number| number.is_after(self.epoch)).peekable();
        let mut kept = 0;
        for packet in self.pending.iter_mut().take_while(|packet| !packet.number.is_after(top)) {
            // Skips packets that arrived and will not be learned: they are not among the pending
            // ones.
            while numbers.next_if(|&number| packet.number.is_after(number)).is_some() {}
            let came = numbers.next_if_eq(&packet.number).is_some();
            if came && packet.learns {
                chain_there = chain_there.then(packet.number, &packet.batch);
                packet.chain = chain_there;
            }
            kept += 1;
        }
        if chain_there.seal(index, top) != ack.seal {
            return Err(AckError::Diverged);
        }
        let mut numbers = ack.numbers(top).filter(|&number| number.is_after(self.epoch)).peekable();
        for packet in self.pending.iter_mut().take(kept) {
            while numbers.next_if(|&number| packet.number.is_after(number)).is_some() {}
            packet.learns = numbers.next_if_eq(&packet.number).is_some();
        }
        self.index = index;
        Ok(Some(top))
    }

    /// Checks an acknowledgement in a room, whose decoders learn every packet. A binary search is
    /// enough, since each packet keeps its hash.
    fn check_all(
        &self,
        ack: &Acknowledgement,
        top: PacketNumber,
    ) -> Result<Option<PacketNumber>, AckError> {
        if !ack.runs.is_empty() {
            return Err(AckError::Contradictory);
        }
        let behind = self.pending.partition_point(|packet| !packet.number.is_after(top));
        let last = behind.checked_sub(1).and_then(|last| self.pending.get(last));
        let chain_there = last.map_or(self.chain, |packet| packet.chain);
        match chain_there.seal(AckIndex::new(u32::from(ack.index)), top) == ack.seal {
            true => Ok(Some(top)),
            false => Err(AckError::Diverged),
        }
    }

    /// Removes and returns the next packet that is to be learned, up to packet `top`. When it
    /// returns `None`, the newest epoch is that of `top`.
    pub(crate) fn pop(&mut self, top: PacketNumber) -> Option<Packet> {
        debug_assert!(self.next.is_after(top), "the packet was sent");
        while let Some(next) = self.pending.front()
            && !next.number.is_after(top)
        {
            let packet = self.pending.pop_front()?;
            self.memory -= packet.memory();
            self.unnamed += packet.memory();
            if packet.learns {
                self.chain = packet.chain;
                return Some(packet);
            }
            self.keep(packet);
        }
        if top.is_after(self.epoch) {
            self.epoch = top;
        }
        None
    }

    /// The position of a decoder that has all packets sent so far.
    pub(crate) fn position(&self) -> Position {
        Position {
            base: self.base,
            epoch: self.epoch,
            chain: self.chain,
            index: self.index,
            newest: self.next.previous(),
        }
    }

    /// The packets that wait to be learned: their numbers, messages and training traces.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (PacketNumber, &Batch, &Trace)> {
        self.pending.iter().map(|packet| (packet.number, &packet.batch, &packet.trace))
    }

    /// Keeps the buffers of a packet for later packets.
    pub(crate) fn keep(&mut self, packet: Packet) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(packet);
        }
    }

    /// Starts with an empty model, which learns the packets from the next one on.
    pub(crate) fn restart(&mut self) {
        self.base = self.next.previous();
        self.epoch = self.base;
        self.chain = Chain::empty(self.base);
        self.unnamed = 0;
        self.memory = 0;
        while let Some(packet) = self.pending.pop_front() {
            self.keep(packet);
        }
    }
}

/// The estimated memory that a packet of these messages takes until it is learned, in bytes.
fn estimate(batch: &Batch) -> usize {
    batch.bytes.len() + batch.len() * TRACE
}
