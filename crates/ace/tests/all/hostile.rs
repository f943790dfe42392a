//! Hostile peers: errors are typed, memory is bounded, and no byte is read that was not sent.

use std::time::Duration;

use groupwire_ace::{Coders, Duplex, Settings, StreamError};
use groupwire_codecs::{Codec, CodecError, Zstd};
use proptest::prelude::*;

use crate::pair::{Pair, RoundRobin, receive_all, text};

const HELLO: [u8; 8] = [b'G', b'W', b'A', 1, 0xff, 0x1f, 20, 17];

fn settings() -> Settings {
    Settings::always("zstd-1+history".parse().expect("a candidate"))
}

fn end() -> Duplex {
    Duplex::new(&settings()).expect("the settings are right")
}

/// Passes a hello and these bytes to an end and returns what it reads.
fn after_hello(bytes: &[u8]) -> Result<Vec<u8>, StreamError> {
    receive_all(&mut end(), &[&HELLO, bytes].concat())
}

/// A block frame with this tag.
fn block(tag: u8, packed: &[u8]) -> Vec<u8> {
    let [low, middle, high, _] = (packed.len() as u32).to_le_bytes();
    [&[tag, low, middle, high], packed].concat()
}

#[test] // A1
fn other_protocols_are_refused_by_their_first_bytes() {
    for said in [&b"GET / HTTP/1.1\r\n"[..], b"\x16\x03\x01\x02", b"SSH-2.0", b"\0", b"GWA\x02"] {
        assert_eq!(receive_all(&mut end(), said), Err(StreamError::NoPeer));
    }
}

#[test] // A15
fn an_early_end_of_the_transport_is_an_error() {
    let bytes = [&HELLO[..], &block(0, b"abc"), &[0x40, 0, 0, 0]].concat();
    for length in 0..bytes.len() {
        let mut end = end();
        assert!(receive_all(&mut end, &bytes[..length]).is_ok());
        assert_eq!(end.ended(), Err(StreamError::Truncated), "{length}");
        assert_eq!(end.receive(Duration::ZERO, b"x"), Err(StreamError::Truncated));
        assert_eq!((end.output(), end.wanted()), (&[][..], 0));
    }
    let mut end = end();
    assert_eq!(receive_all(&mut end, &bytes), Ok(b"abc".to_vec()));
    assert_eq!(end.ended(), Ok(()));
    assert!(end.is_at_end());
}

#[test] // A15
fn false_lengths_allocate_no_memory() {
    let mut end = end();
    let header = [0x07, 0xff, 0xff, 0xff];
    let outcome = receive_all(&mut end, &[&HELLO[..], &header].concat());
    assert_eq!(outcome, Err(StreamError::TooLong { length: 0xff_ffff, limit: 1 << 20 }));
    // A megabyte is allowed and is not allocated before it arrives.
    let mut end = self::end();
    let header = [0x07, 0, 0, 0x10];
    assert!(receive_all(&mut end, &[&HELLO[..], &header].concat()).is_ok());
    assert!(end.report().memory < 80 << 10, "{}", end.report().memory);
}

#[test] // A6
fn a_kilobyte_that_claims_four_gigabytes_is_refused() {
    // A zstd frame that claims 4 GiB, one without a length, and 256 MiB in LZ4.
    let frame = [&[0xe0, 0, 0, 0, 0, 1, 0, 0, 0][..], &[0; 1000]].concat();
    let mut runs = vec![0x00, 0xa0];
    for _ in 0..249 {
        runs.extend_from_slice(&[0x02, 0x00, 0x10, 7]);
    }
    runs.extend_from_slice(&[0x03, 0x00, 0x10, 7]);
    let lz4 = [&[0xff, 0xff, 0xff, 0x7f, 0x1f, 0, 1, 0][..], &[0xff; 1000]].concat();
    for bomb in [block(7, &frame), block(7, &runs), block(1, &lz4), block(0x17, &frame)] {
        let mut end = end();
        let outcome = receive_all(&mut end, &[&HELLO[..], &bomb].concat());
        assert_eq!(outcome, Err(StreamError::Block(CodecError::TooLarge)));
        assert!(end.report().memory < 4 << 20, "{}", end.report().memory);
    }
    // A megabyte and one byte, correctly compressed.
    let mut packed = Vec::new();
    Zstd.compress(&vec![0; (1 << 20) + 1], &mut packed);
    let outcome = after_hello(&block(7, &packed));
    assert_eq!(outcome, Err(StreamError::Block(CodecError::TooLarge)));
}

#[test] // A6
fn empty_blocks_are_refused() {
    let mut packed = Vec::new();
    Zstd.compress(b"", &mut packed);
    let malformed = Err(StreamError::Block(CodecError::Malformed));
    assert_eq!(after_hello(&block(7, &packed)), malformed);
    assert_eq!(after_hello(&block(0, b"")), Err(StreamError::Frame { tag: 0 }));
}

#[test] // A11
fn acknowledgements_of_unsent_blocks_are_refused() {
    for word in [[1, 4, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]] {
        let outcome = after_hello(&block(0x20, &word));
        assert_eq!(outcome, Err(StreamError::Acknowledgement), "{word:?}");
    }
    // A block that the transport has not accepted cannot be acknowledged either.
    let mut end = end();
    end.write(b"abc");
    end.flush();
    let word = block(0x20, &[1, 7, 0, 0, 0]);
    let outcome = receive_all(&mut end, &[&HELLO[..], &word].concat());
    assert_eq!(outcome, Err(StreamError::Acknowledgement));
}

#[test] // A6
fn only_acknowledgements_may_follow_the_end() {
    let end = [0x40, 0, 0, 0];
    for tag in [0x00, 0x07, 0x40, 0x60] {
        let next = if tag < 0x20 { block(tag, b"abc") } else { block(tag, b"") };
        let outcome = after_hello(&[&end[..], &next].concat());
        assert_eq!(outcome, Err(StreamError::Frame { tag }));
    }
    let outcome = after_hello(&[&end[..], &block(0x20, &[1, 4, 0, 0, 0])].concat());
    assert_eq!(
        outcome,
        Err(StreamError::Acknowledgement),
        "acknowledgements may follow, but this one is wrong"
    );
}

#[test]
fn many_small_frames_take_little_memory() {
    for frame in [&block(0, b"x")[..], &[0x60, 0, 0, 0]] {
        let (mut end, frames) = (end(), frame.repeat(100_000));
        end.receive(Duration::ZERO, &HELLO).unwrap();
        let mut taken = 0;
        loop {
            match end.receive(Duration::ZERO, &frames[taken..]).unwrap() {
                0 => break,
                bytes => taken += bytes,
            }
        }
        assert!(taken <= 65 << 10, "{taken}");
        assert!(end.report().memory < 2 << 20, "{}", end.report().memory);
    }
}

#[test]
fn input_is_bounded_while_the_application_does_not_read() {
    let mut pair = Pair::of(&settings());
    let text = text(8 << 20);
    let (mut rest, mut unmoved) = (&text[..], 0);
    while unmoved < 3 {
        let taken = pair.ends[0].write(rest);
        rest = &rest[taken..];
        pair.settle();
        unmoved = if taken == 0 { unmoved + 1 } else { 0 };
        let most = pair.in_flight[1].len();
        assert!(most < 1 << 20, "more was compressed than a transport holds: {most}");
        if most > 256 << 10 {
            break;
        }
    }
    assert!(pair.ends[1].report().memory < 1 << 20, "{}", pair.ends[1].report().memory);
}

#[test] // A15
fn after_an_error_there_is_no_more_output() {
    let mut end = end();
    let bytes = [&HELLO[..], &block(0, b"abc"), &block(7, b"wrong")].concat();
    let taken = end.receive(Duration::ZERO, &bytes).unwrap();
    assert_eq!(taken, bytes.len());
    let work = |end: &mut Duplex| end.work(&mut Coders::new(), &mut || Duration::ZERO);
    assert_eq!(work(&mut end), Ok(true));
    assert_eq!(end.readable(), b"abc", "earlier bytes are correct");
    end.read(3);
    let malformed = Err(StreamError::Block(CodecError::Malformed));
    assert_eq!(work(&mut end), malformed);
    assert_eq!(work(&mut end), malformed);
    assert_eq!((end.readable(), end.output(), end.wanted()), (&[][..], &[][..], 0));
    assert!(!end.is_at_end() && !end.is_over());
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    })]

    #[test]
    fn memory_is_bounded_for_arbitrary_bytes(bytes: Vec<u8>, is_tunnel: bool) {
        let hello = if is_tunnel { &HELLO[..] } else { &[] };
        let mut end = end();
        let _ = receive_all(&mut end, &[hello, &bytes].concat());
        prop_assert!(end.report().memory < 4 << 20);
    }

    /// Bytes before the damage are correct. Later bytes may differ, because the stream has no
    /// checksums.
    #[test]
    fn bytes_before_damage_are_correct(at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let names = ["zstd-1+history", "none", "lz4", "zlib-1"];
        let mut pair = Pair::with(&settings(), [RoundRobin::new(&names), RoundRobin::new(&names)]);
        pair.settle();
        let text = text(300_000);
        let mut bytes = HELLO.to_vec();
        let mut lengths = Vec::new();
        for piece in text.chunks(20_000) {
            pair.ends[0].write(piece);
            pair.ends[0].flush();
            while pair.work(0) {}
            while !pair.ends[0].output().is_empty() {
                bytes.extend_from_slice(pair.ends[0].output());
                pair.take(0, usize::MAX);
            }
            lengths.push(bytes.len());
            pair.read(1);
        }
        let place = 8 + at.index(bytes.len() - 8);
        bytes[place] ^= 1 << bit;
        let whole = lengths.iter().filter(|length| **length <= place).count() * 20_000;
        let (mut end, mut coders, mut read) = (end(), Coders::new(), Vec::new());
        let mut rest = &bytes[..];
        while let Ok(taken) = end.receive(Duration::ZERO, rest) {
            rest = &rest[taken..];
            let worked = end.work(&mut coders, &mut || Duration::ZERO);
            read.extend_from_slice(end.readable());
            end.read(usize::MAX);
            if worked != Ok(true) && taken == 0 {
                break;
            }
        }
        let sure = read.len().min(whole);
        prop_assert!(read[..sure] == text[..sure]);
    }
}
