//! The inspector's report of a room, as JSON. Costs are in eighths of a bit, ages and times in
//! milliseconds. The names of fields are those of the JSON that the inspector's page reads.

use std::time::Duration;

use groupwire_session::room::{ChannelFacts, Measured, ParticipantFacts, TransportFacts};
use groupwire_session::trace::{AGES, Carrier, CarrierTotals, Flow, Packet, Part, Purpose};
use groupwire_session::{
    ChannelQuality, Code, Description, GroupId, Kind, Overflow, ParticipantId, Piece,
    PresenceState, Rate, Repeat, Repeats, Tally,
};
use serde::Serialize;

use super::recordings;
use crate::rooms::task::Driver;

/// Most bytes of a participant's presence in the report: enough to show a name.
const MAX_PRESENCE: usize = 512;

/// Most bytes of one piece of a template in the report.
const MAX_SHOWN: usize = 400;

/// The state of a room, and its packets since the last report.
#[derive(Serialize)]
pub(super) struct Report {
    now: f64,
    tick: f64,
    missed: u64,
    channels: Vec<Channel>,
    participants: Vec<Participant>,
    flows: Vec<FlowView>,
    carriages: Vec<CarriageView>,
    packets: Vec<PacketView>,
    recording: Option<recordings::State>,
}

/// Makes a report, and turns the room's tracing on.
pub(super) fn report(
    driver: &mut Driver,
    now: Duration,
    recording: Option<recordings::State>,
) -> Report {
    driver.room.set_tracing(true);
    let inspection = driver.room.inspect(now);
    let packets = driver.room.traced();
    Report {
        now: ms(inspection.now),
        tick: ms(inspection.tick),
        missed: inspection.missed,
        channels: inspection.channels.into_iter().map(Channel::new).collect(),
        participants: inspection
            .participants
            .into_iter()
            .map(|one| Participant::new(one, driver))
            .collect(),
        flows: inspection.flows.iter().map(FlowView::new).collect(),
        carriages: inspection.carrier_totals.iter().map(CarriageView::new).collect(),
        packets: packets.iter().map(PacketView::new).collect(),
        recording,
    }
}

#[derive(Serialize)]
struct Channel {
    id: u32,
    name: String,
    kind: &'static str,
    overflow: &'static str,
    priority: u8,
    private: bool,
    /// Loss target, from 0 to 1.
    loss: f64,
    deadline: Option<f64>,
    /// Messages per second; 0 means no limit.
    rate_min: f64,
    rate_max: f64,
}

impl Channel {
    fn new(facts: ChannelFacts) -> Self {
        let ChannelFacts { id, name, qos } = facts;
        Channel {
            id: id.get(),
            name,
            kind: match qos.kind {
                Kind::Transaction => "transaction",
                Kind::Awareness => "awareness",
            },
            overflow: match qos.overflow {
                Overflow::Conflate => "conflate",
                Overflow::Aggregate => "aggregate",
            },
            priority: qos.priority,
            private: qos.private,
            loss: f64::from(qos.loss) / 1000.0,
            deadline: qos.deadline.map(ms),
            rate_min: qos.rate_min.hertz(),
            rate_max: qos.rate_max.hertz(),
        }
    }
}

#[derive(Serialize)]
struct Participant {
    id: u32,
    state: &'static str,
    presence: String,
    transport: Option<Transport>,
}

impl Participant {
    fn new(facts: ParticipantFacts, driver: &Driver) -> Self {
        let ParticipantFacts { id, state, presence, transport } = facts;
        let shown = &presence[..presence.len().min(MAX_PRESENCE)];
        Participant {
            id: id.get(),
            state: match state {
                PresenceState::Here => "here",
                PresenceState::Away => "away",
                PresenceState::Left => "left",
            },
            presence: String::from_utf8_lossy(shown).into_owned(),
            transport: transport.map(|transport| Transport::new(id, transport, driver)),
        }
    }
}

#[derive(Serialize)]
struct Transport {
    kind: &'static str,
    round_trip: Option<f64>,
    clock_error: Option<f64>,
    /// Bytes per second sent to the participant.
    rate: Option<f64>,
    /// Limit of bytes per second in datagrams, all headers included.
    rate_limit: Option<u32>,
    /// Why the client uses this transport, in the client's words.
    reason: Option<String>,
    datagrams: bool,
    coded: bool,
    /// The fan-out groups whose stream and datagrams the participant receives.
    stream_group: Option<u32>,
    datagram_group: Option<u32>,
    /// The newest epoch that the participant acknowledged.
    epoch: Option<u32>,
    /// Packet error rate of the datagrams to the participant, from 0 to 1.
    lost_to: Option<f64>,
    /// Packet error rate of the datagrams from the participant, from 0 to 1.
    lost_from: Option<f64>,
    subscribed: Vec<(u32, String)>,
    measured: Vec<MeasuredView>,
    /// True if the transport can go over an emulated network.
    emulable: bool,
    /// Loss and delay of the emulated network, if there is one.
    emulation: Option<(f64, f64)>,
}

impl Transport {
    fn new(participant: ParticipantId, facts: TransportFacts, driver: &Driver) -> Self {
        let info = driver.deliveries.connections.get(facts.link).map(|connection| &connection.info);
        let emulated = driver.emulated(participant);
        Transport {
            kind: info.map_or("", |info| info.transport),
            round_trip: facts.round_trip.map(ms),
            clock_error: facts.clock_error.map(ms),
            rate: facts.rate,
            rate_limit: facts.rate_limit,
            reason: facts.reason,
            datagrams: facts.has_datagrams,
            coded: facts.is_coded,
            stream_group: facts.stream_group.map(GroupId::get),
            datagram_group: facts.datagram_group.map(GroupId::get),
            epoch: facts.epoch,
            lost_to: facts.lost_to,
            lost_from: facts.lost_from,
            subscribed: facts
                .subscribed
                .into_iter()
                .map(|(channel, compress)| (channel.get(), compress.to_string()))
                .collect(),
            measured: facts.measured.iter().map(MeasuredView::new).collect(),
            emulable: info.is_some_and(|info| info.path.is_some()),
            emulation: emulated.map(|settings| (settings.loss, ms(settings.delay))),
        }
    }
}

#[derive(Serialize)]
struct MeasuredView {
    channel: u32,
    received: Option<Received>,
    sent: Option<TallyView>,
    code: Option<CodeView>,
    /// The limit that the participant asked for, in values per second of each key.
    limit: Option<f64>,
}

impl MeasuredView {
    fn new(measured: &Measured) -> Self {
        MeasuredView {
            channel: measured.channel.get(),
            received: measured.received.as_ref().map(Received::new),
            sent: measured.sent.map(TallyView::new),
            code: measured.code.as_ref().map(CodeView::new),
            limit: measured.limit.map(Rate::hertz),
        }
    }
}

/// Counts of messages: the messages that the channel's contract judged, the missed ones among them,
/// and the missed ones that arrived too late.
#[derive(Serialize)]
struct TallyView {
    judged: u64,
    missed: u64,
    late: u64,
}

impl TallyView {
    fn new(tally: Tally) -> Self {
        let Tally { judged, missed, late } = tally;
        TallyView { judged, missed, late }
    }
}

/// The quality of a channel that a participant reports, from application to application.
#[derive(Serialize)]
struct Received {
    tally: TallyView,
    saved: u64,
    /// Messages per second, if enough were sent to tell.
    rate: Option<f64>,
    median: f64,
    p99: f64,
    ages: [u32; AGES.len() + 1],
}

impl Received {
    fn new(quality: &ChannelQuality) -> Self {
        Received {
            tally: TallyView::new(quality.tally),
            saved: quality.saved,
            rate: quality.rate.map(Rate::hertz),
            median: ms(quality.median),
            p99: ms(quality.p99),
            ages: quality.latencies,
        }
    }
}

/// When messages are repeated: after how many packets, or in dedicated packets after how many
/// milliseconds.
#[derive(Serialize)]
struct RepeatsView {
    after: Vec<u8>,
    dedicated: Vec<f64>,
}

impl RepeatsView {
    fn new(repeats: &Repeats) -> Self {
        let mut view = RepeatsView { after: Vec::new(), dedicated: Vec::new() };
        for repeat in repeats.iter() {
            match repeat {
                Repeat::Piggyback(packets) => view.after.push(packets),
                Repeat::Dedicated(time) => view.dedicated.push(ms(time)),
            }
        }
        view
    }
}

/// The code set in use: the repeats that protect a channel's messages against loss.
#[derive(Serialize)]
struct CodeView {
    most: RepeatsView,
    /// The repeats of the share `share` of the messages; `most` are those of the other messages.
    others: RepeatsView,
    share: f64,
    /// True if receivers request missing messages.
    requests: bool,
    /// True if the last message of a cluster is repeated (tail flush).
    tail_flush: bool,
}

impl CodeView {
    fn new(code: &Code) -> Self {
        CodeView {
            most: RepeatsView::new(&code.repeats),
            others: RepeatsView::new(&code.other),
            share: code.share,
            requests: code.answers > 0,
            tail_flush: code.tail_flush,
        }
    }
}

#[derive(Serialize)]
struct FlowView {
    participant: u32,
    out: bool,
    channel: u32,
    messages: [u64; 4],
    before: u64,
    new_before: u64,
    state_before: u64,
    costs: [u64; 4],
    ages: Vec<u64>,
}

impl FlowView {
    fn new(flow: &Flow) -> Self {
        FlowView {
            participant: flow.participant.get(),
            out: flow.is_outgoing,
            channel: flow.channel.get(),
            messages: flow.messages,
            before: flow.before,
            new_before: flow.new_before,
            state_before: flow.state_before,
            costs: flow.costs,
            ages: flow.ages.to_vec(),
        }
    }
}

#[derive(Serialize)]
struct CarriageView {
    participant: u32,
    out: bool,
    datagram: bool,
    packets: u64,
    bytes: u64,
    header_bytes: u64,
    feedback_bytes: u64,
}

impl CarriageView {
    fn new(carriage: &CarrierTotals) -> Self {
        let CarrierTotals {
            participant,
            is_outgoing,
            carrier,
            packets,
            bytes,
            header_bytes,
            feedback_bytes,
        } = *carriage;
        let (participant, datagram) = (participant.get(), carrier == Carrier::Datagrams);
        CarriageView {
            participant,
            out: is_outgoing,
            datagram,
            packets,
            bytes,
            header_bytes,
            feedback_bytes,
        }
    }
}

#[derive(Serialize)]
struct PacketView {
    at: f64,
    participant: u32,
    out: bool,
    datagram: bool,
    /// The fan-out group that shares the packet's payload.
    group: Option<u32>,
    /// The epoch of the model that compressed the packet.
    epoch: Option<u32>,
    /// Bytes of the packet.
    bytes: usize,
    /// Bytes before the payload: they are for this participant alone.
    header_bytes: usize,
    /// Bytes of acknowledgements and reports among these.
    feedback_bytes: usize,
    /// Bytes that belong to no message.
    overhead: usize,
    /// For each message: channel, sender, index, purpose (0 new, 1 repeated, 2 state, 3 the
    /// receiver's own), bytes before compression, age, cost.
    parts: Vec<(u32, u32, u32, u8, usize, u64, u32)>,
}

impl PacketView {
    fn new(packet: &Packet) -> Self {
        PacketView {
            at: ms(packet.at),
            participant: packet.participant.get(),
            out: packet.is_outgoing,
            datagram: packet.carrier == Carrier::Datagrams,
            group: packet.group.map(GroupId::get),
            epoch: packet.epoch,
            bytes: packet.bytes,
            header_bytes: packet.header_bytes,
            feedback_bytes: packet.feedback_bytes,
            overhead: packet.overhead(),
            parts: packet.parts.iter().map(part).collect(),
        }
    }
}

fn part(part: &Part) -> (u32, u32, u32, u8, usize, u64, u32) {
    let purpose = match part.purpose {
        Purpose::New => 0,
        Purpose::Repeated => 1,
        Purpose::State => 2,
        Purpose::Own => 3,
    };
    let age = part.age.as_millis() as u64;
    let cost = part.cost.unwrap_or_default();
    (part.channel.get(), part.sender.get(), part.index, purpose, part.before, age, cost)
}

/// The templates of the two models that compress a participant's stream and datagrams.
#[derive(Serialize)]
pub(super) struct Templates {
    stream: Vec<Template>,
    datagrams: Vec<Template>,
}

/// A template: what messages of one type have in common. Its pieces are fixed texts, or `[kind,
/// example]` for a hole.
#[derive(Serialize)]
struct Template {
    fits: u32,
    pieces: Vec<PieceView>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PieceView {
    Fixed(String),
    Hole(&'static str, String),
}

impl Templates {
    pub(super) fn new(stream: &[Description], datagrams: &[Description]) -> Self {
        let all = |described: &[Description]| {
            let mut templates: Vec<Template> = described.iter().map(Template::new).collect();
            templates.sort_by_key(|template| std::cmp::Reverse(template.fits));
            templates
        };
        Templates { stream: all(stream), datagrams: all(datagrams) }
    }
}

impl Template {
    fn new(described: &Description) -> Self {
        let piece = |piece: &Piece| match piece {
            Piece::Fixed(bytes) => PieceView::Fixed(shown(bytes)),
            Piece::Hole { kind, example } => PieceView::Hole(kind, shown(example)),
        };
        Template { fits: described.fits, pieces: described.pieces.iter().map(piece).collect() }
    }
}

/// Shows text as it is and other bytes as `\x..`.
fn shown(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes[..bytes.len().min(MAX_SHOWN)].utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                ' '..='\u{7e}' | '\u{a0}'.. => text.push(c),
                other => text.extend(other.escape_default()),
            }
        }
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    if bytes.len() > MAX_SHOWN {
        text.push('…');
    }
    text
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_text_are_escaped() {
        assert_eq!(shown(b"{\"x\":\x00\xff}\n"), "{\"x\":\\u{0}\\xff}\\n");
        assert_eq!(shown("ä€".as_bytes()), "ä€");
        assert!(shown(&[b'a'; 1000]).ends_with('…'));
    }
}
