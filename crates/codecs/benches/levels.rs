//! Time, size and memory of a message of 1400 bytes with every codec and level.
//!
//! ```text
//! cargo bench -p groupwire-codecs --bench levels -- [part of a codec's name]
//! ```
//!
//! There are two payloads: `text` is 1400 bytes of English documentation, `binary` has records of
//! counters, times and small numbers. Each run uses many different messages, so that the branch
//! predictor cannot learn one by heart; the time is the best of several runs.

use std::time::{Duration, Instant};

use groupwire_codecs::{ALL, Choice, Codec, Coder, Options};

/// The largest message of the LMC paper. Bytes.
const SIZE: usize = 1400;
/// Different messages of each payload.
const MESSAGES: usize = 32;
/// Timed runs, of which the best counts.
const RUNS: usize = 5;
/// The minimum time of a run.
const RUN: Duration = Duration::from_millis(4);

fn main() {
    // Cargo passes options of its own.
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    println!("{SIZE} bytes; times in ns, memory in bytes");
    println!(
        "{:<14} {:<7} {:>6} {:>9} {:>9} {:>9} {:>9}",
        "codec", "payload", "packed", "compress", "decompr.", "memory c", "memory d"
    );
    for codec in ALL.iter().filter(|codec| codec.name().contains(&wanted)) {
        for level in levels(*codec) {
            for (payload, messages) in [("text", text()), ("binary", binary())] {
                measure(*codec, level, payload, &messages);
            }
        }
    }
}

fn levels(codec: &dyn Codec) -> Vec<Option<i8>> {
    match codec.levels() {
        Some(levels) => (levels.min..=levels.max).map(Some).collect(),
        None => vec![None],
    }
}

fn measure(codec: &dyn Codec, level: Option<i8>, payload: &str, messages: &[Vec<u8>]) {
    let options = Options { level, dictionary: &[] };
    let mut coder: Box<dyn Coder> = codec.coder(&options).expect("the level is one of its own");
    let packed: Vec<Vec<u8>> = messages
        .iter()
        .map(|message| {
            let mut packed = Vec::new();
            coder.compress(message, &mut packed);
            packed
        })
        .collect();
    let mut out = Vec::new();
    let compress = best(messages, |message| {
        out.clear();
        coder.compress(message, &mut out);
    });
    let decompress = best(&packed, |packed| {
        out.clear();
        coder.decompress(packed, SIZE, &mut out).expect("it packed this itself");
    });
    let size = packed.iter().map(Vec::len).sum::<usize>() / packed.len();
    let memory = coder.memory();
    println!(
        "{:<14} {payload:<7} {size:>6} {compress:>9} {decompress:>9} {:>9} {:>9}",
        Choice { level, ..Choice::codec(codec.number()) }.to_string(),
        memory.compress,
        memory.decompress,
    );
}

/// The time of `work` for one of `items`, nanoseconds.
fn best(items: &[Vec<u8>], mut work: impl FnMut(&[u8])) -> u128 {
    let run = |work: &mut dyn FnMut(&[u8])| {
        let start = Instant::now();
        let mut done = 0;
        while start.elapsed() < RUN {
            items.iter().for_each(|item| work(item));
            done += items.len();
        }
        start.elapsed().as_nanos() / done as u128
    };
    (0..RUNS).map(|_| run(&mut work)).min().unwrap_or_default()
}

fn text() -> Vec<Vec<u8>> {
    let pages = [
        &include_bytes!("../../../docs/qos.md")[..],
        include_bytes!("../../../docs/inspector.md"),
        include_bytes!("../../../docs/codecs.md"),
        include_bytes!("../../../docs/laws.md"),
        include_bytes!("../../../CONTRIBUTING.md"),
    ];
    let book = pages.concat();
    let step = (book.len() - SIZE) / MESSAGES;
    (0..MESSAGES).map(|n| book[n * step..][..SIZE].to_vec()).collect()
}

/// Records of 28 bytes: kind, length, a counter, a time, two slowly changing coordinates, a state,
/// a random number.
fn binary() -> Vec<Vec<u8>> {
    let mut random = 1u32;
    let mut next = move || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random >> 16
    };
    let (mut counter, mut time, mut x, mut y) = (1000u32, 1_700_000_000_000u64, 500i32, 400i32);
    let mut message = || {
        let mut message = Vec::with_capacity(SIZE + 28);
        while message.len() < SIZE {
            counter += 1;
            time += u64::from(next() % 40);
            x += (next() % 9) as i32 - 4;
            y += (next() % 9) as i32 - 4;
            message.extend_from_slice(&[3, 28]);
            message.extend_from_slice(&counter.to_be_bytes());
            message.extend_from_slice(&time.to_be_bytes());
            message.extend_from_slice(&x.to_be_bytes());
            message.extend_from_slice(&y.to_be_bytes());
            message.extend_from_slice(&[0, (next() % 4) as u8]);
            message.extend_from_slice(&next().to_be_bytes());
        }
        message.truncate(SIZE);
        message
    };
    (0..MESSAGES).map(|_| message()).collect()
}
