//! What packets were made of, for who looks on (the inspector). Costs nothing while nobody does.

mod tally;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

pub use tally::{AGES, Carriage, Flow};

use crate::ids::{ChannelNo, GroupId, ParticipantId};
use tally::Tallies;

/// Packets remembered until they are fetched; the oldest go first.
const KEPT: usize = 512;

/// Their messages likewise.
const PARTS_KEPT: usize = 8192;

/// [`Part::cost`] of an octet.
pub const OCTET: u32 = 64;

/// Where a packet went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Over the reliable stream.
    Stream,
    /// As a datagram.
    Datagram,
}

/// Why a message was in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// For the first time.
    New,
    /// Again, in case it was lost (AFEC).
    Repeated,
    /// For a late joiner.
    State,
    /// The receiver's own.
    Own,
}

/// A message in a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its channel's number in the room; 0: a piece of the room's snapshot.
    pub channel: ChannelNo,
    /// Who sent it.
    pub sender: ParticipantId,
    /// Its index, or a transaction's counter.
    pub index: u32,
    /// Why it was there.
    pub purpose: Purpose,
    /// Octets that the application handed over.
    pub before: usize,
    /// How old it was when the packet was made.
    pub age: Duration,
    /// What it takes in the packet, in eighths of a bit: [`OCTET`]. What is not known when a packet is pushed gets a share
    /// of the rest of the body by size.
    pub cost: Option<u32>,
}

impl Part {
    /// A piece of the room's snapshot of so many octets, of which so many travel.
    pub(crate) fn of_snapshot(offset: usize, before: usize, octets: usize) -> Self {
        let cost = u32::try_from(octets).unwrap_or(u32::MAX).saturating_mul(OCTET);
        Part {
            channel: ChannelNo(0),
            sender: ParticipantId(0),
            index: u32::try_from(offset).unwrap_or(u32::MAX),
            purpose: Purpose::State,
            before,
            age: Duration::ZERO,
            cost: Some(cost),
        }
    }
}

/// A packet as it was handed to the transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// When.
    pub at: Duration,
    /// To or from whom.
    pub participant: ParticipantId,
    /// Whether it went to the participant; else it came.
    pub out: bool,
    /// Stream or datagram.
    pub way: Way,
    /// The class that shares its body; `None`: it is this receiver's alone.
    pub class: Option<GroupId>,
    /// The model's version that its body is coded under, as far as it is known.
    pub epoch: Option<u32>,
    /// All its octets.
    pub octets: usize,
    /// Of them, what is no body: frames for this receiver alone.
    pub private: usize,
    /// Of those, what says what came (feedback).
    pub feedback: usize,
    /// The messages of its body.
    pub parts: Vec<Part>,
}

impl Packet {
    /// Octets of the body that are no message's: its type, the model's version, a check, and what rounds it up.
    pub fn overhead(&self) -> usize {
        let known: u64 = self.parts.iter().filter_map(|part| part.cost).map(u64::from).sum();
        let known = known.div_ceil(OCTET.into()) as usize;
        self.octets.saturating_sub(self.private).saturating_sub(known)
    }

    /// Gives messages whose cost nobody knows a share of what is left, and takes off what was saved at the end: of a coded
    /// body that ends with zeros some are not sent.
    fn share(&mut self) {
        let known: u64 = self.parts.iter().filter_map(|part| part.cost).map(u64::from).sum();
        let body = self.octets.saturating_sub(self.private) as u64 * u64::from(OCTET);
        let left = body.saturating_sub(known);
        let weight = |part: &Part| part.before as u64 + 1;
        let is_unknown = |part: &&Part| part.cost.is_none();
        let sum: u64 = self.parts.iter().filter(is_unknown).map(weight).sum();
        for part in &mut self.parts {
            part.cost = Some(match part.cost {
                None => left * weight(part) / sum,
                Some(cost) if known > body => u64::from(cost) * body / known,
                Some(cost) => cost.into(),
            } as u32);
        }
    }
}

/// Packets, while somebody looks on.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    is_on: bool,
    packets: VecDeque<Packet>,
    /// Of all of them together.
    parts: usize,
    /// Packets that nobody fetched in time.
    missed: u64,
    tallies: Tallies,
    /// What the packet has that is being read or made, as far as it does not come with its body.
    noted: Vec<Part>,
}

impl Trace {
    /// Whether packets are to be described.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(crate) fn turn(&mut self, on: bool) {
        if self.is_on != on {
            *self = Trace { is_on: on, ..Trace::default() };
        }
    }

    pub(crate) fn push(&mut self, mut packet: Packet) {
        if !self.is_on {
            return;
        }
        packet.share();
        self.tallies.add(&packet);
        self.parts += packet.parts.len();
        self.packets.push_back(packet);
        while self.packets.len() > KEPT || (self.parts > PARTS_KEPT && self.packets.len() > 1) {
            self.parts -= self.packets.pop_front().map_or(0, |packet| packet.parts.len());
            self.missed += 1;
        }
    }

    /// The packet that is being read or made has this.
    pub(crate) fn note(&mut self, part: impl FnOnce() -> Part) {
        if self.is_on {
            self.noted.push(part());
        }
    }

    /// What was noted last had been there before.
    pub(crate) fn note_repeated(&mut self) {
        if let Some(part) = self.noted.last_mut() {
            part.purpose = Purpose::Repeated;
        }
    }
}

impl Trace {
    pub(crate) fn take(&mut self) -> Vec<Packet> {
        self.parts = 0;
        self.packets.drain(..).collect()
    }

    /// What was noted of the packet.
    pub(crate) fn noted(&mut self) -> Vec<Part> {
        core::mem::take(&mut self.noted)
    }

    pub(crate) fn missed(&self) -> u64 {
        self.missed
    }

    pub(crate) fn tallies(&mut self) -> &mut Tallies {
        &mut self.tallies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(parts: Vec<Part>) -> Packet {
        Packet {
            at: Duration::ZERO,
            participant: ParticipantId(1),
            out: true,
            way: Way::Stream,
            class: None,
            epoch: None,
            octets: 30,
            private: 10,
            feedback: 0,
            parts,
        }
    }

    fn part(before: usize, cost: Option<u32>) -> Part {
        let (channel, sender, index, purpose, age) = (1, 2, 3, Purpose::New, Duration::ZERO);
        Part {
            channel: ChannelNo(channel),
            sender: ParticipantId(sender),
            index,
            purpose,
            before,
            age,
            cost,
        }
    }

    #[test]
    fn what_is_not_known_is_shared_by_size() {
        let mut trace = Trace { is_on: true, ..Trace::default() };
        trace.push(packet([part(9, Some(4 * OCTET)), part(29, None), part(9, None)].into()));
        let packet = &trace.packets[0];
        let costs: Vec<_> = packet.parts.iter().map(|part| part.cost.unwrap() / OCTET).collect();
        assert_eq!((costs, packet.overhead()), ([4, 12, 4].into(), 0));
        assert_eq!(packet.private + 20, packet.octets);
    }

    #[test]
    fn what_nobody_fetches_goes() {
        let mut trace = Trace::default();
        trace.push(packet(Vec::new()));
        assert!(trace.packets.is_empty());
        trace.is_on = true;
        let large: Vec<Part> = (0..PARTS_KEPT).map(|_| part(1, Some(1))).collect();
        for _ in 0..3 {
            trace.push(packet(large.clone()));
        }
        assert_eq!((trace.packets.len(), trace.missed), (1, 2));
        (0..2 * KEPT).for_each(|_| trace.push(packet(Vec::new())));
        assert_eq!((trace.packets.len(), trace.parts), (KEPT, 0));
    }
}
