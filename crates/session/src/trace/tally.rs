//! Sums over all packets since somebody looks on, whoever fetched them.

use alloc::collections::BTreeMap;
use core::time::Duration;

use super::{Packet, Part, Purpose, Way};
use crate::ids::{ChannelNo, ParticipantId};

/// The upper bounds of [`Flow::ages`], in milliseconds; the last count is of all above.
pub const AGES: [u32; 11] = [5, 10, 20, 30, 50, 75, 100, 150, 250, 500, 1000];

/// What went to or came from a participant on one channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flow {
    /// Whose.
    pub participant: ParticipantId,
    /// Whether it went to the participant; else it came.
    pub out: bool,
    /// The channel's number in the room; 0: the room's snapshot.
    pub channel: ChannelNo,
    /// Messages by purpose, in the order of [`Purpose`].
    pub messages: [u64; 4],
    /// Octets that applications handed over, each time a message went.
    pub before: u64,
    /// The same for messages that went for the first time.
    pub new_before: u64,
    /// What they take in packets: [`Part::cost`], by purpose.
    pub costs: [u64; 4],
    /// Ages of new messages when their packets were made, or read: how many up to each of [`AGES`].
    pub ages: [u64; AGES.len() + 1],
}

/// What went to or came from a participant in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carriage {
    /// Whose.
    pub participant: ParticipantId,
    /// Whether it went to the participant; else it came.
    pub out: bool,
    /// Stream or datagrams.
    pub way: Way,
    /// Packets.
    pub packets: u64,
    /// Their octets.
    pub octets: u64,
    /// Of them, what is no body.
    pub private: u64,
    /// Of those, feedback.
    pub feedback: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Tallies {
    flows: BTreeMap<(ParticipantId, bool, ChannelNo), Flow>,
    carriages: BTreeMap<(ParticipantId, bool, bool), Carriage>,
}

impl Tallies {
    pub(super) fn add(&mut self, packet: &Packet) {
        let Packet { participant, out, way, .. } = *packet;
        let key = (participant, out, way == Way::Datagram);
        let carriage = self.carriages.entry(key).or_insert(Carriage {
            participant,
            out,
            way,
            packets: 0,
            octets: 0,
            private: 0,
            feedback: 0,
        });
        carriage.packets += 1;
        carriage.octets += packet.octets as u64;
        carriage.private += packet.private as u64;
        carriage.feedback += packet.feedback as u64;
        for part in &packet.parts {
            let key = (participant, out, part.channel);
            let new = || Flow { participant, out, channel: part.channel, ..Flow::default() };
            self.flows.entry(key).or_insert_with(new).add(part);
        }
    }
}

impl Flow {
    fn add(&mut self, part: &Part) {
        let purpose = part.purpose as usize;
        self.messages[purpose] += 1;
        self.costs[purpose] += u64::from(part.cost.unwrap_or_default());
        self.before += part.before as u64;
        if part.purpose == Purpose::New {
            self.new_before += part.before as u64;
            self.ages[place(part.age)] += 1;
        }
    }
}

fn place(age: Duration) -> usize {
    let up_to = |&bound: &u32| age <= Duration::from_millis(bound.into());
    AGES.iter().position(up_to).unwrap_or(AGES.len())
}

impl Tallies {
    /// Forgets all who are not here any more.
    pub(crate) fn keep(&mut self, is_here: impl Fn(ParticipantId) -> bool) {
        self.flows.retain(|_, flow| is_here(flow.participant));
        self.carriages.retain(|_, carriage| is_here(carriage.participant));
    }

    pub(crate) fn flows(&self) -> impl Iterator<Item = &Flow> {
        self.flows.values()
    }

    pub(crate) fn carriages(&self) -> impl Iterator<Item = &Carriage> {
        self.carriages.values()
    }
}
