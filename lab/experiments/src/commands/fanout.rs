//! `groupwire-lab fanout`.

mod table;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args as ClapArgs;
use groupwire_lab::fanout::{self, Options, Row};
use groupwire_lab::program::groupwire;

use super::common::Common;
use super::rows::Rows;
use table::Table;

/// The options of `groupwire-lab fanout`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Run only these systems: groupwire-websocket, groupwire-webtransport, ws, ws-batched, socket.io, socket.io-batched, centrifugo,
    /// uwebsockets, uwebsockets-batched, y-websocket.
    #[arg(long = "system", value_name = "NAME")]
    systems: Vec<String>,

    /// The number of clients in the room, including the senders. May be given several times. Default: 100, 500, 1000.
    #[arg(long, value_name = "COUNT")]
    clients: Vec<usize>,

    /// The time for which servers collect messages before sending, in ms. May be given several times. Default: 40 and 0.
    /// Batched peers run with all but 0, other peers with 0.
    #[arg(long = "tick", value_name = "MS")]
    ticks: Vec<u64>,

    /// The number of clients that send.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    senders: usize,

    /// Messages per second from each sender.
    #[arg(long, value_name = "HZ", default_value_t = 25)]
    rate: u32,

    /// The duration of the measurement of each row.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    seconds: f64,

    /// The number of idle connections for measuring the memory of each; 0 for none.
    #[arg(long, value_name = "COUNT", default_value_t = 1500)]
    idle: usize,

    /// The groupwire program that is measured. Default: the one beside this program, else the one on PATH.
    #[arg(long = "groupwire", value_name = "FILE", alias = "server")]
    groupwire: Option<PathBuf>,

    /// The directory into which scripts/peers.sh has installed the peers.
    #[arg(long, value_name = "DIRECTORY", default_value = ".cache/peers")]
    peers: PathBuf,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    allow_files();
    let program = groupwire(args.groupwire)?;
    let options = Options {
        systems: args.systems,
        clients: args.clients,
        ticks: args.ticks,
        senders: args.senders,
        rate: args.rate,
        seconds: args.seconds,
        idle: args.idle,
        seed: args.common.seed,
        quick: args.common.quick,
        program,
        peers: args.peers,
    };
    let (mut rows, mut table) = (Rows::new(args.common.json)?, Table::default());
    let mut tell = |update| {
        rows.update(update, |row: &Row| row.verified, |row| table.print(row));
    };
    // Clients have runtimes of their own, which must not be started on a thread of this runtime.
    std::thread::scope(|scope| scope.spawn(|| fanout::run(&options, &mut tell)).join())
        .map_err(|_| "the experiment ended early")??;
    rows.finish(
        "received messages are not the sent ones",
        "none of these systems could be measured",
    )
}

/// Raises the limit of open files. Each connection is a file, here and in the server, which inherits the limit.
fn allow_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        // If this fails, clients that cannot join report it.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
}
