//! What the experiment yields.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::Serialize;

use super::cell::Cell;
use super::run::{Figures, Log};

/// What the experiment consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Part {
    /// Every scheme on every channel with steady loss.
    Grid,
    /// Loss that begins and ends.
    Steps,
    /// Modem links.
    Narrow,
    /// The conditions of the AFEC paper's Figures 5 to 10.
    Paper,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 4] = [Part::Grid, Part::Steps, Part::Narrow, Part::Paper];
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Part::Grid => "grid",
            Part::Steps => "steps",
            Part::Narrow => "narrow",
            Part::Paper => "paper",
        })
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Part::ALL.into_iter().find(|part| part.to_string() == name);
        found.ok_or_else(|| "there are grid, steps, narrow and paper".to_owned())
    }
}

/// One scheme under one set of conditions. What does not apply is `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Which of the experiment's parts it belongs to.
    pub part: Part,
    /// Whether it went over real sockets.
    pub real: bool,
    /// tcp, udp, fec-N, afec-2012, groupwire, best-static.
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
    /// Whether `overhead` and `bytes_per_message` are computed and not measured: a run sends each repeat at its length,
    /// and the difference to `repeat_bytes` is subtracted afterwards.
    pub computed: bool,
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
    /// The same, in bytes per message, not compared.
    pub bytes_per_message: f64,
    /// Messages sent again, per message.
    pub redundant_messages: f64,
    /// Of the messages that came.
    pub latency_mean_ms: f64,
    /// What 99 of 100 messages that came took at most.
    pub latency_p99_ms: f64,
    /// Steps: seconds of motion after the step from which, as a mean over seeds, messages are missed within the target
    /// (or, where the loss ends, hardly any is repeated any more). `None` if that is never so.
    pub converge_s: Option<f64>,
    /// Steps: the share of messages missed after that (or repeats per message). If it never is so, of all after the
    /// step.
    pub settled: Option<f64>,
    /// Seconds after the third burst of missed messages until the sender's application was told that the target cannot
    /// be met, if it was.
    pub told_s: Option<f64>,
    /// The share of the time for which the application had been told so.
    pub told_share: f64,
    /// Of best-static: the code. Of others, the one in force at the end.
    pub code: Option<String>,
    /// Codes that the search for best-static tried.
    pub tried: Option<usize>,
    /// Of groupwire: what making a packet or taking one in took, in µs, on the median and as a mean.
    pub cpu_us: Option<f64>,
    /// As a mean: decisions are rare and take longer.
    pub cpu_mean_us: Option<f64>,
    /// Of groupwire: what an end kept, at most; it had one channel.
    pub memory_bytes: Option<usize>,
    /// Messages sent, per seed.
    pub messages: usize,
    /// Runs that the figures are means of.
    pub seeds: u64,
    /// The first seed.
    pub seed: u64,
    /// Whether fewer messages were sent than for a full measurement.
    pub quick: bool,
    /// Whether all that came was what was sent, and came once.
    pub verified: bool,
    /// If not: what was wrong first.
    pub failure: Option<String>,
}

impl Row {
    /// A row of one run. `plain_bytes`: bytes per message of plain UDP.
    pub(super) fn new(
        (part, scheme): (Part, String),
        cell: &Cell,
        (log, figures): (&Log, Figures),
        plain_bytes: f64,
    ) -> Self {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let told = log.told();
        Row {
            part,
            real: false,
            scheme,
            channel: cell.loss.to_string(),
            rtt_ms: ms(cell.round_trip),
            deadline_ms: ms(cell.deadline),
            link_kbit: cell.link_kbit.unwrap_or(0.0),
            target: cell.target,
            repeat_bytes: None,
            computed: false,
            hops: cell.hops() as u32,
            feasible: None,
            mer: figures.mer,
            never: figures.never,
            windows: figures.windows,
            windows_met: figures.windows_met,
            overhead: figures.bytes_per_message / plain_bytes - 1.0,
            bytes_per_message: figures.bytes_per_message,
            redundant_messages: figures.repeats_per_message,
            latency_mean_ms: figures.latency_mean,
            latency_p99_ms: figures.latency_p99,
            converge_s: None,
            settled: None,
            told_s: told.after,
            told_share: told.share,
            code: log.code.as_ref().map(super::code_name),
            tried: None,
            cpu_us: None,
            cpu_mean_us: None,
            memory_bytes: None,
            messages: log.messages.len(),
            seeds: 1,
            seed: 0,
            quick: false,
            verified: log.failure.is_none(),
            failure: log.failure.clone(),
        }
    }
}
