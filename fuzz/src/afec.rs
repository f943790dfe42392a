//! What the targets of `groupwire-afec` share.

use groupwire_afec::Scheme;
use groupwire_afec::code::{Code, Repeats};

use crate::Input;

/// The most memory of an endpoint with this number of channels, in bytes, as the documentation of
/// `Endpoint` states it: that of each channel in both directions, and that of the repeats that are
/// still to be sent.
pub const fn afec_memory(channels: usize) -> usize {
    2 * channels * (16 << 10) + (36 << 10)
}

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
