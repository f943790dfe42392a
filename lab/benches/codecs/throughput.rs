//! The speed of every codec with messages of 500 and 1400 bytes and blocks of 32 KiB, with coders
//! that reuse their memory.
//!
//! ```text
//! cargo bench -p groupwire-benches --bench codecs_throughput                all codecs
//! cargo bench -p groupwire-benches --bench codecs_throughput -- 'lzo|lz4'   some codecs
//! ```
//!
//! The messages are pieces of the files of the Calgary corpus, if they lie in `shared/data/corpus`
//! beside the repository, else of a generated text. The compression ratios are printed first.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use groupwire_codecs::{ALL, Options};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/corpus/calgary");
const SIZES: [usize; 3] = [500, 1400, 32 << 10];

/// Pieces of each size.
const PIECES: usize = 60;
/// The limit for decompression, bytes: above all sizes.
const LIMIT: usize = 1 << 20;

fn messages(criterion: &mut Criterion) {
    let files = files();
    for size in SIZES {
        let pieces = pieces(&files, size);
        let total: usize = pieces.iter().map(Vec::len).sum();
        for codec in ALL {
            let Ok(mut coder) = codec.coder(&Options::default()) else { continue };
            let packed: Vec<Vec<u8>> = pieces
                .iter()
                .map(|piece| {
                    let mut packed = Vec::new();
                    coder.compress(piece, &mut packed);
                    packed
                })
                .collect();
            let small: usize = packed.iter().map(Vec::len).sum();
            println!("{} of {size}: {:.3}", codec.name(), small as f64 / total as f64);

            let mut group = criterion.benchmark_group(format!("{size}"));
            group.throughput(Throughput::Bytes(total as u64));
            let mut out = Vec::new();
            group.bench_function(BenchmarkId::new("compress", codec.name()), |bencher| {
                bencher.iter(|| {
                    for piece in &pieces {
                        out.clear();
                        coder.compress(black_box(piece), &mut out);
                    }
                });
            });
            group.bench_function(BenchmarkId::new("decompress", codec.name()), |bencher| {
                bencher.iter(|| {
                    for packed in &packed {
                        out.clear();
                        coder.decompress(black_box(packed), LIMIT, &mut out).expect("our own");
                    }
                });
            });
            group.finish();
        }
    }
}

/// Evenly spaced pieces of all files, the same number of each.
fn pieces(files: &[Vec<u8>], size: usize) -> Vec<Vec<u8>> {
    let each = PIECES.div_ceil(files.len());
    let long = files.iter().filter(|file| file.len() >= size);
    long.flat_map(|file| {
        let step = (file.len() - size) / each;
        (0..each).map(move |index| file[index * step..][..size].to_vec())
    })
    .collect()
}

fn files() -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = match fs::read_dir(Path::new(CORPUS)) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => Vec::new(),
    };
    paths.sort();
    let files: Vec<_> = paths.iter().filter_map(|path| fs::read(path).ok()).collect();
    if files.is_empty() {
        println!("no corpus: a generated text");
        return vec![generated()];
    }
    files
}

/// Words of a small vocabulary, in which the first words are frequent.
fn generated() -> Vec<u8> {
    let mut state = 1u32;
    let mut random = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let vocabulary: Vec<Vec<u8>> = (0..2000)
        .map(|_| (0..2 + random(8)).map(|_| b'a' + random(26) as u8).chain([b' ']).collect())
        .collect();
    let mut text = Vec::new();
    while text.len() < 200_000 {
        let most = 1 + random(2000);
        text.extend_from_slice(&vocabulary[random(most) as usize]);
    }
    text
}

criterion_group!(benches, messages);
criterion_main!(benches);
