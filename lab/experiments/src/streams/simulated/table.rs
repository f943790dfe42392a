//! The sizes and times of every candidate for every block of some files, measured once with the
//! real codecs.

use groupwire_ace::Candidate;
use groupwire_codecs::{Choice, Options, by_number};
use zstd::zstd_safe::{CCtx, CParameter, DCtx, DParameter, FrameFormat, compress_bound};

use super::clock;

/// Bytes before a block that may serve as its history.
const HISTORY: usize = 128 << 10;
/// A candidate that takes less than this, in ns, is timed three times, and the median counts.
const CHEAP: u64 = 2_000_000;

/// A file to be sent.
#[derive(Debug, Clone)]
pub(in crate::streams) struct File {
    /// Its name.
    pub(in crate::streams) name: String,
    /// Its content.
    pub(in crate::streams) bytes: Vec<u8>,
}

/// The result of one candidate for one block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::streams) struct Cell {
    /// Bytes on the wire, without the header.
    pub(in crate::streams) wire: u32,
    /// The time of packing, in ns of a processor that does nothing else.
    pub(in crate::streams) packing: u32,
    /// The time of unpacking, in the same unit.
    pub(in crate::streams) unpacking: u32,
}

/// All blocks of some files by all candidates.
#[derive(Debug)]
pub(in crate::streams) struct Table {
    /// The bytes of a block.
    pub(in crate::streams) block: usize,
    /// The candidates, no compression first.
    pub(in crate::streams) candidates: Vec<Candidate>,
    files: Vec<File>,
    /// The cells, by file, block and candidate.
    cells: Vec<Vec<Vec<Cell>>>,
}

impl Table {
    /// Measures the cells.
    pub(in crate::streams) fn new(
        files: Vec<File>,
        block: usize,
        candidates: Vec<Candidate>,
        emit: &mut dyn FnMut(usize, usize),
    ) -> Table {
        let mut table = Table { block, candidates, files, cells: Vec::new() };
        table.measure(emit);
        table
    }

    /// The blocks of all files, or of one, one after the other, repeated until there are `bytes`
    /// bytes.
    pub(in crate::streams) fn trace(&self, file: Option<usize>, bytes: usize) -> Trace<'_> {
        let chosen = |at: &usize| file.is_none_or(|file| file == *at);
        let once: Vec<(&[u8], &[Cell])> = (0..self.files.len())
            .filter(chosen)
            .flat_map(|at| {
                let blocks = self.files[at].bytes.chunks(self.block);
                blocks.zip(self.cells[at].iter().map(Vec::as_slice))
            })
            .collect();
        let mut total = 0;
        let blocks = once.iter().cycle().take_while(|(block, _)| {
            let is_wanted = total < bytes;
            total += block.len();
            is_wanted
        });
        Trace { blocks: blocks.copied().collect(), candidates: &self.candidates }
    }

    /// The files.
    pub(in crate::streams) fn files(&self) -> &[File] {
        &self.files
    }

    fn measure(&mut self, emit: &mut dyn FnMut(usize, usize)) {
        let total = self.files.len() * self.candidates.len();
        for (nth, file) in self.files.iter().enumerate() {
            let blocks = file.bytes.len().div_ceil(self.block);
            let mut cells = vec![Vec::with_capacity(self.candidates.len()); blocks];
            for (kth, candidate) in self.candidates.iter().enumerate() {
                emit(nth * self.candidates.len() + kth, total);
                let mut bench = Bench::new(*candidate);
                for (at, cells) in cells.iter_mut().enumerate() {
                    let start = at * self.block;
                    let end = file.bytes.len().min(start + self.block);
                    let history = &file.bytes[start.saturating_sub(HISTORY)..start];
                    cells.push(bench.cell(&file.bytes[start..end], history));
                }
            }
            self.cells.push(cells);
        }
    }
}

/// Blocks to be sent, in order.
#[derive(Debug, Clone)]
pub(in crate::streams) struct Trace<'a> {
    /// The content of each block, and its cells by candidate.
    pub(in crate::streams) blocks: Vec<(&'a [u8], &'a [Cell])>,
    /// The candidates.
    pub(in crate::streams) candidates: &'a [Candidate],
}

impl Trace<'_> {
    /// The number of all bytes.
    pub(in crate::streams) fn bytes(&self) -> usize {
        self.blocks.iter().map(|(block, _)| block.len()).sum()
    }
}

/// Times one candidate.
struct Bench {
    candidate: Candidate,
    coder: Option<Box<dyn groupwire_codecs::Coder>>,
}

impl Bench {
    fn new(candidate: Candidate) -> Self {
        let Choice { codec, level, .. } = candidate.choice;
        let options = Options { level, dictionary: &[] };
        let coder = by_number(codec).and_then(|codec| codec.coder(&options).ok());
        Bench { candidate, coder }
    }

    fn cell(&mut self, block: &[u8], history: &[u8]) -> Cell {
        let first = self.times(block, history);
        if u64::from(first.packing) > CHEAP {
            return first;
        }
        let [second, third] = [self.times(block, history), self.times(block, history)];
        let median = |of: fn(&Cell) -> u32| {
            let mut times = [of(&first), of(&second), of(&third)];
            times.sort_unstable();
            times[1]
        };
        Cell {
            packing: median(|cell| cell.packing),
            unpacking: median(|cell| cell.unpacking),
            ..first
        }
    }

    fn times(&mut self, block: &[u8], history: &[u8]) -> Cell {
        // The stream packs from memory into memory that are both allocated already.
        let mut packed = vec![1; compress_bound(block.len()) + 1024];
        let mut plain = vec![1; block.len()];
        packed.clear();
        plain.clear();
        let start = clock::cpu();
        self.pack(block, history, &mut packed);
        let packing = clock::cpu() - start;
        let as_it_is = packed.len() >= block.len();
        let start = clock::cpu();
        match as_it_is {
            true => plain.extend_from_slice(block),
            false => self.unpack(&packed, history, block.len(), &mut plain),
        }
        let unpacking = clock::cpu() - start;
        assert!(plain == block, "{} does not read what it wrote", self.candidate);
        let wire = packed.len().min(block.len()) as u32;
        let nanos = |time: std::time::Duration| time.as_nanos().min(u32::MAX.into()) as u32;
        Cell { wire, packing: nanos(packing), unpacking: nanos(unpacking) }
    }

    fn pack(&mut self, block: &[u8], history: &[u8], packed: &mut Vec<u8>) {
        if self.candidate.history {
            let mut context = CCtx::create();
            let level = self.candidate.choice.level.unwrap_or(3).into();
            let parameters = [
                CParameter::CompressionLevel(level),
                CParameter::Format(FrameFormat::Magicless),
                CParameter::DictIdFlag(false),
            ];
            for parameter in parameters {
                context.set_parameter(parameter).expect("the parameters are valid");
            }
            context.ref_prefix(history).expect("a prefix of any length");
            context.compress2(packed, block).expect("there is room");
        } else if let Some(coder) = &mut self.coder {
            coder.compress(block, packed);
        }
    }

    fn unpack(&mut self, packed: &[u8], history: &[u8], limit: usize, plain: &mut Vec<u8>) {
        if self.candidate.history {
            let mut context = DCtx::create();
            let format = DParameter::Format(FrameFormat::Magicless);
            context.set_parameter(format).expect("the parameters are valid");
            context.ref_prefix(history).expect("a prefix of any length");
            context.decompress(plain, packed).expect("what was packed");
        } else if let Some(coder) = &mut self.coder {
            coder.decompress(packed, limit, plain).expect("what was packed");
        }
    }
}
