//! What is under way, and what the network carries: a model of the link and of the other end's processor as queues.
//!
//! All times are by our clock, in seconds, as the sender sees them: what happens at the other end counts as if it
//! happened a round trip before we hear of it, so that delay plays no part.

use alloc::collections::VecDeque;

use super::least::Least;
use crate::Delivered;

/// Blocks that are kept apart. Further ones count as one.
const APART: usize = 512;
/// Bandwidth is what was carried in about so long, seconds; of what took longer, what was last.
const MEMORY: f64 = 0.1;
/// The other end waited for bytes if it did for this share of the time.
const WAITED: f64 = 0.05;
/// It was kept from taking bytes, by its application or for want of a processor, if it was for this share.
const KEPT_AWAY: f64 = 0.3;
/// Blocks were handed over faster than they came if they were in this share of the time.
const FASTER: f64 = 0.7;
/// What a word of arrival may be late for no reason, seconds.
const JITTER: f64 = 50e-6;
/// As long as the bandwidth is not known it is taken for this, bytes per second, ...
const UNKNOWN: f64 = 125e6;
/// ... and so many bytes may be under way, and all that have arrived once more.
const FIRST: f64 = 64.0 * 1024.0;
/// The link is to have work for so long beyond what is under way, seconds.
const AHEAD: f64 = 0.004;
/// A bandwidth that is only known to be larger than was thought is thought larger by no more than this factor at once.
const LARGER: f64 = 4.0;
/// As long as the other end is slower than the link, the link is thought to be ever faster: if that is wrong, the other
/// end will have to wait, and we know. By this with every word of it as long as nothing was measured, ...
const FASTER_LINK: f64 = 1.5;
/// ... and later by the factor e for each such time, seconds.
const FASTER_LATER: f64 = 0.03;
/// No link is thought to be faster, or slower, bytes per second.
const FASTEST: f64 = 5e9;
const SLOWEST: f64 = 10.0;
/// Each measurement counts for so much at least.
const LEAST: f64 = 0.1;

/// What so little is under way before meets no queue, bytes: the other end may owe word of as much (docs/ace.md).
const ALONE: f64 = 16.0 * 1024.0;

#[derive(Debug, Clone)]
pub(super) struct Pipe {
    sent: VecDeque<Sent>,
    /// Bytes carried, and in what time, of late.
    carried: (f64, f64),
    /// How often that was measured.
    measured: u32,
    /// How much faster the link is thought to be than was measured.
    hope: f64,
    /// What counts together, since the other end did not wait: bytes and time.
    pending: (f64, f64),
    least: Least,
    /// When the link had carried the last block of which we heard, and when that had been packed.
    finished: Option<(f64, f64)>,
    /// When the link has carried, and the other end unpacked, all that is under way.
    link_free: f64,
    receiver_free: f64,
    arrived: f64,
    under_way: f64,
    /// The largest block, bytes.
    block: f64,
}

/// A block that is under way, or several.
#[derive(Debug, Clone, Copy)]
struct Sent {
    blocks: u32,
    /// When the first was packed, and the last.
    at: (f64, f64),
    wire: f64,
    /// Bytes of the last.
    last: f64,
    /// Unpacking, with a processor to oneself.
    unpacking: f64,
    /// Whether nothing else was under way.
    alone: bool,
}

/// Work that was done at the other end, seconds.
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
            hope: 1.0,
            pending: (0.0, 0.0),
            least: Least::default(),
            finished: None,
            link_free: 0.0,
            receiver_free: 0.0,
            arrived: 0.0,
            under_way: 0.0,
            block: block as f64,
        }
    }

    /// Bytes per second.
    pub(super) fn bandwidth(&self) -> f64 {
        (self.hope * self.carried.0 / self.carried.1).clamp(SLOWEST, FASTEST)
    }

    /// Whether the bandwidth was measured.
    pub(super) fn is_measured(&self) -> bool {
        self.measured > 0
    }

    /// Without any queue, seconds. 0: not known.
    pub(super) fn round_trip(&self) -> f64 {
        self.least.round_trip()
    }

    /// For how long from `now` the link has work, and for how long the other end's processor.
    pub(super) fn work(&self, now: f64) -> (f64, f64) {
        ((self.link_free - now).max(0.0), (self.receiver_free - now).max(0.0))
    }

    /// How much may be under way.
    pub(super) fn window(&self) -> f64 {
        if self.least.wants_pause() {
            return ALONE;
        }
        let trip = self.round_trip();
        let known = self.bandwidth() * (2.0 * trip + AHEAD) + 2.0 * self.block;
        if self.is_measured() { known } else { FIRST + self.arrived }
    }

    /// Nothing is under way.
    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// A block was packed, whose unpacking takes so long with a processor to oneself, times `load`.
    pub(super) fn sent(&mut self, now: f64, wire: f64, unpacking: f64, load: f64) {
        let alone = self.under_way < ALONE;
        self.under_way += wire;
        let sent = Sent { blocks: 1, at: (now, now), wire, last: wire, unpacking, alone };
        if self.sent.len() < APART {
            self.sent.push_back(sent);
        } else if let Some(last) = self.sent.back_mut() {
            last.blocks += 1;
            (last.at.1, last.last) = (now, wire);
            last.wire += wire;
            last.unpacking += unpacking;
        }
        self.follow(sent, load);
    }

    /// The link and the other end go on with a block when they have done what was before.
    fn follow(&mut self, sent: Sent, load: f64) {
        self.link_free = self.link_free.max(sent.at.0) + sent.wire / self.bandwidth();
        self.receiver_free = self.receiver_free.max(self.link_free) + load * sent.unpacking;
    }

    /// What the other end says.
    pub(super) fn delivered(&mut self, now: f64, word: &Delivered, load: f64) -> Unpacked {
        let seconds = |time: core::time::Duration| time.as_secs_f64();
        let blocks = self.take(word.blocks);
        let wire = word.wire.max(1) as f64;
        self.arrived += wire;
        self.under_way = if self.sent.is_empty() { 0.0 } else { (self.under_way - wire).max(0.0) };
        let (span, waited) = (seconds(word.span), seconds(word.waited));
        let unpacking = seconds(word.unpacking);
        let last = unpacking / f64::from(word.blocks.max(1));
        // From the first byte of what met no queue, or else of the last block, which did.
        let (since, bytes) = if blocks.alone {
            (blocks.at.0, wire)
        } else {
            (now - seconds(word.round_trip), blocks.last)
        };
        self.least.learn(now, now - since - last, bytes, blocks.alone);
        let has_waited = waited > WAITED * span;
        let mut finished = now - self.round_trip() - last;
        if !has_waited && self.finished.is_some() {
            // It came before it was asked for: when, we do not hear.
            let before = self.finished.map_or(0.0, |(at, _)| at);
            finished = finished.min(before.max(blocks.at.0) + wire / self.bandwidth());
        }
        if span - waited - unpacking > KEPT_AWAY * span {
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
            let later = libm::exp(span / FASTER_LATER);
            let hope = self.hope * if self.is_measured() { later } else { FASTER_LINK };
            self.hope = hope.min(FASTEST);
        }
        self.finished = Some((finished, blocks.at.1));
        (self.link_free, self.receiver_free) = (finished, now - self.round_trip());
        for at in 0..self.sent.len() {
            self.follow(self.sent[at], load);
        }
        Unpacked { took: unpacking, expected: blocks.unpacking }
    }

    /// So many of the oldest blocks, as one.
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

    /// Whether the link had these blocks to carry for all of the time: they were there when it had carried those
    /// before, or they were packed in clearly less time than they came in.
    fn was_backlogged(&self, blocks: &Sent, span: f64) -> bool {
        let Some((finished, packed)) = self.finished else { return false };
        let were_there = blocks.at.0 <= finished + JITTER.min(0.1 * span)
            && blocks.at.1 - finished <= FASTER * span;
        were_there || blocks.at.1 - packed <= FASTER * span
    }

    fn learn(&mut self, wire: f64, span: f64) {
        if span <= 0.0 {
            return;
        }
        let kept =
            if self.is_measured() { libm::exp(-span / MEMORY).min(1.0 - LEAST) } else { 0.0 };
        self.carried = (self.carried.0 * kept + wire, self.carried.1 * kept + span);
        self.measured = self.measured.saturating_add(1);
        self.hope = 1.0;
        self.least.carried(self.bandwidth());
    }

    /// The link was idle before it carried these blocks.
    fn learn_bound(&mut self, blocks: &Sent, wire: f64, span: f64, finished: f64) {
        // The first word says nothing of bytes: all of its time may be a round trip.
        let Some((before, _)) = self.finished else { return };
        let service = finished - blocks.at.0.max(before);
        let bound = wire / span.min(service.max(JITTER)).max(1e-6);
        let bandwidth = self.bandwidth();
        if bound > bandwidth {
            self.hope *= (bound / bandwidth).min(LARGER);
        } else if blocks.alone && service > 0.25 * self.round_trip() + 10.0 * JITTER {
            self.learn(wire, service);
        }
    }
}
