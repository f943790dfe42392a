//! What the targets of `groupwire-afec` share.

use groupwire_afec::Scheme;
use groupwire_afec::code::{Code, Repeats};

use crate::Input;

/// A scheme: mostly one that adapts.
pub fn afec_scheme(input: &mut Input<'_>) -> Scheme {
    let byte = input.byte();
    match byte & 7 {
        0..=3 => Scheme::Adaptive,
        _ => Scheme::Fixed(Code {
            repeats: Repeats::repeat_last(byte >> 6),
            answers: byte >> 4 & 3,
            tail_flush: byte & 8 != 0,
            ..Code::PLAIN
        }),
    }
}
