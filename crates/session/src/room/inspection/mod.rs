//! The state of a room and of each participant, as the inspector shows it.

mod facts;

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_afec::code::Code;

use crate::trace::{CarrierTotals, Flow};
use crate::{ChannelNo, ChannelQuality, Compress, GroupId, LinkId, ParticipantId};
use crate::{PresenceState, Qos, Rate, Tally};

/// The state of a room, as [`Room::inspect`](crate::room::Room::inspect) returns it.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// The time of the inspection on the room's clock.
    pub now: Duration,
    /// The shortest time between two ticks.
    pub tick: Duration,
    /// All channels that were ever opened.
    pub channels: Vec<ChannelFacts>,
    /// The participants that are here or away.
    pub participants: Vec<ParticipantFacts>,
    /// Sums of the messages for each participant and channel since tracing began.
    pub flows: Vec<Flow>,
    /// Sums of the packets for each participant and carrier since tracing began.
    pub carrier_totals: Vec<CarrierTotals>,
    /// The number of traced packets that were dropped because
    /// [`Room::traced`](crate::room::Room::traced) was not called in time.
    pub missed: u64,
}

/// A channel.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelFacts {
    /// Its number in the room.
    pub id: ChannelNo,
    /// Its name.
    pub name: String,
    /// The channel's QoS.
    pub qos: Qos,
}

/// A participant.
#[derive(Debug, Clone, PartialEq)]
pub struct ParticipantFacts {
    /// Its number in the room.
    pub id: ParticipantId,
    /// Whether the participant is here, away or gone.
    pub state: PresenceState,
    /// The presence data of its application.
    pub presence: Vec<u8>,
    /// Its transport, while it has one.
    pub transport: Option<TransportFacts>,
}

/// A participant's transport.
#[derive(Debug, Clone, PartialEq)]
pub struct TransportFacts {
    /// The number that the server gave it.
    pub link: LinkId,
    /// The smoothed round-trip time; `None` before it was measured.
    pub round_trip: Option<Duration>,
    /// The greatest error of the offset between the participant's clock and the room's; `None`
    /// before it was measured.
    pub clock_error: Option<Duration>,
    /// Why the participant uses this transport, as the participant reports it.
    pub reason: Option<String>,
    /// The rate of the stream to the participant, in bytes per second, if it was measured.
    pub rate: Option<f64>,
    /// The most bytes of datagrams per second that may be sent to the participant, all headers
    /// included, if a limit of the path was found.
    pub rate_limit: Option<u32>,
    /// True if the transport has datagrams, in which awareness is sent.
    pub has_datagrams: bool,
    /// True if both ends agreed to compress payloads over the stream.
    pub is_coded: bool,
    /// The shared stream of which the participant is a member.
    pub stream_group: Option<GroupId>,
    /// The fan-out group whose datagrams the participant is sent.
    pub datagram_group: Option<GroupId>,
    /// The epoch (version) of the compression model with which the next datagram to the participant
    /// is coded.
    pub epoch: Option<u32>,
    /// The share of datagrams to the participant that were lost, from 0 to 1; `None` before enough
    /// were sent.
    pub lost_to: Option<f64>,
    /// The share of datagrams from the participant that were lost, from 0 to 1; `None` before
    /// enough came.
    pub lost_from: Option<f64>,
    /// The channels that the participant receives, and how their messages are compressed.
    pub subscribed: Vec<(ChannelNo, Compress)>,
    /// Measurements for each channel that the participant has open.
    pub measured: Vec<Measured>,
}

/// Measurements of one channel at one participant.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The channel.
    pub channel: ChannelNo,
    /// The quality of the messages that the participant receives, from application to application,
    /// as the participant reports it.
    pub received: Option<ChannelQuality>,
    /// How many of the participant's messages of the last ten to twenty seconds reached the room
    /// late or not at all; `None` if there were none.
    pub sent: Option<Tally>,
    /// How messages in datagrams to the participant are repeated; `None` if it is sent none.
    pub code: Option<Code>,
    /// The rate limit that the participant asked for, for the values of each key; `None` without a
    /// limit.
    pub limit: Option<Rate>,
}
