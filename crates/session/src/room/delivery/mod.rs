//! What the room gives out: outputs that wait for the caller, and what participants share so that
//! it is coded once.

mod compression;
pub(super) mod outputs;

pub(super) use compression::Compression;

use super::api::Config;
use super::feed::{Groups, SharedStreams};
use outputs::Outputs;

/// See the [module](self).
pub(super) struct Delivery {
    pub(super) outputs: Outputs,
    pub(super) streams: SharedStreams,
    pub(super) groups: Groups,
    pub(super) compression: Compression,
}

impl Delivery {
    pub(super) fn new(config: &Config) -> Self {
        Delivery {
            outputs: Outputs::default(),
            streams: SharedStreams::default(),
            groups: Groups::default(),
            compression: Compression::new(config),
        }
    }

    /// Bytes of memory that the payloads of streams and groups and the compressed forms take,
    /// about.
    pub(super) fn memory(&self) -> usize {
        self.streams.memory() + self.groups.memory() + self.compression.memory()
    }
}
