//! The receiving end of snapshots.

use super::Decoder;
use crate::config::{Config, Delivery};
use crate::datagram::received::Received;
use crate::error::SnapshotError;
use crate::snapshot;

impl Decoder {
    /// A decoder that stands where the encoder did when it made the snapshot, and goes on like one
    /// that had all packets up to then. See [`Encoder::snapshot`](crate::Encoder::snapshot).
    ///
    /// With [`Delivery::Room`] it acknowledges like all others, first what the snapshot holds. With
    /// [`Delivery::Datagrams`] it replaces the decoder that there was.
    ///
    /// Takes any bytes: they give a decoder within [`Config::memory`], or an error. The work is
    /// bounded by [`Config::memory`] and by the bytes.
    pub fn from_snapshot(config: Config, bytes: &[u8]) -> Result<Self, SnapshotError> {
        let mut decoder = Self::new(config);
        let read = snapshot::read(&decoder.stream, bytes)?;
        decoder.stream = read.stream;
        decoder.chain = read.position.chain;
        decoder.room = decoder.stream.remaining();
        if decoder.received.is_some() {
            let skips = decoder.stream.config().delivery == Delivery::Datagrams;
            let budget = decoder.room / 4 * 3;
            decoder.received = Some(Received::at(skips, budget, read.position, read.pending));
        }
        Ok(decoder)
    }
}
