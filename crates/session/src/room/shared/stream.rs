//! A stream that an audience shares: each tick's messages are coded once, and the last bodies kept for who is slow.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::audience::StreamAudience;
use crate::Error;
use crate::ids::{Order, ParticipantId, Position};
use crate::room::journal::{Awareness, Journal, Stored, Transaction};
use crate::stamps::Stamps;
use crate::trace::{Part, Purpose};
use crate::wire::body::BodyEncoder;
use crate::wire::frame::Frame;
use crate::wire::record::Number;

/// Bodies kept, at most: about a second's at a tick of 40 ms. Who is further behind does better with the newest values.
const MAX_BODIES: usize = 32;

/// Octets of them, at most, but for the last one.
const MAX_OCTETS: usize = 256 << 10;

/// Octets coded at a time. More waits for the next tick, so that members have time to take it.
const MOST_AT_ONCE: usize = MAX_OCTETS / 4;

/// Senders and channels numbered, at most: then numbers begin anew. A client takes more (W22).
const MAX_PAIRS: usize = 1 << 16;

/// What happened up to here is in the bodies so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cursors {
    pub(super) awareness: Order,
    pub(super) log: Position,
    /// W41.
    pub(super) rested: Order,
}

/// A body for all members.
pub(super) struct SharedBody {
    /// A stamp, now and then, and the body with its tag.
    pub(super) octets: Arc<[u8]>,
    /// Octets of the stamp.
    front: usize,
    pub(super) after: Cursors,
    /// Of its last transaction; 0 if it has none.
    pub(super) position: Position,
    counts: Counts,
    /// By sender, in order.
    own: Vec<(ParticipantId, Counts)>,
    /// While somebody looks on.
    pub(super) parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) messages: u64,
    pub(super) bytes: u64,
}

impl SharedBody {
    /// What it brings to a participant: all but its own.
    pub(super) fn counts(&self, participant: ParticipantId) -> Counts {
        let own = self.own.binary_search_by_key(&participant, |(sender, _)| *sender);
        let own = own.map_or(Counts::default(), |at| self.own[at].1);
        let Counts { messages, bytes } = self.counts;
        Counts { messages: messages - own.messages, bytes: bytes - own.bytes }
    }

    /// The same as frames that others follow.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let (stamp, body) = self.octets.split_at(self.front);
        out.extend_from_slice(stamp);
        Frame::Shared(&body[1..]).write(out);
    }

    fn count(&mut self, message: &Stored) {
        let at = match self.own.binary_search_by_key(&message.sender, |(sender, _)| *sender) {
            Ok(at) => at,
            Err(at) => {
                self.own.insert(at, (message.sender, Counts::default()));
                at
            }
        };
        for counts in [&mut self.counts, &mut self.own[at].1] {
            counts.messages += 1;
            counts.bytes += message.bytes.len() as u64;
        }
    }
}

pub(super) struct SharedStream {
    pub(super) audience: Arc<StreamAudience>,
    pub(super) at: Cursors,
    encoder: BodyEncoder,
    stamps: Stamps,
    bodies: VecDeque<SharedBody>,
    octets: usize,
    /// Bodies that were dropped: the number of the first one that is kept.
    first: u64,
    /// Records that are collected.
    next: SharedBody,
    /// When the next model may be made.
    next_model: Duration,
}

/// What is coded, and what for.
#[derive(Clone, Copy)]
pub(super) struct Due<'a> {
    pub(super) now: Duration,
    pub(super) journal: &'a Journal,
    /// Up to where.
    pub(super) until: Cursors,
    /// Whether somebody looks on.
    pub(super) traced: bool,
}

impl SharedStream {
    pub(super) fn new(audience: Arc<StreamAudience>, at: Cursors) -> Self {
        SharedStream {
            stamps: Stamps::new(audience.stamped),
            audience,
            at,
            encoder: BodyEncoder::for_class(),
            bodies: VecDeque::new(),
            octets: 0,
            first: 0,
            next: SharedBody::empty(),
            next_model: Duration::ZERO,
        }
    }

    /// The number of the first body that is kept.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The number that the next body will have.
    pub(super) fn end(&self) -> u64 {
        self.first + self.bodies.len() as u64
    }

    pub(super) fn body(&self, number: u64) -> Option<&SharedBody> {
        self.bodies.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    pub(super) fn memory(&self) -> usize {
        self.octets
    }

    /// Codes what is due. `false`: there is more.
    pub(super) fn encode(&mut self, due: Due<'_>) -> Result<bool, Error> {
        let mut made = 0;
        while !self.collect(due) {
            made += self.finish(due.now)?;
            if made >= MOST_AT_ONCE {
                return Ok(false);
            }
        }
        if !self.encoder.is_empty() {
            self.finish(due.now)?;
        }
        Ok(true)
    }

    pub(super) fn makes_models(&self, now: Duration) -> bool {
        now >= self.next_model || !self.encoder.has_model()
    }

    /// The model as of now, for who enters; no other is to be made before `next`.
    pub(super) fn model(&mut self, next: Duration) -> Result<Vec<u8>, Error> {
        if self.encoder.has_model() {
            self.begin_anew()?;
            self.next_model = next;
        }
        Ok(self.encoder.model())
    }

    /// What numbering holds stays bounded however many participants come and go.
    pub(super) fn tidy(&mut self) -> Result<(), Error> {
        match self.encoder.numbering.pairs() {
            0..MAX_PAIRS => Ok(()),
            _ => self.begin_anew(),
        }
    }

    fn begin_anew(&mut self) -> Result<(), Error> {
        let mut octets = Vec::new();
        self.encoder.begin_anew(&mut octets)?;
        self.keep(octets, 0);
        Ok(())
    }

    /// Collects the records of a body. `false`: there is more than fits.
    fn collect(&mut self, due: Due<'_>) -> bool {
        self.collect_rested(due) && self.collect_news(due)
    }

    /// W41: values that went as datagrams and were not followed by newer ones.
    fn collect_rested(&mut self, due: Due<'_>) -> bool {
        if self.audience.max_datagram.is_some() {
            let values = due.journal.awareness_after(self.at.rested);
            for (order, one) in values.take_while(|(order, _)| *order <= due.until.rested) {
                let goes = one.expires.is_none() && !self.audience.takes_stream(&one.message);
                if goes && !self.push_awareness(due, one) {
                    return false;
                }
                self.at.rested = order;
            }
        }
        self.at.rested = self.at.rested.max(due.until.rested);
        true
    }

    /// Transactions and awareness, in the order in which they came.
    fn collect_news(&mut self, due: Due<'_>) -> bool {
        let Due { journal, until, now, .. } = due;
        let mut transactions = journal
            .transactions_after(self.at.log)
            .take_while(|one| one.position <= until.log)
            .peekable();
        let mut awareness = journal
            .awareness_after(self.at.awareness)
            .take_while(|(order, _)| *order <= until.awareness)
            .peekable();
        loop {
            let log_first = match (transactions.peek(), awareness.peek()) {
                (Some(one), Some((order, _))) => one.order < *order,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            if log_first {
                let Some(one) = transactions.next() else { break };
                if !self.push_transaction(due, one) {
                    return false;
                }
                self.at.log = one.position;
            } else {
                let Some((order, one)) = awareness.next() else { break };
                let late = one.expires.is_some_and(|expires| expires <= now);
                let goes = !late && self.audience.takes_stream(&one.message);
                if goes && !self.push_awareness(due, one) {
                    return false;
                }
                self.at.awareness = order;
            }
        }
        self.at.awareness = self.at.awareness.max(until.awareness);
        self.at.log = self.at.log.max(until.log);
        true
    }

    fn push_awareness(&mut self, due: Due<'_>, one: &Awareness) -> bool {
        let number = Number::Awareness { index: one.index, after: one.after };
        self.push(due, &one.message, number, one.index.get())
    }

    fn push_transaction(&mut self, due: Due<'_>, one: &Transaction) -> bool {
        let number = Number::Transaction { counter: one.counter, position: one.position };
        let fits = self.push(due, &one.message, number, one.counter.get());
        if fits && self.audience.has(one.message.channel) {
            self.next.position = one.position;
        }
        fits
    }

    /// `false`: it does not fit; it opens the next body.
    fn push(&mut self, due: Due<'_>, message: &Stored, number: Number, index: u32) -> bool {
        if !self.audience.has(message.channel) {
            return true;
        }
        let fits = self.encoder.fits(message.bytes.len(), self.audience.max_packet);
        if !fits && !self.encoder.is_empty() {
            return false;
        }
        let record = message.record(due.now, number);
        self.encoder.push(&record);
        self.next.count(message);
        if due.traced {
            let (channel, sender, before) = (message.channel, message.sender, message.bytes.len());
            let (purpose, age) = (Purpose::New, record.age);
            self.next.parts.push(Part { channel, sender, index, purpose, before, age, cost: None });
        }
        true
    }

    /// Codes what was collected and returns the octets.
    fn finish(&mut self, now: Duration) -> Result<usize, Error> {
        let mut octets = Vec::new();
        self.encoder.finish_shared(&mut octets)?;
        let body = octets.len();
        // W79: how late it is where it arrives; who catches up sees how long it waited here, too.
        self.stamps.write(now, usize::MAX, &mut octets, 0);
        let size = octets.len();
        self.keep(octets, size - body);
        Ok(size)
    }

    fn keep(&mut self, octets: Vec<u8>, front: usize) {
        let next = core::mem::replace(&mut self.next, SharedBody::empty());
        self.octets += octets.len();
        self.bodies.push_back(SharedBody { octets: octets.into(), front, after: self.at, ..next });
        while self.bodies.len() > MAX_BODIES || (self.octets > MAX_OCTETS && self.bodies.len() > 1)
        {
            let Some(dropped) = self.bodies.pop_front() else { return };
            self.octets -= dropped.octets.len();
            self.first += 1;
        }
    }
}

impl SharedBody {
    fn empty() -> Self {
        SharedBody {
            octets: Arc::from([]),
            front: 0,
            after: Cursors::default(),
            position: Position(0),
            counts: Counts::default(),
            own: Vec::new(),
            parts: Vec::new(),
        }
    }
}
