//! Packed chunks of snapshots: each is made once for all who are sent it by the same codec.

use alloc::boxed::Box;
use core::time::Duration;

use groupwire_codecs::Choice;

use crate::ids::Position;
use crate::map::Map;
use crate::packing::Packing;
use crate::packing::idle::Idle;

/// Octets of packed chunks that are kept, at most. Then the oldest snapshot's first ones go.
const MAX_BYTES: usize = 4 << 20;

/// What an entry costs beside its octets.
const FLAT: usize = 96;

/// Which chunk: the position that its snapshot stands for, where it begins, and its octets.
pub(crate) type Place = (Position, usize, usize);

/// Packed chunks of a room's snapshots.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    chunks: Map<(Place, Choice), Packed>,
    bytes: usize,
    idle: Idle,
}

#[derive(Debug)]
struct Packed {
    /// `None`: it would not be smaller.
    octets: Option<Box<[u8]>>,
    /// What packing it took.
    took: Duration,
}

impl Packed {
    fn cost(&self) -> usize {
        FLAT + self.octets.as_ref().map_or(0, |octets| octets.len())
    }
}

impl Cache {
    /// Packs a chunk, unless that was done; returns the octets of its packed form, if it is smaller, and what packing took.
    pub(crate) fn pack(
        &mut self,
        place: Place,
        choice: Choice,
        chunk: &[u8],
        packing: &mut Packing,
    ) -> (Option<usize>, Duration) {
        self.idle.used();
        if let Some(known) = self.chunks.get(&(place, choice)) {
            return (known.octets.as_ref().map(|octets| octets.len()), known.took);
        }
        let (made, took) = packing.pack_block(choice, chunk);
        let packed = Packed { octets: made.map(|_| packing.packed().into()), took };
        while self.bytes + packed.cost() > MAX_BYTES && self.drop_first() {}
        self.bytes += packed.cost();
        self.chunks.insert((place, choice), packed);
        (made, took)
    }

    /// The packed form of a chunk.
    pub(crate) fn get(&self, place: Place, choice: Choice) -> Option<&[u8]> {
        self.chunks.get(&(place, choice))?.octets.as_deref()
    }

    /// Gives all back if it was of no use for long. To be called now and then.
    pub(crate) fn rest(&mut self, now: Duration) {
        if self.idle.is_over(now) {
            self.release();
        }
    }

    /// Gives all back.
    pub(crate) fn release(&mut self) {
        (self.chunks, self.bytes) = (Map::new(), 0);
    }

    /// Octets that it holds.
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

    #[test]
    fn w55_a_chunk_is_packed_once_and_given_back_after_a_rest() {
        let (mut cache, mut packing) = (Cache::default(), Packing::new(ALL, Costs::reference()));
        let chunk = b"again and again and again and again and again";
        let made = cache.pack((Position(7), 0, 45), LZ4, chunk, &mut packing);
        assert_eq!(cache.get((Position(7), 0, 45), LZ4).map(<[u8]>::len), made.0);
        assert_eq!(cache.pack((Position(7), 0, 45), LZ4, b"not looked at", &mut packing), made);
        assert_eq!(cache.pack((Position(7), 45, 3), LZ4, b"abc", &mut packing).0, None);
        assert_eq!(cache.get((Position(7), 45, 3), LZ4), None);
        for seconds in [100, 109] {
            cache.rest(Duration::from_secs(seconds));
            assert_ne!(cache.memory(), 0);
        }
        cache.rest(Duration::from_secs(110));
        assert_eq!(cache.memory(), 0);
    }

    #[test]
    fn octets_are_bounded_and_the_oldest_go() {
        let (mut cache, mut packing) = (Cache::default(), Packing::new(ALL, Costs::reference()));
        let mut state = 1u32;
        // Half noise, half nothing: it becomes half.
        let mut chunk: Vec<u8> = vec![0; 65_536];
        for octet in &mut chunk[..32_768] {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *octet = (state >> 24) as u8;
        }
        for nth in 0..200 {
            let place = (Position(nth), 0, chunk.len());
            assert!(cache.pack(place, LZ4, &chunk, &mut packing).0.is_some());
            assert!(cache.memory() <= MAX_BYTES);
        }
        assert!(cache.chunks.first().unwrap().0.0.0 > Position(50));
    }
}
