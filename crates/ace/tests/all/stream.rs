//! Streams between correct ends: the read bytes are the written ones, and nothing hangs.

use groupwire_ace::{Candidate, Settings};
use groupwire_codecs::Costs;
use proptest::prelude::*;

use crate::pair::{Pair, RoundRobin, text};

fn settings(name: &str) -> Settings {
    Settings::always(name.parse().expect("a candidate"))
}

#[test]
fn both_directions_deliver() {
    for name in ["none", "lz4", "zstd-1", "zstd-3+history", "zlib-6", "bzip2", "lzma-1+history"] {
        let mut pair = Pair::of(&settings(name));
        let text = text(300_000);
        for from in [0, 1] {
            assert!(pair.carry(from, &text) == text, "{name}");
        }
        let report = pair.ends[0].report();
        assert_eq!((report.plain_out, report.plain_in), (300_000, 300_000));
        assert_eq!(report.wire_out, pair.ends[1].report().wire_in);
        assert!((report.wire_out < 280_000) == (name != "none"), "{name}: {report:?}");
        pair.ends.iter_mut().for_each(|end| end.finish());
        pair.settle();
        assert!(pair.ends.iter().all(|end| end.is_at_end() && end.is_over()), "{name}");
    }
}

#[test] // A8 A9
fn candidates_can_change_with_each_block() {
    let candidates = ["zstd-1+history", "none", "lz4+history", "lz4", "zstd-3", "zlib-1+history"];
    let policies = || [RoundRobin::new(&candidates) as _, RoundRobin::new(&candidates) as _];
    for block in [1 << 10, 10_000, 64 << 10, 1 << 20] {
        let settings = Settings { block, ..settings("none") };
        let mut pair = Pair::with(&settings, policies());
        let text = text(3 << 20);
        assert!(pair.carry(0, &text) == text, "{block}");
        assert!(pair.carry(1, &text) == text, "{block}");
    }
}

#[test]
fn the_adaptive_policy_delivers() {
    let text = text(2 << 20);
    let mut pair = Pair::of(&Settings::adaptive(Costs::reference()));
    for from in [0, 1, 0] {
        assert!(pair.carry(from, &text) == text);
    }
    let report = pair.ends[0].report();
    assert!(report.bandwidth > 0.0 && report.plain_out == 4 << 20, "{report:?}");
}

#[test]
fn a_flush_sends_an_incomplete_block() {
    let mut pair = Pair::of(&settings("lz4"));
    pair.ends[0].write(b"a line");
    pair.settle();
    assert_eq!(pair.ends[1].readable(), b"", "there may be more");
    assert!(!pair.ends[0].is_flushed());
    pair.ends[0].flush();
    assert_eq!(pair.read(1), b"a line");
    assert!(pair.ends[0].is_flushed());
    assert_eq!(pair.ends[0].report().candidate, Candidate::NONE, "it would not become smaller");
}

/// A step of one end. The number is an amount, or the index of a block or candidate.
#[derive(Debug, Clone, Copy)]
enum Step {
    Write(usize),
    Flush,
    Work,
    Take(usize),
    Give(usize),
    Read(usize),
    Starve,
    Rest,
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = || prop_oneof![1usize..20, 100usize..5000, 50_000usize..200_000];
    prop_oneof![
        6 => bytes().prop_map(Step::Write),
        2 => Just(Step::Flush),
        8 => Just(Step::Work),
        8 => bytes().prop_map(Step::Take),
        8 => bytes().prop_map(Step::Give),
        6 => bytes().prop_map(Step::Read),
        1 => Just(Step::Starve),
        1 => Just(Step::Rest),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(48)
    })]

    /// For every division by the transport, every pattern of flushes and every codec.
    #[test]
    fn read_bytes_are_the_written_ones(
        steps in proptest::collection::vec((0usize..2, step()), 1..300),
        block in prop_oneof![Just(1usize << 10), 1024usize..100_000, Just(1 << 20)],
        history in prop_oneof![Just(0usize), 1024usize..10_000, Just(128 << 10)],
        window in prop_oneof![Just(0usize), Just(100_000), Just(usize::MAX)],
        order: prop::sample::Index,
    ) {
        let names = [
            "zstd-1+history", "none", "zstd-3", "lz4", "lz4+history", "zlib-1+history", "snappy",
            "zlib-1", "lzma-0+history", "zstd-9+history",
        ];
        let policy = |turn: usize| {
            let mut policy = RoundRobin::new(&names);
            policy.window = window;
            policy.nth = turn;
            policy as _
        };
        let sizes = Settings { block, history, ..settings("none") };
        let policies = [policy(order.index(10)), policy(order.index(7))];
        let mut pair = Pair::with(&sizes, policies);
        let source = text(1 << 20);
        // The bytes that each end wrote, and the bytes of the other end that it read.
        let (mut written, mut read) = ([0; 2], [0; 2]);
        for (end, step) in steps {
            match step {
                Step::Write(most) => {
                    let till = source.len().min(written[end] + most);
                    written[end] += pair.ends[end].write(&source[written[end]..till]);
                }
                Step::Flush => pair.ends[end].flush(),
                Step::Work => {
                    pair.work(end);
                }
                Step::Take(most) => {
                    pair.take(end, most);
                }
                Step::Give(most) => {
                    pair.give(end, most);
                }
                Step::Read(most) => {
                    let bytes = pair.ends[end].readable();
                    let bytes = &bytes[..bytes.len().min(most)];
                    prop_assert!(source[read[end]..].starts_with(bytes));
                    read[end] += bytes.len();
                    let bytes = bytes.len();
                    pair.ends[end].read(bytes);
                }
                Step::Starve => pair.ends[end].starved(pair.now),
                Step::Rest => pair.ends[end].rest(),
            }
            let (memory, most) = (pair.ends[end].report().memory, 21 * block + 8 * history);
            prop_assert!(memory <= most + (256 << 10), "{memory} for {block} and {history}");
        }
        pair.ends.iter_mut().for_each(|end| end.finish());
        while pair.ends.iter().any(|end| !end.is_at_end()) {
            let before = read;
            for end in [0, 1] {
                let bytes = pair.read(end);
                prop_assert!(source[read[end]..].starts_with(&bytes));
                read[end] += bytes.len();
            }
            prop_assert!(before != read || pair.ends.iter().all(|end| end.is_at_end()), "it hangs");
        }
        prop_assert_eq!([read[1], read[0]], written);
        pair.settle();
        prop_assert!(pair.ends.iter().all(|end| end.is_over()));
    }
}
