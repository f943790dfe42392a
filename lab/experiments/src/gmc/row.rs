//! What the experiment yields.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// How messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Each in a packet, everything arrives in order.
    Stream,
    /// Each in a packet, which may get lost or be overtaken.
    Datagram,
    /// Three to a packet, which may get lost or be overtaken.
    Packet3,
    /// Ten to a packet, which may get lost or be overtaken.
    Packet10,
}

impl Mode {
    /// Every mode, in the order of the tables.
    pub const ALL: [Mode; 4] = [Mode::Stream, Mode::Datagram, Mode::Packet3, Mode::Packet10];

    /// Its name in rows and options.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Stream => "stream",
            Mode::Datagram => "datagram",
            Mode::Packet3 => "packet3",
            Mode::Packet10 => "packet10",
        }
    }

    /// How many messages share a packet.
    pub fn messages_per_packet(self) -> usize {
        match self {
            Mode::Stream | Mode::Datagram => 1,
            Mode::Packet3 => 3,
            Mode::Packet10 => 10,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| format!("there are the modes {}", Mode::ALL.map(Mode::name).join(", ")))
    }
}

/// One technique on one trace under one set of conditions.
///
/// What does not apply is `None`. Times are means over the messages sent, the median of [`Row::rounds`] rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The trace's name.
    pub trace: String,
    /// The technique's name.
    pub technique: &'static str,
    /// How messages travel.
    pub mode: Mode,
    /// Datagrams: how many messages later the sender knows what arrived.
    pub ack_delay: Option<u32>,
    /// Datagrams: or how many milliseconds later, by the recorded times.
    pub ack_ms: Option<u32>,
    /// Datagrams: the probability that a packet, and that an acknowledgement, is lost.
    pub loss: Option<f64>,
    /// Messages sent.
    pub messages: usize,
    /// Messages in packets that arrived, each counted once.
    pub messages_arrived: usize,
    /// Those of them that the technique said it cannot decode.
    pub messages_refused: usize,
    /// Packets sent.
    pub packets: usize,
    /// Bytes of the messages sent.
    pub bytes_in: u64,
    /// Bytes of the packets sent, announcements included. No headers of IP, UDP or others.
    pub bytes_out: u64,
    /// Bytes out per message sent.
    pub bytes_per_message: f64,
    /// Bytes out per message arrived.
    pub bytes_per_arrived: f64,
    /// Mean time to encode a message, learning and acknowledgements included, in µs.
    pub encode_us: f64,
    /// Mean time to decode a message that arrived, learning and acknowledgements included, in µs.
    pub decode_us: f64,
    /// The time that 99 of 100 messages take at most to encode, in µs; a packet's time is shared out to its messages.
    pub encode_p99_us: f64,
    /// Bytes that the sender keeps from one message to the next, where that is known.
    pub state_bytes: Option<usize>,
    /// Bytes that the receiver keeps from one message to the next, where that is known.
    pub decoder_state_bytes: Option<usize>,
    /// Templates of the sender at the end.
    pub templates: Option<usize>,
    /// Bytes of announcements, within [`Row::bytes_out`].
    pub announcement_bytes: u64,
    /// Bytes of acknowledgements, the other way and so not within [`Row::bytes_out`].
    pub ack_bytes: u64,
    /// Bytes of the state that somebody who joins late is sent.
    pub snapshot_bytes: Option<u64>,
    /// What the dictionary was trained on. Its bytes are not counted.
    pub dictionary: Option<&'static str>,
    /// Whether every message that arrived decoded to what was sent.
    pub verified: bool,
    /// The first thing that went wrong.
    pub failure: Option<String>,
    /// Whether the technique was told the kind and the sender of each message.
    pub senders: bool,
    /// How often everything was measured.
    pub rounds: usize,
    /// The seed of the link, and of the built-in session.
    pub seed: u64,
    /// Whether only the first part of the trace was used, in one round.
    pub quick: bool,
}
