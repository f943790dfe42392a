//! `groupwire lab web`.

mod ear;
mod native;
mod play;
mod table;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args as ClapArgs;
use groupwire_lab::emulator::Namespace;
use groupwire_lab::sim::{Loss, Queue};
use groupwire_lab::web::{self, Measure, Network, Options, Row, Weather};
use tokio::runtime::Handle;

use super::common::Common;
use super::rows::Rows;
use native::Native;
use table::Table;

/// The options of `groupwire lab web`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Only these transports: webtransport, websocket, multipart, iframe, longpoll, poll, socket.
    #[arg(long = "transport", value_name = "NAME")]
    transports: Vec<String>,

    /// Only these networks: loopback, lan, man, wan, lossy; cellular, if there is a recording.
    #[arg(long = "network", value_name = "NAME")]
    networks: Vec<Network>,

    /// Only these: send_rate, receive_rate, latency, jitter, overhead_message, overhead_connection.
    #[arg(long = "measure", value_name = "NAME")]
    measures: Vec<Measure>,

    /// A recorded cellular link, in mahimahi's format, also with .gz: the network cellular.
    #[arg(long, value_name = "FILE")]
    cellular: Option<PathBuf>,

    /// Lose these packets instead of the network's own, such as rand3, ge5b3, out80.
    #[arg(long, value_name = "LOSS")]
    loss: Option<Loss>,

    /// Delay packets by up to so much more, in ms.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    jitter: u64,

    /// Let so many of 100 packets be overtaken.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    reorder: f64,

    /// What waits before more is dropped, instead of the network's own, in ms.
    #[arg(long, value_name = "MS")]
    queue: Option<u64>,

    /// Use proxies on loopback instead of a network namespace: no losses to TCP, no bytes counted.
    #[arg(long)]
    proxy: bool,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    // It may start this program once more, in a network of its own, and so comes before everything.
    let namespace = match args.proxy {
        true => None,
        false => Some(Namespace::enter().map_err(|error| {
            format!("no emulated network here: {error}\n--proxy does without, and shows less")
        })?),
    };
    let mut weather = Weather {
        trace: None,
        loss: args.loss,
        jitter: Duration::from_millis(args.jitter),
        reorder: args.reorder.clamp(0.0, 100.0) / 100.0,
        queue: args.queue.map(|ms| Queue::Time(Duration::from_millis(ms))),
    };
    if let Some(path) = &args.cellular {
        weather.read_trace(path)?;
    }
    let options = Options {
        transports: args.transports,
        networks: args.networks,
        measures: args.measures,
        weather,
        seed: args.common.seed,
        quick: args.common.quick,
        program: std::env::current_exe()?,
    };
    let (mut rows, mut table) = (Rows::new(args.common.json)?, Table::default());
    let natives = Native::new(Handle::current());
    let mut tell = |update| {
        rows.tell(update, |row: &Row| row.verified, |row| table.print(row));
    };
    // It waits for what the runtime of this thread does, and has one of its own.
    let done = std::thread::scope(|scope| {
        let run = || web::run(namespace.as_ref(), &natives, &options, &mut tell);
        scope.spawn(run).join()
    });
    done.map_err(|_| "the experiment ended early")??;
    if !args.common.json {
        table.finish();
    }
    rows.finish("what came was not what was sent", "none of these transports works here")
}
