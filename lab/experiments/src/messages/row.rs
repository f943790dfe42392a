//! The rows of the experiment `gmc`.

use clap::ValueEnum;

use super::conditions::Conditions;
use crate::Row;
use crate::options::{Common, named};

/// lab/README.md says what each field means.
const FIELDS: &str = "trace technique mode ack_delay ack_ms loss messages messages_arrived messages_refused packets \
    bytes_in bytes_out bytes_per_message bytes_per_arrived encode_us decode_us encode_p99_us state_bytes \
    decoder_state_bytes templates budget_us target_percent announcement_bytes ack_bytes snapshot_bytes dictionary senders rounds";

/// The way in which messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Each message in a packet; all packets arrive in order.
    Stream,
    /// Each message in a packet, which may get lost or be overtaken.
    Datagram,
    /// Three messages to a packet, which may get lost or be overtaken.
    Packet3,
    /// Ten messages to a packet, which may get lost or be overtaken.
    Packet10,
}

named!(Mode);

impl Mode {
    /// The number of messages that share a packet.
    pub(super) fn messages_per_packet(self) -> usize {
        match self {
            Mode::Stream | Mode::Datagram => 1,
            Mode::Packet3 => 3,
            Mode::Packet10 => 10,
        }
    }
}

/// A row of a technique that has no figures yet.
pub(super) fn row(trace: &str, technique: &str, conditions: &Conditions, common: &Common) -> Row {
    Row::new("gmc", FIELDS, common)
        .with("trace", trace)
        .with("technique", technique)
        .with("mode", conditions.mode)
        .with("ack_delay", conditions.ack_delay())
        .with("ack_ms", conditions.ack_ms())
        .with("loss", conditions.loss())
}
