//! `groupwire-lab contract`.

mod table;

use std::error::Error;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args as ClapArgs;
use groupwire_lab::contract::{self, Ablation, Options, Row, Setup};
use groupwire_lab::sim::Loss;

use super::common::Common;
use super::rows::Rows;
use table::Table;

/// The default directory of recordings, if it exists.
const DATA: &str = "../shared/data";

/// The options of `groupwire-lab contract`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Run only these setups: table1, straggler, modem, lossy, rooms.
    #[arg(long = "setup", value_name = "NAME")]
    setups: Vec<Setup>,

    /// In the setup table1, run only these ablations: none, no-gmc, no-afec, full-price-repeats.
    #[arg(long = "ablation", value_name = "NAME")]
    ablations: Vec<Ablation>,

    /// In the setup table1, the loss of packets on both legs, such as rand20, pb10@4.
    #[arg(long = "loss", value_name = "NAME")]
    losses: Vec<Loss>,

    /// The tick of the room in ms, instead of that of the setup.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(0..=1000))]
    tick: Option<u64>,

    /// Let QUIC acknowledge as often as between browsers and the server, not as rarely as between native clients and the
    /// server.
    #[arg(long)]
    browser_acks: bool,

    /// The length of sessions in seconds, instead of that of the setup.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=36_000))]
    length: Option<u64>,

    /// Replay recordings of the directories mouse (*.csv, *.csv.gz) and editing (*.json, *.json.gz) in this directory.
    /// Default: ../shared/data, if it exists.
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,

    /// The number of simultaneous runs. Default: one for each core.
    #[arg(long, value_name = "COUNT")]
    threads: Option<NonZero<usize>>,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    let options = Options {
        setups: args.setups,
        ablations: args.ablations,
        losses: args.losses,
        tick: args.tick.map(Duration::from_millis),
        browser_acks: args.browser_acks,
        length: args.length.map(Duration::from_secs),
        seed: args.common.seed,
        quick: args.common.quick,
        threads: args.threads,
        data: args.data.or_else(|| Some(PathBuf::from(DATA)).filter(|data| data.is_dir())),
    };
    let mut rows = Rows::new(args.common.json)?;
    let mut table = Table::default();
    let mut tell = |update| {
        rows.update(update, |row: &Row| !row.is_wrong(), |row| table.print(row));
    };
    contract::run(&options, &mut tell)?;
    rows.finish("received messages are not the sent ones", "no setup of this name has such runs")
}
