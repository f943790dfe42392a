//! A cache of packed chunks of snapshots. Each chunk is packed once for all receivers for which the
//! same codec is chosen (wire W55).

use alloc::boxed::Box;
use core::time::Duration;

use groupwire_codecs::Choice;

use crate::ids::{ChannelNo, Position};
use crate::map::Map;
use crate::packing::codecs::Packing;
use crate::packing::idle::Idle;

/// The most bytes in the cache. Beyond it the first chunks of the oldest snapshot are dropped.
const MAX_BYTES: usize = 4 << 20;

/// The estimated memory of an entry, in bytes, without the packed chunk.
const FLAT: usize = 96;

/// Identifies a chunk: the position and the first channel of its part, its offset, and its size in
/// bytes.
pub(crate) type ChunkKey = ((Position, ChannelNo), usize, usize);

/// Packed chunks of a room's snapshots.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    chunks: Map<(ChunkKey, Choice), Packed>,
    bytes: usize,
    idle: Idle,
}

/// A chunk that was packed by one codec.
#[derive(Debug)]
struct Packed {
    /// The packed chunk. `None` if it would not be smaller than the chunk.
    bytes: Option<Box<[u8]>>,
    /// The time that packing took.
    took: Duration,
}

impl Packed {
    fn cost(&self) -> usize {
        FLAT + self.bytes.as_ref().map_or(0, |bytes| bytes.len())
    }
}

impl Cache {
    /// Packs a chunk, unless its packed form is in the cache. Returns the size of the packed form
    /// in bytes (`None` if it is not smaller than the chunk), and the time that packing took when
    /// the chunk was packed.
    pub(crate) fn pack(
        &mut self,
        place: ChunkKey,
        choice: Choice,
        chunk: &[u8],
        packing: &mut Packing,
    ) -> (Option<usize>, Duration) {
        self.idle.used();
        if let Some(known) = self.chunks.get(&(place, choice)) {
            return (known.bytes.as_ref().map(|bytes| bytes.len()), known.took);
        }
        let (made, took) = packing.pack_block(choice, chunk);
        let packed = Packed { bytes: made.map(|_| packing.packed().into()), took };
        while self.bytes + packed.cost() > MAX_BYTES && self.drop_first() {}
        self.bytes += packed.cost();
        self.chunks.insert((place, choice), packed);
        (made, took)
    }

    /// The packed form of a chunk. `None` if the cache does not have it, or if it is not smaller
    /// than the chunk.
    pub(crate) fn get(&self, place: ChunkKey, choice: Choice) -> Option<&[u8]> {
        self.chunks.get(&(place, choice))?.bytes.as_deref()
    }

    /// Empties the cache if it has not been used for some time. The owner calls this regularly.
    pub(crate) fn release_if_idle(&mut self, now: Duration) {
        if self.idle.is_over(now) {
            self.release();
        }
    }

    /// Empties the cache.
    pub(crate) fn release(&mut self) {
        (self.chunks, self.bytes) = (Map::new(), 0);
    }

    /// The memory of the cache, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.bytes
    }

    fn drop_first(&mut self) -> bool {
        let Some(packed) = self.chunks.pop_first() else { return false };
        self.bytes -= packed.cost();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groupwire_codecs::{ALL, Costs};
    use std::vec;
    use std::vec::Vec;

    const LZ4: Choice = Choice::codec(1);
    const PART: (Position, ChannelNo) = (Position(7), ChannelNo(1));

    #[test]
    fn w55_a_chunk_is_packed_once_and_dropped_when_unused() {
        let (mut cache, mut packing) = (Cache::default(), Packing::new(ALL, Costs::reference()));
        let chunk = b"again and again and again and again and again";
        let made = cache.pack((PART, 0, 45), LZ4, chunk, &mut packing);
        assert_eq!(cache.get((PART, 0, 45), LZ4).map(<[u8]>::len), made.0);
        assert_eq!(cache.pack((PART, 0, 45), LZ4, b"not looked at", &mut packing), made);
        assert_eq!(cache.pack((PART, 45, 3), LZ4, b"abc", &mut packing).0, None);
        assert_eq!(cache.get((PART, 45, 3), LZ4), None);
        for seconds in [100, 109] {
            cache.release_if_idle(Duration::from_secs(seconds));
            assert_ne!(cache.memory(), 0);
        }
        cache.release_if_idle(Duration::from_secs(110));
        assert_eq!(cache.memory(), 0);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_chunks_are_dropped() {
        let (mut cache, mut packing) = (Cache::default(), Packing::new(ALL, Costs::reference()));
        let mut state = 1u32;
        // The chunk is half random bytes and half zeros, so that LZ4 packs it to about half its
        // size.
        let mut chunk: Vec<u8> = vec![0; 65_536];
        for byte in &mut chunk[..32_768] {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (state >> 24) as u8;
        }
        for nth in 0..200 {
            let place = ((Position(nth), ChannelNo(1)), 0, chunk.len());
            assert!(cache.pack(place, LZ4, &chunk, &mut packing).0.is_some());
            assert!(cache.memory() <= MAX_BYTES);
        }
        assert!(cache.chunks.first().unwrap().0.0.0.0 > Position(50));
    }
}
