//! The window, acknowledgements, and the memory of an idle stream.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use groupwire_ace::{
    Candidate, Coders, Decision, Delivered, Duplex, Forecast, Packed, Policy, Settings, Situation,
};
use groupwire_codecs::ALL;

use crate::pair::{Pair, RoundRobin, text};

const MS: Duration = Duration::from_millis(1);

fn settings(name: &str) -> Settings {
    Settings::always(name.parse().expect("a candidate"))
}

/// A policy that records its calls, with a fixed candidate and window.
#[derive(Debug)]
struct Telling {
    window: usize,
    tell: Sender<Told>,
}

#[derive(Debug, Clone, PartialEq)]
enum Told {
    Choose(Situation),
    Packed(Packed),
    Delivered(Delivered),
    Peer(u16, bool),
}

impl Policy for Telling {
    fn choose(&mut self, _: Duration, _: &[u8], situation: &Situation) -> Decision {
        let _ = self.tell.send(Told::Choose(*situation));
        Decision { candidate: "lz4".parse().expect("a candidate") }
    }

    fn packed(&mut self, _: Duration, packed: &Packed) {
        let _ = self.tell.send(Told::Packed(*packed));
    }

    fn delivered(&mut self, _: Duration, delivered: &Delivered) {
        let _ = self.tell.send(Told::Delivered(*delivered));
    }

    fn peer_has(&mut self, codecs: u16, history: bool) {
        let _ = self.tell.send(Told::Peer(codecs, history));
    }

    fn window(&self) -> usize {
        self.window
    }

    fn forecast(&self) -> Forecast {
        Forecast::default()
    }
}

fn random(bytes: usize) -> Vec<u8> {
    let mut random = oorandom::Rand32::new(3);
    (0..bytes).map(|_| random.rand_u32() as u8).collect()
}

/// Writes and compresses without acknowledgements until nothing more is compressed. Returns the
/// bytes of the transport.
fn pack_all(pair: &mut Pair, bytes: &[u8]) -> usize {
    let mut taken = 0;
    loop {
        let wrote = pair.ends[0].write(bytes);
        let worked = pair.work(0);
        let took = pair.take(0, usize::MAX);
        taken += took;
        if wrote == 0 && !worked && took == 0 {
            return taken;
        }
    }
}

#[test]
fn at_most_a_window_and_a_block_are_in_flight() {
    let (tell, told) = channel();
    let policy = Box::new(Telling { window: 100_000, tell });
    let block = Settings { block: 10_000, ..settings("none") };
    let mut pair = Pair::with(&block, [policy, RoundRobin::new(&["none"])]);
    let bytes = random(1 << 20);
    let before_hello = pack_all(&mut pair, &bytes);
    assert!((256 << 10..280 << 10).contains(&before_hello), "{before_hello}");
    pair.read(1);
    while told.try_recv().is_ok() {}
    let after = pack_all(&mut pair, &bytes);
    assert!((80_000..120_000).contains(&after), "{after}");
    let in_flight = told.try_iter().filter_map(|told| match told {
        Told::Choose(situation) => Some(situation.in_flight),
        _ => None,
    });
    let in_flight = in_flight.max();
    assert!(in_flight.is_some_and(|bytes| (90_000..=100_000).contains(&bytes)), "{in_flight:?}");
}

#[test]
fn one_block_waits_behind_the_one_that_the_transport_accepts() {
    let mut pair = Pair::of(&settings("none"));
    pair.settle();
    let bytes = random(1 << 20);
    let mut written = 0;
    loop {
        let wrote = pair.ends[0].write(&bytes[written..]);
        written += wrote;
        if wrote == 0 && !pair.work(0) {
            break;
        }
    }
    assert_eq!(written, 4 * (64 << 10), "two compressed blocks, two that wait for compression");
}

#[test] // A13
fn a_window_of_zero_does_not_stop_the_stream() {
    let policies = || {
        let mut policy = RoundRobin::new(&["none", "zstd-1+history"]);
        policy.window = 0;
        policy as _
    };
    for block in [1 << 10, 64 << 10] {
        let mut pair =
            Pair::with(&Settings { block, ..settings("none") }, [policies(), policies()]);
        let text = text(1 << 20);
        assert!(pair.carry(0, &text) == text);
    }
}

#[test] // A14
fn an_application_that_does_not_read_can_still_write() {
    let policies = || {
        let mut policy = RoundRobin::new(&["none"]);
        policy.window = 100_000;
        policy as _
    };
    let mut pair = Pair::with(&settings("none"), [policies(), policies()]);
    pair.settle();
    let bytes = random(4 << 20);
    // Acknowledgements for end 0 wait behind the bytes that it does not read.
    let mut unread = &bytes[..];
    for _ in 0..10 {
        unread = &unread[pair.ends[1].write(unread)..];
        pair.settle();
    }
    let (mut rest, mut received) = (&bytes[..], 0);
    while !rest.is_empty() {
        let taken = pair.ends[0].write(rest);
        rest = &rest[taken..];
        let read = pair.read(1).len();
        received += read;
        assert!(taken + read > 0, "it hangs after {received}");
    }
    assert!(received >= bytes.len() - (256 << 10), "{received}");
}

#[test] // A11 A12 A13
fn measurements_of_blocks_are_correct() {
    let (tell, told) = channel();
    let policy = Box::new(Telling { window: usize::MAX, tell });
    let mut pair = Pair::with(&settings("none"), [policy, RoundRobin::new(&["none"])]);
    pair.settle();
    let all = ALL.iter().fold(0, |set, codec| set | 1 << codec.number());
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [Told::Peer(all, true)]);
    let mut times = [0; 2];
    for (sent, time) in times.iter_mut().enumerate() {
        pair.now = (100 + 100 * sent as u32) * MS;
        pair.ends[0].write(&text(64 << 10));
        assert!(pair.work(0));
        *time = pair.take(0, usize::MAX);
    }
    // The other end has waited since the beginning; its acknowledgement takes 40 ms.
    pair.now = 340 * MS;
    while pair.give(1, usize::MAX) > 0 || pair.work(1) {
        pair.ends[1].read(usize::MAX);
    }
    while pair.take(1, usize::MAX) > 0 {}
    pair.now = 380 * MS;
    pair.give(0, usize::MAX);

    let told: Vec<Told> = told.try_iter().collect();
    let [
        Told::Choose(first),
        Told::Packed(packed),
        Told::Choose(second),
        Told::Packed(_),
        rest @ ..,
    ] = &told[..]
    else {
        panic!("{told:?}")
    };
    assert_eq!((first.in_flight, first.more, first.flushed), (0, 0, false));
    assert_eq!((packed.plain, packed.wire + 4), (64 << 10, times[0]));
    assert_eq!((second.in_flight, second.unsent), (times[0], 0));
    let [Told::Delivered(first), Told::Delivered(second)] = rest else { panic!("{rest:?}") };
    assert_eq!((first.blocks, first.wire), (1, times[0]));
    assert_eq!(first.unpacking, Duration::from_micros(1));
    assert!(first.waited > 339 * MS && first.waited <= first.span, "{first:?}");
    assert!(second.span < MS && second.waited.is_zero(), "{second:?}");
    assert!(first.round_trip > 270 * MS && second.round_trip < 190 * MS, "{first:?} {second:?}");
    assert_eq!((second.blocks, second.wire), (1, times[1]));
}

#[test] // A6
fn the_end_of_one_direction_leaves_the_other_open() {
    let mut pair = Pair::of(&settings("zstd-1+history"));
    let text = text(500_000);
    assert!(pair.carry(0, &text) == text);
    pair.ends[0].finish();
    assert_eq!(pair.ends[0].write(b"more"), 0);
    assert_eq!(pair.read(1), b"");
    assert!(pair.ends[1].is_at_end() && !pair.ends[1].is_over() && !pair.ends[0].is_over());
    assert!(pair.carry(1, &text) == text);
    assert!(pair.carry(1, &text) == text);
    pair.ends[1].finish();
    pair.settle();
    assert!(pair.ends.iter().all(|end| end.is_at_end() && end.is_over() && end.is_flushed()));
    assert_eq!(pair.ends.each_mut().map(|end| end.ended()), [Ok(()), Ok(())]);
}

#[test] // A10
fn an_idle_stream_releases_memory_and_continues() {
    for name in ["none", "zstd-1+history"] {
        let mut pair = Pair::of(&settings(name));
        let text = text(1 << 20);
        for _ in 0..3 {
            for from in [0, 1] {
                assert!(pair.carry(from, &text) == text, "{name}");
            }
            let busy = pair.ends.each_ref().map(|end| end.report().memory);
            assert!(busy.iter().all(|bytes| *bytes < 1 << 20), "{name}: {busy:?}");
            for end in [0, 1, 0, 1] {
                pair.ends[end].rest();
                pair.settle();
            }
            let resting = pair.ends.each_ref().map(|end| end.report().memory);
            assert!(resting.iter().all(|bytes| *bytes < 4 << 10), "{name}: {resting:?}");
        }
    }
}

#[test] // A2 A4 A7
fn codecs_that_the_other_end_lacks_are_not_used() {
    // The other end has lz4 only, and no history.
    let hello = [b'G', b'W', b'A', 1, 0b11, 0, 16, 0];
    for (name, tag) in [("zstd-1+history", 0), ("lz4+history", 1), ("zlib-1", 0), ("lz4", 1)] {
        let (mut end, mut coders) = (Duplex::new(&settings(name)).unwrap(), Coders::new());
        end.receive(Duration::ZERO, &hello).unwrap();
        end.sent(Duration::ZERO, 8);
        end.write(&text(200_000));
        for _ in 0..2 {
            end.work(&mut coders, &mut || Duration::ZERO).unwrap();
            assert_eq!(end.output()[0], tag, "{name}");
            end.sent(Duration::ZERO, usize::MAX);
        }
    }
}

#[test]
fn settings_out_of_bounds_are_refused() {
    let none = || settings("none");
    for wrong in [
        Settings { block: 1023, ..none() },
        Settings { block: (1 << 20) + 1, ..none() },
        Settings { history: (1 << 20) + 1, ..none() },
        settings("snappy+history"),
        Settings::always(Candidate { choice: "delta4+lz4".parse().unwrap(), history: false }),
        settings("zstd-99"),
        settings("lz4-1"),
    ] {
        assert!(Duplex::new(&wrong).is_err(), "{wrong:?}");
    }
}
