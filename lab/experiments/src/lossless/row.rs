//! The rows of the experiment `lossless`.

use clap::ValueEnum;

use super::contender::Contender;
use super::payload::Payload;
use crate::Row;
use crate::options::{Common, named};

/// lab/README.md says what each field means.
const FIELDS: &str = "part codec level payload size link_mbit hops messages distinct ratio rtt_us trimmed_us mean_us p50_us \
    p99_us wire_us wire_octets packets baseline_us effective_mbit effective_trimmed_mbit q wire_mbit memory_bytes \
    cpu_us energy_uj picked \
    block_bytes threads pack_us speedup";

/// A part of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Single messages go there and back, one at a time, over a line that takes no time: the time
    /// of the ends alone.
    Baseline,
    /// Single messages go there and back over the links.
    Pingpong,
    /// The throughput of TCP over a link, in one direction.
    Bandwidth,
    /// The throughput of large messages over a link, in one direction.
    Throughput,
    /// Large messages, packed as blocks by several threads.
    Parallel,
    /// All of these under the conditions of the LMC paper alone: its payload and its codecs with
    /// its settings, beside ours, and fewer messages.
    Paper,
}

named!(Part);

/// A row of a contender that has no figures yet.
pub(super) fn row(
    part: Part,
    contender: Contender,
    (payload, size): (&Payload, usize),
    (link_mbit, hops): (Option<f64>, usize),
    common: &Common,
) -> Row {
    Row::new("lossless", FIELDS, common)
        .with("part", part)
        .with("codec", contender.to_string())
        .with("level", contender.level())
        .with("payload", &payload.name)
        .with("size", size)
        .with("link_mbit", link_mbit)
        .with("hops", hops)
}
