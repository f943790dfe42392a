//! What the experiment yields.

use serde::Serialize;

/// One scheme under one set of conditions. What does not apply is `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Which of the experiment's parts it belongs to: grid, steps, narrow, paper.
    pub part: &'static str,
    /// tcp, udp, fec-N, interleaved, afec-2012, groupwire, best-static.
    pub scheme: String,
    /// How packets are lost, by name.
    pub channel: String,
    /// The round trip of the whole path.
    pub rtt_ms: f64,
    /// From application to application.
    pub deadline_ms: f64,
    /// What each direction carries; 0: no limit.
    pub link_kbit: f64,
    /// The share of messages that may miss.
    pub target: f64,
    /// What a repeated message costs in bytes; `None`: its length.
    pub repeat_bytes: Option<f64>,
    /// 1: from sender to receiver. 2: by way of a server.
    pub hops: u32,
    /// Whether any static code meets the target.
    pub feasible: Option<bool>,
    /// Messages that never came or came later than the deadline, as a share.
    pub mer: f64,
    /// Messages that never came, as a share.
    pub never: f64,
    /// How many windows of 1000 messages there were.
    pub windows: usize,
    /// The share of them with no more missed than 1.2 times the target.
    pub windows_met: f64,
    /// Bytes on the wire, both ways, headers included, over those of plain UDP, minus 1.
    pub overhead: f64,
    /// Messages sent again, per message.
    pub redundant_messages: f64,
    /// Of the messages that came.
    pub latency_mean_ms: f64,
    /// What 99 of 100 messages that came took at most.
    pub latency_p99_ms: f64,
    /// Steps: seconds after the step from which the rate of missed messages, averaged over seeds, is within the target
    /// (or, after the loss ends, nothing is repeated any more).
    pub converge_s: Option<f64>,
    /// Seconds after the third burst of missed messages until the sender's application was told that the target cannot
    /// be met, if it was.
    pub told_s: Option<f64>,
    /// The share of the time for which the application had been told so.
    pub told_share: f64,
    /// Of best-static: the code. Of others, the one in force at the end.
    pub code: Option<String>,
    /// Messages sent, per seed.
    pub messages: usize,
    /// Runs that the figures are means of.
    pub seeds: u64,
    /// The first seed.
    pub seed: u64,
    /// Whether fewer messages were sent than for a full measurement.
    pub quick: bool,
}
