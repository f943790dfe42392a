//! The choice as `groupwire-ace` makes it, by what packets with blocks and the answers to their pings tell.

use alloc::collections::VecDeque;
use core::time::Duration;

use groupwire_ace::{Adaptive, Candidate, Delivered, Packed, Policy, Situation};
use groupwire_codecs::{Choice, Costs};

use super::{CHUNK, MOST_WORK};
use crate::limits::MAX_BLOCK;

/// Packets that are waited for, each for itself; further ones together. There are never so many unless the other end
/// leaves pings unanswered.
const MAX_AWAITED: usize = 64;

/// Chooses for the blocks of one transport. What unpacking takes there is what codecs cost here, as it was measured.
#[derive(Debug)]
pub(super) struct Chooser {
    policy: Adaptive,
    /// Codecs that both ends have.
    set: u64,
    awaited: VecDeque<Awaited>,
    /// Of those.
    in_flight: usize,
    /// Blocks of the packet that is being made, and what unpacking them takes.
    blocks: u32,
    unpacking: Duration,
    /// When the last block had been packed.
    left: Duration,
    /// When the last answer came, and when what it was about had come there, by the other end's clock.
    last: Option<(Duration, u64)>,
}

/// A packet with blocks whose arrival was not heard of.
#[derive(Debug)]
struct Awaited {
    /// Of the ping in it.
    time: u64,
    octets: usize,
    blocks: u32,
    unpacking: Duration,
    left: Duration,
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
            left: Duration::ZERO,
            last: None,
        }
    }

    pub(super) fn choose(&mut self, now: Duration, block: &[u8], more: usize, set: u64) -> Choice {
        if self.set != set {
            self.set = set;
            self.policy.peer_has(set as u16, false);
        }
        let (in_flight, flushed) = (self.in_flight, more == 0);
        let situation = Situation { more, flushed, in_flight, unsent: 0 };
        self.policy.choose(now, block, &situation).candidate.choice
    }

    /// What became of the block. A form that was made for somebody else counts as made for this one.
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
        self.left = now;
    }

    /// What the link is expected to carry, octets per second; 0 if that is not known.
    pub(super) fn rate(&self) -> f64 {
        self.policy.forecast().bandwidth
    }

    pub(super) fn listens(&self) -> bool {
        true
    }

    pub(super) fn leave(&mut self, time: u64, octets: usize) {
        self.in_flight += octets;
        let blocks = core::mem::take(&mut self.blocks);
        let unpacking = core::mem::take(&mut self.unpacking);
        let is_full = self.awaited.len() >= MAX_AWAITED;
        match self.awaited.back_mut().filter(|_| is_full) {
            Some(last) => {
                (last.time, last.left) = (time, self.left);
                last.octets += octets;
                last.blocks += blocks;
                last.unpacking += unpacking;
            }
            None => {
                let left = self.left;
                self.awaited.push_back(Awaited { time, octets, blocks, unpacking, left });
            }
        }
    }

    pub(super) fn arrived(&mut self, now: Duration, time: u64, received: u64) {
        let mut delivered = Delivered {
            blocks: 0,
            wire: 0,
            unpacking: Duration::ZERO,
            span: Duration::ZERO,
            waited: Duration::ZERO,
            round_trip: Duration::ZERO,
            backlogged: false,
        };
        let mut left = None;
        while self.awaited.front().is_some_and(|one| one.time <= time)
            && let Some(one) = self.awaited.pop_front()
        {
            self.in_flight -= one.octets;
            delivered.blocks += one.blocks;
            delivered.wire += one.octets;
            delivered.unpacking += one.unpacking;
            left = Some(one.left);
        }
        let last = self.last.replace((now, received));
        let Some(left) = left else { return };
        if let Some((heard, before)) = last {
            delivered.span = Duration::from_micros(received.saturating_sub(before));
            delivered.waited = delivered.span.saturating_sub(delivered.unpacking);
            delivered.backlogged = left < heard;
        }
        delivered.round_trip = now.saturating_sub(left);
        self.policy.delivered(now, &delivered);
    }
}
