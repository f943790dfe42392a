//! Collects descriptions of packets and recordings of messages for the inspector. All observation
//! of the room is in this module. It costs next to nothing while the inspector is closed.

mod quality;
mod recorder;

use alloc::vec::Vec;
use core::time::Duration;

pub(super) use quality::Quality;
pub use recorder::Recorded;

use super::feed::shared_stream::SharedPayload;
use crate::datagrams::OutgoingDatagram;
use crate::link::Coders;
use crate::trace::{BYTE_COST, Carrier, Packet, Part, Trace};
use crate::wire::frame::{Frame, Frames};
use crate::wire::payload::account::{part, price};
use crate::wire::record::Record;
use crate::{GroupId, ParticipantId, Position};
use recorder::Recorder;

/// Bytes of a datagram before its feedback: flags, number and time (wire W68).
const DATAGRAM_HEADER: usize = 4;

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Inspector {
    pub(super) trace: Trace,
    recorder: Recorder,
}

impl Inspector {
    /// True if packets are being traced.
    pub(super) fn is_on(&self) -> bool {
        self.trace.is_on()
    }

    /// Begins or ends recording messages.
    pub(super) fn set_recording(&mut self, on: bool) {
        self.recorder.turn(on);
    }

    /// True while messages are recorded.
    pub(super) fn is_recording(&self) -> bool {
        self.recorder.is_on
    }

    /// The messages that were recorded since the last call and whose transactions are durable up to
    /// `durable`, and the number that were dropped since recording began because they were not
    /// fetched in time.
    pub(super) fn recorded(&mut self, durable: Position) -> (Vec<Recorded>, u64) {
        self.recorder.take(durable)
    }

    /// Notes a message that a participant published, as a part of the packet that is being read. It
    /// may be a repeat of an earlier message.
    pub(super) fn published(
        &mut self,
        now: Duration,
        sender: ParticipantId,
        born: Duration,
        record: &Record<'_>,
    ) {
        self.trace.note(|| Part { age: now.saturating_sub(born), sender, ..part(record) });
    }

    /// Marks the message that was noted last as a repeat.
    pub(super) fn was_repeated(&mut self) {
        self.trace.note_repeated();
    }

    /// Forgets the messages that were noted: they came from a mirror, in a packet for the room.
    pub(super) fn forget_noted(&mut self) {
        if self.is_on() {
            self.trace.noted();
        }
    }

    /// Records a message that was put into the log, whose newest transaction is that at `head`.
    /// Nothing is handed out before that transaction is durable (wire W92).
    pub(super) fn record(
        &mut self,
        now: Duration,
        one_way: Duration,
        sender: ParticipantId,
        record: &Record<'_>,
        head: Position,
    ) {
        self.recorder.push(now, one_way, sender, record, head);
        self.trace.head = head;
    }

    /// Notes the position of a transaction of the room itself, which is neither traced as received
    /// nor recorded.
    pub(super) fn advance(&mut self, head: Position) {
        self.trace.head = head;
    }

    /// Notes a transaction that is not recorded: a piece, or a direct transaction. Traces wait
    /// until it is durable.
    pub(super) fn piece_came(&mut self, head: Position) {
        self.trace.head = head.next();
    }

    /// Notes a chunk of the snapshot in the packet that is being made: `before` bytes of the
    /// snapshot, which take `bytes` bytes in the packet.
    pub(super) fn sent_chunk(&mut self, offset: usize, before: usize, bytes: usize) {
        self.trace.note(|| Part::of_snapshot(offset, before, bytes));
    }

    /// Traces a packet of this size that is sent over a private stream.
    pub(super) fn sent_packet(
        &mut self,
        now: Duration,
        participant: ParticipantId,
        coders: Option<&mut Coders>,
        bytes: usize,
    ) {
        if !self.is_on() {
            return;
        }
        let mut parts = self.trace.noted();
        let made = coders.map(|coders| coders.encoder.take_account()).unwrap_or_default();
        let known =
            parts.iter().filter_map(|part| part.cost).map(|cost| (cost / BYTE_COST) as usize);
        let mut payload: usize = known.sum();
        for mut made in made {
            payload += made.bytes;
            parts.append(&mut made.parts);
        }
        let header_bytes = bytes.saturating_sub(payload);
        self.trace.push(Packet {
            bytes,
            header_bytes,
            parts,
            ..sent(now, participant, Carrier::Stream)
        });
    }

    /// Traces a payload of a shared stream that is sent to a member, after `header_bytes` bytes
    /// that only this member is sent.
    pub(super) fn sent_shared(
        &mut self,
        now: Duration,
        participant: ParticipantId,
        group: GroupId,
        payload: &SharedPayload,
        header_bytes: usize,
    ) {
        if !self.is_on() {
            return;
        }
        self.trace.push(Packet {
            group: Some(group),
            bytes: header_bytes + payload.bytes.len(),
            header_bytes,
            parts: Part::read_by(participant, &payload.contents.parts),
            ..sent(now, participant, Carrier::Stream)
        });
    }

    /// Traces a datagram of a fan-out group that is sent to a member.
    pub(super) fn sent_group(&mut self, packet: impl FnOnce() -> Packet) {
        if self.is_on() {
            self.trace.push(packet());
        }
    }

    /// Traces a private datagram that is sent to a participant.
    pub(super) fn sent_datagram(
        &mut self,
        now: Duration,
        participant: ParticipantId,
        made: &OutgoingDatagram,
    ) {
        if !self.is_on() {
            return;
        }
        self.trace.push(Packet {
            bytes: made.bytes.len(),
            header_bytes: made.header_bytes,
            feedback_bytes: made.feedback_bytes,
            parts: made.parts.clone(),
            ..sent(now, participant, Carrier::Datagrams)
        });
    }

    /// Traces a packet that came over the stream and was read.
    pub(super) fn received_packet(
        &mut self,
        now: Duration,
        participant: ParticipantId,
        coders: Option<&Coders>,
        packet: &[u8],
    ) {
        if !self.is_on() {
            return;
        }
        let costs = coders.map(|coders| coders.decoder.costs()).unwrap_or_default();
        let mut parts = self.trace.noted();
        let mut payload = 0;
        let mut frames = Frames::new(packet);
        while let Ok(Some(frame)) = frames.next() {
            match frame {
                Frame::Coded(coded) => {
                    price(&mut parts, costs);
                    payload += 1 + coded.len();
                }
                Frame::Messages(bytes) | Frame::PackedMessages(bytes) => payload += 1 + bytes.len(),
                Frame::Snapshot(chunk) | Frame::PackedSnapshot(chunk) => {
                    let bytes = chunk.bytes.len();
                    payload += bytes;
                    parts.push(Part::of_snapshot(chunk.offset as usize, bytes, bytes));
                }
                _ => {}
            }
        }
        let bytes = packet.len();
        let header_bytes = bytes.saturating_sub(payload);
        let sent = sent(now, participant, Carrier::Stream);
        self.trace.push(Packet { is_outgoing: false, bytes, header_bytes, parts, ..sent });
    }

    /// Traces a datagram of this size that came and was read. Its payload begins after
    /// `header_bytes` bytes.
    pub(super) fn received_datagram(
        &mut self,
        now: Duration,
        participant: ParticipantId,
        bytes: usize,
        header_bytes: usize,
    ) {
        if !self.is_on() {
            return;
        }
        let parts = self.trace.noted();
        let feedback_bytes = header_bytes.saturating_sub(DATAGRAM_HEADER);
        let sent = sent(now, participant, Carrier::Datagrams);
        self.trace.push(Packet {
            is_outgoing: false,
            bytes,
            header_bytes,
            feedback_bytes,
            parts,
            ..sent
        });
    }
}

/// A description of a packet to this participant without sizes and parts.
fn sent(now: Duration, participant: ParticipantId, carrier: Carrier) -> Packet {
    Packet {
        at: now,
        participant,
        is_outgoing: true,
        carrier,
        group: None,
        epoch: None,
        bytes: 0,
        header_bytes: 0,
        feedback_bytes: 0,
        parts: Vec::new(),
    }
}
