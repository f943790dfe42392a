//! An end of a stream that hears anything at all, in pieces of any length: a typed error, bounded
//! memory and no more bytes than were announced.
//!
//! The first byte says how it begins: with nothing, a hello, or what a real peer sends; the second
//! one how the rest is divided.

#![no_main]

use std::cell::RefCell;
use std::time::Duration;

use groupwire_ace::{Coders, Duplex, Settings};
use groupwire_fuzz::Input;
use libfuzzer_sys::fuzz_target;

const HELLO: [u8; 8] = [b'G', b'W', b'A', 1, 0xff, 0x1f, 20, 17];
/// Frames of a few bytes on the wire may stand for a megabyte, of which one is unpacked at a time;
/// and what waits has its places.
const MEMORY: usize = 4 << 20;
/// No block stands for more.
const BLOCK: usize = 1 << 20;

thread_local! {
    static CODERS: RefCell<Coders> = RefCell::new(Coders::new());
}

fuzz_target!(|data: &[u8]| CODERS.with_borrow_mut(|coders| hear(data, coders)));

fn hear(data: &[u8], coders: &mut Coders) {
    let mut input = Input::new(data);
    let (beginning, piece) = (input.byte(), usize::from(input.byte()) + 1);
    let mut end = end();
    let mut bytes = match beginning & 3 {
        0 => Vec::new(),
        1 => HELLO.to_vec(),
        _ => real(beginning, coders),
    };
    bytes.extend_from_slice(input.rest());
    // Something for it to acknowledge.
    end.write(&[7; 3000]);
    end.flush();
    let mut rest = &bytes[..];
    let mut now = Duration::ZERO;
    loop {
        now += Duration::from_millis(1);
        let next = &rest[..rest.len().min(piece)];
        let Ok(taken) = end.receive(now, next) else { break };
        assert!(taken == next.len() || taken == end.wanted() || end.wanted() == 0);
        rest = &rest[taken..];
        end.starved(now);
        let Ok(worked) = end.work(coders, &mut || now) else { break };
        assert!(end.readable().len() <= BLOCK);
        let half = end.readable().len() / 2 + 1;
        end.read(half);
        end.sent(now, end.output().len() / 2 + 1);
        assert!(end.report().memory <= MEMORY, "{}", end.report().memory);
        if taken == 0 && !worked && end.readable().is_empty() {
            break;
        }
    }
    let is_whole = end.ended().is_ok();
    assert_eq!(is_whole, end.ended().is_ok());
    assert!(end.report().memory <= MEMORY, "{}", end.report().memory);
}

fn end() -> Duplex {
    let candidate = "zstd-1+history".parse().expect("a candidate");
    Duplex::new(&Settings::always(candidate)).expect("the settings are right")
}

/// What a peer sends that has packed a little: the history is not empty.
fn real(how: u8, coders: &mut Coders) -> Vec<u8> {
    let name = ["none", "lz4", "zstd-1+history"][usize::from(how >> 2) % 3];
    let settings = Settings::always(name.parse().expect("a candidate"));
    let mut end = Duplex::new(&settings).expect("the settings are right");
    let mut bytes = Vec::new();
    end.receive(Duration::ZERO, &HELLO).expect("it is right");
    for text in [&b"again and again and again "[..], &[how; 2000]] {
        end.write(text);
        end.flush();
        while end.work(coders, &mut || Duration::ZERO).expect("all is well") {}
    }
    while !end.output().is_empty() {
        bytes.extend_from_slice(end.output());
        end.sent(Duration::ZERO, usize::MAX);
    }
    bytes
}
