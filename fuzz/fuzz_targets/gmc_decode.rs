//! Any bytes as packets in the middle of a session, for all deliveries: decoders keep to their
//! limits, and packets that they refuse do not harm the next ones.
//!
//! The input is a configuration, the length of the session before, and steps.

#![no_main]

use groupwire_fuzz::{Input, Link};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let mut link = Link::new(input.config());
    for _ in 0..input.byte() % 40 {
        link.send_many(1);
        link.exchange(&mut Input::new(&[]));
    }
    while !input.is_empty() {
        let step = input.byte();
        let end = usize::from(step >> 7);
        match step & 0x7f {
            0..40 => link.forge(end, input.piece()),
            40..70 => {
                link.send(&mut input);
                let place = input.place(link.under_way(end));
                link.damage(end, place, &mut input);
            }
            70..80 => link.lose(end, 0),
            80..90 => link.deliver(end, 0, true),
            90..100 => link.acknowledge(end),
            _ => link.exchange(&mut input),
        }
    }
    link.settle();
});
