//! What the experiment yields.

use std::fmt;
use std::str::FromStr;

use groupwire_session::Redundancy;
use serde::Serialize;

use super::channels::Channel;
use super::judge::Verdict;
use super::play::Played;

/// A room and its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Setup {
    /// All message types of the AFEC paper's Table 1 at once, among four, with heavy loss.
    Table1,
    /// One of four has a bad path.
    Straggler,
    /// Four pointers behind modems.
    Modem,
    /// Ten pointers over the network `lossy`, and the same over WebSockets.
    Lossy,
    /// From two to a thousand people with different transports and losses.
    Rooms,
}

impl Setup {
    /// All of them.
    pub const ALL: [Setup; 5] =
        [Setup::Table1, Setup::Straggler, Setup::Modem, Setup::Lossy, Setup::Rooms];
}

impl fmt::Display for Setup {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Setup::Table1 => "table1",
            Setup::Straggler => "straggler",
            Setup::Modem => "modem",
            Setup::Lossy => "lossy",
            Setup::Rooms => "rooms",
        })
    }
}

impl FromStr for Setup {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Setup::ALL.into_iter().find(|setup| setup.to_string() == name);
        found.ok_or_else(|| "there are table1, straggler, modem, lossy and rooms".to_owned())
    }
}

/// What is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Ablation {
    /// Nothing.
    None,
    /// Messages travel as they are.
    NoGmc,
    /// What is lost is lost.
    NoAfec,
    /// Each repeated message goes as it would alone.
    FullPriceRepeats,
}

impl Ablation {
    /// All of them.
    pub const ALL: [Ablation; 4] =
        [Ablation::None, Ablation::NoGmc, Ablation::NoAfec, Ablation::FullPriceRepeats];

    /// What is sent again.
    pub(super) fn redundancy(self) -> Redundancy {
        match self {
            Ablation::None | Ablation::NoGmc => Redundancy::Adaptive,
            Ablation::NoAfec => Redundancy::Off,
            Ablation::FullPriceRepeats => Redundancy::Alone,
        }
    }
}

impl fmt::Display for Ablation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Ablation::None => "none",
            Ablation::NoGmc => "no-gmc",
            Ablation::NoAfec => "no-afec",
            Ablation::FullPriceRepeats => "full-price-repeats",
        })
    }
}

impl FromStr for Ablation {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Ablation::ALL.into_iter().find(|ablation| ablation.to_string() == name);
        found.ok_or_else(|| {
            let all: Vec<String> = Ablation::ALL.iter().map(Ablation::to_string).collect();
            format!("there are {}", all.join(", "))
        })
    }
}

/// A channel in one setup. What does not apply is `None`. Bytes are of all channels together, on all paths, both ways,
/// with the headers of IP, UDP or TCP and QUIC, and acknowledgements, per message and receiver.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Room and network.
    pub setup: Setup,
    /// Whose messages, where not all are judged together.
    pub class: Option<String>,
    /// How packets are lost, on each path and each way, by name.
    pub loss: String,
    /// From application to application and back.
    pub rtt_ms: f64,
    /// People in the room.
    pub participants: usize,
    /// webtransport, websocket, or mixed.
    pub transport: &'static str,
    /// Of the room.
    pub tick_ms: f64,
    /// Whether participants' QUIC acknowledges as browsers' does, not as rarely as native clients'.
    pub browser_acks: bool,
    /// What was left out.
    pub ablation: Ablation,
    /// The message type.
    pub channel: &'static str,
    /// The share of messages that may be lost or late.
    pub target: f64,
    /// From application to application.
    pub deadline_ms: f64,
    /// Whether the deadline leaves room for the way and the tick.
    pub feasible: bool,
    /// The share of messages missed: never there or after the deadline, nor a newer one of their key.
    pub mer: f64,
    /// The rest.
    pub on_time: f64,
    /// The share of which nothing came at all, nor a newer one of their key.
    pub never: f64,
    /// What half of the messages took, or the newer one that stood for them.
    pub p50_ms: f64,
    /// What 99 of 100 took; `None`: more than 1 of 100 never came.
    pub p99_ms: Option<f64>,
    /// The least rate that the channel asks for.
    pub rate_min: f64,
    /// What senders made while they were busy, per second.
    pub rate_offered: f64,
    /// What came of it.
    pub rate: f64,
    /// Whether target and rate were met.
    pub met: bool,
    /// Messages sent, times receivers.
    pub messages: usize,
    /// Bytes on the wire.
    pub wire_bytes_per_message: f64,
    /// Of the same as a message of JSON per datagram of QUIC.
    pub plain_wire_bytes_per_message: Option<f64>,
    /// Of the same as JSON, all of a tick in one datagram.
    pub aggregated_wire_bytes_per_message: Option<f64>,
    /// What a repeated message of any channel adds to a packet of the room's, in the median.
    pub repeat_bytes: Option<f64>,
    /// Messages of any channel that the room repeated, for each that it sent for the first time.
    pub repeats: Option<f64>,
    /// The share of receivers whose application was told that the contract was missed or cannot be met.
    pub told: f64,
    /// By how much a bad path of somebody else raises the bytes of these paths, as a share.
    pub raised: Option<f64>,
    /// The seed.
    pub seed: u64,
    /// Whether it was a shorter session than for a full measurement.
    pub quick: bool,
    /// Whether transactions came once and in order, and nothing came that was not sent.
    pub verified: bool,
    /// If not: what was wrong first. Or the first failure of a connection, such as a gap.
    pub failure: Option<String>,
}

impl Row {
    /// Whether it fails the experiment: Groupwire delivered something else than was sent, and nothing was left out of
    /// it. A connection that broke is a result.
    pub fn is_wrong(&self) -> bool {
        !self.verified && self.ablation == Ablation::None
    }
}

/// The conditions that rows of one run share.
#[derive(Debug, Clone)]
pub(super) struct Conditions {
    pub(super) setup: Setup,
    pub(super) loss: String,
    pub(super) rtt_ms: f64,
    pub(super) participants: usize,
    pub(super) transport: &'static str,
    pub(super) tick_ms: f64,
    pub(super) browser_acks: bool,
    pub(super) ablation: Ablation,
    pub(super) seed: u64,
    pub(super) quick: bool,
}

impl Conditions {
    /// The row of a channel.
    pub(super) fn row(
        &self,
        channel: &Channel,
        verdict: &Verdict,
        wire_bytes_per_message: f64,
        played: &Played,
    ) -> Row {
        let deadline_ms = channel.deadline().as_secs_f64() * 1e3;
        let rate_min = channel.qos.rate_min.hertz();
        let (offered, rate) = (verdict.offered(), verdict.rate());
        // Nobody gets more than is sent, and some of it may miss.
        let is_fast = rate >= rate_min.min(offered * (1.0 - channel.target()));
        Row {
            setup: self.setup,
            class: None,
            loss: self.loss.clone(),
            rtt_ms: self.rtt_ms,
            participants: self.participants,
            transport: self.transport,
            tick_ms: self.tick_ms,
            browser_acks: self.browser_acks,
            ablation: self.ablation,
            channel: channel.name,
            target: channel.target(),
            deadline_ms,
            feasible: deadline_ms > self.rtt_ms / 2.0 + self.tick_ms,
            mer: verdict.mer(),
            on_time: 1.0 - verdict.mer(),
            never: verdict.never as f64 / verdict.addressed.max(1) as f64,
            p50_ms: verdict.percentile(50.0),
            p99_ms: Some(verdict.percentile(99.0)).filter(|ms| ms.is_finite()),
            rate_min,
            rate_offered: offered,
            rate,
            met: verdict.mer() <= channel.target() && is_fast,
            messages: verdict.addressed,
            wire_bytes_per_message,
            plain_wire_bytes_per_message: None,
            aggregated_wire_bytes_per_message: None,
            repeat_bytes: None,
            repeats: None,
            told: 0.0,
            raised: None,
            seed: self.seed,
            quick: self.quick,
            verified: played.wrong.is_none(),
            failure: played.wrong.clone().or_else(|| played.failure.clone()),
        }
    }
}
