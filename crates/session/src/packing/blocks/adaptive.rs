//! The choice of a codec for a block by `groupwire-ace`. A packet with a block also contains a
//! ping; from the answers to these pings, the choice learns how long blocks take.

use alloc::collections::VecDeque;
use core::time::Duration;

use groupwire_ace::{Adaptive, Candidate, Delivered, Packed, Policy, Situation};
use groupwire_codecs::{Choice, Costs};

use crate::limits::MAX_BLOCK;
use crate::wire::snapshot::CHUNK;

/// A codec is not used if packing a block of the largest size takes longer than this by the codec's
/// costs, in nanoseconds. The room serves no other participant while it packs.
const MOST_WORK: f32 = 3e6;

/// The most packets whose arrivals are tracked one by one. A further packet is counted as part of
/// the last one. This many packets only wait for answers if the other end does not answer pings.
const MAX_AWAITED: usize = 64;

/// Chooses a codec for each block that is sent on one transport. It assumes that unpacking takes as
/// long at the other end as at this one.
#[derive(Debug)]
pub(super) struct Chooser {
    policy: Adaptive,
    /// The codecs that both ends have: bit n for codec number n.
    set: u64,
    awaited: VecDeque<Awaited>,
    /// The total size of the packets in `awaited`, in bytes.
    in_flight: usize,
    /// The number of blocks in the packet that is being made.
    blocks: u32,
    /// The estimated time for unpacking these blocks.
    unpacking: Duration,
    /// The time at which packing of the last block ended.
    packed_at: Duration,
    /// The time at which the last answer to a ping arrived here, and the time at which its ping
    /// arrived at the other end, in microseconds of the other end's clock.
    last_answer: Option<(Duration, u64)>,
}

/// A packet with blocks whose ping was not answered yet.
#[derive(Debug)]
struct Awaited {
    /// The time that the packet's ping contains. The answer repeats it.
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

    /// Chooses the codec for a block. `more` is the number of bytes that are sent right after the
    /// block; `set` has bit n for each codec number n that both ends have.
    pub(super) fn choose(&mut self, now: Duration, block: &[u8], more: usize, set: u64) -> Choice {
        if self.set != set {
            self.set = set;
            self.policy.peer_has(set as u16, false);
        }
        let (in_flight, flushed) = (self.in_flight, more == 0);
        let situation = Situation { more, flushed, in_flight, unsent: 0 };
        self.policy.choose(now, block, &situation).candidate.choice
    }

    /// Notes that a block of `plain` bytes was packed to `wire` bytes. `took` is the time that
    /// packing took, even if it was packed earlier for another receiver and came from the cache.
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

    /// The forecast of the link's rate, in bytes per second. 0 if the rate is not known.
    pub(super) fn rate(&self) -> f64 {
        self.policy.forecast().bandwidth
    }

    /// True, because this chooser needs a ping in each packet with a block, to measure when the
    /// block arrives.
    pub(super) fn wants_arrivals(&self) -> bool {
        true
    }

    /// Notes that a packet of `bytes` bytes with blocks is sent. `time` is the time in the packet's
    /// ping.
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

    /// Notes the answer to the ping that contained `time`. The ping arrived at the other end at
    /// `received`, in microseconds of the other end's clock.
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
