//! An encoder and its decoders over a link that loses, repeats, reorders and damages packets: an
//! undamaged packet decodes to the messages that were sent, or is answered with `UnknownEpoch` or
//! `Duplicate`.
//!
//! The input is a configuration and steps.

#![no_main]

use groupwire_fuzz::{Input, Link};
use libfuzzer_sys::fuzz_target;

/// The most packets that an input sends at once: more than an encoder sends without an
/// acknowledgement before it starts anew.
const MANY: u32 = 1100;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let mut link = Link::new(input.config());
    let mut left = MANY;
    while !input.is_empty() {
        let step = input.byte();
        let end = usize::from(step >> 7);
        match step & 0x7f {
            0..40 => link.exchange(&mut input),
            40..70 => link.send(&mut input),
            70..85 => {
                let how = input.byte();
                link.deliver(end, usize::from(how >> 4), how & 1 == 1);
            }
            85..92 => link.lose(end, input.byte().into()),
            92..102 => link.acknowledge(end),
            102..112 => {
                let how = input.byte();
                link.bring_acknowledgement(end, usize::from(how >> 4), how & 1 == 1);
            }
            112..115 => link.damage(end, input.place(4), &mut input),
            115..118 => link.damage_acknowledgement(end, input.place(4), &mut input),
            118..122 => link.resend(end),
            122..125 => link.restart(),
            // This is rare, since it takes as long as a hundred other inputs.
            _ if input.number() > 0xffc0 => link.send_many(std::mem::take(&mut left)),
            _ => link.send_many(u32::from(input.byte() % 20)),
        }
    }
    link.settle();
});
