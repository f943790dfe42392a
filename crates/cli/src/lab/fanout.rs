//! `groupwire lab fanout`.

mod table;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args as ClapArgs;
use groupwire_lab::fanout::{self, Options, Row};

use super::common::Common;
use super::rows::Rows;
use table::Table;

/// The options of `groupwire lab fanout`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Only these: groupwire-websocket, groupwire-webtransport, ws, ws-batched, socket.io, socket.io-batched, centrifugo,
    /// uwebsockets, uwebsockets-batched, y-websocket.
    #[arg(long = "system", value_name = "NAME")]
    systems: Vec<String>,

    /// In the room, those who send among them; may be given several times. Default: 100, 500, 1000.
    #[arg(long, value_name = "COUNT")]
    clients: Vec<usize>,

    /// How long servers collect what they send, in ms; may be given several times. Default: 40 and 0. Batched peers
    /// take any but 0, the other peers 0.
    #[arg(long = "tick", value_name = "MS")]
    ticks: Vec<u64>,

    /// Those who send.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    senders: usize,

    /// Messages per second from each.
    #[arg(long, value_name = "HZ", default_value_t = 25)]
    rate: u32,

    /// How long each row is measured.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    seconds: f64,

    /// Silent connections, for the memory that each needs; 0 leaves that out.
    #[arg(long, value_name = "COUNT", default_value_t = 1500)]
    idle: usize,

    /// The groupwire program whose `serve` is measured; this one unless stated.
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,

    /// Where scripts/peers.sh has installed the peers.
    #[arg(long, value_name = "DIRECTORY", default_value = ".cache/peers")]
    peers: PathBuf,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    allow_files();
    let program = match args.server {
        Some(server) => server,
        None => std::env::current_exe()?,
    };
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
        rows.tell(update, |row: &Row| row.verified, |row| table.print(row));
    };
    // Clients have runtimes of their own, which must not be started within that of this thread.
    std::thread::scope(|scope| scope.spawn(|| fanout::run(&options, &mut tell)).join())
        .map_err(|_| "the experiment ended early")??;
    rows.finish("what came was not what was sent", "none of these systems could be measured")
}

/// Each connection is a file, here and in the server, which inherits the limit.
fn allow_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        // If it is not granted, clients that cannot join say so.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
}
