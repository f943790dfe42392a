//! What the experiment yields.

use std::collections::BTreeMap;

use serde::Serialize;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Part {
    /// Single messages go there and back, one at a time, over a line that takes no time: what the ends take.
    Baseline,
    /// The same over the links.
    Pingpong,
    /// As much as TCP carries over a link, in one direction.
    Bandwidth,
    /// As many large messages as go over a link, in one direction.
    Throughput,
}

/// A contender's figures in a cell. What does not apply is `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// What was measured.
    pub part: Part,
    /// The codec's name with level and filter if they are not the default; auto.
    pub codec: String,
    /// Its level, if it has some.
    pub level: Option<i8>,
    /// telecom or the file's name.
    pub payload: String,
    /// Of a message, in octets.
    pub size: usize,
    /// The rate of the link; none: packets take no time.
    pub link_mbit: Option<f64>,
    /// Switches between that store and forward.
    pub hops: usize,
    /// Messages that were timed.
    pub messages: usize,
    /// Messages that differ from each other.
    pub distinct: usize,
    /// Octets before over octets after (equation 1).
    pub ratio: Option<f64>,
    /// The round trip: the median of each message's, and the mean of these.
    pub rtt_us: Option<f64>,
    /// The mean of all round trips but the slowest 2 % of each combination of choices that auto made.
    pub trimmed_us: Option<f64>,
    /// The mean of all round trips, with all that the machine did meanwhile.
    pub mean_us: Option<f64>,
    /// The median of all round trips.
    pub p50_us: Option<f64>,
    /// What 99 of 100 took at most.
    pub p99_us: Option<f64>,
    /// The time that the packets of a round trip take on the wire, by their lengths.
    pub wire_us: Option<f64>,
    /// Octets of a round trip on the wire, everything that is around packets included.
    pub wire_octets: Option<f64>,
    /// Packets of a round trip.
    pub packets: Option<f64>,
    /// The round trip of such messages without compression over a line that takes no time.
    pub baseline_us: Option<f64>,
    /// Equation 6: Mbit/s of original octets in one direction. Of bandwidth and throughput: what arrived.
    pub effective_mbit: f64,
    /// The same by `trimmed_us`.
    pub effective_trimmed_mbit: Option<f64>,
    /// Equation 5: time without compression over time with it.
    pub q: Option<f64>,
    /// What went over the link, by the counters of its interface.
    pub wire_mbit: Option<f64>,
    /// What one end holds to pack and unpack, as the codec reckons it.
    pub memory_bytes: Option<usize>,
    /// Auto: the share of messages that each choice was made for.
    pub picked: Option<BTreeMap<String, f64>>,
    /// Of the payload.
    pub seed: u64,
    /// Whether less was measured than for a full measurement.
    pub quick: bool,
    /// Whether all that came was what was sent.
    pub verified: bool,
    /// If not: what was wrong first.
    pub failure: Option<String>,
}
