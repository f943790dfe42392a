//! Records the contents of packets for the inspector. Nothing is recorded while the inspector is not in use.

mod tally;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

pub use tally::{AGES, CarrierTotals, Flow};

use crate::ids::{ChannelNo, GroupId, ParticipantId};
use tally::Tallies;

/// The most packets that wait to be fetched. Beyond it the oldest are dropped (law 3 in docs/laws.md).
const KEPT: usize = 512;

/// The most messages in the packets that wait to be fetched.
const PARTS_KEPT: usize = 8192;

/// The [`Part::cost`] of a byte: costs are in 1/64 of a byte, which is an eighth of a bit.
pub const BYTE_COST: u32 = 64;

/// The carrier of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// The reliable stream.
    Stream,
    /// A datagram.
    Datagrams,
}

/// Why a message was in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// It is sent for the first time.
    New,
    /// It is repeated, in case it was lost (AFEC).
    Repeated,
    /// It is state for a late joiner.
    State,
    /// It is the receiver's own message.
    Own,
}

/// A message in a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The number of its channel in the room. 0 for a chunk of the room's snapshot.
    pub channel: ChannelNo,
    /// The participant that sent it.
    pub sender: ParticipantId,
    /// Its index, the counter of a transaction, or the offset of a chunk of the room's snapshot.
    pub index: u32,
    /// Why it was in the packet.
    pub purpose: Purpose,
    /// Its bytes before compression.
    pub before: usize,
    /// Its age when the packet was made.
    pub age: Duration,
    /// Its size in the packet, in eighths of a bit ([`BYTE_COST`] is a byte). `None` if it is not known: then the
    /// recorder divides the bytes of the payload that no known cost explains among such messages, by size.
    pub cost: Option<u32>,
}

impl Part {
    /// A chunk of the room's snapshot. `before`: its bytes in the snapshot; `wire`: its bytes in the packet.
    pub(crate) fn of_snapshot(offset: usize, before: usize, wire: usize) -> Self {
        let cost = u32::try_from(wire).unwrap_or(u32::MAX).saturating_mul(BYTE_COST);
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
    /// The time at which it was handed to the transport.
    pub at: Duration,
    /// The participant at the other end.
    pub participant: ParticipantId,
    /// True if it was sent to the participant, false if it was received.
    pub is_outgoing: bool,
    /// Stream or datagrams.
    pub carrier: Carrier,
    /// The fan-out group that is sent the same payload. `None` if the payload is for this receiver alone.
    pub group: Option<GroupId>,
    /// The epoch of the compression model that its payload is coded with. `None` if it is not known.
    pub epoch: Option<u32>,
    /// The size of the whole packet in bytes.
    pub bytes: usize,
    /// Bytes before the payload: frames for this receiver alone.
    pub header_bytes: usize,
    /// The part of `header_bytes` that is reports and acknowledgements.
    pub feedback_bytes: usize,
    /// The messages of its payload.
    pub parts: Vec<Part>,
}

impl Packet {
    /// Bytes of the payload that belong to no message: its type, the epoch, a check, and padding to whole bytes.
    pub fn overhead(&self) -> usize {
        let known: u64 = self.parts.iter().filter_map(|part| part.cost).map(u64::from).sum();
        let known = known.div_ceil(BYTE_COST.into()) as usize;
        self.bytes.saturating_sub(self.header_bytes).saturating_sub(known)
    }

    /// Sets the costs that are not known: divides the bytes of the payload that no known cost explains among these
    /// messages, by size. Reduces all costs if their sum is larger than the payload, which happens because zeros at the
    /// end of a coded payload are not sent.
    fn share(&mut self) {
        let known: u64 = self.parts.iter().filter_map(|part| part.cost).map(u64::from).sum();
        let body = self.bytes.saturating_sub(self.header_bytes) as u64 * u64::from(BYTE_COST);
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

/// The recorder of packets, which is on while the inspector is in use.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    is_on: bool,
    packets: VecDeque<Packet>,
    /// The number of messages in all of `packets`.
    parts: usize,
    /// Packets that were dropped before they were fetched.
    missed: u64,
    /// Sums over all packets since the recorder was turned on.
    tallies: Tallies,
    /// Messages of the packet that is being read or made, which its coder does not describe.
    noted: Vec<Part>,
}

impl Trace {
    /// True if packets are to be recorded.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Turns the recorder on or off. A change forgets everything.
    pub(crate) fn turn(&mut self, on: bool) {
        if self.is_on != on {
            *self = Trace { is_on: on, ..Trace::default() };
        }
    }

    /// Records a packet.
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

    /// Adds a message to the packet that is being read or made.
    pub(crate) fn note(&mut self, part: impl FnOnce() -> Part) {
        if self.is_on {
            self.noted.push(part());
        }
    }

    /// Marks the last added message as repeated.
    pub(crate) fn note_repeated(&mut self) {
        if let Some(part) = self.noted.last_mut() {
            part.purpose = Purpose::Repeated;
        }
    }

    /// Takes the recorded packets.
    pub(crate) fn take(&mut self) -> Vec<Packet> {
        self.parts = 0;
        self.packets.drain(..).collect()
    }

    /// Takes the messages that were added with [`Trace::note`].
    pub(crate) fn noted(&mut self) -> Vec<Part> {
        core::mem::take(&mut self.noted)
    }

    /// The number of packets that were dropped before they were fetched.
    pub(crate) fn missed(&self) -> u64 {
        self.missed
    }

    /// Sums over all packets since the recorder was turned on.
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
            is_outgoing: true,
            carrier: Carrier::Stream,
            group: None,
            epoch: None,
            bytes: 30,
            header_bytes: 10,
            feedback_bytes: 0,
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
    fn unknown_costs_are_shared_by_size() {
        let mut trace = Trace { is_on: true, ..Trace::default() };
        trace.push(packet([part(9, Some(4 * BYTE_COST)), part(29, None), part(9, None)].into()));
        let packet = &trace.packets[0];
        let costs: Vec<_> =
            packet.parts.iter().map(|part| part.cost.unwrap() / BYTE_COST).collect();
        assert_eq!((costs, packet.overhead()), ([4, 12, 4].into(), 0));
        assert_eq!(packet.header_bytes + 20, packet.bytes);
    }

    #[test]
    fn packets_that_are_not_fetched_are_dropped() {
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
