//! Sums over all recorded packets, whether or not they were fetched.

use alloc::collections::BTreeMap;
use core::time::Duration;

use super::{Carrier, Packet, Part, Purpose};
use crate::ids::{ChannelNo, ParticipantId};

/// The upper bounds of the age intervals in [`Flow::ages`], in milliseconds. One more interval is
/// for all higher ages.
pub const AGES: [u32; 11] = [5, 10, 20, 30, 50, 75, 100, 150, 250, 500, 1000];

/// Sums over the messages that were sent to, or received from, one participant on one channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flow {
    /// The participant.
    pub participant: ParticipantId,
    /// True for the direction to the participant, false for the direction from it.
    pub is_outgoing: bool,
    /// The number of the channel in the room. 0 for the room's snapshot.
    pub channel: ChannelNo,
    /// The number of messages for each [`Purpose`], in its order.
    pub messages: [u64; 4],
    /// The total size of the messages before compression, in bytes, without the receiver's own. A
    /// message that is repeated counts each time.
    pub before: u64,
    /// The total size before compression of the messages with [`Purpose::New`], in bytes.
    pub new_before: u64,
    /// The total size before compression of the messages with [`Purpose::State`], in bytes.
    pub state_before: u64,
    /// The sums of [`Part::cost`] for each [`Purpose`], in its order.
    pub costs: [u64; 4],
    /// The number of messages with [`Purpose::New`] in each age interval (see [`AGES`]). The age is
    /// that at the time when the packet was made or read.
    pub ages: [u64; AGES.len() + 1],
}

/// Sums over the packets that were sent to, or received from, one participant on one carrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarrierTotals {
    /// The participant.
    pub participant: ParticipantId,
    /// True for the direction to the participant, false for the direction from it.
    pub is_outgoing: bool,
    /// Whether these packets were sent on the stream or as datagrams.
    pub carrier: Carrier,
    /// The number of packets.
    pub packets: u64,
    /// The total size of the packets, in bytes.
    pub bytes: u64,
    /// The number of bytes before the payloads of the packets.
    pub header_bytes: u64,
    /// The part of `header_bytes` that is reports and acknowledgements.
    pub feedback_bytes: u64,
}

/// All sums: a [`Flow`] for each participant, direction and channel, and a [`CarrierTotals`] for
/// each participant, direction and carrier.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    flows: BTreeMap<(ParticipantId, bool, ChannelNo), Flow>,
    carrier_totals: BTreeMap<(ParticipantId, bool, bool), CarrierTotals>,
}

impl Tallies {
    /// Adds a packet to the sums.
    pub(super) fn add(&mut self, packet: &Packet) {
        let Packet { participant, is_outgoing, carrier, .. } = *packet;
        let key = (participant, is_outgoing, carrier == Carrier::Datagrams);
        let totals = self.carrier_totals.entry(key).or_insert(CarrierTotals {
            participant,
            is_outgoing,
            carrier,
            packets: 0,
            bytes: 0,
            header_bytes: 0,
            feedback_bytes: 0,
        });
        totals.packets += 1;
        totals.bytes += packet.bytes as u64;
        totals.header_bytes += packet.header_bytes as u64;
        totals.feedback_bytes += packet.feedback_bytes as u64;
        for part in &packet.parts {
            let key = (participant, is_outgoing, part.channel);
            let new =
                || Flow { participant, is_outgoing, channel: part.channel, ..Flow::default() };
            self.flows.entry(key).or_insert_with(new).add(part);
        }
    }
}

impl Flow {
    fn add(&mut self, part: &Part) {
        let purpose = part.purpose as usize;
        self.messages[purpose] += 1;
        self.costs[purpose] += u64::from(part.cost.unwrap_or_default());
        let before = part.before as u64;
        match part.purpose {
            Purpose::New => {
                self.new_before += before;
                self.ages[place(part.age)] += 1;
            }
            Purpose::State => self.state_before += before,
            Purpose::Repeated => {}
            Purpose::Own => return,
        }
        self.before += before;
    }
}

/// The index in [`Flow::ages`] of the interval that contains this age.
fn place(age: Duration) -> usize {
    let up_to = |&bound: &u32| age <= Duration::from_millis(bound.into());
    AGES.iter().position(up_to).unwrap_or(AGES.len())
}

impl Tallies {
    /// Deletes the sums of participants for which `is_here` returns false.
    pub(crate) fn keep(&mut self, is_here: impl Fn(ParticipantId) -> bool) {
        self.flows.retain(|_, flow| is_here(flow.participant));
        self.carrier_totals.retain(|_, totals| is_here(totals.participant));
    }

    pub(crate) fn flows(&self) -> impl Iterator<Item = &Flow> {
        self.flows.values()
    }

    pub(crate) fn carrier_totals(&self) -> impl Iterator<Item = &CarrierTotals> {
        self.carrier_totals.values()
    }
}
