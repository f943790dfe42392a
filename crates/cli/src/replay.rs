//! `groupwire replay`: native clients send a recorded session through a running server and check what arrives.

mod channels;
mod clients;
mod load;
mod plan;
mod report;
mod status;
mod verify;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};
use groupwire_client::Trust;
use groupwire_lab::Trace;

use clients::Clients;
use plan::{Pace, Plan};
use report::Report;

/// The options of `groupwire replay`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// The recording: *.bin or *.csv, each also with .gz. A table *.tsv beside a *.bin has the sender and time of each
    /// message.
    #[arg(long, value_name = "FILE")]
    trace: PathBuf,

    /// The room that the recording is replayed in.
    #[arg(long, value_name = "NAME", default_value = "replay")]
    room: String,

    /// The number of participants that send and receive. The senders of the recording are assigned to them round-robin.
    /// Default: as many as the recording has, at least 2.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    participants: Option<u32>,

    /// The number of further participants, which only receive.
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=2000))]
    receivers: u32,

    /// The factor by which the replay is faster than the recording.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    speed: f64,

    /// Messages per second from each sender, instead of the recorded times.
    #[arg(long, value_name = "HZ", value_parser = positive, conflicts_with = "speed")]
    rate: Option<f64>,

    /// How long to send with --rate. Each sender repeats the messages of one sender of the recording.
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, value_parser = positive, requires = "rate")]
    seconds: f64,

    /// The quality of service of the channels. A channel that the room has already keeps its own.
    #[arg(long, value_enum, default_value_t = QosChoice::ByKind)]
    qos: QosChoice,

    /// The number of participants that compare every byte; the others only count messages. Default: all.
    #[arg(long, value_name = "COUNT")]
    sample: Option<usize>,

    /// The URL of the server: ws://host:port for WebSocket, https://host:port for WebTransport, tcp://host:port for its TCP
    /// port.
    #[arg(long, value_name = "URL", default_value = "ws://127.0.0.1:8080")]
    url: String,

    /// How the server is authenticated over https://: by the system's root certificates ("roots"), by a hash that is
    /// requested over plain HTTP at the same port ("ask", for trusted networks only), or by hashes of certificates,
    /// separated by commas. Default: ask on this machine, otherwise roots.
    #[arg(long, value_name = "HOW")]
    trust: Option<Trust>,

    /// The token that the server requires.
    #[arg(long, value_name = "SECRET", env = "GROUPWIRE_TOKEN", hide_env_values = true)]
    token: Option<String>,

    /// How long to wait without any arrival before missing messages count as lost.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = positive)]
    patience: f64,

    /// Print rows of JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// The quality of service of the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum QosChoice {
    /// Every message arrives, in the one order of the room.
    Transaction,
    /// Every message arrives; messages share packets.
    Aggregate,
    /// The newest message of each sender and kind arrives.
    Conflate,
    /// Kinds of pointers aggregate, other kinds are transactions.
    ByKind,
}

pub(crate) async fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    let trace = Arc::new(Trace::read(&args.trace)?);
    let senders = match args.participants {
        Some(count) => count as usize,
        None => trace.senders().len().max(2),
    };
    let count = senders + args.receivers as usize;
    let channels = channels::of(&trace, args.qos);
    let clients = Clients::join(&args, &channels, count).await?;
    let pace = match args.rate {
        Some(hz) => Pace::Rate { hz, seconds: args.seconds },
        None => Pace::Recorded { speed: args.speed },
    };
    let plan = Arc::new(Plan::new(&trace, senders, pace, clients.qos()));

    let server = status::read(&args.url).await;
    let outcome = load::run(&args, &trace, &plan, clients).await?;
    let server = status::Cost::between(server, status::read(&args.url).await);

    let report = Report::new(&args, &trace, &plan, &outcome, server);
    match args.json {
        true => report.print_json(),
        false => report.print_table(),
    }
    match report.complaint() {
        None => Ok(ExitCode::SUCCESS),
        Some(complaint) => Err(complaint.into()),
    }
}

impl Args {
    /// The name of the transport in reports.
    fn transport(&self) -> &'static str {
        match self.url.split("://").next() {
            Some("https") => "webtransport",
            Some("tcp") => "socket",
            _ => "websocket",
        }
    }

    fn patience(&self) -> Duration {
        Duration::from_secs_f64(self.patience)
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 1e6 => Ok(number),
        _ => Err("the number must be above 0 and at most 1,000,000".to_owned()),
    }
}
