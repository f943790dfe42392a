//! What the targets of `groupwire-afec` share.

use groupwire_afec::code::{Code, Repeats};
use groupwire_afec::{Afec2012, Scheme};

use crate::Input;

/// A scheme: mostly one that adapts.
pub fn afec_scheme(input: &mut Input<'_>) -> Scheme {
    let byte = input.byte();
    match byte & 7 {
        0..=3 => Scheme::Adaptive,
        4 => Scheme::Afec2012(Afec2012 { late_counts: byte & 8 != 0, ..Afec2012::default() }),
        5 => Scheme::Fec(byte >> 4),
        _ => Scheme::Fixed(Code {
            repeats: Repeats::repeat_last(byte >> 6),
            answers: byte >> 4 & 3,
            tail_flush: byte & 8 != 0,
            ..Code::PLAIN
        }),
    }
}
