//! What the experiment yields.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Part {
    /// What files there are (Table 1).
    Files,
    /// Ratio against ratio and time against ratio of blocks of the training files (Figure 1, section 4.2).
    Fits,
    /// Links from slow to fast and loads, scenarios and steps, in simulated time with measured costs.
    Simulated,
    /// Real octets over emulated links beside real load (Tables 2 and 3, Figures 2 and 3).
    Real,
    /// A real link that opens or closes a hundredfold.
    Steps,
    /// Programs that know nothing of it, with `groupwire tunnel` between them.
    Tunnel,
}

impl Part {
    /// All, in the order in which they run.
    pub const ALL: [Part; 6] =
        [Part::Files, Part::Fits, Part::Simulated, Part::Real, Part::Steps, Part::Tunnel];

    fn name(self) -> &'static str {
        match self {
            Part::Files => "files",
            Part::Fits => "fits",
            Part::Simulated => "simulated",
            Part::Real => "real",
            Part::Steps => "steps",
            Part::Tunnel => "tunnel",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Part::ALL.into_iter().find(|part| part.name() == name);
        known.ok_or_else(|| format!("there are {}", Part::ALL.map(Part::name).join(", ")))
    }
}

/// A policy's figures in a cell. What does not apply is `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// What was measured.
    pub part: Part,
    /// The load of network, server and client, such as fast/idle/heavy; scenario1 to scenario3; step-up, step-down;
    /// training and benchmark of files and fits.
    pub scenario: String,
    /// One of the benchmark files, or all of them one behind the other.
    pub file: String,
    /// What the network leaves, without compression.
    pub network_mbit: Option<f64>,
    /// The share of its processor that the sender has left.
    pub server_cpu_left: Option<f64>,
    /// The same of the receiver.
    pub client_cpu_left: Option<f64>,
    /// never, a codec's name, zstd-adapt, ace-2005, groupwire, oracle.
    pub policy: String,
    /// From the first octet that was written to the last that was read.
    pub seconds: Option<f64>,
    /// Seconds over those of the best static policy, minus 1.
    pub over_best: Option<f64>,
    /// Seconds over those of the oracle, which knows everything and chooses for each block, minus 1.
    pub over_oracle: Option<f64>,
    /// Plain octets that were to be sent.
    pub bytes_in: u64,
    /// What went over the network for them, above TCP.
    pub bytes_wire: Option<u64>,
    /// Of each file so much was sent.
    pub share: Option<f64>,
    /// Whether the time was up before everything was there: `seconds` is then what it would have taken at the same pace.
    pub stopped: bool,
    /// Groupwire: the shares of its choices, where they are known.
    pub picked: Option<BTreeMap<String, f64>>,
    /// What the paper has in this place, in seconds.
    pub paper_seconds: Option<f64>,
    /// Files: what it is and where it is from.
    pub origin: Option<String>,
    /// Steps: plain MB/s from two seconds after the step on.
    pub rate_after: Option<f64>,
    /// Steps: how far that is behind the rate of the best static policy in the new conditions, as a share of it.
    pub behind_best: Option<f64>,
    /// Steps: plain octets that arrived in each tenth of a second.
    pub series: Option<Vec<u64>>,
    /// A line through points of blocks.
    pub fit: Option<Fit>,
    /// Tunnel: connections at the same time.
    pub connections: Option<usize>,
    /// Tunnel: memory of both ends together for each connection, while all buffers are full.
    pub kib_per_connection: Option<f64>,
    /// Tunnel: the same when nothing has gone on for a while.
    pub kib_per_idle_connection: Option<f64>,
    /// Of what is made.
    pub seed: u64,
    /// Whether less was measured than for a full measurement.
    pub quick: bool,
    /// Whether all that came was what was sent.
    pub verified: bool,
    /// If not: what was wrong first.
    pub failure: Option<String>,
}

/// A line through points, each of a block: `y = intercept + slope * x`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// The ratio of which codec.
    pub x: String,
    /// The ratio of which codec, or its packing or unpacking in ms.
    pub y: String,
    /// Of the line.
    pub slope: f64,
    /// Of the line.
    pub intercept: f64,
    /// The share of the variance that the line explains.
    pub r2: f64,
    /// Some of the points, evenly chosen.
    pub points: Vec<(f64, f64)>,
}

impl Row {
    /// A row with nothing but names in it.
    pub fn new(part: Part, scenario: &str, file: &str, policy: &str) -> Row {
        Row {
            part,
            scenario: scenario.to_owned(),
            file: file.to_owned(),
            network_mbit: None,
            server_cpu_left: None,
            client_cpu_left: None,
            policy: policy.to_owned(),
            seconds: None,
            over_best: None,
            over_oracle: None,
            bytes_in: 0,
            bytes_wire: None,
            share: None,
            stopped: false,
            picked: None,
            paper_seconds: None,
            origin: None,
            rate_after: None,
            behind_best: None,
            series: None,
            fit: None,
            connections: None,
            kib_per_connection: None,
            kib_per_idle_connection: None,
            seed: 0,
            quick: false,
            verified: true,
            failure: None,
        }
    }
}
