//! Packing one large message as independent blocks on several threads, which the LMC paper leaves
//! to future work (section 13).
//!
//! A product needs no other format for that: large payloads and snapshots travel as blocks that are
//! packed alone (wire W52 to W54), each of at most 65,536 bytes.

use std::thread;
use std::time::{Duration, Instant};

use groupwire_codecs::{ALL, Choice, Packer};

use super::contender::Contender;
use super::payload::Payload;
use super::row::{Part, row};
use crate::options::Common;
use crate::{Result, Row};

/// The sizes of large messages, in bytes.
const SIZES: [usize; 2] = [256 << 10, 1 << 20];
/// The largest block of the wire format (W53).
const BLOCK: usize = 65_536;
/// The numbers of threads.
const THREADS: [usize; 3] = [1, 2, 4];
/// Fast codecs, those of today's servers, and the paper's slowest.
const CODECS: [&str; 6] = ["lz4", "lzo", "zstd-1", "zstd", "zlib", "lzma"];
/// The number of measurements, of which the shortest counts: other work of the machine makes
/// threads wait for each other.
const ROUNDS: usize = 30;

/// The rows: each message packed as a whole, and as blocks by 1, 2 and 4 threads.
///
/// # Errors
/// A codec fails, or unpacks something else.
pub(super) fn rows(payload: &Payload, common: &Common) -> Result<Vec<Row>> {
    let rounds = common.quick_or(1, ROUNDS);
    let mut rows = Vec::new();
    for size in SIZES {
        let Some(message) = payload.messages(size, 1, common.seed).pop() else { continue };
        for choice in CODECS.iter().filter_map(|name| name.parse().ok()) {
            let whole = Packing { choice, message: &message, block: size, threads: 1 };
            let blocks = THREADS.map(|threads| Packing { block: BLOCK, threads, ..whole });
            let mut alone = None;
            for packing in [whole].into_iter().chain(blocks) {
                let (bytes, time) = packing.measure(rounds)?;
                let alone = *alone.get_or_insert(time);
                rows.push(
                    row(
                        Part::Parallel,
                        Contender::Fixed(choice),
                        (payload, size),
                        (None, 0),
                        common,
                    )
                    .with("messages", rounds)
                    .with("distinct", 1)
                    .with("block_bytes", packing.block)
                    .with("threads", packing.threads)
                    .with("ratio", size as f64 / bytes as f64)
                    .with("pack_us", time.as_secs_f64() * 1e6)
                    .with("speedup", alone.as_secs_f64() / time.as_secs_f64()),
                );
            }
        }
    }
    Ok(rows)
}

/// A message, and how it is packed.
#[derive(Clone, Copy)]
struct Packing<'a> {
    choice: Choice,
    message: &'a [u8],
    /// Bytes of each block but the last.
    block: usize,
    threads: usize,
}

impl Packing<'_> {
    /// The packed bytes, and the shortest of the times, threads and their start included.
    fn measure(&self, rounds: usize) -> Result<(usize, Duration)> {
        let mut workers: Vec<_> = (0..self.threads).map(|_| Worker::default()).collect();
        // A warm-up: workers allocate their memory.
        let packed = self.pack(&mut workers)?;
        self.check(&packed)?;
        let mut shortest = Duration::MAX;
        for _ in 0..rounds {
            let start = Instant::now();
            self.pack(&mut workers)?;
            shortest = shortest.min(start.elapsed());
        }
        Ok((packed.iter().map(Vec::len).sum(), shortest))
    }

    /// Packs all blocks: each thread a run of neighbours.
    fn pack(&self, workers: &mut [Worker]) -> Result<Vec<Vec<u8>>> {
        let blocks: Vec<&[u8]> = self.message.chunks(self.block).collect();
        let share = blocks.len().div_ceil(workers.len());
        let packed = thread::scope(|scope| {
            let mut work = workers.iter_mut().zip(blocks.chunks(share));
            // The caller's thread takes a share, too.
            let own = work.next();
            let others: Vec<_> = work
                .map(|(worker, blocks)| scope.spawn(|| worker.pack(self.choice, blocks)))
                .collect();
            let own = own.map(|(worker, blocks)| worker.pack(self.choice, blocks));
            let others = others.into_iter().map(|other| other.join().expect("no worker panics"));
            own.into_iter().chain(others).collect::<std::result::Result<Vec<_>, String>>()
        });
        Ok(packed?.concat())
    }

    fn check(&self, packed: &[Vec<u8>]) -> Result<()> {
        let (mut packer, mut back) = (Packer::new(ALL), Vec::new());
        for block in packed {
            packer.unpack(block, self.block, &mut back)?;
        }
        match back == self.message {
            true => Ok(()),
            false => Err("what was unpacked is not what was packed".into()),
        }
    }
}

/// The memory of one thread.
struct Worker(Packer);

impl Default for Worker {
    fn default() -> Self {
        Worker(Packer::new(ALL))
    }
}

impl Worker {
    fn pack(
        &mut self,
        choice: Choice,
        blocks: &[&[u8]],
    ) -> std::result::Result<Vec<Vec<u8>>, String> {
        let pack = |block: &&[u8]| {
            let mut packed = Vec::new();
            self.0.pack(choice, block, &mut packed).map_err(|error| error.to_string())?;
            Ok(packed)
        };
        blocks.iter().map(pack).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_any_number_of_threads_are_the_message() {
        let message: Vec<u8> = (0..300_000_u32).map(|n| (n.wrapping_mul(n) >> 9) as u8).collect();
        let choice = "zstd-1".parse().unwrap();
        let packed = |block, threads| {
            let packing = Packing { choice, message: &message, block, threads };
            let mut workers: Vec<_> = (0..threads).map(|_| Worker::default()).collect();
            let packed = packing.pack(&mut workers).unwrap();
            packing.check(&packed).unwrap();
            assert!(packing.check(&packed[1..]).is_err());
            packed
        };
        let alone = packed(BLOCK, 1);
        assert_eq!(alone.len(), 5);
        for threads in [2, 4, 9] {
            assert_eq!(packed(BLOCK, threads), alone);
        }
        assert_eq!(packed(message.len(), 1).len(), 1);
    }
}
