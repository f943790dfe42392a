//! The direction away from us: from the application's octets to the transport's.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::frame::{Acknowledgement, HEADER, Header, Hello, Kind, SURE_BLOCK};
use crate::history::History;
use crate::incoming::OWED_OCTETS;
use crate::ledger::{Ledger, Sent};
use crate::outbox::Outbox;
use crate::spare::{Spare, append, make_room, room_to_pack};
use crate::{Candidate, Coders, Decision, Packed, Policy, Situation, StreamError};

/// What may be in flight before the other end has said what it is.
const BEFORE_HELLO: usize = 256 << 10;
/// The block that the transport is taking, and the next.
const UNSENT: usize = 2;
/// Blocks that the application may write ahead: one that is whole, and one that becomes so.
const WRITTEN: usize = 2;

/// What the application wrote, and is packed block by block as the network takes it.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) policy: Box<dyn Policy>,
    block: usize,
    own: Hello,
    peer: Option<Hello>,
    /// Each begins with room for a header. None is empty, and all but the last are whole.
    written: VecDeque<Vec<u8>>,
    /// What was written shall go.
    is_flushed: bool,
    is_finished: bool,
    end_is_sent: bool,
    history: History,
    pub(crate) outbox: Outbox,
    pub(crate) ledger: Ledger,
    pub(crate) candidate: Candidate,
    pub(crate) ratio: f64,
    pub(crate) plain_octets: u64,
    pub(crate) wire_octets: u64,
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
            outbox: Outbox::new(&own.octets()),
            ledger: Ledger::default(),
            candidate: Candidate::NONE,
            ratio: 1.0,
            plain_octets: 0,
            wire_octets: 0,
            packing: Duration::ZERO,
        }
    }

    // What the other end says.

    pub(crate) fn hello(&mut self, hello: Hello, spare: &mut Spare) {
        self.peer = Some(hello);
        let history = self.agreed_history();
        self.history.shorten(history, spare);
        self.policy.peer_has(hello.codecs, history > 0);
    }

    /// What both ends keep of each direction.
    fn agreed_history(&self) -> usize {
        self.own.history.min(self.peer.map_or(usize::MAX, |peer| peer.history))
    }

    pub(crate) fn acknowledge(
        &mut self,
        now: Duration,
        word: &Acknowledgement,
    ) -> Result<(), StreamError> {
        if let Some(delivered) = self.ledger.acknowledge(now, word)? {
            self.policy.delivered(now, &delivered);
        }
        Ok(())
    }

    // The application's side.

    pub(crate) fn write(&mut self, mut octets: &[u8], spare: &mut Spare) -> usize {
        if self.is_finished {
            return 0;
        }
        let (block, all) = (HEADER + self.block(), octets.len());
        while !octets.is_empty() {
            if self.written.back().is_none_or(|last| last.len() >= block) {
                if self.written.len() >= WRITTEN {
                    break;
                }
                let mut next = spare.take();
                next.extend_from_slice(&[0; HEADER]);
                self.written.push_back(next);
            }
            if let Some(last) = self.written.back_mut() {
                let (piece, rest) = octets.split_at(octets.len().min(block - last.len()));
                make_room(last, piece.len(), room_to_pack(block - HEADER));
                append(last, piece);
                octets = rest;
            }
        }
        all - octets.len()
    }

    /// Octets of a whole block.
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

    /// Whether the end was taken by the transport.
    pub(crate) fn is_over(&self) -> bool {
        self.end_is_sent && self.outbox.output().is_empty()
    }

    // The work between.

    /// Whether there is a block to pack, or the end to be told, and the network can do with it. Where no acknowledgement
    /// can come there is no window.
    pub(crate) fn has_work(&self, acknowledgements_come: bool) -> bool {
        if self.outbox.blocks() >= UNSENT {
            return false;
        }
        let Some(first) = self.written.front() else {
            return self.is_finished && !self.end_is_sent;
        };
        let is_due = self.is_flushed || first.len() >= HEADER + self.block();
        is_due && (!acknowledgements_come || self.in_flight() <= self.window())
    }

    /// Never less than what the other end may leave unacknowledged, or both would wait.
    fn window(&self) -> usize {
        match self.peer {
            None => BEFORE_HELLO,
            Some(_) => self.policy.window().max(OWED_OCTETS),
        }
    }

    fn in_flight(&self) -> usize {
        self.ledger.wire() + self.outbox.wire()
    }

    /// Packs a block, or tells the end. Returns when it began and ended, if there was a block.
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
                plain[..HEADER].copy_from_slice(&Header { kind, length }.octets());
                let plain = Arc::new(plain);
                self.history.push(Arc::clone(&plain), HEADER, spare);
                plain
            }
        };
        let wire = block.len();
        self.outbox.push(block, Sent { plain: length, wire, exposed });
        self.is_flushed &= !self.written.is_empty();
        self.ratio = wire as f64 / length as f64;
        self.plain_octets += length as u64;
        self.wire_octets += wire as u64;
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
        self.outbox.push(Arc::new(end.octets().into()), sent);
    }

    /// What was decided, as far as the other end can unpack it and there is a history.
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

    /// The block with its header, if that makes it smaller.
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
        let room = room_to_pack(plain.len());
        make_room(&mut packed, room, room);
        packed.extend_from_slice(&[0; HEADER]);
        let history = if candidate.history { self.history.octets(spare) } else { &[] };
        let outcome = coders.pack(candidate, history, plain, &mut packed);
        let length = packed.len() - HEADER;
        if outcome.is_err() || length == 0 || length >= plain.len() {
            spare.give(packed);
            return None;
        }
        let kind = Kind::Block { codec: candidate.choice.codec, history: candidate.history };
        packed[..HEADER].copy_from_slice(&Header { kind, length }.octets());
        Some(packed)
    }

    /// Of the time that packing took, what the network did not need for octets that it had already. Seconds.
    fn exposed(&self, took: Duration, in_flight: usize) -> f64 {
        let bandwidth = self.ledger.bandwidth();
        let busy = if bandwidth > 0.0 { in_flight as f64 / bandwidth } else { 0.0 };
        (took.as_secs_f64() - busy).max(0.0)
    }

    /// Gives back memory, and the history, of which the other end is told.
    pub(crate) fn rest(&mut self) {
        if self.outbox.blocks() == 0 && !self.history.is_empty() {
            self.history.forget();
            self.outbox.push_urgent(&Header { kind: Kind::Forget, length: 0 }.octets());
        }
        if self.written.is_empty() {
            self.written = VecDeque::new();
        }
        self.outbox.rest();
        self.ledger.rest();
    }

    /// Octets.
    pub(crate) fn memory(&self) -> usize {
        let written: usize = self.written.iter().map(Vec::capacity).sum();
        written + self.outbox.memory() + self.history.memory() + self.ledger.memory()
    }
}
