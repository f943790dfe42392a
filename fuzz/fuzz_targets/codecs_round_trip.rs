//! Whatever is packed, by any codec, level and filter, comes back, and is not larger than the
//! message and its first byte.
//!
//! The input is the choice, how often the piece is repeated, and what the message is repeated from.
//! The packer stays, as it does in use, so that a message is packed with memory that others have
//! used.

#![no_main]

use std::cell::RefCell;

use groupwire_codecs::{ALL, Choice, Codec, Filter, Packer};
use groupwire_fuzz::Input;
use libfuzzer_sys::fuzz_target;

const LONGEST: usize = 5000;
/// Beyond this a packer is given up: one coder for each of some hundred levels is more than anybody
/// needs.
const MEMORY: usize = 256 << 20;

thread_local! {
    static PACKER: RefCell<Packer> = RefCell::new(Packer::new(ALL));
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let codec = ALL[usize::from(input.byte()) % ALL.len()];
    let choice = Choice {
        codec: codec.number(),
        level: level(codec, input.byte()),
        filter: Filter::ALL[usize::from(input.byte()) % Filter::ALL.len()],
    };
    let how = input.byte();
    let piece = input.rest();
    let times = 1 + usize::from(how >> 4) * LONGEST.checked_div(16 * piece.len()).unwrap_or(0);
    let message = piece.repeat(times);
    PACKER.with_borrow_mut(|packer| {
        round_trip(packer, choice, &message);
        let memory = packer.memory();
        if memory.compress + memory.decompress > MEMORY {
            *packer = Packer::new(ALL);
        }
    });
});

fn round_trip(packer: &mut Packer, choice: Choice, message: &[u8]) {
    let (mut packed, mut plain) = (vec![1, 2], vec![3]);
    packer.pack(choice, message, &mut packed).expect("there is such a choice");
    assert_eq!(packed[..2], [1, 2]);
    assert!(packed.len() <= 2 + 1 + message.len());
    packer.unpack(&packed[2..], message.len(), &mut plain).expect("it was packed here");
    assert_eq!(plain[0], 3);
    assert!(plain[1..] == *message, "{choice} of {} bytes", message.len());
}

/// One of the codec's levels, or the default.
fn level(codec: &dyn Codec, nth: u8) -> Option<i8> {
    let levels = codec.levels()?;
    let count = i16::from(levels.max) - i16::from(levels.min) + 2;
    let nth = i16::from(nth) % count;
    i8::try_from(i16::from(levels.min) + nth).ok().filter(|level| *level <= levels.max)
}
