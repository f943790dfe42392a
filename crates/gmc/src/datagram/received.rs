//! The decoder's side of epochs: packets that wait to be learned, and epochs to go back to.
//!
//! An epoch is a version of the model under which the encoder may code, and each packet names the
//! epoch that it was coded under. With an acknowledgement the decoder promises epochs: to learn
//! certain packets and no others. It does so when a packet names the epoch for the first time. In a
//! room, where one encoder has many decoders, no packet may be left out.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem::size_of;

use crate::batch::Batch;
use crate::control;
use crate::datagram::acknowledgement::{
    AckIndex, Acknowledgement, DISTANCE_MAX, NOTHING, RUNS_MAX,
};
use crate::datagram::chain::Chain;
use crate::datagram::header::{INDEX_AHEAD, Name};
use crate::datagram::position::{Pending, Position};
use crate::datagram::seen::{Seen, Unlearned};
use crate::error::DecodeError;
use crate::packet::Kind;
use crate::packet_number::PacketNumber;
use crate::trace::Trace;

/// A packet that arrived and is not learned yet.
#[derive(Default)]
pub(crate) struct Packet {
    number: PacketNumber,
    pub(crate) batch: Batch,
    pub(crate) trace: Trace,
}

/// Bytes that each packet takes besides its messages and its trace. The number is fixed, so that
/// packets of the same messages count the same on all machines.
const PACKET: usize = 168;
const _: () = assert!(size_of::<Packet>() <= PACKET);

impl Packet {
    pub(crate) fn number(&self) -> PacketNumber {
        self.number
    }

    fn memory(&self) -> usize {
        memory_of(&self.batch, &self.trace)
    }
}

/// Bytes that a packet with these messages and this trace takes.
fn memory_of(batch: &Batch, trace: &Trace) -> usize {
    PACKET + control::RESERVED + batch.memory() + trace.memory()
}

/// What a decoder knows of the packets that arrived.
pub(crate) struct Received {
    /// Whether lost packets are left out of what is learned. True with a single decoder, false in a
    /// room.
    skips: bool,
    /// Whether the encoder uses a model that this decoder does not have, since it learned nothing
    /// of it.
    lost: bool,
    /// The index in the latest name of an epoch that this decoder does not have.
    unknown: AckIndex,
    /// The number of the packet before the first one that the present model can learn.
    base: PacketNumber,
    /// The newest epoch that a packet has named: the version of the model.
    current: Epoch,
    /// Older epochs to which the model can go back, the oldest first.
    past: VecDeque<Epoch>,
    /// Epochs that acknowledgements have promised and that no packet has named yet, in the order of
    /// their packet numbers.
    promises: VecDeque<Epoch>,
    /// Packets after the current epoch that may be learned, in the order of their numbers.
    pending: VecDeque<Packet>,
    /// Packets after the current epoch that arrived and will not be learned.
    unlearned: Unlearned,
    seen: Seen,
    /// The newest packet that was coded with the present model.
    modelled: PacketNumber,
    spare: Vec<Packet>,
    /// The memory of the pending packets, in bytes.
    memory: usize,
    budget: usize,
}

/// A version of the model that the encoder may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Epoch {
    /// The index of the acknowledgement that promised the epoch.
    index: AckIndex,
    /// The number of the newest packet that this version has learned.
    pub(crate) number: PacketNumber,
    /// The hash of everything that this version has learned.
    pub(crate) chain: Chain,
}

impl Epoch {
    /// The epoch of an empty model that learns the packets after number `base`.
    pub(crate) fn empty(base: PacketNumber) -> Self {
        Self { index: AckIndex::default(), number: base, chain: Chain::empty(base) }
    }
}

/// What the model has to do to get to the epoch under which a packet was coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// Nothing: it is at this epoch.
    Stay,
    /// Learn packets up to this epoch, which was promised.
    On(Epoch),
    /// Go back to this earlier epoch.
    Back(Epoch),
    /// Be replaced by a new, empty model: the packet needs the empty one, and the logs of changes
    /// do not lead back to it.
    Begin,
}

/// The most unused buffers that are kept for later packets.
const SPARE_MAX: usize = 4;
/// The most packets that wait to be learned: no acknowledgement spans more.
const PENDING_MAX: usize = DISTANCE_MAX as usize;

impl Received {
    /// `skips` is true with a single decoder. `budget` is the memory for packets that wait to be
    /// learned, in bytes.
    pub(crate) fn new(skips: bool, budget: usize) -> Self {
        Self {
            skips,
            lost: false,
            unknown: AckIndex::default(),
            base: PacketNumber::default(),
            current: Epoch::empty(PacketNumber::default()),
            past: VecDeque::new(),
            promises: VecDeque::new(),
            pending: VecDeque::new(),
            unlearned: Unlearned::default(),
            seen: Seen::default(),
            modelled: PacketNumber::default(),
            spare: Vec::new(),
            memory: 0,
            budget,
        }
    }

    /// The state of a decoder that has all packets up to a position. The packets after the
    /// position's epoch wait to be learned.
    pub(crate) fn at(
        skips: bool,
        budget: usize,
        position: Position,
        pending: Vec<Pending>,
    ) -> Self {
        let Position { base, epoch, chain, index, newest } = position;
        // Skips the indices that the decoder which this one replaces may have promised.
        let index = if skips { index.ahead(INDEX_AHEAD) } else { index };
        let mut received = Self {
            base,
            current: Epoch { index, number: epoch, chain },
            seen: Seen { newest, mask: u128::MAX },
            modelled: newest,
            ..Self::new(skips, budget)
        };
        for ahead in 1..=newest.since(epoch).min(DISTANCE_MAX) {
            received.unlearned.add(epoch, epoch.plus(ahead));
        }
        for Pending { number, batch, trace } in pending {
            received.unlearned.remove(number.previous(), number);
            let packet = Packet { number, batch, trace };
            received.memory += packet.memory();
            received.pending.push_back(packet);
        }
        received
    }

    /// Sets the memory for packets that wait to be learned, in bytes.
    pub(crate) fn set_budget(&mut self, budget: usize) {
        self.budget = budget;
    }

    /// The memory of the packets that wait to be learned, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// The newest epoch that a packet has named.
    pub(crate) fn current(&self) -> Epoch {
        self.current
    }

    /// The number of the packet before the first one that the present model can learn.
    pub(crate) fn base(&self) -> PacketNumber {
        self.base
    }

    /// Whether a packet under the empty model after packet `base` shows that the encoder has
    /// started with a new model.
    pub(crate) fn starts(&self, base: PacketNumber) -> bool {
        self.lost || base != self.base
    }

    /// Whether the empty model after packet `base` can be a new one. If not, the packet is a late
    /// one of an earlier model.
    pub(crate) fn may_start(&self, base: PacketNumber) -> bool {
        self.is_new() || !self.modelled.is_after(base)
    }

    /// Whether packet `number` would be an old one after a start with the empty model after packet
    /// `base`.
    pub(crate) fn would_be_old(&self, number: PacketNumber, base: PacketNumber) -> bool {
        match self.forgets_seen(base) {
            true => !number.is_after(base),
            false => self.is_old(number),
        }
    }

    /// Whether a start with the empty model after packet `base` makes this decoder forget which
    /// packets arrived.
    fn forgets_seen(&self, base: PacketNumber) -> bool {
        self.is_new() && !self.seen.newest.is_after(base)
    }

    /// Starts with an empty model that learns the packets after `base`.
    pub(crate) fn start(&mut self, base: PacketNumber) {
        // Skips the indices that packets for an earlier decoder can name, since such packets may
        // still arrive.
        let index = if self.lost { self.unknown.ahead(INDEX_AHEAD) } else { self.promised().index };
        if self.lost && base == self.base {
            // The unknown epoch was one of an earlier decoder. The model of this one is still
            // empty, and the packets that arrived belong to that model.
            self.lost = false;
            self.current.index = index;
            return;
        }
        if self.forgets_seen(base) {
            self.seen = Seen { newest: base, mask: 0 };
        }
        self.lost = false;
        self.base = base;
        let before = self.current.number;
        self.current = Epoch { index, ..Epoch::empty(base) };
        self.past.clear();
        self.promises.clear();
        self.memory = 0;
        // Packets after `base` that will not be learned may have arrived already; they stay in the
        // set.
        self.unlearned.remove(before, base);
        while let Some(packet) = self.pending.pop_front() {
            self.keep(packet);
        }
    }

    /// Finds out from the kind of a plain packet (compressed without the model) which model the
    /// encoder uses. If that is a new, empty one, starts with it. Returns whether this decoder can
    /// learn the packet.
    pub(crate) fn follow(&mut self, kind: Kind) -> bool {
        match kind {
            Kind::Unlearned => return false,
            Kind::Known => self.lost |= self.is_new(),
            Kind::First => {
                if self.lost {
                    self.start(PacketNumber::default());
                }
                return self.base == PacketNumber::default();
            }
            Kind::Anew(base) => {
                let base = Name::Empty(u32::from(base)).number_near(self.current.number);
                if base != self.base {
                    if !self.may_start(base) {
                        return false;
                    }
                    self.start(base);
                }
            }
        }
        !self.lost
    }

    /// Whether nothing was ever learned or promised.
    fn is_new(&self) -> bool {
        self.promised().number == PacketNumber::default() && self.base == PacketNumber::default()
    }

    /// The newest promised epoch, or the current one if all promised epochs were named.
    fn promised(&self) -> Epoch {
        self.promises.back().copied().unwrap_or(self.current)
    }

    /// What the model has to do to get to the epoch with this name, which is one of the present
    /// model.
    pub(crate) fn move_to(&mut self, name: Name) -> Result<Move, DecodeError> {
        let is_named = |epoch: &&Epoch| match name {
            Name::Index(_) => epoch.index == name.index_near(self.current.index),
            Name::Number(_) | Name::Empty(_) => {
                epoch.number == name.number_near(self.current.number)
            }
        };
        if is_named(&&self.current) {
            Ok(Move::Stay)
        } else if let Some(&epoch) = self.promises.iter().find(is_named) {
            Ok(Move::On(epoch))
        } else if let Some(&epoch) = self.past.iter().rev().find(is_named) {
            Ok(Move::Back(epoch))
        } else if let Name::Empty(_) = name {
            Ok(Move::Begin)
        } else {
            // A decoder that has learned nothing must tell the encoder so.
            self.lost |= self.is_new();
            self.unknown = name.index_near(self.current.index);
            Err(DecodeError::UnknownEpoch)
        }
    }

    /// Removes and returns the next packet that is to be learned to get to `epoch`. When it returns
    /// `None`, `epoch` is the current one.
    pub(crate) fn pop(&mut self, epoch: Epoch) -> Option<Packet> {
        if let Some(next) = self.pending.front()
            && !next.number.is_after(epoch.number)
        {
            let packet = self.pending.pop_front()?;
            self.memory -= packet.memory();
            return Some(packet);
        }
        self.unlearned.remove(self.current.number, epoch.number);
        // Keeps each epoch on the way, since a late packet can name it.
        self.past.push_back(self.current);
        while let Some(&next) = self.promises.front()
            && !next.number.is_after(epoch.number)
        {
            self.promises.pop_front();
            if next != epoch {
                self.past.push_back(next);
            }
        }
        self.current = epoch;
        None
    }

    /// Keeps the buffers of a packet for later packets.
    pub(crate) fn keep(&mut self, packet: Packet) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(packet);
        }
    }

    /// Gives up the oldest epoch to which the model can go back. Returns the packet number of the
    /// oldest one that remains.
    pub(crate) fn forget_oldest(&mut self) -> Option<PacketNumber> {
        self.past.pop_front()?;
        Some(self.past.front().map_or(self.current.number, |epoch| epoch.number))
    }

    /// The full number of a packet, given its low `bits` bits.
    pub(crate) fn number(&self, low: u32, bits: u32) -> PacketNumber {
        self.seen.newest.nearest(low, bits)
    }

    /// The number of the newest packet, and a bit for each of the last 128 packets, the lowest for
    /// the newest: whether the packet arrived.
    pub(crate) fn came_lately(&self) -> (PacketNumber, u128) {
        (self.seen.newest, self.seen.mask)
    }

    /// Whether the packet arrived before. Also true if it is too old to tell.
    pub(crate) fn is_old(&self, number: PacketNumber) -> bool {
        self.seen.contains(number)
    }

    /// Notes that packet `number` was coded with the present model.
    pub(crate) fn note_modelled(&mut self, number: PacketNumber) {
        if number.is_after(self.modelled) {
            self.modelled = number;
        }
    }

    /// Notes a packet that was decoded. `taught` has its messages and its training trace if it is
    /// to be learned.
    pub(crate) fn add(&mut self, number: PacketNumber, taught: Option<(&Batch, &Trace)>) {
        self.seen.add(number);
        let is_promised = !number.is_after(self.promised().number);
        if is_promised || self.pending.len() == PENDING_MAX {
            return;
        }
        let Some((batch, trace)) = taught else {
            return self.unlearned.add(self.current.number, number);
        };
        let memory = memory_of(batch, trace);
        // In a room no packet after one that is dropped here can be promised. The encoder therefore
        // limits its packets by an estimate of their memory, and this decoder accepts a packet that
        // needs more than the estimate.
        let needed = if self.skips { memory } else { 0 };
        if self.memory + needed > self.budget && !self.pending.is_empty() {
            return;
        }
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.number = number;
        packet.batch.clone_from(batch);
        packet.trace.clone_from(trace);
        debug_assert_eq!(packet.memory(), memory, "a copy takes as much memory");
        if let Err(at) = self.pending.binary_search_by(|packet| packet.number.order(number)) {
            self.memory += memory;
            self.pending.insert(at, packet);
        }
    }

    /// Promises to learn the packets that arrived, and appends the acknowledgement to `out`.
    pub(crate) fn acknowledge(&mut self, out: &mut Vec<u8>) {
        if self.lost {
            out.extend_from_slice(&NOTHING);
            return;
        }
        if !self.skips || self.promises.len() < INDEX_AHEAD as usize {
            self.promise();
        }
        let promised = self.promised();
        let mut runs = Vec::new();
        let all = self.all_up_to(promised.number);
        let mut start = self.current.number;
        let mut last = start.plus(all);
        for number in self.came(all, promised.number).map(|(number, _)| number) {
            let lost = number.since(last).wrapping_sub(1);
            if lost > 0 {
                runs.push(last.since(start));
                runs.push(lost);
                start = last.plus(lost);
            }
            last = number;
        }
        Acknowledgement {
            index: promised.index.low_byte(),
            top: promised.number.low(16) as u16,
            seal: promised.chain.seal(promised.index, promised.number),
            distance: promised.number.since(self.current.number),
            runs,
        }
        .write(out);
    }

    /// Promises to learn the packets that arrived: with a single decoder as one epoch, in a room as
    /// one epoch for each packet, since the encoder advances only to a packet that all decoders
    /// have.
    fn promise(&mut self) {
        let promised = self.promised();
        let mut epoch = promised;
        let index = epoch.index.ahead(1);
        let all = self.all_up_to(promised.number);
        let mut last = self.current.number.plus(all);
        let mut runs = 0;
        let mut promises = core::mem::take(&mut self.promises);
        for (number, packet) in self.came(all, self.seen.newest) {
            let lost = number.since(last) > 1;
            runs += if lost { 2 } else { 0 };
            if (lost && !self.skips) || runs > RUNS_MAX {
                break;
            }
            last = number;
            if number.is_after(epoch.number) {
                let chain =
                    packet.map_or(epoch.chain, |packet| epoch.chain.then(number, &packet.batch));
                epoch = Epoch { index, number, chain };
                if !self.skips {
                    promises.push_back(epoch);
                }
            }
        }
        if self.skips && epoch != promised {
            promises.push_back(epoch);
        }
        self.promises = promises;
        debug_assert!(
            self.promises.iter().is_sorted_by(|a, b| b.number.is_after(a.number)),
            "promises are in the order of their numbers"
        );
    }

    /// The number of packets after the current epoch up to packet `top`, if all of them arrived and
    /// wait to be learned. If not, or if that cannot be told quickly, 0.
    fn all_up_to(&self, top: PacketNumber) -> u32 {
        let distance = top.since(self.current.number);
        let last = (distance as usize).checked_sub(1).and_then(|at| self.pending.get(at));
        // The numbers ascend, so there is one for each packet.
        let all = last.is_some_and(|packet| packet.number == top);
        if cfg!(feature = "fast") && all { distance } else { 0 }
    }

    /// The packets that arrived, from the current epoch up to `newest`, without the first `known`
    /// ones. A packet that is to be learned comes with its content.
    fn came(
        &self,
        known: u32,
        newest: PacketNumber,
    ) -> impl Iterator<Item = (PacketNumber, Option<&Packet>)> {
        let start = self.current.number;
        let far = if newest.is_after(start) { newest.since(start).min(DISTANCE_MAX) } else { 0 };
        let mut pending = self.pending.range(known as usize..).peekable();
        (known + 1..=far).filter_map(move |ahead| {
            let number = start.plus(ahead);
            let packet = pending.next_if(|packet| packet.number == number);
            (packet.is_some() || self.unlearned.contains(number)).then_some((number, packet))
        })
    }
}
