//! The rows of the experiment `voice`.

use clap::ValueEnum;

use crate::options::named;

/// lab/README.md says what each field means.
pub(super) const FIELDS: &str = "part scheme network loss rtt_ms link_kbit jitter_ms people talkers speakers frames missed never \
    delay_p50_ms delay_p99_ms kbit of_plain listener_kbit server_share score score_name";

/// How frames travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheme {
    /// A channel for voice of Groupwire.
    Groupwire,
    /// Each frame in a datagram.
    Plain,
    /// Each frame in a datagram, with Opus's low-rate copy of the one before.
    Lbrr,
    /// Each frame in a datagram, with the one before (RFC 2198).
    Red,
    /// Each frame as a message of a WebSocket.
    Websocket,
}

named!(Scheme);
