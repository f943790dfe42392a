//! Section 6.5: what the network layer gets for memory, the setting that the paper leaves to it.

use super::super::row::Mode;
use super::row::percent;
use super::trial::{Settings, Trial, technique};
use crate::{Result, Row};

/// Memory of Groupwire's model for each direction, in KiB: from the least to well above the 64 that
/// users get.
const KIB: [usize; 8] = [4, 8, 16, 32, 64, 128, 256, 1024];

/// A row for each amount of memory, over a stream and in datagrams.
///
/// # Errors
/// A message cannot be encoded.
pub(super) fn rows(trial: &Trial<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (mode, packets) in
        [(Mode::Stream, "a message per segment"), (Mode::Datagram, "a message per datagram")]
    {
        for kib in KIB {
            let settings = Settings { memory: kib << 10, ..Settings::usual(mode) };
            let outcome = trial.run(technique("groupwire"), settings)?;
            let (bytes, messages) = (outcome.bytes_out as f64, trial.messages.len() as f64);
            rows.push(
                trial
                    .row("section-6.5")
                    .with("technique", "groupwire")
                    .with("packing", packets)
                    .with("memory_bytes", kib << 10)
                    .with("messages", trial.messages.len())
                    .with("bytes_per_message", bytes / messages)
                    .with("percent_of_original", percent(bytes, trial.bytes_in() as f64))
                    .with("encode_us", outcome.encode_us)
                    .with("encode_p99_us", outcome.encode_p99_us)
                    .with("decode_us", outcome.decode_us)
                    .with("state_bytes", outcome.state.encoder)
                    .failed(outcome.failure),
            );
        }
    }
    Ok(rows)
}
