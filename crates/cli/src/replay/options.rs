//! The options of `groupwire replay`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};
use groupwire_client::Trust;

/// The options of `groupwire replay`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// The recording: *.bin or *.csv, each also with .gz. A table *.tsv beside a *.bin has the
    /// sender and time of each message.
    #[arg(long, value_name = "FILE")]
    pub(super) trace: PathBuf,

    /// The room that the recording is replayed in.
    #[arg(long, value_name = "NAME", default_value = "replay")]
    pub(super) room: String,

    /// The number of participants that send and receive. The senders of the recording are assigned
    /// to them round-robin. Default: as many as the recording has, at least 2.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) participants: Option<u32>,

    /// The number of further participants, which only receive.
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=2000))]
    pub(super) receivers: u32,

    /// The factor by which the replay is faster than the recording.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    pub(super) speed: f64,

    /// Messages per second from each sender, instead of the recorded times.
    #[arg(long, value_name = "HZ", value_parser = positive, conflicts_with = "speed")]
    pub(super) rate: Option<f64>,

    /// How long to send with --rate. Each sender repeats the messages of one sender of the
    /// recording.
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, value_parser = positive, requires = "rate")]
    pub(super) seconds: f64,

    /// The quality of service of the channels. A channel that the room already has keeps its own.
    #[arg(long, value_enum, default_value_t = QosChoice::ByKind)]
    pub(super) qos: QosChoice,

    /// The number of participants that compare every byte; the others only count messages. Default:
    /// all.
    #[arg(long, value_name = "COUNT")]
    pub(super) sample: Option<usize>,

    /// The URL of the server: ws://host:port for WebSocket, wss://host:port for WebSocket over TLS,
    /// https://host:port for WebTransport, tcp://host:port for its TCP port.
    #[arg(long, value_name = "URL", default_value = "ws://127.0.0.1:8080")]
    pub(super) url: String,

    /// How the server is authenticated over https:// and wss://: by the system's root certificates
    /// ("roots") or those in a PEM file ("roots:FILE"), over https:// by a hash that is requested
    /// over plain HTTP at the same port ("ask", for trusted networks only), or by hashes of
    /// certificates, separated by commas. Default: ask on this machine, otherwise roots.
    #[arg(long, value_name = "HOW")]
    pub(super) trust: Option<Trust>,

    /// The token that the server requires.
    #[arg(long, value_name = "SECRET", env = "GROUPWIRE_TOKEN", hide_env_values = true)]
    pub(super) token: Option<String>,

    /// How long to wait without any arrival before missing messages count as lost.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = positive)]
    pub(super) patience: f64,

    /// Print rows of JSON instead of a table.
    #[arg(long)]
    pub(super) json: bool,
}

/// The quality of service of the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum QosChoice {
    /// Every message arrives, in the one order of the room.
    Transaction,
    /// Every message arrives; messages share packets.
    Aggregate,
    /// The newest message of each sender and kind arrives.
    Conflate,
    /// Kinds of pointers aggregate, other kinds are transactions.
    ByKind,
}

impl Args {
    /// The name of the transport in reports.
    pub(super) fn transport(&self) -> &'static str {
        match self.url.split("://").next() {
            Some("https") => "webtransport",
            Some("tcp") => "socket",
            _ => "websocket",
        }
    }

    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs_f64(self.patience)
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 1e6 => Ok(number),
        _ => Err("the number must be above 0 and at most 1,000,000".to_owned()),
    }
}
