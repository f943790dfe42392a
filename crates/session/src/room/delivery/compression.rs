//! The room's codecs, and what they have compressed for several receivers.

use core::time::Duration;

use crate::packing::{Cache, EncodingCache, Packing};
use crate::room::api::Config;
use crate::wire::payload::StatePayloads;

/// See the [module](self).
pub(in crate::room) struct Compression {
    pub(in crate::room) packing: Packing,
    /// Messages compressed with a codec, kept for all receivers that asked for the same codec.
    pub(in crate::room) forms: EncodingCache,
    /// Compressed chunks of snapshots (wire W55), kept for all receivers of the same chunk.
    pub(in crate::room) chunks: Cache,
    /// Payloads with late-joiner state, kept for further newcomers.
    pub(in crate::room) state: StatePayloads,
}

impl Compression {
    pub(super) fn new(config: &Config) -> Self {
        let codecs = if config.compress { config.codecs } else { &[] };
        Compression {
            packing: Packing::new(codecs, config.costs.clone()).with_clock(config.clock),
            forms: EncodingCache::default(),
            chunks: Cache::default(),
            state: StatePayloads::default(),
        }
    }

    /// Frees the memory of codecs and of compressed forms that have not been used for a while.
    pub(in crate::room) fn release_if_idle(&mut self, now: Duration) {
        self.packing.release_if_idle(now);
        self.chunks.release_if_idle(now);
        self.state.release_if_idle(now);
    }

    /// Frees the memory of codecs and of forms for newcomers, because the room has no participants.
    pub(in crate::room) fn release(&mut self) {
        self.packing.release();
        self.chunks.release();
        self.state.release();
    }

    pub(super) fn memory(&self) -> usize {
        let cached = self.forms.memory() + self.chunks.memory() + self.state.memory();
        self.packing.memory() + cached
    }
}
