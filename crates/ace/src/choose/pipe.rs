//! A model of the link and of the other end's processor as two queues, with an estimate of the
//! bandwidth. Blocks in flight are sent and not acknowledged yet.
//!
//! All times are in seconds by the clock of this end. Something that happens at the other end is
//! dated one round trip before its acknowledgement arrives, so that the delay of the path cancels
//! out.

use alloc::collections::VecDeque;

use super::round_trip::RoundTrip;
use crate::Delivered;

/// The most blocks in flight that have an entry each. Further blocks are merged into the last
/// entry.
const APART: usize = 512;
/// The time constant of the exponential forgetting of bandwidth measurements, in seconds.
const MEMORY: f64 = 0.1;
/// The other end counts as waiting for the network if it waited for bytes during more than this
/// share of the time between two acknowledgements.
const WAITED: f64 = 0.05;
/// The other end counts as blocked, by its application or by other processes, if it neither waited
/// nor decompressed during more than this share of the time between two acknowledgements.
const BLOCKED: f64 = 0.3;
/// The share of the time between two acknowledgements within which all blocks of the second one
/// must have been compressed, if they are to count as having kept the link busy: blocks were then
/// produced faster than the link carried them. The time counts from when the block before them was
/// compressed or had left the link.
const FASTER: f64 = 0.7;
/// The jitter of acknowledgements in seconds, from scheduling at both ends.
const JITTER: f64 = 50e-6;
/// The assumed bandwidth before any measurement, in bytes per second: 1 Gbit/s.
const UNKNOWN: f64 = 125e6;
/// The window (the most bytes that may be in flight) before any measurement, in bytes. It grows by
/// the bytes that are acknowledged, as in slow start.
const FIRST: f64 = 64.0 * 1024.0;
/// How much longer than the bandwidth-delay product the window keeps the link busy, in seconds, so
/// that a short delay of this process does not leave the link idle.
const AHEAD: f64 = 0.004;
/// The largest factor by which a lower bound may raise the estimate of the bandwidth in one step.
const BOUND_STEP: f64 = 4.0;
/// The factor by which the estimate of the bandwidth is raised with each acknowledgement before the
/// first measurement. While the other end never waits for the network, the bandwidth is unknown, so
/// its estimate is raised. If the estimate becomes too high, the other end has to wait, which gives
/// a measurement.
const GROWTH_UNKNOWN: f64 = 1.5;
/// The time in seconds in which the estimate is raised by the factor e after the first measurement.
const GROWTH_TIME: f64 = 0.03;
/// The bounds of the estimate in bytes per second: 40 Gbit/s, and less than any link in use.
const FASTEST: f64 = 5e9;
const SLOWEST: f64 = 10.0;
/// The least weight of a new measurement in the estimate of the bandwidth.
const LEAST_WEIGHT: f64 = 0.1;
/// A block counts as alone if fewer bytes than this are in flight before it: as many as the other
/// end may leave unacknowledged (docs/ace.md, rule A13).
const ALONE: f64 = 16.0 * 1024.0;

/// The model of the link and of the other end's processor.
#[derive(Debug, Clone)]
pub(super) struct Pipe {
    /// The blocks in flight, the oldest first.
    sent: VecDeque<Sent>,
    /// The measured bytes and seconds on the link. Old measurements lose weight exponentially.
    carried: (f64, f64),
    /// The number of measurements of the bandwidth so far.
    measured: u32,
    /// The factor by which the estimate exceeds the measured bandwidth.
    growth: f64,
    /// Bytes and seconds since the other end last waited for the network. They count as one
    /// measurement when it waits again.
    pending: (f64, f64),
    round_trip: RoundTrip,
    /// For the last acknowledged block: when the link had transmitted it, and when its compression
    /// had ended.
    finished: Option<(f64, f64)>,
    /// When the link will have transmitted all blocks in flight, and when the other end will have
    /// decompressed them.
    link_free: f64,
    receiver_free: f64,
    /// The number of bytes acknowledged so far.
    arrived: f64,
    /// Bytes in flight.
    in_flight: f64,
    /// The size of a complete block in bytes.
    block: f64,
}

/// A block in flight, or several that were merged.
#[derive(Debug, Clone, Copy)]
struct Sent {
    blocks: u32,
    /// The times at which the compression of the first and of the last of the blocks ended.
    at: (f64, f64),
    wire: f64,
    /// The bytes of the last of the blocks on the wire.
    last: f64,
    /// The expected decompression time without load (the slowness that is due to other programs),
    /// in seconds.
    unpacking: f64,
    /// Whether fewer than [`ALONE`] bytes were in flight before the first block.
    alone: bool,
}

/// The decompression time of some blocks at the other end and its expected value without load, in
/// seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unpacked {
    pub(super) took: f64,
    pub(super) expected: f64,
}

impl Pipe {
    pub(super) fn new(block: usize) -> Self {
        Pipe {
            sent: VecDeque::new(),
            carried: (UNKNOWN * 1e-6, 1e-6),
            measured: 0,
            growth: 1.0,
            pending: (0.0, 0.0),
            round_trip: RoundTrip::default(),
            finished: None,
            link_free: 0.0,
            receiver_free: 0.0,
            arrived: 0.0,
            in_flight: 0.0,
            block: block as f64,
        }
    }

    /// The estimated bandwidth in bytes per second.
    pub(super) fn bandwidth(&self) -> f64 {
        (self.growth * self.carried.0 / self.carried.1).clamp(SLOWEST, FASTEST)
    }

    /// Whether the bandwidth was measured.
    pub(super) fn is_measured(&self) -> bool {
        self.measured > 0
    }

    /// The round trip in seconds without waiting in queues; 0 if unknown.
    pub(super) fn round_trip(&self) -> f64 {
        self.round_trip.seconds()
    }

    /// How long from `now` on the link, and the other end, will be busy with the blocks in flight,
    /// in seconds.
    pub(super) fn work(&self, now: f64) -> (f64, f64) {
        ((self.link_free - now).max(0.0), (self.receiver_free - now).max(0.0))
    }

    /// The most bytes that may be in flight.
    pub(super) fn window(&self) -> f64 {
        if self.round_trip.needs_pause() {
            return ALONE;
        }
        let trip = self.round_trip();
        let known = self.bandwidth() * (2.0 * trip + AHEAD) + 2.0 * self.block;
        if self.is_measured() { known } else { FIRST + self.arrived }
    }

    /// Whether nothing is in flight.
    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// Adds a block of `wire` bytes that is sent now. `unpacking` is its expected decompression
    /// time without load in seconds; `load` is how many times slower the other end is.
    pub(super) fn sent(&mut self, now: f64, wire: f64, unpacking: f64, load: f64) {
        let alone = self.in_flight < ALONE;
        self.in_flight += wire;
        let sent = Sent { blocks: 1, at: (now, now), wire, last: wire, unpacking, alone };
        if self.sent.len() < APART {
            self.sent.push_back(sent);
        } else if let Some(last) = self.sent.back_mut() {
            last.blocks += 1;
            (last.at.1, last.last) = (now, wire);
            last.wire += wire;
            last.unpacking += unpacking;
        }
        self.enqueue(sent, load);
    }

    /// Appends a block to the queues of the link and of the other end.
    fn enqueue(&mut self, sent: Sent, load: f64) {
        self.link_free = self.link_free.max(sent.at.0) + sent.wire / self.bandwidth();
        self.receiver_free = self.receiver_free.max(self.link_free) + load * sent.unpacking;
    }

    /// Learns from an acknowledgement.
    pub(super) fn delivered(&mut self, now: f64, delivered: &Delivered, load: f64) -> Unpacked {
        let seconds = |time: core::time::Duration| time.as_secs_f64();
        let blocks = self.take(delivered.blocks);
        let wire = delivered.wire.max(1) as f64;
        self.arrived += wire;
        self.in_flight = if self.sent.is_empty() { 0.0 } else { (self.in_flight - wire).max(0.0) };
        let (span, waited) = (seconds(delivered.span), seconds(delivered.waited));
        let unpacking = seconds(delivered.unpacking);
        let last = unpacking / f64::from(delivered.blocks.max(1));
        // If the blocks met no queue, their time since the first one was compressed, and all their
        // bytes, count. Otherwise only those of the last block are known.
        let (since, bytes) = if blocks.alone {
            (blocks.at.0, wire)
        } else {
            (now - seconds(delivered.round_trip), blocks.last)
        };
        self.round_trip.learn(now, now - since - last, bytes, blocks.alone);
        let has_waited = waited > WAITED * span;
        let mut finished = now - self.round_trip() - last;
        if !has_waited && self.finished.is_some() {
            // If the block waited at the other end, the acknowledgement does not tell when it
            // arrived.
            let before = self.finished.map_or(0.0, |(at, _)| at);
            finished = finished.min(before.max(blocks.at.0) + wire / self.bandwidth());
        }
        if span - waited - unpacking > BLOCKED * span {
            self.pending = (0.0, 0.0);
        } else if self.was_backlogged(&blocks, span) {
            self.pending = (self.pending.0 + wire, self.pending.1 + span);
            if has_waited {
                self.learn(self.pending.0, self.pending.1);
                self.pending = (0.0, 0.0);
            }
        } else {
            self.pending = (0.0, 0.0);
            if has_waited {
                self.learn_bound(&blocks, wire, span, finished);
            }
        }
        if !has_waited {
            let later = libm::exp(span / GROWTH_TIME);
            let growth = self.growth * if self.is_measured() { later } else { GROWTH_UNKNOWN };
            self.growth = growth.min(FASTEST);
        }
        self.finished = Some((finished, blocks.at.1));
        (self.link_free, self.receiver_free) = (finished, now - self.round_trip());
        for at in 0..self.sent.len() {
            self.enqueue(self.sent[at], load);
        }
        Unpacked { took: unpacking, expected: blocks.unpacking }
    }

    /// Removes the oldest `blocks` blocks and returns them merged.
    fn take(&mut self, blocks: u32) -> Sent {
        let mut all =
            Sent { blocks: 0, at: (0.0, 0.0), wire: 0.0, last: 0.0, unpacking: 0.0, alone: true };
        while all.blocks < blocks {
            let Some(mut sent) = self.sent.pop_front() else { break };
            let wanted = blocks - all.blocks;
            if sent.blocks > wanted {
                let share = f64::from(wanted) / f64::from(sent.blocks);
                let rest = Sent {
                    blocks: sent.blocks - wanted,
                    wire: sent.wire * (1.0 - share),
                    unpacking: sent.unpacking * (1.0 - share),
                    ..sent
                };
                sent.unpacking *= share;
                sent.blocks = wanted;
                self.sent.push_front(rest);
            }
            all.at.0 = if all.blocks == 0 { sent.at.0 } else { all.at.0 };
            (all.at.1, all.last) = (sent.at.1, sent.last);
            all.alone = if all.blocks == 0 { sent.alone } else { all.alone };
            all.blocks += sent.blocks;
            all.unpacking += sent.unpacking;
        }
        all
    }

    /// Whether the link was busy with these blocks all the time: either they were compressed before
    /// the link had transmitted the previous blocks, or they were compressed in clearly less time
    /// than they took to arrive.
    fn was_backlogged(&self, blocks: &Sent, span: f64) -> bool {
        let Some((finished, packed)) = self.finished else { return false };
        let were_there = blocks.at.0 <= finished + JITTER.min(0.1 * span)
            && blocks.at.1 - finished <= FASTER * span;
        were_there || blocks.at.1 - packed <= FASTER * span
    }

    /// Learns that the link transmitted `wire` bytes in `span` seconds.
    fn learn(&mut self, wire: f64, span: f64) {
        if span <= 0.0 {
            return;
        }
        let kept = if self.is_measured() {
            libm::exp(-span / MEMORY).min(1.0 - LEAST_WEIGHT)
        } else {
            0.0
        };
        self.carried = (self.carried.0 * kept + wire, self.carried.1 * kept + span);
        self.measured = self.measured.saturating_add(1);
        self.growth = 1.0;
        self.round_trip.note_bandwidth(self.bandwidth());
    }

    /// Learns from blocks before which the link was idle: they give a lower bound for the
    /// bandwidth.
    fn learn_bound(&mut self, blocks: &Sent, wire: f64, span: f64, finished: f64) {
        // The first acknowledgement gives no bound: all of its time may be the round trip.
        let Some((before, _)) = self.finished else { return };
        let service = finished - blocks.at.0.max(before);
        let bound = wire / span.min(service.max(JITTER)).max(1e-6);
        let bandwidth = self.bandwidth();
        if bound > bandwidth {
            self.growth *= (bound / bandwidth).min(BOUND_STEP);
        } else if blocks.alone && service > 0.25 * self.round_trip() + 10.0 * JITTER {
            self.learn(wire, service);
        }
    }
}
