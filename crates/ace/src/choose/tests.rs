//! Tests of the policy on a simple simulated link. The experiment `ace` of `groupwire-lab` has the
//! complete simulation.

use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::*;

const BLOCK: usize = 64 << 10;
/// The one-way delay in seconds.
const DELAY: f64 = 0.001;

/// A simulated link with a sender and a reader. Blocks have the times and ratios of the cost table.
struct World {
    adaptive: Adaptive,
    now: f64,
    link_free: f64,
    reader_free: f64,
    last_acknowledgement: f64,
    in_flight: usize,
    acknowledgements: Vec<(f64, Delivered)>,
    plain: usize,
    chosen: Vec<Candidate>,
}

/// The conditions of a run.
#[derive(Clone, Copy)]
struct Conditions {
    rate: f64,
    /// The factor by which compression takes longer than expected.
    load: f64,
    /// The time that the reading application takes for each block, in seconds.
    reading: f64,
}

const IDLE: Conditions = Conditions { rate: 1e6, load: 1.0, reading: 0.0 };

impl World {
    fn new() -> World {
        let mut adaptive = Adaptive::new(&[], &Costs::reference(), BLOCK);
        adaptive.peer_has(u16::MAX, true);
        World {
            adaptive,
            now: 0.0,
            link_free: 0.0,
            reader_free: 0.0,
            last_acknowledgement: 0.0,
            in_flight: 0,
            acknowledgements: Vec::new(),
            plain: 0,
            chosen: Vec::new(),
        }
    }

    /// Sends blocks for some seconds and returns the plain bytes per second.
    fn run(&mut self, seconds: f64, block: &[u8], conditions: Conditions) -> f64 {
        let (start, plain) = (self.now, self.plain);
        self.chosen.clear();
        while self.now < start + seconds {
            self.block(block, conditions);
        }
        (self.plain - plain) as f64 / (self.now - start)
    }

    fn block(&mut self, block: &[u8], conditions: Conditions) {
        self.receive(self.now);
        while self.in_flight >= self.adaptive.window() {
            self.now = self.now.max(self.acknowledgements[0].0);
            self.receive(self.now);
        }
        let situation = Situation { more: BLOCK, in_flight: self.in_flight, ..Default::default() };
        let candidate = self.adaptive.choose(time(self.now), block, &situation).candidate;
        self.chosen.push(candidate);
        let reference = if sample::entropy(block) > 7.5 { 1.0 } else { 0.4 };
        let known = CandidateModel::new(Row::of(candidate));
        let size = block.len() as f64;
        let (wire, packing, unpacking) = match candidate.choice.codec {
            0 => (size, 1e-6, 1e-6),
            _ => {
                let packing = known.packing(size, reference) * conditions.load;
                (size * known.ratio(reference), packing, known.unpacking(size, reference))
            }
        };
        self.now += packing;
        let (took, wire) = (time(packing), wire as usize);
        self.adaptive.packed(time(self.now), &Packed { candidate, plain: block.len(), wire, took });
        self.link_free = self.link_free.max(self.now) + (wire + 4) as f64 / conditions.rate;
        let start = self.reader_free.max(self.link_free + DELAY);
        let waited = time(start - self.reader_free);
        self.reader_free = start + unpacking;
        let delivered = Delivered {
            blocks: 1,
            wire: wire + 4,
            unpacking: time(unpacking),
            span: time(self.reader_free - self.last_acknowledgement),
            waited,
            round_trip: time(self.reader_free + DELAY - self.now),
            backlogged: false,
        };
        self.last_acknowledgement = self.reader_free;
        self.acknowledgements.push((self.reader_free + DELAY, delivered));
        self.reader_free += conditions.reading;
        self.in_flight += wire + 4;
        self.plain += block.len();
    }

    fn receive(&mut self, now: f64) {
        while self.acknowledgements.first().is_some_and(|(comes, _)| *comes <= now) {
            let (comes, delivered) = self.acknowledgements.remove(0);
            self.in_flight -= delivered.wire;
            self.adaptive.delivered(time(comes), &delivered);
        }
    }

    fn share(&self, of: impl Fn(Candidate) -> bool) -> f64 {
        let count = self.chosen.iter().filter(|candidate| of(**candidate)).count();
        count as f64 / self.chosen.len() as f64
    }
}

fn time(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9) as u64)
}

fn text() -> Vec<u8> {
    include_bytes!("mod.rs").iter().copied().cycle().take(BLOCK).collect()
}

fn noise() -> Vec<u8> {
    let mut state = 7u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..BLOCK).map(|_| byte()).collect()
}

fn is_none(candidate: Candidate) -> bool {
    candidate == Candidate::NONE
}

#[test]
fn a_slow_link_is_worth_compression_and_a_fast_one_is_not() {
    let mut world = World::new();
    let rate = world.run(20.0, &text(), Conditions { rate: 2e5, ..IDLE });
    assert!(rate > 2.4 * 2e5, "{rate}");
    let mut world = World::new();
    let fast = Conditions { rate: 1.25e9, load: 10.0, ..IDLE };
    let rate = world.run(0.5, &text(), fast);
    assert!(rate > 0.97 * 1.25e9 && world.share(is_none) > 0.9, "{rate}");
}

#[test]
fn noise_is_sent_uncompressed_apart_from_a_few_probes() {
    let mut world = World::new();
    world.run(20.0, &noise(), IDLE);
    assert!(world.share(is_none) > 0.95, "{}", world.share(is_none));
    world.run(1.0, &text(), IDLE);
    assert!(world.share(is_none) < 0.1, "{}", world.share(is_none));
}

#[test]
fn a_change_of_bandwidth_is_noticed_within_two_seconds() {
    for (before, after) in [(2e5, 2e7), (2e7, 2e5)] {
        let settled = World::new().run(10.0, &text(), Conditions { rate: after, ..IDLE });
        let mut world = World::new();
        world.run(5.0, &text(), Conditions { rate: before, ..IDLE });
        world.run(2.0, &text(), Conditions { rate: after, ..IDLE });
        let rate = world.run(8.0, &text(), Conditions { rate: after, ..IDLE });
        assert!(rate > 0.9 * settled, "{before} to {after}: {rate} of {settled}");
    }
}

#[test]
fn a_slow_reader_does_not_lower_the_bandwidth() {
    let mut world = World::new();
    world.run(1.0, &text(), Conditions { rate: 1e7, ..IDLE });
    let before = world.adaptive.forecast().bandwidth;
    world.run(5.0, &text(), Conditions { rate: 1e7, reading: 0.5, ..IDLE });
    let after = world.adaptive.forecast().bandwidth;
    assert!(after > 0.8 * before, "{before} became {after}");
}

#[test]
fn begin_and_end_of_a_load_are_noticed() {
    let mut world = World::new();
    let link = Conditions { rate: 1e8, ..IDLE };
    let idle = world.run(2.0, &text(), link);
    let busy = world.run(2.0, &text(), Conditions { load: 50.0, ..link });
    assert!(busy > 0.9 * 1e8, "{busy}");
    world.run(10.0, &text(), link);
    let again = world.run(2.0, &text(), link);
    assert!(again > 0.65 * idle, "{again} of {idle}");
}

#[test]
fn before_the_hello_only_none_and_lz4_are_chosen() {
    let mut adaptive = Adaptive::new(&[], &Costs::reference(), BLOCK);
    let block = text();
    for _ in 0..10 {
        let candidate = adaptive.choose(Duration::ZERO, &block, &Situation::default()).candidate;
        assert!(candidate.choice.codec < 2 && !candidate.history, "{candidate}");
    }
}

proptest! {
    /// A hostile peer may send any measurements of blocks that were sent.
    #[test]
    fn arbitrary_measurements_do_no_harm(acknowledgements in prop::collection::vec(any::<(u8, u64, u64, u64, u64, bool)>(), 1..50)) {
        let mut adaptive = Adaptive::new(&[], &Costs::reference(), BLOCK);
        adaptive.peer_has(u16::MAX, true);
        let block = vec![7; 1000];
        for (nth, (blocks, span, waited, unpacking, round_trip, backlogged)) in acknowledgements.into_iter().enumerate() {
            let now = Duration::from_micros(nth as u64 * 100);
            let candidate = adaptive.choose(now, &block, &Situation::default()).candidate;
            let took = Duration::from_nanos(span);
            adaptive.packed(now, &Packed { candidate, plain: 1000, wire: 10, took });
            adaptive.delivered(now, &Delivered {
                blocks: blocks.into(),
                wire: unpacking as usize % 2000,
                unpacking: Duration::from_nanos(unpacking),
                span: Duration::from_nanos(span),
                waited: Duration::from_nanos(waited),
                round_trip: Duration::from_nanos(round_trip),
                backlogged,
            });
            // The other end may leave 16 KiB unacknowledged, so the window must not be smaller.
            prop_assert!(adaptive.window() >= 16 << 10);
            let forecast = adaptive.forecast();
            prop_assert!(forecast.bandwidth.is_finite() && forecast.seconds.is_finite());
            prop_assert!(forecast.local_load.is_finite() && forecast.remote_load.is_finite());
        }
    }
}
