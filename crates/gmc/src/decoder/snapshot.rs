//! Decoders from snapshots. A snapshot is the model (all that was learned from messages so far) as
//! bytes, for a decoder that joins late.

use super::Decoder;
use crate::config::{Config, Delivery};
use crate::datagram::received::Received;
use crate::error::SnapshotError;
use crate::snapshot;

impl Decoder {
    /// Makes a decoder that continues as if it had received all packets up to the moment when the
    /// encoder made the snapshot. See [`Encoder::snapshot`](crate::Encoder::snapshot).
    ///
    /// With [`Delivery::Room`] the decoder acknowledges like all others, first the packets that the
    /// snapshot holds. With [`Delivery::Datagrams`] it replaces the link's earlier decoder.
    ///
    /// Accepts any bytes: they give a decoder within [`Config::memory`], or an error. The work is
    /// bounded by [`Config::memory`] and by the number of bytes.
    pub fn from_snapshot(config: Config, bytes: &[u8]) -> Result<Self, SnapshotError> {
        let mut decoder = Self::new(config);
        let read = snapshot::read(&decoder.stream, bytes)?;
        decoder.stream = read.stream;
        decoder.chain = read.position.chain;
        decoder.remaining = decoder.stream.remaining();
        if decoder.received.is_some() {
            let skips = decoder.stream.config().delivery == Delivery::Datagrams;
            let budget = decoder.remaining / 4 * 3;
            decoder.received = Some(Received::at(skips, budget, read.position, read.pending));
        }
        Ok(decoder)
    }
}
