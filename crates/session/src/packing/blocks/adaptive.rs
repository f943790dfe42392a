//! The choice of a codec for a block by `groupwire-ace`. It learns from the packets with blocks and from the answers to their
//! pings.

use alloc::collections::VecDeque;
use core::time::Duration;

use groupwire_ace::{Adaptive, Candidate, Delivered, Packed, Policy, Situation};
use groupwire_codecs::{Choice, Costs};

use crate::limits::MAX_BLOCK;
use crate::wire::snapshot::CHUNK;

/// The longest time for packing a block, by the costs of codecs, in nanoseconds. The room does nothing else meanwhile.
const MOST_WORK: f32 = 3e6;

/// Packets whose arrivals are tracked one by one. Further ones are counted as part of the last. Only a peer that does not
/// answer pings lets this many wait.
const MAX_AWAITED: usize = 64;

/// Chooses for the blocks of one transport. It assumes that unpacking takes as long at the other end as it was measured at
/// this one.
#[derive(Debug)]
pub(super) struct Chooser {
    policy: Adaptive,
    /// Codecs that both ends have.
    set: u64,
    awaited: VecDeque<Awaited>,
    /// Bytes of the awaited packets.
    in_flight: usize,
    /// Blocks of the packet that is being made.
    blocks: u32,
    /// The time that unpacking these blocks takes.
    unpacking: Duration,
    /// The time at which the last block had been packed.
    packed_at: Duration,
    /// When the last answer arrived, and when its ping had arrived there, in microseconds of the other end's clock.
    last_answer: Option<(Duration, u64)>,
}

/// A packet with blocks whose ping was not answered yet.
#[derive(Debug)]
struct Awaited {
    /// The time in its ping.
    time: u64,
    bytes: usize,
    blocks: u32,
    unpacking: Duration,
    packed_at: Duration,
}

impl Chooser {
    pub(super) fn new(costs: &Costs) -> Self {
        let is_quick = |one: &Candidate| costs.of(one.choice).compress.at(MAX_BLOCK) <= MOST_WORK;
        let mut candidates = Adaptive::candidates();
        candidates.retain(|one| !one.history && is_quick(one));
        Chooser {
            policy: Adaptive::new(&candidates, costs, 2 * CHUNK),
            set: 0,
            awaited: VecDeque::new(),
            in_flight: 0,
            blocks: 0,
            unpacking: Duration::ZERO,
            packed_at: Duration::ZERO,
            last_answer: None,
        }
    }

    /// The codec for a block. `more`: bytes that follow at once; `set`: codecs that both ends have.
    pub(super) fn choose(&mut self, now: Duration, block: &[u8], more: usize, set: u64) -> Choice {
        if self.set != set {
            self.set = set;
            self.policy.peer_has(set as u16, false);
        }
        let (in_flight, flushed) = (self.in_flight, more == 0);
        let situation = Situation { more, flushed, in_flight, unsent: 0 };
        self.policy.choose(now, block, &situation).candidate.choice
    }

    /// Takes the size and the times of a packed block. A packed form from the cache counts as made for this receiver.
    pub(super) fn packed(
        &mut self,
        now: Duration,
        choice: Choice,
        plain: usize,
        wire: usize,
        took: Duration,
        unpacking: Duration,
    ) {
        let candidate = Candidate { choice, history: false };
        self.policy.packed(now, &Packed { candidate, plain, wire, took });
        self.blocks += 1;
        self.unpacking += unpacking;
        self.packed_at = now;
    }

    /// The forecast of the link's rate, in bytes per second. 0 if it is not known.
    pub(super) fn rate(&self) -> f64 {
        self.policy.forecast().bandwidth
    }

    /// True: pings are to measure the arrival of blocks.
    pub(super) fn wants_arrivals(&self) -> bool {
        true
    }

    /// A packet with blocks leaves, with a ping whose time is `time`.
    pub(super) fn on_packet_sent(&mut self, time: u64, bytes: usize) {
        self.in_flight += bytes;
        let blocks = core::mem::take(&mut self.blocks);
        let unpacking = core::mem::take(&mut self.unpacking);
        let is_full = self.awaited.len() >= MAX_AWAITED;
        match self.awaited.back_mut().filter(|_| is_full) {
            Some(last) => {
                (last.time, last.packed_at) = (time, self.packed_at);
                last.bytes += bytes;
                last.blocks += blocks;
                last.unpacking += unpacking;
            }
            None => {
                let packed_at = self.packed_at;
                self.awaited.push_back(Awaited { time, bytes, blocks, unpacking, packed_at });
            }
        }
    }

    /// The ping whose time is `time` arrived at `received`, in microseconds of the other end's clock.
    pub(super) fn on_arrival(&mut self, now: Duration, time: u64, received: u64) {
        let mut delivered = Delivered {
            blocks: 0,
            wire: 0,
            unpacking: Duration::ZERO,
            span: Duration::ZERO,
            waited: Duration::ZERO,
            round_trip: Duration::ZERO,
            backlogged: false,
        };
        let mut packed_at = None;
        while self.awaited.front().is_some_and(|one| one.time <= time)
            && let Some(one) = self.awaited.pop_front()
        {
            self.in_flight -= one.bytes;
            delivered.blocks += one.blocks;
            delivered.wire += one.bytes;
            delivered.unpacking += one.unpacking;
            packed_at = Some(one.packed_at);
        }
        let last = self.last_answer.replace((now, received));
        let Some(packed_at) = packed_at else { return };
        if let Some((heard, before)) = last {
            delivered.span = Duration::from_micros(received.saturating_sub(before));
            delivered.waited = delivered.span.saturating_sub(delivered.unpacking);
            delivered.backlogged = packed_at < heard;
        }
        delivered.round_trip = now.saturating_sub(packed_at);
        self.policy.delivered(now, &delivered);
    }
}
