//! Section 5.3.1: what a stream of messages takes of a link, headers included.

use super::super::framing::write_number;
use super::super::row::Mode;
use super::row::percent;
use super::sizes::Sizes;
use super::trial::{Settings, Trial, technique};
use crate::{Result, Row};

/// The messages that are sent each second: a telepointer's.
const MESSAGES_PER_SECOND: f64 = 30.0;

/// The headers of a datagram: 20 bytes of IP and 8 of UDP.
const UDP: usize = 28;
/// The headers of a segment of a TCP connection without options: 20 bytes of IP and 20 of TCP.
const TCP: usize = 40;

/// The ways in which messages are put into packets.
const WAYS: [Way; 4] = [
    Way { name: "a message per datagram", mode: Mode::Datagram, per_packet: 1, header: UDP },
    Way { name: "ten messages per datagram", mode: Mode::Packet10, per_packet: 10, header: UDP },
    Way { name: "a message per segment", mode: Mode::Stream, per_packet: 1, header: TCP },
    Way { name: "ten messages per segment", mode: Mode::Stream, per_packet: 10, header: TCP },
];

struct Way {
    name: &'static str,
    /// The mode in which the technique runs. Over a stream it compresses each message when it is
    /// sent, whether or not several wait for one segment.
    mode: Mode,
    per_packet: usize,
    header: usize,
}

const TECHNIQUES: [&str; 7] = [
    "original",
    "hand-bits",
    "groupwire",
    "gmc-2006",
    "gmc-2006-tuned",
    "gmc-2006-plus",
    "deflate",
];

/// A row for each technique and way.
///
/// # Errors
/// A message cannot be encoded.
pub(super) fn rows(trial: &Trial<'_>, sizes: &Sizes) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for way in &WAYS {
        for name in TECHNIQUES {
            rows.push(row(trial, sizes, way, name)?);
        }
    }
    Ok(rows)
}

fn row(trial: &Trial<'_>, sizes: &Sizes, way: &Way, name: &'static str) -> Result<Row> {
    let messages = trial.messages.len() as f64;
    let (payload, failure) = match name {
        "original" => (plain(trial, way) as f64, None),
        _ => {
            let outcome = trial.run(technique(name), Settings::usual(way.mode))?;
            (outcome.bytes_out as f64, outcome.failure)
        }
    };
    let headers = way.header as f64 / way.per_packet as f64;
    let whole = payload / messages + headers;
    let as_paper = sizes.bytes_per_message(name).map(|bytes| bytes + headers);
    Ok(trial
        .row("section-5.3.1")
        .with("technique", name)
        .with("packing", way.name)
        .with("messages", trial.messages.len())
        .with("bytes_per_message", payload / messages)
        .with("header_bytes", headers)
        .with("header_percent", percent(headers, whole))
        .with("bytes_per_second", MESSAGES_PER_SECOND * whole)
        .with("bytes_per_second_as_paper", as_paper.map(|bytes| MESSAGES_PER_SECOND * bytes))
        .failed(failure))
}

/// The bytes of the messages as they are, with a length before each where a packet has several.
fn plain(trial: &Trial<'_>, way: &Way) -> usize {
    let bytes = trial.messages.iter().map(|message| message.bytes.len());
    let length = |bytes: usize| {
        let mut out = Vec::new();
        write_number(bytes, &mut out);
        out.len()
    };
    let is_framed = way.mode.messages_per_packet() > 1;
    bytes.map(|bytes| bytes + if is_framed { length(bytes) } else { 0 }).sum()
}
