//! The decoder's side of epochs: packets that wait to be learned, and epochs to go back to.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem::size_of;

use crate::batch::Batch;
use crate::datagram::acknowledgement::{Acknowledgement, DISTANCE_MAX, NOTHING, RUNS_MAX};
use crate::datagram::header::{INDEX_AHEAD, Name};
use crate::datagram::position::{Pending, Position};
use crate::datagram::{chain, first_chain, number, seal};
use crate::error::DecodeError;
use crate::packet::Kind;
use crate::table::is_later;
use crate::trace::Trace;

/// A packet that came and was not learned yet.
#[derive(Default)]
pub(crate) struct Packet {
    number: u32,
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

/// What a decoder knows of a link.
pub(crate) struct Received {
    /// Whether packets are learned around those that were lost.
    skips: bool,
    /// Whether the encoder has been seen to use a model that this decoder knows nothing of.
    lost: bool,
    /// The last name of an epoch that this decoder does not have.
    unknown: u32,
    /// The number before the first packet of the present model.
    base: u32,
    /// The newest epoch that was named.
    current: Epoch,
    /// Older epochs that the model can go back to, the oldest first.
    past: VecDeque<Epoch>,
    /// Epochs that are promised but were not named yet.
    promises: VecDeque<Epoch>,
    /// Packets behind the current epoch, in the order of their numbers.
    pending: VecDeque<Packet>,
    /// Packets behind the current epoch that teach nothing.
    unlearned: Unlearned,
    seen: Seen,
    /// The newest packet that was made with a model.
    modelled: u32,
    spare: Vec<Packet>,
    memory: usize,
    budget: usize,
}

/// A version of the model that the encoder may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Epoch {
    /// The index of the acknowledgement that promised it.
    index: u32,
    /// The newest packet that is learned.
    pub(crate) number: u32,
    /// The hash of all that is learned.
    pub(crate) chain: u32,
}

impl Epoch {
    /// The empty model before the packet behind `base`. `less` is its memory if it has less than configured.
    pub(crate) fn empty(base: u32, less: Option<u32>) -> Self {
        Self { index: 0, number: base, chain: first_chain(base, less) }
    }
}

/// Where the model must go for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It stays where it is.
    Stay,
    /// On to an epoch that is promised.
    On(Epoch),
    /// Back to an earlier one.
    Back(Epoch),
    /// To the empty model, which cannot be gone back to but is easily made.
    Begin,
}

/// Buffers kept to be used again.
const SPARE_MAX: usize = 4;
/// More packets than this do not wait to be learned.
const PENDING_MAX: usize = DISTANCE_MAX as usize;

impl Received {
    pub(crate) fn new(skips: bool, budget: usize) -> Self {
        Self {
            skips,
            lost: false,
            unknown: 0,
            base: 0,
            current: Epoch::empty(0, None),
            past: VecDeque::new(),
            promises: VecDeque::new(),
            pending: VecDeque::new(),
            unlearned: Unlearned::default(),
            seen: Seen::default(),
            modelled: 0,
            spare: Vec::new(),
            memory: 0,
            budget,
        }
    }

    /// A decoder that has all packets up to a position: those behind the epoch wait to be learned.
    pub(crate) fn at(
        skips: bool,
        budget: usize,
        position: Position,
        pending: Vec<Pending>,
    ) -> Self {
        let Position { base, epoch, chain, index, newest } = position;
        // The names of a predecessor's promises are left out.
        let index = if skips { index.wrapping_add(INDEX_AHEAD) } else { index };
        let mut received = Self {
            base,
            current: Epoch { index, number: epoch, chain },
            seen: Seen { newest, mask: u128::MAX },
            modelled: newest,
            ..Self::new(skips, budget)
        };
        for ahead in 1..=newest.wrapping_sub(epoch).min(DISTANCE_MAX) {
            received.unlearned.add(epoch, epoch.wrapping_add(ahead));
        }
        for Pending { number, batch, trace } in pending {
            received.unlearned.remove(number.wrapping_sub(1), number);
            let packet = Packet { number, batch, trace };
            received.memory += packet.memory();
            received.pending.push_back(packet);
        }
        received
    }

    /// Bytes for packets that wait to be learned.
    pub(crate) fn set_budget(&mut self, budget: usize) {
        self.budget = budget;
    }

    /// Bytes of what waits to be learned.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// The newest epoch that was named.
    pub(crate) fn current(&self) -> Epoch {
        self.current
    }

    /// The number before the first packet of the present model.
    pub(crate) fn base(&self) -> u32 {
        self.base
    }

    /// Whether an encoder that uses the empty model named after packet `base` has started anew, as far as this decoder
    /// knows.
    pub(crate) fn starts(&self, base: u32) -> bool {
        self.lost || base != self.base
    }

    /// Whether the empty model named after packet `base` can be a new one.
    pub(crate) fn may_start(&self, base: u32) -> bool {
        self.is_new() || !is_later(self.modelled, base)
    }

    /// Starts with a new, empty model.
    pub(crate) fn start(&mut self, base: u32, less: Option<u32>) {
        // Packets that name epochs of a predecessor may still come: other names are used.
        let index =
            if self.lost { self.unknown.wrapping_add(INDEX_AHEAD) } else { self.promised().index };
        if self.lost && base == self.base && less.is_none() {
            // It was the predecessor that named an epoch. This model is still empty, and what came is this one's.
            self.lost = false;
            self.current.index = index;
            return;
        }
        if self.is_new() && !is_later(self.seen.newest, base) {
            self.seen = Seen { newest: base, mask: 0 };
        }
        self.lost = false;
        self.base = base;
        let before = self.current.number;
        self.current = Epoch { index, ..Epoch::empty(base, less) };
        self.past.clear();
        self.promises.clear();
        self.memory = 0;
        // Packets that teach nothing may have come before the first that does.
        self.unlearned.remove(before, base);
        while let Some(packet) = self.pending.pop_front() {
            self.keep(packet);
        }
    }

    /// Takes note of what a plain packet tells of the encoder's model. Returns whether this decoder
    /// can learn with it.
    pub(crate) fn follow(&mut self, kind: Kind) -> bool {
        match kind {
            Kind::Unlearned => return false,
            Kind::Known => self.lost |= self.is_new(),
            Kind::First => {
                if self.lost {
                    self.start(0, None);
                }
                return self.base == 0;
            }
            Kind::Anew(base) => {
                let base = Name::empty(u32::from(base)).resolve(self.current.number);
                if base != self.base {
                    if !self.may_start(base) {
                        return false;
                    }
                    self.start(base, None);
                }
            }
        }
        !self.lost
    }

    /// Whether nothing was ever learned or promised.
    fn is_new(&self) -> bool {
        self.promised().number == 0 && self.base == 0
    }

    /// The newest epoch that is promised, if only by having been named.
    fn promised(&self) -> Epoch {
        self.promises.back().copied().unwrap_or(self.current)
    }

    /// Where the model must go for a packet that names this epoch of the present model.
    pub(crate) fn way(&mut self, name: Name) -> Result<Way, DecodeError> {
        let is_named = |epoch: &&Epoch| match name {
            Name::Index(_) => epoch.index == name.resolve(self.current.index),
            Name::Number(_) | Name::Empty(_) => epoch.number == name.resolve(self.current.number),
        };
        if is_named(&&self.current) {
            Ok(Way::Stay)
        } else if let Some(&epoch) = self.promises.iter().find(is_named) {
            Ok(Way::On(epoch))
        } else if let Some(&epoch) = self.past.iter().rev().find(is_named) {
            Ok(Way::Back(epoch))
        } else if let Name::Empty(_) = name {
            Ok(Way::Begin)
        } else {
            // If nothing is known, the encoder must hear of it.
            self.lost |= self.is_new();
            self.unknown = name.resolve(self.current.index);
            Err(DecodeError::UnknownEpoch)
        }
    }

    /// The next packet to be learned on the way to an epoch, until that is the current one.
    pub(crate) fn pop(&mut self, epoch: Epoch) -> Option<Packet> {
        if let Some(next) = self.pending.front()
            && !is_later(next.number, epoch.number)
        {
            let packet = self.pending.pop_front()?;
            self.memory -= packet.memory();
            return Some(packet);
        }
        self.unlearned.remove(self.current.number, epoch.number);
        // A late packet can name any epoch on the way.
        self.past.push_back(self.current);
        while let Some(&next) = self.promises.front()
            && !is_later(next.number, epoch.number)
        {
            self.promises.pop_front();
            if next != epoch {
                self.past.push_back(next);
            }
        }
        self.current = epoch;
        None
    }

    /// Keeps the buffers of a packet that was learned.
    pub(crate) fn keep(&mut self, packet: Packet) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(packet);
        }
    }

    /// Gives up the oldest epoch that can be gone back to. Returns the oldest one left.
    pub(crate) fn forget_oldest(&mut self) -> Option<u32> {
        self.past.pop_front()?;
        Some(self.past.front().map_or(self.current.number, |epoch| epoch.number))
    }

    /// The number of a packet of which only the low bits are known.
    pub(crate) fn number(&self, low: u32, bits: u32) -> u32 {
        number::nearest(self.seen.newest, low, bits)
    }

    /// The newest packet, and which of it and those before it came, from the lowest bit on.
    pub(crate) fn came_lately(&self) -> (u32, u128) {
        (self.seen.newest, self.seen.mask)
    }

    /// Whether the packet came before, or is too old to tell.
    pub(crate) fn is_old(&self, number: u32) -> bool {
        self.seen.contains(number)
    }

    /// Notes that a packet was made with the present model.
    pub(crate) fn note_modelled(&mut self, number: u32) {
        if is_later(number, self.modelled) {
            self.modelled = number;
        }
    }

    /// Notes a packet that was decoded, and what it teaches if it does.
    pub(crate) fn add(&mut self, number: u32, trace: Option<(&Batch, &Trace)>) {
        self.seen.add(number);
        let is_promised = !is_later(number, self.promised().number);
        if is_promised || self.pending.len() == PENDING_MAX {
            return;
        }
        let Some((batch, trace)) = trace else {
            return self.unlearned.add(self.current.number, number);
        };
        let memory = size_of::<Packet>() + batch.memory() + trace.memory();
        // In a room no packet behind one that is not kept can be promised: the encoder sees to it that there is room
        // for what it guesses a packet to take.
        let needed = if self.skips { memory } else { 0 };
        if self.memory + needed > self.budget && !self.pending.is_empty() {
            return;
        }
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.number = number;
        packet.batch.clone_from(batch);
        packet.trace.clone_from(trace);
        if let Err(at) = self.pending.binary_search_by(|packet| order(packet.number, number)) {
            self.memory += memory;
            self.pending.insert(at, packet);
        }
    }

    /// Promises to learn what has come, and appends the acknowledgement.
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
        let mut last = self.current.number;
        let mut start = last;
        for number in self.came(promised.number).map(|(number, _)| number) {
            let lost = number.wrapping_sub(last).wrapping_sub(1);
            if lost > 0 {
                runs.push(last.wrapping_sub(start));
                runs.push(lost);
                start = last.wrapping_add(lost);
            }
            last = number;
        }
        Acknowledgement {
            index: promised.index as u8,
            top: promised.number as u16,
            chain: seal(promised.chain, promised.index, promised.number),
            distance: promised.number.wrapping_sub(self.current.number),
            runs,
        }
        .write(out);
    }

    /// Promises to learn what has come: to a single encoder all at once, in a room packet by packet,
    /// since others may have fewer.
    fn promise(&mut self) {
        let promised = self.promised();
        let mut epoch = promised;
        let index = epoch.index.wrapping_add(1);
        let mut last = self.current.number;
        let mut runs = 0;
        let mut promises = Vec::new();
        for (number, packet) in self.came(self.seen.newest) {
            let lost = number.wrapping_sub(last) > 1;
            runs += if lost { 2 } else { 0 };
            if (lost && !self.skips) || runs > RUNS_MAX {
                break;
            }
            last = number;
            if is_later(number, epoch.number) {
                let chain =
                    packet.map_or(epoch.chain, |packet| chain(epoch.chain, number, &packet.batch));
                epoch = Epoch { index, number, chain };
                if !self.skips {
                    promises.push(epoch);
                }
            }
        }
        if self.skips && epoch != promised {
            promises.push(epoch);
        }
        self.promises.extend(promises);
    }

    /// The packets behind the current epoch that came, up to `newest`, and what those teach that teach something.
    fn came(&self, newest: u32) -> impl Iterator<Item = (u32, Option<&Packet>)> {
        let (start, far) = (self.current.number, newest.wrapping_sub(self.current.number));
        let far = if is_later(newest, start) { far.min(DISTANCE_MAX) } else { 0 };
        let mut pending = self.pending.iter().peekable();
        (1..=far).filter_map(move |ahead| {
            let number = start.wrapping_add(ahead);
            let packet = pending.next_if(|packet| packet.number == number);
            (packet.is_some() || self.unlearned.contains(number)).then_some((number, packet))
        })
    }
}

fn order(a: u32, b: u32) -> core::cmp::Ordering {
    (a.wrapping_sub(b) as i32).cmp(&0)
}

/// Which of the newest packets came.
#[derive(Debug, Default)]
struct Seen {
    newest: u32,
    /// The lowest bit stands for `newest`, the next for the packet before it.
    mask: u128,
}

impl Seen {
    fn contains(&self, number: u32) -> bool {
        if is_later(number, self.newest) {
            return false;
        }
        let age = self.newest.wrapping_sub(number);
        age >= u128::BITS || self.mask >> age & 1 == 1
    }

    fn add(&mut self, number: u32) {
        if is_later(number, self.newest) {
            let ahead = number.wrapping_sub(self.newest);
            self.mask = self.mask.checked_shl(ahead).unwrap_or(0);
            self.newest = number;
        }
        let age = self.newest.wrapping_sub(number);
        self.mask |= 1u128.checked_shl(age).unwrap_or(0);
    }
}

/// Which packets behind an epoch came and teach nothing: a bit for each, at its number's low bits.
#[derive(Debug, Default)]
struct Unlearned([u64; UNLEARNED_WORDS]);

const UNLEARNED_WORDS: usize = (DISTANCE_MAX / u64::BITS) as usize;

impl Unlearned {
    fn contains(&self, number: u32) -> bool {
        let (word, bit) = Self::place(number);
        self.0[word] & bit != 0
    }

    /// Adds a packet behind `epoch`, unless it is too far behind.
    fn add(&mut self, epoch: u32, number: u32) {
        if number.wrapping_sub(epoch).wrapping_sub(1) < DISTANCE_MAX {
            let (word, bit) = Self::place(number);
            self.0[word] |= bit;
        }
    }

    /// Removes the packets behind `epoch` up to `number`.
    fn remove(&mut self, epoch: u32, number: u32) {
        for ahead in 1..=number.wrapping_sub(epoch).min(DISTANCE_MAX) {
            let (word, bit) = Self::place(epoch.wrapping_add(ahead));
            self.0[word] &= !bit;
        }
    }

    fn place(number: u32) -> (usize, u64) {
        let place = number % DISTANCE_MAX;
        ((place / u64::BITS) as usize, 1 << (place % u64::BITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn seen_tells_what_came(numbers in proptest::collection::vec(1u32..300, 1..100)) {
            let mut seen = Seen::default();
            let mut came = BTreeSet::new();
            for number in numbers {
                let newest = came.last().copied().unwrap_or(0);
                let old = came.contains(&number) || number + 128 <= newest;
                prop_assert_eq!(seen.contains(number), old);
                if !old {
                    seen.add(number);
                    came.insert(number);
                }
            }
        }

        #[test]
        fn what_teaches_nothing_is_told_until_it_is_passed(
            start in prop_oneof![Just(0u32), Just(u32::MAX - 900)],
            numbers in proptest::collection::btree_set(1u32..1500, 0..200),
            passed in 0u32..1100,
        ) {
            let mut unlearned = Unlearned::default();
            for &number in &numbers {
                unlearned.add(start, start.wrapping_add(number));
            }
            unlearned.remove(start, start.wrapping_add(passed));
            for number in 1..=DISTANCE_MAX {
                let told = unlearned.contains(start.wrapping_add(number));
                prop_assert_eq!(told, number > passed && numbers.contains(&number));
            }
        }
    }
}
