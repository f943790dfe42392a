//! The throughput of two ends of a stream on one core. The transport takes no time, and the
//! application only counts the bytes that it reads.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use groupwire_ace::{Coders, Duplex, Settings};

/// The bytes that the application writes at once, and the transport accepts at once.
const PIECE: usize = 64 << 10;
const BYTES: usize = 16 << 20;

fn stream(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stream");
    group.sample_size(10).measurement_time(Duration::from_secs(4));
    group.throughput(Throughput::Bytes(BYTES as u64));
    let text = text();
    let mut buffer = vec![0; PIECE];
    group.bench_function("copied once", |bencher| {
        bencher.iter(|| {
            for piece in text.chunks(PIECE) {
                black_box(&mut buffer[..piece.len()]).copy_from_slice(piece);
            }
        });
    });
    for name in ["none", "lz4", "zstd-1", "zstd-1+history"] {
        let settings = Settings::always(name.parse().expect("a candidate"));
        let mut pair = Pair::new(&settings);
        pair.carry(&text);
        group.bench_function(name, |bencher| bencher.iter(|| pair.carry(&text)));
    }
    group.finish();
}

criterion_group!(benches, stream);
criterion_main!(benches);

struct Pair {
    ends: [Duplex; 2],
    coders: Coders,
    ticks: u32,
}

impl Pair {
    fn new(settings: &Settings) -> Self {
        let ends = [0, 1].map(|_| Duplex::new(settings).expect("the settings are right"));
        Pair { ends, coders: Coders::new(), ticks: 0 }
    }

    fn carry(&mut self, mut bytes: &[u8]) {
        let mut missing = bytes.len();
        while missing > 0 {
            let taken = self.ends[0].write(bytes);
            bytes = &bytes[taken..];
            if bytes.is_empty() {
                self.ends[0].flush();
            }
            self.work(0);
            self.pass(0);
            self.work(1);
            self.pass(1);
            let piece = self.ends[1].readable();
            let piece = &piece[..piece.len().min(PIECE)];
            missing -= piece.len();
            black_box(piece);
            let read = piece.len();
            self.ends[1].read(read);
        }
    }

    fn work(&mut self, end: usize) {
        let ticks = &mut self.ticks;
        let mut clock = || {
            *ticks += 1;
            Duration::from_micros((*ticks).into())
        };
        self.ends[end].work(&mut self.coders, &mut clock).expect("all is well");
    }

    /// Moves output of one end to the other end.
    fn pass(&mut self, end: usize) {
        let now = Duration::from_micros(self.ticks.into());
        let [first, second] = &mut self.ends;
        let (from, to) = if end == 0 { (first, second) } else { (second, first) };
        loop {
            let bytes = from.output();
            let bytes = &bytes[..bytes.len().min(PIECE)];
            let taken = to.receive(now, bytes).expect("all is well");
            if taken == 0 {
                return;
            }
            from.sent(now, taken);
        }
    }
}

fn text() -> Vec<u8> {
    let mut random = oorandom::Rand32::new(7);
    let mut text = Vec::with_capacity(BYTES + 40);
    while text.len() < BYTES {
        let line = format!("{} at {:08x}; ", random.rand_range(0..90), random.rand_u32());
        text.extend_from_slice(line.as_bytes());
    }
    text.truncate(BYTES);
    text
}
