//! The rows of the experiment `contract`.

use clap::ValueEnum;
use groupwire_session::Redundancy;

use super::channels::Channel;
use super::judge::Verdict;
use super::play::Played;
use crate::Row;
use crate::browsers::Network;
use crate::options::{Common, named};

/// lab/README.md says what each field means. Bytes are of all channels together, on all paths, both
/// ways, per message and receiver.
const FIELDS: &str = "setup real chromium class link network loss rtt_ms participants transport tick_ms browser_acks ablation channel size target \
    deadline_ms jitter_max_ms feasible mer on_time never p50_ms p99_ms longest_ms jitter_ms rate_min rate_offered rate met messages \
    wire_bytes_per_message plain_wire_bytes_per_message aggregated_wire_bytes_per_message repeat_bytes repeats told \
    told_s age_p99_ms raised seeds bytes_apart p50_apart p99_apart mer_apart";

/// A room and its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Setup {
    /// All message types of the AFEC paper's Table 1 at once, among four, with heavy loss.
    Table1,
    /// One of four participants has a bad path.
    Straggler,
    /// Four pointers behind modems.
    Modem,
    /// Table 1 among four behind 2G links, with deadlines that are longer than the way.
    Gprs,
    /// Ten pointers over the network `lossy`, and the same over WebSockets.
    Lossy,
    /// One of four participants goes from Wi-Fi to a mobile network and back.
    Handover,
    /// One of four participants is at the end of a recorded cellular link.
    Cellular,
    /// The WEB paper's five canonical types of interaction, each alone, over each transport and
    /// network.
    Canonical,
    /// From two to a thousand people with different transports and losses.
    Rooms,
}

/// The part of Groupwire that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ablation {
    /// The whole system.
    None,
    /// Messages are not compressed by gmc.
    NoGmc,
    /// Lost messages are never repeated.
    NoAfec,
    /// Each repeated message takes the bytes that it would take in a packet of its own.
    FullPriceRepeats,
}

named!(Setup, Ablation);

impl Ablation {
    /// The redundancy with which the room repeats messages.
    pub(super) fn redundancy(self) -> Redundancy {
        match self {
            Ablation::None | Ablation::NoGmc => Redundancy::Adaptive,
            Ablation::NoAfec => Redundancy::Off,
            Ablation::FullPriceRepeats => Redundancy::Alone,
        }
    }
}

/// The conditions that rows of one run share.
#[derive(Debug, Clone)]
pub(super) struct Conditions {
    pub(super) setup: Setup,
    /// Whether the session went over real sockets.
    pub(super) real: bool,
    /// The number of participants that were pages of a browser.
    pub(super) chromium: usize,
    /// The network of the experiment `web`, if it is one.
    pub(super) network: Option<Network>,
    pub(super) loss: String,
    pub(super) rtt_ms: f64,
    pub(super) participants: usize,
    pub(super) transport: &'static str,
    pub(super) tick_ms: f64,
    pub(super) browser_acks: bool,
    pub(super) ablation: Ablation,
    pub(super) common: Common,
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
        // The received rate cannot exceed the offered one, and a share of the messages may miss.
        let jitter_max = channel.jitter.map(|jitter| jitter.as_secs_f64() * 1e3);
        let is_steady = jitter_max.is_none_or(|most| verdict.jitter() <= most);
        let is_fast = rate >= rate_min.min(offered * (1.0 - channel.target()));
        Row::new("contract", FIELDS, &self.common)
            .with("setup", self.setup)
            .with("real", self.real)
            .with("chromium", self.chromium)
            .with("network", self.network)
            .with("loss", &self.loss)
            .with("rtt_ms", self.rtt_ms)
            .with("participants", self.participants)
            .with("transport", self.transport)
            .with("tick_ms", self.tick_ms)
            .with("browser_acks", self.browser_acks)
            .with("ablation", self.ablation)
            .with("channel", channel.name)
            .with("target", channel.target())
            .with("deadline_ms", deadline_ms)
            .with("jitter_max_ms", jitter_max)
            .with("feasible", deadline_ms > self.rtt_ms / 2.0 + self.tick_ms)
            .with("mer", verdict.mer())
            .with("on_time", 1.0 - verdict.mer())
            .with("never", verdict.never as f64 / verdict.addressed.max(1) as f64)
            .with("p50_ms", verdict.percentile(50.0))
            .with("p99_ms", verdict.percentile(99.0))
            .with("longest_ms", verdict.percentile(100.0))
            .with("jitter_ms", verdict.jitter())
            .with("rate_min", rate_min)
            .with("rate_offered", offered)
            .with("rate", rate)
            .with("met", verdict.mer() <= channel.target() && is_fast && is_steady)
            .with("messages", verdict.addressed)
            .with("wire_bytes_per_message", wire_bytes_per_message)
            .with("told", 0.0)
            // A connection that failed is a result. Only a wrong delivery is an error.
            .with("verified", played.wrong.is_none())
            .with("failure", played.wrong.as_ref().or(played.failure.as_ref()))
    }
}
