//! Blocks, which are chunks of snapshots and large payloads. Each is packed by the codec with which
//! it is expected to arrive soonest (wire W52 to W55).

#[cfg(feature = "ace")]
mod adaptive;
mod cache;
#[cfg(not(feature = "ace"))]
mod fastest;
#[cfg(feature = "ace")]
mod large_bodies;

use alloc::boxed::Box;
use core::time::Duration;

use groupwire_codecs::Choice;

#[cfg(feature = "ace")]
use adaptive::Chooser;
pub(crate) use cache::{Cache, ChunkKey};
#[cfg(not(feature = "ace"))]
use fastest::Chooser;
#[cfg(feature = "ace")]
pub(crate) use large_bodies::BlockChoice;
#[cfg(feature = "ace")]
use large_bodies::LargeBodies;

use super::codecs::Packing;
use crate::limits::MAX_BLOCK;
use crate::wire::snapshot::CHUNK;

/// The assumed time for a byte on a link whose rate is not known, in nanoseconds. It corresponds to
/// 50 Mbit/s.
#[cfg(feature = "ace")]
const UNKNOWN: f32 = 160.0;

/// What an end knows about the blocks that it sends on one transport.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// True if the other end accepts blocks (wire W52).
    agreed: bool,
    /// Created for the first block, so that connections without blocks need no memory for it.
    chooser: Option<Box<Chooser>>,
    /// The packed size of the last packed block, in 1/256 of its plain size.
    ratio: Option<usize>,
    /// True if the packet that is being made contains a block.
    in_packet: bool,
    /// Created for the first large payload.
    #[cfg(feature = "ace")]
    large_bodies: Option<Box<LargeBodies>>,
}

impl Blocks {
    pub(crate) fn agree(&mut self) {
        self.agreed = true;
    }

    pub(crate) fn are_agreed(&self) -> bool {
        self.agreed
    }

    /// Returns the size in bytes of the next chunk of a snapshot, which begins at `offset`. The
    /// size is chosen so that the packed chunk has about [`CHUNK`] bytes. `offset` must be a
    /// multiple of it, so that chunks for different receivers begin at the same offsets and can be
    /// cached.
    pub(crate) fn chunk(&self, offset: usize) -> usize {
        let ratio = self.ratio.unwrap_or(256);
        let is_good =
            |size: usize| offset.is_multiple_of(size) && size * ratio / 256 <= CHUNK + CHUNK / 4;
        [MAX_BLOCK, MAX_BLOCK / 2].into_iter().find(|&size| is_good(size)).unwrap_or(CHUNK)
    }

    /// Packs a block. Returns `None` if the block is to be sent unpacked. `more` is the number of
    /// bytes that are sent right after the block; `set` has bit n for each codec number n that both
    /// ends have; `cached` is a cache of packed blocks, and the block's key in it.
    #[inline(never)] // At the boundary of the browser's core, see crates/wasm/second.txt.
    pub(crate) fn pack<'a>(
        &mut self,
        now: Duration,
        block: &[u8],
        more: usize,
        set: u64,
        packing: &'a mut Packing,
        mut cached: Option<(&'a mut Cache, ChunkKey)>,
    ) -> Option<&'a [u8]> {
        let chooser = self.chooser.get_or_insert_with(|| Box::new(Chooser::new(packing.costs())));
        let choice = chooser.choose(packing.time(now), block, more, set);
        let unpacking = packing.costs().of(choice).decompress.at(block.len());
        let (wire, took) = match (choice == Choice::NONE, &mut cached) {
            (true, _) => (None, Duration::ZERO),
            (false, None) => packing.pack_block(choice, block),
            (false, Some((cache, place))) => cache.pack(*place, choice, block, packing),
        };
        let size = wire.unwrap_or(block.len());
        chooser.packed(packing.time(now), choice, block.len(), size, took, nanos(unpacking));
        if choice != Choice::NONE {
            self.ratio = Some(size * 256 / block.len().max(1));
        }
        self.in_packet = true;
        wire?;
        match cached {
            None => Some(packing.packed()),
            Some((cache, place)) => cache.get(place, choice),
        }
    }

    /// The time that the link takes for a byte, in nanoseconds, as measured with chunks of
    /// snapshots. If no chunk was measured, `otherwise`, which was measured with messages.
    #[cfg(feature = "ace")]
    fn travel(&self, otherwise: Option<f32>) -> f32 {
        let rate = self.chooser.as_ref().map(|chooser| chooser.rate()).filter(|&rate| rate > 0.0);
        rate.map(|rate| (1e9 / rate) as f32).or(otherwise).unwrap_or(UNKNOWN)
    }

    /// Chooses how to compress a payload that contains state for a late joiner (`is_state`) or
    /// large messages. `each` is the average size of its messages in bytes; `travel` is the time
    /// that the link takes for a byte, in nanoseconds, if it was measured.
    #[cfg(feature = "ace")]
    pub(crate) fn choose_block(
        &mut self,
        is_state: bool,
        each: usize,
        travel: Option<f32>,
    ) -> BlockChoice {
        let travel = self.travel(travel);
        self.large_bodies.get_or_insert_default().choose_block(is_state, each, travel)
    }

    /// Packs `body`, a payload that contains state for a late joiner or large messages. `None` if
    /// it arrives sooner unpacked.
    #[cfg(feature = "ace")]
    pub(crate) fn pack_body<'a>(
        &mut self,
        body: &[u8],
        set: u64,
        travel: Option<f32>,
        packing: &'a mut Packing,
    ) -> Option<&'a [u8]> {
        let travel = self.travel(travel);
        self.large_bodies.get_or_insert_default().pack(body, set, travel, packing)?;
        Some(packing.packed())
    }

    /// Learns from a large payload that was sent: its size before (`plain`) and after (`wire`) it
    /// was packed or coded, in bytes.
    #[cfg(feature = "ace")]
    pub(crate) fn record_size(
        &mut self,
        way: BlockChoice,
        is_state: bool,
        plain: usize,
        wire: usize,
    ) {
        self.large_bodies.get_or_insert_default().record_size(way, is_state, plain, wire);
    }

    /// True if the packet that is being made contains a block and the chooser wants a ping to
    /// measure the block's arrival. The next call returns false until another block is packed.
    pub(crate) fn take_arrival_probe(&mut self) -> bool {
        core::mem::take(&mut self.in_packet)
            && self.chooser.as_ref().is_some_and(|chooser| chooser.wants_arrivals())
    }

    /// Notes that a packet of `bytes` bytes with a block is sent. `time` is the time in the
    /// packet's ping.
    pub(crate) fn on_packet_sent(&mut self, time: u64, bytes: usize) {
        if let Some(chooser) = &mut self.chooser {
            chooser.on_packet_sent(time, bytes);
        }
    }

    /// Notes the answer to the ping that contained `time`. The ping arrived at the other end at
    /// `received`, in microseconds of the other end's clock.
    pub(crate) fn on_arrival(&mut self, now: Duration, time: u64, received: u64) {
        if let Some(chooser) = &mut self.chooser {
            chooser.on_arrival(now, time, received);
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
    fn chunks_of_which_about_16_kib_travel() {
        let mut blocks = Blocks::default();
        assert_eq!(blocks.chunk(0), CHUNK);
        for (travels, sizes) in [
            (CHUNK, [CHUNK, CHUNK, CHUNK, CHUNK]),
            (CHUNK / 2, [2 * CHUNK, CHUNK, 2 * CHUNK, CHUNK]),
            (CHUNK / 4, [4 * CHUNK, CHUNK, 2 * CHUNK, CHUNK]),
            (0, [4 * CHUNK, CHUNK, 2 * CHUNK, CHUNK]),
        ] {
            blocks.ratio = Some(travels * 256 / CHUNK);
            let offsets = [0, CHUNK, 2 * CHUNK, 3 * CHUNK];
            assert_eq!(offsets.map(|offset| blocks.chunk(offset)), sizes, "{travels}");
        }
    }
}
