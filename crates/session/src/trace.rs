//! Records the contents of packets for the inspector. Nothing is recorded while the inspector is
//! not in use.

mod tally;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

pub use tally::{AGES, CarrierTotals, Flow};

use crate::ids::{ChannelNo, GroupId, ParticipantId, Position};
use tally::Tallies;

/// The most recorded packets that are kept until the inspector fetches them. Beyond it the oldest
/// are dropped (law 3 in docs/laws.md).
const KEPT: usize = 512;

/// The most messages in all kept packets together. Beyond it the oldest packets are dropped.
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
    /// The message is sent for the first time.
    New,
    /// The message was sent before and is repeated, in case it was lost.
    Repeated,
    /// The message is state that is sent to a late joiner.
    State,
    /// The message is the receiver's own: its place in the order, or a part of a payload that a
    /// fan-out group shares.
    Own,
}

/// A message in a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The number of the message's channel in the room. 0 for a chunk of the room's snapshot.
    pub channel: ChannelNo,
    /// The participant that sent the message. 0 for a chunk of the room's snapshot.
    pub sender: ParticipantId,
    /// The index of an awareness message, the counter of a transaction, or the offset of a chunk of
    /// the room's snapshot.
    pub index: u32,
    /// Why the message was in the packet.
    pub purpose: Purpose,
    /// The size of the message before compression, in bytes.
    pub before: usize,
    /// The age of the message when the packet was made.
    pub age: Duration,
    /// The message's size in the packet, in eighths of a bit ([`BYTE_COST`] is a byte). `None` if
    /// it is not known. The recorder then divides the bytes of the payload that no other message
    /// takes among such messages, in proportion to `before`.
    pub cost: Option<u32>,
}

impl Part {
    /// The parts of a payload that many receivers get, as this one reads them: it skips its own
    /// messages.
    pub(crate) fn read_by(receiver: ParticipantId, parts: &[Part]) -> Vec<Part> {
        let mut parts = parts.to_vec();
        for part in parts.iter_mut().filter(|part| part.sender == receiver) {
            part.purpose = Purpose::Own;
        }
        parts
    }

    /// Describes a chunk of the room's snapshot. `before` is its size in the snapshot, `wire` its
    /// size in the packet, in bytes.
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

/// A packet that was handed to the transport or received from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// The time at which the packet was sent or received.
    pub at: Duration,
    /// The participant at the other end.
    pub participant: ParticipantId,
    /// True if the packet was sent to the participant, false if it was received from the
    /// participant.
    pub is_outgoing: bool,
    /// Whether the packet was sent on the stream or as a datagram.
    pub carrier: Carrier,
    /// The fan-out group whose receivers all get the packet's payload. `None` if the payload is for
    /// this receiver only.
    pub group: Option<GroupId>,
    /// The epoch, which is the version number, of the gmc model that coded the packet's payload.
    /// `None` if it is not known.
    pub epoch: Option<u32>,
    /// The size of the packet in bytes.
    pub bytes: usize,
    /// The number of bytes before the payload. They are frames for this receiver only.
    pub header_bytes: usize,
    /// The part of `header_bytes` that is reports and acknowledgements.
    pub feedback_bytes: usize,
    /// The messages in the packet's payload.
    pub parts: Vec<Part>,
}

impl Packet {
    /// The number of bytes of the payload that belong to no message: the payload's type, epoch,
    /// check byte, and padding to whole bytes.
    pub fn overhead(&self) -> usize {
        let known: u64 = self.parts.iter().filter_map(|part| part.cost).map(u64::from).sum();
        let known = known.div_ceil(BYTE_COST.into()) as usize;
        self.bytes.saturating_sub(self.header_bytes).saturating_sub(known)
    }

    /// Sets the unknown costs: divides the bytes of the payload that are left by the known costs
    /// among these messages, in proportion to their sizes. If the known costs are larger than the
    /// payload, reduces them in proportion. They can be larger because gmc does not send zeros at
    /// the end of a payload.
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

/// Records packets while it is on, which is while the inspector is in use.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    is_on: bool,
    /// The packets, each with the value of `head` when it was recorded.
    packets: VecDeque<(Position, Packet)>,
    /// The position of the newest transaction that came.
    pub(crate) head: Position,
    /// The number of messages in `packets`.
    parts: usize,
    /// The number of packets that were dropped before they were fetched, since the recorder was
    /// turned on.
    missed: u64,
    /// Sums over all packets since the recorder was turned on.
    tallies: Tallies,
    /// Messages of the packet that is being read or made, as the callers of [`Trace::note`]
    /// described them.
    noted: Vec<Part>,
}

impl Trace {
    /// True if packets are recorded.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Turns the recorder on or off. If this changes its state, all recorded packets and sums are
    /// deleted.
    pub(crate) fn turn(&mut self, on: bool) {
        if self.is_on != on {
            *self = Trace { is_on: on, head: self.head, ..Trace::default() };
        }
    }

    /// Records a packet if the recorder is on.
    pub(crate) fn push(&mut self, mut packet: Packet) {
        if !self.is_on {
            return;
        }
        packet.share();
        self.tallies.add(&packet);
        self.parts += packet.parts.len();
        self.packets.push_back((self.head, packet));
        while self.packets.len() > KEPT || (self.parts > PARTS_KEPT && self.packets.len() > 1) {
            self.parts -= self.packets.pop_front().map_or(0, |(_, packet)| packet.parts.len());
            self.missed += 1;
        }
    }

    /// Adds a message to the description of the packet that is being read or made. Calls `part`
    /// only if the recorder is on.
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

    /// Removes and returns the packets that were recorded while the newest transaction was at most
    /// at `durable`.
    pub(crate) fn take(&mut self, durable: Position) -> Vec<Packet> {
        let count = self.packets.partition_point(|(head, _)| *head <= durable);
        let taken: Vec<Packet> = self.packets.drain(..count).map(|(_, packet)| packet).collect();
        self.parts -= taken.iter().map(|packet| packet.parts.len()).sum::<usize>();
        taken
    }

    /// Removes and returns the messages that were added with [`Trace::note`].
    pub(crate) fn noted(&mut self) -> Vec<Part> {
        core::mem::take(&mut self.noted)
    }

    /// The number of packets that were dropped before they were fetched, since the recorder was
    /// turned on.
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
        let (_, packet) = &trace.packets[0];
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
