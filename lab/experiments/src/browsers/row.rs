//! The rows of the experiment `web`.

use clap::ValueEnum;

use crate::Row;
use crate::options::{Common, named};

/// lab/README.md says what each field means.
const FIELDS: &str = "part system transport engine browser network emulator size participants measure value unit tick_ms app direction \
    messages trials per_trial deviation standard_error p50_ms p99_ms arrived transactions_ms path_ms adds_ms messages_per_second wire_bytes \
    joined_ms paper";

/// A part of the experiment, with its methods.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Every transport as users have it today.
    #[default]
    Today,
    /// The WEB paper's tables and figures by its own methods.
    Paper,
}

/// The quantity that a row measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Measure {
    /// Bytes that joining costs.
    OverheadConnection,
    /// Bytes that a message costs beyond its own.
    OverheadMessage,
    /// Messages per second from a participant to the server.
    SendRate,
    /// Distinct arrivals per second of what the server sends to a participant.
    ReceiveRate,
    /// The time from one participant's application to another's.
    Latency,
    /// The mean absolute deviation of latencies from their mean.
    Jitter,
}

/// The direction of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Direction {
    /// Messages from the participant to the server.
    Up,
    /// Messages from the server to the participant.
    Down,
}

named!(Part, Measure, Direction);

impl Measure {
    /// The unit of its values.
    fn unit(self) -> &'static str {
        match self {
            Measure::SendRate | Measure::ReceiveRate => "per second",
            Measure::Latency | Measure::Jitter => "ms",
            Measure::OverheadMessage | Measure::OverheadConnection => "bytes",
        }
    }
}

/// A row of a measure, still without its value.
pub(super) fn row(measure: Measure, common: &Common) -> Row {
    Row::new("web", FIELDS, common)
        .with("system", "groupwire")
        .with("measure", measure)
        .with("unit", measure.unit())
        .with("value", 0.0)
        .with("participants", 1)
        .with("tick_ms", 0)
        .with("messages", 0)
        .with("trials", 1)
}

/// Adds the paper's value to the row: from Table 1, and its overheads in bytes.
pub(super) fn with_papers(row: Row) -> Row {
    let paper = papers(&row);
    row.with("paper", paper)
}

fn papers(row: &Row) -> Option<f64> {
    // The paper measured only what servers send.
    let down = |bytes: f64| (row.text("direction") == "down").then_some(bytes);
    let place = match row.text("network") {
        "man" => 1,
        "wan" => 2,
        _ => 0,
    };
    // The paper's puzzle used multipart, its whiteboard WebSocket; its servers collected messages
    // for 40 ms.
    let is_its = |app: &str| {
        row.text("app") == app
            && row.number("tick_ms") == Some(40.0)
            && ["lan", "man", "wan"].contains(&row.text("network"))
    };
    match (row.text("measure"), row.text("transport")) {
        ("latency", "multipart") if is_its("puzzle") => Some([67.8, 121.2, 185.7][place]),
        ("latency", "websocket") if is_its("whiteboard") => Some([11.6, 55.8, 86.5][place]),
        ("jitter", "multipart") if is_its("puzzle") => Some([13.7, 6.6, 9.5][place]),
        ("jitter", "websocket") if is_its("whiteboard") => Some([8.5, 7.1, 6.5][place]),
        ("overhead_message", "iframe") => down(38.0),
        ("overhead_message", "multipart") => down(40.0),
        ("overhead_message", "websocket") => down(0.0),
        ("overhead_connection", "iframe" | "multipart") => Some(700.0),
        ("overhead_connection", "websocket") => Some(0.0),
        _ => None,
    }
}
