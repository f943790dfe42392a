//! The choice of a codec for a block in builds without `ace`: always the fastest codec, LZ4.

use core::time::Duration;

use groupwire_codecs::{Choice, Costs};

/// The number of LZ4, which every build has.
const LZ4: u8 = 1;

/// Has the same methods as the `Chooser` in `adaptive.rs`, which builds with `ace` use instead.
#[derive(Debug)]
pub(super) struct Chooser;

impl Chooser {
    pub(super) fn new(_: &Costs) -> Self {
        Chooser
    }

    pub(super) fn choose(&mut self, _: Duration, _: &[u8], _: usize, set: u64) -> Choice {
        if set >> LZ4 & 1 == 1 { Choice::codec(LZ4) } else { Choice::NONE }
    }

    pub(super) fn packed(
        &mut self,
        _: Duration,
        _: Choice,
        _: usize,
        _: usize,
        _: Duration,
        _: Duration,
    ) {
    }

    pub(super) fn wants_arrivals(&self) -> bool {
        false
    }

    pub(super) fn on_packet_sent(&mut self, _: u64, _: usize) {}

    pub(super) fn on_arrival(&mut self, _: Duration, _: u64, _: u64) {}
}
