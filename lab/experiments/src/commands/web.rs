//! `groupwire-lab web`.

mod native;
mod play;
mod receiver;
mod table;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args as ClapArgs;
use groupwire_lab::emulator::Namespace;
use groupwire_lab::program::groupwire;
use groupwire_lab::sim::{Loss, Queue};
use groupwire_lab::web::{self, Measure, Network, Options, Row, Weather};
use tokio::runtime::Handle;

use super::common::Common;
use super::rows::Rows;
use native::Native;
use table::Table;

/// The options of `groupwire-lab web`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Run only these transports: webtransport, websocket, multipart, iframe, longpoll, poll, socket.
    #[arg(long = "transport", value_name = "NAME")]
    transports: Vec<String>,

    /// Run only these networks: loopback, lan, man, wan, lossy; cellular, if there is a recording.
    #[arg(long = "network", value_name = "NAME")]
    networks: Vec<Network>,

    /// Run only these measures: send_rate, receive_rate, latency, jitter, overhead_message, overhead_connection.
    #[arg(long = "measure", value_name = "NAME")]
    measures: Vec<Measure>,

    /// A recorded link in the format of mahimahi, also with .gz. It is the network cellular.
    #[arg(long, value_name = "FILE")]
    cellular: Option<PathBuf>,

    /// The loss of packets, such as rand3, ge5b3, out80, instead of that of the network.
    #[arg(long, value_name = "LOSS")]
    loss: Option<Loss>,

    /// The largest additional random delay of packets in ms.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    jitter: u64,

    /// The percentage of packets that later ones overtake.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    reorder: f64,

    /// The length of the queue in ms, beyond which packets are dropped, instead of that of the network.
    #[arg(long, value_name = "MS")]
    queue: Option<u64>,

    /// The groupwire program that is measured. Default: the one beside this program, else the one on PATH.
    #[arg(long = "groupwire", value_name = "FILE")]
    groupwire: Option<PathBuf>,

    /// Use proxies on loopback instead of a network namespace. TCP then loses no packets, and bytes are not counted.
    #[arg(long)]
    proxy: bool,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    // Comes first, because it may start this program again in a network namespace.
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
        program: groupwire(args.groupwire)?,
    };
    let (mut rows, mut table) = (Rows::new(args.common.json)?, Table::default());
    let natives = Native::new(Handle::current());
    let mut tell = |update| {
        rows.update(update, |row: &Row| row.verified, |row| table.print(row));
    };
    // The experiment blocks, and waits for tasks of this runtime, so it runs on a thread of its own.
    let done = std::thread::scope(|scope| {
        let run = || web::run(namespace.as_ref(), &natives, &options, &mut tell);
        scope.spawn(run).join()
    });
    done.map_err(|_| "the experiment ended early")??;
    if !args.common.json {
        table.finish();
    }
    rows.finish("received messages are not the sent ones", "none of these transports works here")
}
