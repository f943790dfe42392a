//! Any bytes as acknowledgements: an encoder for datagrams does not panic or grow, and an
//! acknowledgement that it refuses does not harm the next packets.
//!
//! The input is a configuration, the length of the session before, and steps.

#![no_main]

use groupwire_fuzz::{Input, Link};
use groupwire_gmc::{Config, Delivery};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let config = input.config();
    let delivery = match config.delivery {
        Delivery::Room => Delivery::Room,
        _ => Delivery::Datagrams,
    };
    let mut link = Link::new(Config { delivery, ..config });
    for _ in 0..input.byte() % 40 {
        link.exchange(&mut Input::new(&[]));
    }
    while !input.is_empty() {
        let step = input.byte();
        let end = usize::from(step >> 7);
        match step & 0x7f {
            0..40 => link.forge_acknowledgement(end, input.piece()),
            40..60 => {
                link.acknowledge(end);
                link.damage_acknowledgement(end, input.place(4), &mut input);
            }
            60..70 => link.bring_acknowledgement(end, input.place(4), true),
            70..75 => link.send_many(u32::from(input.byte() % 20)),
            75..90 => link.send(&mut input),
            90..100 => link.deliver(end, input.place(4), false),
            100..105 => link.lose(end, input.place(4)),
            _ => link.exchange(&mut input),
        }
    }
    link.settle();
});
