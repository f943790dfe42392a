//! What the experiment yields.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::network::Network;
use super::protocol::App;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Measure {
    /// Messages per second from a participant to the server.
    SendRate,
    /// Distinct arrivals per second of what the server sends to a participant.
    ReceiveRate,
    /// From one participant's application to another's.
    Latency,
    /// The mean divergence of that from its mean.
    Jitter,
    /// Bytes that a message costs beyond its own.
    OverheadMessage,
    /// Bytes that joining costs.
    OverheadConnection,
}

impl Measure {
    /// All of them, in the order of the rows.
    pub const ALL: [Measure; 6] = [
        Measure::OverheadConnection,
        Measure::OverheadMessage,
        Measure::SendRate,
        Measure::ReceiveRate,
        Measure::Latency,
        Measure::Jitter,
    ];

    /// What its values are counted in.
    pub fn unit(self) -> &'static str {
        match self {
            Measure::SendRate | Measure::ReceiveRate => "per second",
            Measure::Latency | Measure::Jitter => "ms",
            Measure::OverheadMessage | Measure::OverheadConnection => "bytes",
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Measure::SendRate => "send_rate",
            Measure::ReceiveRate => "receive_rate",
            Measure::Latency => "latency",
            Measure::Jitter => "jitter",
            Measure::OverheadMessage => "overhead_message",
            Measure::OverheadConnection => "overhead_connection",
        })
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Measure::ALL.into_iter().find(|measure| measure.to_string() == name);
        found.ok_or_else(|| {
            format!("there are {}", Measure::ALL.map(|one| one.to_string()).join(", "))
        })
    }
}

/// Which way messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the participant to the server.
    Up,
    /// From the server to the participant.
    Down,
}

/// One figure. What does not apply is `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// webtransport, websocket, multipart, iframe, longpoll, poll, socket.
    pub transport: String,
    /// Name and version; `native` if it was none.
    pub browser: String,
    /// What lies between.
    pub network: Network,
    /// How it was emulated: tun, proxy, none.
    pub emulator: &'static str,
    /// Of a message, in bytes; of an application's messages, none.
    pub size: Option<usize>,
    /// In the room, senders and receivers beside the server not counted.
    pub participants: usize,
    /// What is measured.
    pub measure: Measure,
    /// The figure.
    pub value: f64,
    /// What it counts.
    pub unit: &'static str,
    /// The server's.
    pub tick_ms: u64,
    /// Whose traffic.
    pub app: Option<App>,
    /// Which way messages went.
    pub direction: Option<Direction>,
    /// Messages that the figure is from.
    pub messages: u32,
    /// Runs that it is the mean of.
    pub trials: u32,
    /// Their standard deviation.
    pub deviation: Option<f64>,
    /// Latency: in the median.
    pub p50_ms: Option<f64>,
    /// Latency: what 99 of 100 messages that came took at most.
    pub p99_ms: Option<f64>,
    /// Latency: the share of messages that came.
    pub arrived: Option<f64>,
    /// Latency: of transactions, in the mean. The figure itself is of awareness.
    pub transactions_ms: Option<f64>,
    /// Latency: the path's own round trip, by datagrams of 64 bytes with headers.
    pub path_ms: Option<f64>,
    /// Latency: what is added to it.
    pub adds_ms: Option<f64>,
    /// Rates: all messages per second, those that came at once with another counted, too.
    pub messages_per_second: Option<f64>,
    /// Overheads: all bytes on the wire, both ways, from the IP header on, beyond those of the messages.
    pub wire_bytes: Option<f64>,
    /// Connection: how long joining took.
    pub joined_ms: Option<f64>,
    /// What the paper found for its like.
    pub paper: Option<f64>,
    /// Of the network's losses.
    pub seed: u64,
    /// Whether less was measured than for a full measurement.
    pub quick: bool,
    /// Whether all that came was what was sent.
    pub verified: bool,
    /// If not: what was wrong first.
    pub failure: Option<String>,
}

impl Row {
    /// What the paper has for it: Table 1, and its overheads in bytes.
    pub(super) fn papers(&self) -> Option<f64> {
        let multipart = match self.transport.as_str() {
            "multipart" => true,
            "websocket" => false,
            "iframe" if self.measure == Measure::OverheadMessage => return self.down(38.0),
            "iframe" if self.measure == Measure::OverheadConnection => return Some(700.0),
            _ => return None,
        };
        let place = match self.network {
            Network::Lan => 0,
            Network::Man => 1,
            Network::Wan => 2,
            _ if matches!(self.measure, Measure::Latency | Measure::Jitter) => return None,
            _ => 0,
        };
        // Its puzzle used multipart, its whiteboard WebSocket; its servers collected for 40 ms.
        let is_its = self.tick_ms == 40
            && self.app == Some(if multipart { App::Puzzle } else { App::Whiteboard });
        match (self.measure, multipart) {
            (Measure::Latency, true) if is_its => Some([67.8, 121.2, 185.7][place]),
            (Measure::Latency, false) if is_its => Some([11.6, 55.8, 86.5][place]),
            (Measure::Jitter, true) if is_its => Some([13.7, 6.6, 9.5][place]),
            (Measure::Jitter, false) if is_its => Some([8.5, 7.1, 6.5][place]),
            (Measure::OverheadMessage, true) => self.down(40.0),
            (Measure::OverheadMessage, false) => self.down(0.0),
            (Measure::OverheadConnection, true) => Some(700.0),
            (Measure::OverheadConnection, false) => Some(0.0),
            _ => None,
        }
    }

    /// The paper looked at what servers send.
    fn down(&self, bytes: f64) -> Option<f64> {
        (self.direction == Some(Direction::Down)).then_some(bytes)
    }
}
