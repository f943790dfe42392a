//! The outgoing direction of a stream: it cuts the bytes of the application into blocks, compresses
//! them one by one, and turns them into frames for the transport. A candidate is a codec with its
//! level, with or without history (the last bytes of the direction) as its dictionary.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::frame::{Acknowledgement, HEADER, Header, Hello, Kind, SURE_BLOCK};
use crate::history::History;
use crate::incoming::ACKNOWLEDGE_BYTES;
use crate::ledger::{Ledger, Sent};
use crate::outbox::Outbox;
use crate::spare::{Spare, append, packed_capacity, reserve_up_to};
use crate::{Candidate, Coders, Decision, Packed, Policy, Situation, StreamError};

/// The most bytes in flight (sent and not acknowledged) before the hello of the other end has
/// arrived, which names its codecs and limits: four blocks of the usual size.
const BEFORE_HELLO: usize = 256 << 10;
/// The most compressed blocks that wait for the transport: the one that the transport is accepting,
/// and the next. More blocks would be compressed by choices that are out of date when they are
/// sent.
const UNSENT: usize = 2;
/// The most blocks that wait for compression: a complete one, and one that the application is
/// filling.
const WRITTEN: usize = 2;

/// The outgoing direction. Blocks are compressed one by one as the network accepts them.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) policy: Box<dyn Policy>,
    block: usize,
    own: Hello,
    peer: Option<Hello>,
    /// Blocks that wait for compression. Each has space for a header before it. No block is empty,
    /// and all but the last are complete.
    written: VecDeque<Vec<u8>>,
    /// Whether an incomplete block is to be sent, too.
    is_flushed: bool,
    is_finished: bool,
    end_is_sent: bool,
    history: History,
    pub(crate) outbox: Outbox,
    pub(crate) ledger: Ledger,
    pub(crate) candidate: Candidate,
    pub(crate) ratio: f64,
    pub(crate) plain_bytes: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) packing: Duration,
}

impl Outgoing {
    pub(crate) fn new(block: usize, own: Hello, policy: Box<dyn Policy>) -> Self {
        Outgoing {
            policy,
            block,
            own,
            peer: None,
            written: VecDeque::new(),
            is_flushed: false,
            is_finished: false,
            end_is_sent: false,
            history: History::new(own.history),
            outbox: Outbox::new(&own.bytes()),
            ledger: Ledger::default(),
            candidate: Candidate::NONE,
            ratio: 1.0,
            plain_bytes: 0,
            wire_bytes: 0,
            packing: Duration::ZERO,
        }
    }

    // Messages of the other end.

    pub(crate) fn hello(&mut self, hello: Hello, spare: &mut Spare) {
        self.peer = Some(hello);
        let history = self.agreed_history();
        self.history.shorten(history, spare);
        self.policy.peer_has(hello.codecs, history > 0);
    }

    /// The history that both ends keep of each direction, in bytes: the last bytes, which codecs
    /// may use as their dictionary.
    fn agreed_history(&self) -> usize {
        self.own.history.min(self.peer.map_or(usize::MAX, |peer| peer.history))
    }

    pub(crate) fn acknowledge(
        &mut self,
        now: Duration,
        acknowledgement: &Acknowledgement,
    ) -> Result<(), StreamError> {
        if let Some(delivered) = self.ledger.acknowledge(now, acknowledgement)? {
            self.policy.delivered(now, &delivered);
        }
        Ok(())
    }

    // Calls for the application.

    pub(crate) fn write(&mut self, mut bytes: &[u8], spare: &mut Spare) -> usize {
        if self.is_finished {
            return 0;
        }
        let (block, all) = (HEADER + self.block(), bytes.len());
        while !bytes.is_empty() {
            if self.written.back().is_none_or(|last| last.len() >= block) {
                if self.written.len() >= WRITTEN {
                    break;
                }
                let mut next = spare.take();
                next.extend_from_slice(&[0; HEADER]);
                self.written.push_back(next);
            }
            if let Some(last) = self.written.back_mut() {
                let (piece, rest) = bytes.split_at(bytes.len().min(block - last.len()));
                reserve_up_to(last, piece.len(), packed_capacity(block - HEADER));
                append(last, piece);
                bytes = rest;
            }
        }
        all - bytes.len()
    }

    /// The size of a complete block in bytes.
    fn block(&self) -> usize {
        self.block.min(self.peer.map_or(SURE_BLOCK, |peer| peer.block))
    }

    pub(crate) fn flush(&mut self) {
        self.is_flushed |= !self.written.is_empty();
    }

    pub(crate) fn finish(&mut self) {
        self.flush();
        self.is_finished = true;
    }

    pub(crate) fn is_flushed(&self) -> bool {
        self.written.is_empty()
            && self.outbox.blocks() == 0
            && (self.end_is_sent || !self.is_finished)
    }

    /// Whether the transport has accepted the end of the direction and all other output.
    pub(crate) fn is_over(&self) -> bool {
        self.end_is_sent && self.outbox.output().is_empty()
    }

    // Compression.

    /// Whether there is a block to compress or the end to send, and the window permits that. The
    /// window (the most bytes in flight) does not apply while no acknowledgement can arrive.
    pub(crate) fn has_work(&self, has_acknowledgements: bool) -> bool {
        if self.outbox.blocks() >= UNSENT {
            return false;
        }
        let Some(first) = self.written.front() else {
            return self.is_finished && !self.end_is_sent;
        };
        let is_due = self.is_flushed || first.len() >= HEADER + self.block();
        is_due && (!has_acknowledgements || self.in_flight() <= self.window())
    }

    /// The window in bytes. It is at least as large as the number of bytes that the other end may
    /// leave unacknowledged. If it were smaller, both ends could wait for each other.
    fn window(&self) -> usize {
        match self.peer {
            None => BEFORE_HELLO,
            Some(_) => self.policy.window().max(ACKNOWLEDGE_BYTES),
        }
    }

    fn in_flight(&self) -> usize {
        self.ledger.wire() + self.outbox.wire()
    }

    /// Compresses a block, or sends the end of the direction. Returns the times at the beginning
    /// and the end of the work, if there was a block.
    pub(crate) fn pack(
        &mut self,
        coders: &mut Coders,
        spare: &mut Spare,
        clock: &mut dyn FnMut() -> Duration,
    ) -> Option<(Duration, Duration)> {
        let Some(mut plain) = self.written.pop_front() else {
            self.end();
            return None;
        };
        let before = clock();
        let situation = Situation {
            more: self.written.iter().map(|block| block.len() - HEADER).sum(),
            flushed: self.is_flushed,
            in_flight: self.in_flight(),
            unsent: self.outbox.unsent(),
        };
        let decision = self.policy.choose(before, &plain[HEADER..], &situation);
        let candidate = self.possible(decision);
        let packed = self.try_pack(candidate, &plain[HEADER..], coders, spare);
        let after = clock();

        let took = after.saturating_sub(before);
        let length = plain.len() - HEADER;
        let exposed = self.exposed(took, situation.in_flight);
        self.candidate = if packed.is_some() { candidate } else { Candidate::NONE };
        let block = match packed {
            Some(packed) => {
                self.history.push(Arc::new(plain), HEADER, spare);
                Arc::new(packed)
            }
            None => {
                let kind = Kind::Block { codec: 0, history: false };
                plain[..HEADER].copy_from_slice(&Header { kind, length }.bytes());
                let plain = Arc::new(plain);
                self.history.push(Arc::clone(&plain), HEADER, spare);
                plain
            }
        };
        let wire = block.len();
        self.outbox.push(block, Sent { plain: length, wire, exposed });
        self.is_flushed &= !self.written.is_empty();
        self.ratio = wire as f64 / length as f64;
        self.plain_bytes += length as u64;
        self.wire_bytes += wire as u64;
        self.packing += took;
        let wire = wire - HEADER;
        self.policy.packed(after, &Packed { candidate, plain: length, wire, took });
        Some((before, after))
    }

    fn end(&mut self) {
        self.end_is_sent = true;
        self.history.forget();
        let end = Header { kind: Kind::End, length: 0 };
        let sent = Sent { plain: 0, wire: HEADER, exposed: 0.0 };
        self.outbox.push(Arc::new(end.bytes().into()), sent);
    }

    /// The candidate of a decision if both ends have its codec, otherwise no compression; without
    /// history if there is none.
    fn possible(&self, Decision { mut candidate }: Decision) -> Candidate {
        let known = |peer: Hello| peer.codecs >> candidate.choice.codec & 1 != 0;
        let sure = candidate.choice.codec <= 1;
        if !Coders::can_pack(candidate) || !self.peer.map_or(sure, known) {
            return Candidate::NONE;
        }
        candidate.history &=
            self.peer.is_some() && self.agreed_history() > 0 && !self.history.is_empty();
        candidate
    }

    /// The compressed block with its header. `None` if compression would not make the block
    /// smaller.
    fn try_pack(
        &mut self,
        candidate: Candidate,
        plain: &[u8],
        coders: &mut Coders,
        spare: &mut Spare,
    ) -> Option<Vec<u8>> {
        if candidate.choice.codec == 0 {
            return None;
        }
        let mut packed = spare.take();
        let capacity = packed_capacity(plain.len());
        reserve_up_to(&mut packed, capacity, capacity);
        packed.extend_from_slice(&[0; HEADER]);
        let history = if candidate.history { self.history.bytes(spare) } else { &[] };
        let outcome = coders.pack(candidate, history, plain, &mut packed);
        let length = packed.len() - HEADER;
        if outcome.is_err() || length == 0 || length >= plain.len() {
            spare.give(packed);
            return None;
        }
        let kind = Kind::Block { codec: candidate.choice.codec, history: candidate.history };
        packed[..HEADER].copy_from_slice(&Header { kind, length }.bytes());
        Some(packed)
    }

    /// The part of the compression time, in seconds, in which the network had no other bytes to
    /// carry.
    fn exposed(&self, took: Duration, in_flight: usize) -> f64 {
        let bandwidth = self.ledger.bandwidth();
        let busy = if bandwidth > 0.0 { in_flight as f64 / bandwidth } else { 0.0 };
        (took.as_secs_f64() - busy).max(0.0)
    }

    /// Releases unused memory and the history. A frame makes the other end release its history,
    /// too.
    pub(crate) fn rest(&mut self) {
        if self.outbox.blocks() == 0 && !self.history.is_empty() {
            self.history.forget();
            self.outbox.push_urgent(&Header { kind: Kind::Forget, length: 0 }.bytes());
        }
        if self.written.is_empty() {
            self.written = VecDeque::new();
        }
        self.outbox.rest();
        self.ledger.rest();
    }

    /// The memory of this direction in bytes.
    pub(crate) fn memory(&self) -> usize {
        let written: usize = self.written.iter().map(Vec::capacity).sum();
        written + self.outbox.memory() + self.history.memory() + self.ledger.memory()
    }
}
