//! Blocks: chunks of snapshots and bodies of many octets, each packed by what gets it there soonest (wire.md W52 to W55).

#[cfg(feature = "ace")]
mod adaptive;
mod cache;
#[cfg(not(feature = "ace"))]
mod fastest;
mod piece;
#[cfg(feature = "ace")]
mod stretch;

use alloc::boxed::Box;
use core::time::Duration;

use groupwire_codecs::Choice;

#[cfg(feature = "ace")]
use adaptive::Chooser;
pub(crate) use cache::{Cache, Place};
#[cfg(not(feature = "ace"))]
use fastest::Chooser;
pub(crate) use piece::Piece;
#[cfg(feature = "ace")]
use stretch::Stretches;
#[cfg(feature = "ace")]
pub(crate) use stretch::Way;

use super::Packing;
use crate::limits::MAX_BLOCK;

/// Octets of a chunk of a snapshot as it travels, about: small enough that pings get in between.
pub(crate) const CHUNK: usize = 16 << 10;

/// Packing a block takes no longer than this, by what codecs cost: a room does nothing else meanwhile. Nanoseconds.
#[cfg(feature = "ace")]
const MOST_WORK: f32 = 3e6;

/// What an octet is held to take on a link that nothing is known of: 50 Mbit/s. Nanoseconds.
#[cfg(feature = "ace")]
const UNKNOWN: f32 = 160.0;

/// What an end knows of the blocks that it sends on one transport.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// W52: the other end takes them.
    agreed: bool,
    /// Made for the first block.
    chooser: Option<Box<Chooser>>,
    /// What the last block that was packed became, in 1/256 of what it was.
    left: Option<usize>,
    /// A block is in the packet that is being made.
    in_packet: bool,
    /// Made for the first such body.
    #[cfg(feature = "ace")]
    stretches: Option<Box<Stretches>>,
}

impl Blocks {
    pub(crate) fn agree(&mut self) {
        self.agreed = true;
    }

    pub(crate) fn are_agreed(&self) -> bool {
        self.agreed
    }

    /// Octets of the next chunk of a snapshot, of which `offset` are on their way: so many that about [`CHUNK`] travel.
    /// A multiple of its size lies before it, so that all receivers are sent the same chunks.
    pub(crate) fn chunk(&self, offset: usize) -> usize {
        let left = self.left.unwrap_or(256);
        let is_good =
            |size: usize| offset.is_multiple_of(size) && size * left / 256 <= CHUNK + CHUNK / 4;
        [MAX_BLOCK, MAX_BLOCK / 2].into_iter().find(|&size| is_good(size)).unwrap_or(CHUNK)
    }

    /// The packed form of a block, if that gets it there sooner. `more`: octets that are to follow at once; `set`: codecs
    /// that both ends have; `cached`: where packed forms are kept, and this one's place there.
    pub(crate) fn pack<'a>(
        &mut self,
        now: Duration,
        block: &[u8],
        more: usize,
        set: u64,
        packing: &'a mut Packing,
        mut cached: Option<(&'a mut Cache, Place)>,
    ) -> Option<&'a [u8]> {
        let chooser = self.chooser.get_or_insert_with(|| Box::new(Chooser::new(packing.costs())));
        let choice = chooser.choose(packing.time(now), block, more, set);
        let unpacking = packing.costs().of(choice).decompress.at(block.len());
        let (wire, took) = match (choice == Choice::NONE, &mut cached) {
            (true, _) => (None, Duration::ZERO),
            (false, None) => packing.pack_block(choice, block),
            (false, Some((cache, place))) => cache.pack(*place, choice, block, packing),
        };
        let octets = wire.unwrap_or(block.len());
        chooser.packed(packing.time(now), choice, block.len(), octets, took, nanos(unpacking));
        if choice != Choice::NONE {
            self.left = Some(octets * 256 / block.len().max(1));
        }
        self.in_packet = true;
        wire?;
        match cached {
            None => Some(packing.packed()),
            Some((cache, place)) => cache.get(place, choice),
        }
    }

    /// What an octet takes on the link, nanoseconds, as far as chunks of snapshots have told. `otherwise`: what else is
    /// known of it.
    #[cfg(feature = "ace")]
    fn travel(&self, otherwise: Option<f32>) -> f32 {
        let rate = self.chooser.as_ref().map(|chooser| chooser.rate()).filter(|&rate| rate > 0.0);
        rate.map(|rate| (1e9 / rate) as f32).or(otherwise).unwrap_or(UNKNOWN)
    }

    /// How a body goes that is late-joiner state, or has large messages, of so many octets on average.
    #[cfg(feature = "ace")]
    pub(crate) fn way(&mut self, is_state: bool, each: usize, travel: Option<f32>) -> Way {
        let travel = self.travel(travel);
        self.stretches.get_or_insert_default().way(is_state, each, travel)
    }

    /// The packed form of such a body, if that gets it there sooner.
    #[cfg(feature = "ace")]
    pub(crate) fn pack_body<'a>(
        &mut self,
        body: &[u8],
        set: u64,
        travel: Option<f32>,
        packing: &'a mut Packing,
    ) -> Option<&'a [u8]> {
        let travel = self.travel(travel);
        self.stretches.get_or_insert_default().pack(body, set, travel, packing)?;
        Some(packing.packed())
    }

    /// What became of such a body.
    #[cfg(feature = "ace")]
    pub(crate) fn went(&mut self, way: Way, is_state: bool, plain: usize, wire: usize) {
        self.stretches.get_or_insert_default().went(way, is_state, plain, wire);
    }

    /// Whether a block is in the packet that is being made, so that the other end should tell when it came.
    pub(crate) fn take_sign(&mut self) -> bool {
        core::mem::take(&mut self.in_packet)
            && self.chooser.as_ref().is_some_and(|one| one.listens())
    }

    /// A packet of so many octets leaves, with a block and a ping of this time.
    pub(crate) fn leave(&mut self, time: u64, octets: usize) {
        if let Some(chooser) = &mut self.chooser {
            chooser.leave(time, octets);
        }
    }

    /// The ping of this time came there at `received`, by the other end's clock, microseconds.
    pub(crate) fn arrived(&mut self, now: Duration, time: u64, received: u64) {
        if let Some(chooser) = &mut self.chooser {
            chooser.arrived(now, time, received);
        }
    }
}

fn nanos(nanos: f32) -> Duration {
    Duration::from_nanos(nanos as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_as_large_as_makes_them_about_as_large_as_they_may_be() {
        let mut blocks = Blocks::default();
        assert_eq!(blocks.chunk(0), CHUNK);
        for (travels, sizes) in [
            (CHUNK, [CHUNK, CHUNK, CHUNK, CHUNK]),
            (CHUNK / 2, [2 * CHUNK, CHUNK, 2 * CHUNK, CHUNK]),
            (CHUNK / 4, [4 * CHUNK, CHUNK, 2 * CHUNK, CHUNK]),
            (0, [4 * CHUNK, CHUNK, 2 * CHUNK, CHUNK]),
        ] {
            blocks.left = Some(travels * 256 / CHUNK);
            let offsets = [0, CHUNK, 2 * CHUNK, 3 * CHUNK];
            assert_eq!(offsets.map(|offset| blocks.chunk(offset)), sizes, "{travels}");
        }
    }
}
