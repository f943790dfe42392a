//! Tests of the policy on simulated networks whose conditions are given by a [`Script`]. A probe is
//! a block that is compressed only to find out whether compression pays; a ratio is compressed
//! bytes per plain byte.

use super::*;

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use groupwire_ace::Coders;
use groupwire_codecs::Choice;

const BLOCK: usize = 32 << 10;
const LZO: Choice = Choice::codec(4);
const ZLIB: Choice = Choice::codec(2);
const BZIP2: Choice = Choice::codec(9);
const ALL: u16 = u16::MAX;

/// A training run with simple costs: LZO compresses a block in 0.1 ms, zlib in 1 ms and bzip2 in 4
/// ms, whatever the ratio. Decompression takes a fifth of these times. If LZO has the ratio r, zlib
/// has 0.8 r and bzip2 0.7 r.
fn training() -> Training {
    let factors = [1.0, 0.8, 0.7];
    let codec = |place: usize, number, seconds: f64| training::Trained {
        choice: Choice::codec(number),
        ratio: 0.5 * factors[place],
        packing: LinearFit { at_zero: seconds, slope: 0.0, r2: 1.0 },
        unpacking: LinearFit { at_zero: seconds / 5.0, slope: 0.0, r2: 1.0 },
        ratios: factors
            .iter()
            .map(|to| LinearFit { at_zero: 0.0, slope: to / factors[place], r2: 1.0 })
            .collect(),
    };
    let codecs = vec![codec(0, 4, 1e-4), codec(1, 2, 1e-3), codec(2, 9, 4e-3)];
    Training { block: BLOCK, codecs }
}

/// The conditions of a scripted network.
struct Script {
    /// Bytes per second.
    bandwidth: f64,
    /// The one-way delay in seconds.
    latency: f64,
    /// The share of the processor that is available, at this end and at the other one.
    local: f64,
    remote: f64,
    /// The ratio of LZO.
    ratio: f64,
    /// The seconds between the writes of blocks; 0 if more data are always waiting.
    writes: f64,
    /// Whether the next block is written only after the last one was acknowledged.
    one_by_one: bool,
}

const CAMPUS: Script = Script {
    bandwidth: 8.9e6,
    latency: 0.0005,
    local: 1.0,
    remote: 1.0,
    ratio: 0.5,
    writes: 0.0,
    one_by_one: false,
};

/// A simulated stream: sends blocks and reports their results to the policy.
struct SimulatedStream {
    policy: Ace2005,
    now: f64,
    /// The times at which the link, and the other end's processor, will have finished the blocks in
    /// flight.
    wire_free: f64,
    other_free: f64,
    last_sent: f64,
    /// Acknowledgements on their way: the time of arrival, the content without the round trip, and
    /// the time at which the block had been compressed.
    acknowledgements: VecDeque<(f64, Delivered, f64)>,
    in_flight: VecDeque<usize>,
    last_received: f64,
}

impl SimulatedStream {
    fn new() -> Self {
        let mut policy = Ace2005::new(training(), BLOCK);
        policy.peer_has(ALL, false);
        SimulatedStream {
            policy,
            now: 0.0,
            wire_free: 0.0,
            other_free: 0.0,
            last_sent: 0.0,
            acknowledgements: VecDeque::new(),
            in_flight: VecDeque::new(),
            last_received: 0.0,
        }
    }

    /// Sends `blocks` blocks and returns the choices.
    fn send(&mut self, blocks: usize, script: &Script) -> Vec<Choice> {
        (0..blocks).map(|_| self.block(BLOCK, script)).collect()
    }

    fn block(&mut self, plain: usize, script: &Script) -> Choice {
        self.now += script.writes;
        self.receive();
        while !self.in_flight.is_empty()
            && (script.one_by_one || self.in_flight.iter().sum::<usize>() >= self.policy.window())
        {
            self.now = self.now.max(self.acknowledgements[0].0);
            self.receive();
        }
        let situation = Situation {
            more: if script.writes > 0.0 || script.one_by_one { 0 } else { plain },
            in_flight: self.in_flight.iter().sum(),
            ..Situation::default()
        };
        let candidate =
            self.policy.choose(seconds(self.now), &vec![0; plain], &situation).candidate;
        let (packing, unpacking, factor) = match candidate.choice {
            LZO => (1e-4, 2e-5, 1.0),
            ZLIB => (1e-3, 2e-4, 0.8),
            BZIP2 => (4e-3, 8e-4, 0.7),
            _ => (2e-6, 2e-6, f64::INFINITY),
        };
        let wire = ((plain as f64 * script.ratio * factor) as usize).min(plain);
        let took = packing / script.local;
        self.now += took;
        let packed = Packed { candidate, plain, wire, took: seconds(took) };
        self.policy.packed(seconds(self.now), &packed);
        self.deliver(wire + 4, unpacking / script.remote, script);
        candidate.choice
    }

    fn deliver(&mut self, wire: usize, unpacking: f64, script: &Script) {
        self.wire_free = self.wire_free.max(self.now) + wire as f64 / script.bandwidth;
        let comes = self.wire_free + script.latency;
        let begins = comes.max(self.other_free);
        let waited = (comes - self.other_free.max(self.last_sent)).max(0.0);
        self.other_free = begins + unpacking;
        let delivered = Delivered {
            blocks: 1,
            wire,
            unpacking: seconds(unpacking),
            span: seconds(self.other_free - self.last_sent),
            waited: seconds(waited),
            round_trip: Duration::ZERO,
            backlogged: false,
        };
        self.last_sent = self.other_free;
        self.acknowledgements.push_back((self.other_free + script.latency, delivered, self.now));
        self.in_flight.push_back(wire);
    }

    /// Reports the acknowledgements that have arrived to the policy.
    fn receive(&mut self) {
        while self.acknowledgements.front().is_some_and(|(arrives, ..)| *arrives <= self.now) {
            let Some((at, delivered, handed)) = self.acknowledgements.pop_front() else { return };
            self.in_flight.pop_front();
            let round_trip = seconds(at - handed);
            let backlogged = handed <= self.last_received;
            self.last_received = at;
            self.policy.delivered(seconds(at), &Delivered { round_trip, backlogged, ..delivered });
        }
    }

    fn bandwidth(&self) -> f64 {
        self.policy.forecast().bandwidth
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// The number of choices that equal `of`.
fn count(choices: &[Choice], of: Choice) -> usize {
    choices.iter().filter(|choice| **choice == of).count()
}

#[test]
fn choices_converge_to_the_best_of_the_pipeline_model() {
    // The network takes 3.7 ms for an uncompressed block, 1.84 ms with LZO and 1.47 ms with zlib.
    // bzip2 takes 4 ms to compress it.
    let mut stream = SimulatedStream::new();
    let first = stream.send(40, &CAMPUS);
    assert_eq!(first[..2], [Choice::NONE; 2]);
    let later = stream.send(400, &CAMPUS);
    assert!(count(&later, ZLIB) > 390, "{later:?}");
    assert!(stream.policy.forecast().is_pipeline);
    let bandwidth = stream.bandwidth();
    assert!((8.5e6..9.3e6).contains(&bandwidth), "{bandwidth}");
}

#[test]
fn a_slow_network_is_worth_the_slowest_codec() {
    let slow = Script { bandwidth: 212_500.0, latency: 0.035, ..CAMPUS };
    let mut stream = SimulatedStream::new();
    stream.send(20, &slow);
    let later = stream.send(100, &slow);
    assert!(count(&later, BZIP2) > 95, "{later:?}");
}

#[test]
fn a_fast_network_is_worth_none() {
    // The network takes 26 µs to transmit a block, and LZO takes 100 µs to compress it.
    let fast = Script { bandwidth: 1.25e9, latency: 0.0001, ..CAMPUS };
    let mut stream = SimulatedStream::new();
    stream.send(100, &fast);
    let later = stream.send(10_000, &fast);
    let none = count(&later, Choice::NONE);
    // The policy probes, less and less often.
    assert!((9_600..10_000).contains(&none), "{none}");
    let last = stream.send(10_000, &fast);
    assert!(count(&last, Choice::NONE) > none);
}

#[test]
fn a_loaded_processor_gets_a_faster_codec() {
    // With a tenth of the processor zlib takes 10 ms and LZO 1 ms.
    for loaded in [Script { local: 0.1, ..CAMPUS }, Script { remote: 0.04, ..CAMPUS }] {
        let mut stream = SimulatedStream::new();
        stream.send(50, &CAMPUS);
        stream.send(50, &loaded);
        let later = stream.send(200, &loaded);
        assert!(count(&later, LZO) > 180, "{later:?}");
        let forecast = stream.policy.forecast();
        let loads = (forecast.local_load, forecast.remote_load);
        assert!((loads.0 - 1.0 / loaded.local).abs() < 1.0, "{loads:?}");
        assert!((loads.1 - 1.0 / loaded.remote).abs() < 2.5, "{loads:?}");
    }
}

#[test]
fn choices_follow_a_change_of_the_network() {
    let slow = Script { bandwidth: 100_000.0, ..CAMPUS };
    let mut stream = SimulatedStream::new();
    stream.send(200, &CAMPUS);
    stream.send(30, &slow);
    let later = stream.send(100, &slow);
    assert!(count(&later, BZIP2) > 90, "{later:?}");
    // Two uncompressed blocks in each second show that the bandwidth has increased.
    stream.send(400, &CAMPUS);
    let later = stream.send(100, &CAMPUS);
    assert!(count(&later, ZLIB) > 90, "{later:?}");
}

#[test]
fn incompressible_data_are_probed_only() {
    let noise = Script { ratio: 2.0, ..CAMPUS };
    let mut stream = SimulatedStream::new();
    stream.send(20, &noise);
    let later = stream.send(1000, &noise);
    let none = count(&later, Choice::NONE);
    assert!((900..1000).contains(&none), "{none}");
    // The next probe shows that the data have changed.
    let text = stream.send(200, &CAMPUS);
    assert!(count(&text, ZLIB) > 100, "{text:?}");
}

#[test]
fn single_blocks_are_judged_by_the_sequential_model() {
    // In ms: uncompressed 3.7; zlib 1 + 1.47 + 0.2; LZO 0.1 + 1.84 + 0.02. LZO is the best here,
    // zlib in the pipeline model.
    let single = Script { writes: 0.1, one_by_one: true, latency: 0.0, ..CAMPUS };
    let mut stream = SimulatedStream::new();
    stream.send(20, &single);
    let later = stream.send(100, &single);
    assert!(count(&later, LZO) > 90, "{later:?}");
    assert!(!stream.policy.forecast().is_pipeline);
}

#[test]
fn faster_data_switch_to_the_pipeline_model() {
    let single = Script { writes: 0.1, one_by_one: true, ..CAMPUS };
    let mut stream = SimulatedStream::new();
    stream.send(50, &single);
    assert!(!stream.policy.forecast().is_pipeline);
    stream.send(50, &CAMPUS);
    assert!(stream.policy.forecast().is_pipeline);
}

#[test]
fn incomplete_blocks_are_not_compressed() {
    let mut stream = SimulatedStream::new();
    stream.send(100, &CAMPUS);
    assert_eq!(stream.block(BLOCK - 1, &CAMPUS), Choice::NONE);
    assert_eq!(stream.block(0, &CAMPUS), Choice::NONE);
    assert_eq!(stream.block(BLOCK, &CAMPUS), ZLIB);
}

#[test]
fn only_codecs_of_the_other_end_are_chosen() {
    let mut stream = SimulatedStream::new();
    stream.policy.peer_has(SURE_CODECS, false);
    assert_eq!(count(&stream.send(300, &CAMPUS), Choice::NONE), 300);
    stream.policy.peer_has(SURE_CODECS | 1 << LZO.codec, false);
    assert!(count(&stream.send(300, &CAMPUS), LZO) > 200);
}

#[test]
fn arbitrary_measurements_do_no_harm() {
    let mut policy = Ace2005::new(training(), BLOCK);
    policy.peer_has(ALL, false);
    let delivered = Delivered {
        blocks: u32::MAX,
        wire: usize::MAX,
        unpacking: Duration::MAX,
        span: Duration::from_nanos(1),
        waited: Duration::MAX,
        round_trip: Duration::MAX,
        backlogged: true,
    };
    for nth in 0..10 {
        policy.choose(seconds(f64::from(nth)), &[0; BLOCK], &Situation::default());
        let packed = Packed {
            candidate: Candidate { choice: ZLIB, history: false },
            plain: BLOCK,
            wire: 0,
            took: Duration::ZERO,
        };
        policy.packed(seconds(f64::from(nth)), &packed);
        policy.delivered(Duration::ZERO, &delivered);
        policy.delivered(Duration::ZERO, &Delivered { span: Duration::ZERO, ..delivered });
        assert!(policy.forecast().bandwidth.is_finite() && policy.window() > 0);
    }
}

#[test]
fn a_stream_with_the_policy_delivers_and_compresses() {
    let mut coders = Coders::new();
    let [mut here, mut there] = [0, 1].map(|_| stream(&training()));
    let source: Vec<u8> = (0..2u32 << 20).map(|nth| (nth / 7 % 251) as u8).collect();
    let (mut written, mut read, mut now) = (0, Vec::new(), Duration::ZERO);
    while read.len() < source.len() {
        written += here.write(&source[written..]);
        for end in [&mut here, &mut there] {
            let mut clock = || {
                now += Duration::from_micros(20);
                now
            };
            while end.work(&mut coders, &mut clock).unwrap() {}
        }
        // The link carries at most 1 KiB in each direction in a millisecond.
        now += Duration::from_millis(1);
        for is_back in [false, true] {
            let (from, to) =
                if is_back { (&mut there, &mut here) } else { (&mut here, &mut there) };
            let output = from.output();
            let taken = to.receive(now, &output[..output.len().min(1024)]).unwrap();
            from.sent(now, taken);
            if taken == 0 {
                to.starved(now);
            }
        }
        let came = there.readable();
        read.extend_from_slice(came);
        let count = came.len();
        there.read(count);
        assert!(now < Duration::from_secs(60), "{} of {}", read.len(), source.len());
    }
    assert!(read == source);
    let report = here.report();
    assert!(report.bandwidth > 0.0 && report.wire_out * 4 < report.plain_out, "{report:?}");
}
