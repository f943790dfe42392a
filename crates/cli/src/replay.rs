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
    /// The recording: *.bin or *.csv, each also with .gz; a table *.tsv beside a *.bin says who sent what when.
    #[arg(long, value_name = "FILE")]
    trace: PathBuf,

    /// The room to play it in.
    #[arg(long, value_name = "NAME", default_value = "replay")]
    room: String,

    /// Participants that send and receive; the recording's senders are dealt out to them in turn. Default: as many as
    /// the recording has, at least 2.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    participants: Option<u32>,

    /// Participants that only receive, besides.
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=2000))]
    receivers: u32,

    /// How many times faster than recorded.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    speed: f64,

    /// Instead of the recorded times: so many messages per second from each sender, ...
    #[arg(long, value_name = "HZ", value_parser = positive, conflicts_with = "speed")]
    rate: Option<f64>,

    /// ... for so many seconds, each sender repeating the messages of one person of the recording.
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0, value_parser = positive, requires = "rate")]
    seconds: f64,

    /// What the channels promise. A room that has a channel of this name already keeps what it promised.
    #[arg(long, value_enum, default_value_t = Promise::ByKind)]
    qos: Promise,

    /// Participants that compare every byte; the others only count. Default: all.
    #[arg(long, value_name = "COUNT")]
    sample: Option<usize>,

    /// The server: ws://host:port for WebSocket, https://host:port for WebTransport, tcp://host:port for its TCP port.
    #[arg(long, value_name = "URL", default_value = "ws://127.0.0.1:8080")]
    url: String,

    /// How to know the server over https://: "roots" are the system's root certificates; "ask" asks it over HTTP, at the
    /// same port, which is for networks one trusts; or hashes of certificates, with commas. Default: ask on this machine,
    /// else roots.
    #[arg(long, value_name = "HOW")]
    trust: Option<Trust>,

    /// The token that the server asks for.
    #[arg(long, value_name = "SECRET", env = "GROUPWIRE_TOKEN", hide_env_values = true)]
    token: Option<String>,

    /// How long to wait for what is missing before it is called lost.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = positive)]
    patience: f64,

    /// Print rows of JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// What channels promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Promise {
    /// Everything arrives, in the room's one order.
    Transaction,
    /// Everything arrives, in fewer packets.
    Aggregate,
    /// The newest of each sender and kind arrives.
    Conflate,
    /// Pointers aggregate, everything else are transactions.
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
    /// As reports name it.
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
        _ => Err("a number above 0, at most a million, is due".to_owned()),
    }
}
