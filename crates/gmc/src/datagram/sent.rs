//! The encoder's side of epochs: packets that wait to be acknowledged, and the epoch to code under.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem::size_of;

use crate::batch::Batch;
use crate::datagram::acknowledgement::{Acknowledgement, DISTANCE_MAX};
use crate::datagram::header::{self, Name};
use crate::datagram::position::Position;
use crate::datagram::{chain, first_chain, number, seal};
use crate::error::AckError;
use crate::packet::{Front, Kind};
use crate::table::is_later;
use crate::trace::Trace;

/// A packet that will be learned, if and when it is acknowledged.
#[derive(Default)]
pub(crate) struct Packet {
    number: u32,
    /// Whether the decoder has it, too.
    learns: bool,
    /// In a room, where nothing is skipped: the hash of all that is learned up to here.
    chain: u32,
    pub(crate) batch: Batch,
    pub(crate) trace: Trace,
}

impl Packet {
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.batch.memory() + self.trace.memory()
    }
}

/// Packets that were sent.
pub(crate) struct Sent {
    /// Whether packets are learned around those that were lost.
    skips: bool,
    /// The number before the first packet of the present model.
    base: u32,
    /// The newest epoch that decoders are known to have.
    epoch: u32,
    /// The index of the acknowledgement that made it.
    index: u32,
    next: u32,
    chain: u32,
    pending: VecDeque<Packet>,
    spare: Vec<Packet>,
    memory: usize,
    /// Bytes that waited to be learned until the present epoch or those before it, since an epoch was named.
    unnamed: usize,
    budget: usize,
}

/// What the decisions of a message take, about: the guess decides whether there is room for it.
const TRACE: usize = 440;
/// Of the packets that there is no room to learn, one of so many names the epoch, though a codec would make it smaller.
const NAMED_EVERY: u32 = 8;
/// Buffers kept to be used again.
const SPARE_MAX: usize = 4;

impl Sent {
    pub(crate) fn new(skips: bool, budget: usize) -> Self {
        Self {
            skips,
            base: 0,
            epoch: 0,
            index: 0,
            next: 1,
            chain: first_chain(0, None),
            pending: VecDeque::new(),
            spare: Vec::new(),
            memory: 0,
            unnamed: 0,
            budget,
        }
    }

    /// Bytes of what waits to be learned.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// The number of the next packet.
    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    /// The epoch to code under.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The hash of all that is learned up to the epoch.
    pub(crate) fn chain(&self) -> u32 {
        self.chain
    }

    /// How to name the epoch so that every decoder understands.
    pub(crate) fn name(&self) -> Name {
        if self.epoch == self.base {
            Name::empty(self.base)
        } else if self.skips {
            Name::index(self.index)
        } else {
            Name::number(self.epoch)
        }
    }

    /// What is in front of the next packet if it is plain.
    pub(crate) fn front(&self, learns: bool) -> Front {
        let kind = match self.base {
            _ if !learns => Kind::Unlearned,
            _ if self.epoch != self.base => Kind::Known,
            0 => Kind::First,
            base => Kind::Anew(base as u16),
        };
        Front::Datagram(self.next as u8, kind)
    }

    /// Whether there is room to learn these messages. The first packet is learned however large.
    pub(crate) fn has_room(&self, batch: &Batch) -> bool {
        self.memory + guess(batch) <= self.budget || self.pending.is_empty()
    }

    /// Whether the next packet must name the epoch, though a codec would make it smaller: a decoder that has not seen
    /// it named keeps what is learned up to there, and may have no room for more.
    pub(crate) fn must_name(&self, learns: bool, batch: &Batch) -> bool {
        if learns {
            // What a single decoder has no room for is learned around.
            !self.skips
                && self.unnamed > 0
                && self.unnamed + self.memory + guess(batch) > self.budget
        } else {
            self.next.is_multiple_of(NAMED_EVERY)
        }
    }

    /// The next packet names the epoch.
    pub(crate) fn name_epoch(&mut self) {
        self.unnamed = 0;
    }

    /// Notes the next packet, and what it teaches if it does.
    pub(crate) fn add(&mut self, trace: Option<(&Batch, &Trace)>) {
        if let Some((batch, trace)) = trace {
            self.keep_pending(batch, trace);
        }
        self.next = self.next.wrapping_add(1);
    }

    fn keep_pending(&mut self, batch: &Batch, trace: &Trace) {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.number = self.next;
        packet.learns = true;
        if !self.skips {
            let before = self.pending.back().map_or(self.chain, |packet| packet.chain);
            packet.chain = chain(before, self.next, batch);
        }
        packet.batch.clone_from(batch);
        packet.trace.clone_from(trace);
        self.memory += packet.memory();
        self.pending.push_back(packet);
    }

    /// Whether nothing was acknowledged for so long that nobody can know which packet is meant.
    pub(crate) fn is_stale(&self) -> bool {
        self.next.wrapping_sub(self.epoch) > DISTANCE_MAX
    }

    /// Up to which packet a decoder promises to learn; `None` if the model must start anew, since the
    /// decoder knows nothing of it. Packets behind [`Sent::epoch`] that it does not have are
    /// forgotten if packets may be skipped, else they make the acknowledgement contradictory.
    pub(crate) fn check(&mut self, bytes: &[u8]) -> Result<Option<u32>, AckError> {
        let Some(ack) = Acknowledgement::read(bytes)? else {
            return Ok(if self.epoch == self.base { Some(self.epoch) } else { None });
        };
        let last = self.next.wrapping_sub(1);
        let top = number::nearest(last, u32::from(ack.top), header::NUMBER_BITS);
        if is_later(top, last) {
            return Err(AckError::NeverSent);
        }
        if !is_later(top, self.epoch) {
            // In a room others may be ahead of this decoder.
            return Ok(Some(if self.skips { self.epoch } else { top }));
        }
        if is_later(top.wrapping_sub(ack.distance), self.epoch) {
            return Err(AckError::Contradictory);
        }
        if !self.skips {
            return self.check_all(&ack, top);
        }
        let mut chain_there = self.chain;
        let mut numbers =
            ack.numbers(top).filter(|&number| is_later(number, self.epoch)).peekable();
        let mut kept = 0;
        for packet in self.pending.iter_mut().take_while(|packet| !is_later(packet.number, top)) {
            // What is not to be learned is not kept.
            while numbers.next_if(|&number| is_later(packet.number, number)).is_some() {}
            let came = numbers.next_if_eq(&packet.number).is_some();
            if came && packet.learns {
                chain_there = chain(chain_there, packet.number, &packet.batch);
            }
            kept += 1;
        }
        if seal(chain_there, u32::from(ack.index), top) != ack.chain {
            return Err(AckError::Diverged);
        }
        let came: Vec<u32> =
            ack.numbers(top).filter(|&number| is_later(number, self.epoch)).collect();
        let mut came = came.into_iter().peekable();
        for packet in self.pending.iter_mut().take(kept) {
            while came.next_if(|&number| is_later(packet.number, number)).is_some() {}
            packet.learns = came.next_if_eq(&packet.number).is_some();
        }
        self.index = u32::from(ack.index);
        Ok(Some(top))
    }

    /// The same in a room, whose many decoders learn every packet. Costs nothing but a search.
    fn check_all(&self, ack: &Acknowledgement, top: u32) -> Result<Option<u32>, AckError> {
        if !ack.runs.is_empty() {
            return Err(AckError::Contradictory);
        }
        let behind = self.pending.partition_point(|packet| !is_later(packet.number, top));
        let last = behind.checked_sub(1).and_then(|last| self.pending.get(last));
        let chain_there = last.map_or(self.chain, |packet| packet.chain);
        match seal(chain_there, u32::from(ack.index), top) == ack.chain {
            true => Ok(Some(top)),
            false => Err(AckError::Diverged),
        }
    }

    /// The next packet to be learned on the way to the epoch named `top`, until that is reached.
    pub(crate) fn pop(&mut self, top: u32) -> Option<Packet> {
        while let Some(next) = self.pending.front()
            && !is_later(next.number, top)
        {
            let packet = self.pending.pop_front()?;
            self.memory -= packet.memory();
            self.unnamed += packet.memory();
            if packet.learns {
                self.chain = match self.skips {
                    true => chain(self.chain, packet.number, &packet.batch),
                    false => packet.chain,
                };
                return Some(packet);
            }
            self.keep(packet);
        }
        if is_later(top, self.epoch) {
            self.epoch = top;
        }
        None
    }

    /// The number before the first packet of the present model.
    pub(crate) fn base(&self) -> u32 {
        self.base
    }

    /// Where a decoder stands that has everything.
    pub(crate) fn position(&self) -> Position {
        Position {
            base: self.base,
            epoch: self.epoch,
            chain: self.chain,
            index: self.index,
            newest: self.next.wrapping_sub(1),
        }
    }

    /// The packets that wait to be learned: their numbers, and what they teach.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (u32, &Batch, &Trace)> {
        self.pending.iter().map(|packet| (packet.number, &packet.batch, &packet.trace))
    }

    /// Bytes for packets that wait to be learned.
    pub(crate) fn set_budget(&mut self, budget: usize) {
        self.budget = budget;
    }

    /// Keeps the buffers of a packet that was learned.
    pub(crate) fn keep(&mut self, packet: Packet) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(packet);
        }
    }

    /// Starts a new, empty model with the next packet.
    pub(crate) fn restart(&mut self, less: Option<u32>) {
        self.base = self.next.wrapping_sub(1);
        self.epoch = self.base;
        self.chain = first_chain(self.base, less);
        self.unnamed = 0;
        self.memory = 0;
        while let Some(packet) = self.pending.pop_front() {
            self.keep(packet);
        }
    }
}

/// What packets of these messages take until they are learned, about.
fn guess(batch: &Batch) -> usize {
    batch.bytes.len() + batch.len() * TRACE
}
