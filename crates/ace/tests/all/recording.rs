//! Recordings of simulated streams: hashes of all blocks and choices are compared with committed
//! ones.
//!
//! A change of structure must not change a hash. A change of the algorithm does; then the message
//! of the failed test shows the new value to commit.

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_ace::{Coders, Duplex, Settings};
use groupwire_codecs::Costs;
use oorandom::Rand64;

/// The step of the simulated time.
const STEP: Duration = Duration::from_micros(250);
/// The one-way delay of the link.
const DELAY: Duration = Duration::from_millis(3);
/// The length of a recording in simulated time.
const LENGTH: Duration = Duration::from_secs(2);
/// The time after which bandwidth and load change.
const PHASE: Duration = Duration::from_millis(250);

#[test]
fn adaptive_streams_are_as_recorded() {
    let settings = Settings::adaptive(Costs::reference());
    assert_eq!(
        [1, 2].map(|seed| record(&settings, seed)),
        ["811bba09cf965dcd 1032 10077704", "db64e3b6f046fb12 1050 10108979"]
    );
}

#[test]
fn adaptive_streams_with_small_blocks_and_no_history_are_as_recorded() {
    let settings =
        Settings { block: 8 << 10, history: 0, ..Settings::adaptive(Costs::reference()) };
    assert_eq!(record(&settings, 3), "447ceda020c053b9 2860 7734809");
}

#[test]
fn streams_of_one_candidate_are_as_recorded() {
    let recorded = ["none", "lz4", "zstd-3+history"]
        .map(|name| record(&Settings::always(name.parse().expect("a candidate")), 5));
    assert_eq!(
        recorded,
        [
            "b06bf178058b23d4 710 20557841",
            "daf20df650279585 976 11637988",
            "22b7fa3cf83a290f 1010 10672826"
        ]
    );
}

/// Simulates a stream and returns a digest of the wire bytes, choices and forecasts of both ends,
/// with the numbers of choices and of digested bytes.
///
/// One end sends text, JSON and noise over a link whose bandwidth changes, between processors whose
/// load changes. The other end sends short flushed messages.
fn record(settings: &Settings, seed: u128) -> String {
    let mut random = Rand64::new(seed);
    let mut digest = Digest::new();
    let mut coders = Coders::new();
    let mut ends = [0, 1].map(|_| Duplex::new(settings).expect("the settings are right"));
    // The bytes in flight to each end, with their time of arrival.
    let mut links: [VecDeque<(Duration, Vec<u8>)>; 2] = [VecDeque::new(), VecDeque::new()];
    let mut waiting: [Vec<u8>; 2] = [Vec::new(), Vec::new()];
    let mut source = Source::new(seed);
    let (mut sent, mut received) = (Digest::new(), Digest::new());
    let (mut blocks, mut now) = (0, Duration::ZERO);
    while now < LENGTH {
        now += STEP;
        let phase = (now.as_nanos() / PHASE.as_nanos()) as usize;
        // In phase 5 the application sends single messages with pauses.
        if phase != 5 || random.rand_range(0..40) == 0 {
            let offered = source.next(phase);
            let taken = ends[0].write(&offered);
            sent.add(&offered[..taken]);
            source.keep(&offered[taken..]);
        }
        if phase == 5 {
            ends[0].flush();
        }
        if random.rand_range(0..200) == 0 {
            ends[1].write(b"a short answer, which is flushed at once");
            ends[1].flush();
        }
        for end in [0, 1] {
            let mut budget = (RATES[phase] * STEP.as_secs_f64()) as usize;
            // At most four blocks in a step. Each call of the clock lets some time pass.
            for _ in 0..4 {
                let load = LOADS[phase];
                let mut clock = || {
                    now += Duration::from_nanos(random.rand_range(2_000..30_000) * load);
                    now
                };
                let worked = ends[end].work(&mut coders, &mut clock).expect("nothing is wrong");
                if !worked {
                    break;
                }
                let report = ends[end].report();
                blocks += 1;
                digest.add(report.candidate.to_string().as_bytes());
                for number in [report.bandwidth, report.forecast.seconds, report.forecast.ratio] {
                    digest.add(&number.to_bits().to_le_bytes());
                }
            }
            while budget > 0 && !ends[end].output().is_empty() {
                let output = ends[end].output();
                let piece = output[..output.len().min(budget)].to_vec();
                budget -= piece.len();
                digest.add(&piece);
                ends[end].sent(now, piece.len());
                links[1 - end].push_back((now + DELAY, piece));
            }
            while links[end].front().is_some_and(|(arrives, _)| *arrives <= now) {
                waiting[end].extend(links[end].pop_front().expect("there is one").1);
            }
            let taken = ends[end].receive(now, &waiting[end]).expect("nothing is wrong");
            waiting[end].drain(..taken);
            if waiting[end].is_empty() {
                ends[end].starved(now);
            }
            let came = ends[end].readable();
            if end == 1 {
                received.add(came);
            }
            let read = came.len();
            ends[end].read(read);
        }
    }
    assert!(received.length > sent.length / 2, "{} of {}", received.length, sent.length);
    format!("{:016x} {blocks} {}", digest.hash, digest.length)
}

/// Bytes per second of the link in each phase: 2 to 200 Mbit/s and 1 Gbit/s.
const RATES: [f64; 9] = [1.25e6, 2.5e5, 2.5e7, 1.25e8, 1.25e6, 1.25e6, 1.25e7, 2.5e5, 1.25e6];
/// The factor by which work takes longer in each phase.
const LOADS: [u64; 9] = [1, 1, 1, 8, 8, 1, 20, 1, 1];

/// The data that the first end sends.
struct Source {
    random: Rand64,
    /// Bytes that the stream has not accepted yet.
    kept: Vec<u8>,
    count: u64,
}

impl Source {
    fn new(seed: u128) -> Self {
        Source { random: Rand64::new(seed + 1000), kept: Vec::new(), count: 0 }
    }

    /// Returns the next 16 KiB, or less in the phase of single messages. Their content alternates
    /// between text, JSON, noise and repeated bytes.
    fn next(&mut self, phase: usize) -> Vec<u8> {
        if !self.kept.is_empty() {
            return std::mem::take(&mut self.kept);
        }
        let mut bytes = Vec::new();
        let length = if phase == 5 { 3000 } else { 16 << 10 };
        while bytes.len() < length {
            self.count += 1;
            let number = self.random.rand_u64();
            match (phase + bytes.len() / 6000) % 4 {
                0 => bytes
                    .extend(format!("line {} says {:04x}\n", self.count, number as u16).bytes()),
                1 => bytes
                    .extend(format!(r#"{{"id":{},"x":{}}},"#, self.count, number % 900).bytes()),
                2 => bytes.extend(number.to_le_bytes()),
                _ => bytes.extend([(self.count / 64) as u8; 40]),
            }
        }
        bytes
    }

    fn keep(&mut self, rest: &[u8]) {
        self.kept = rest.to_vec();
    }
}

/// A 64-bit FNV-1a hash and the number of hashed bytes.
struct Digest {
    hash: u64,
    length: usize,
}

impl Digest {
    fn new() -> Self {
        Digest { hash: 0xcbf2_9ce4_8422_2325, length: 0 }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}
