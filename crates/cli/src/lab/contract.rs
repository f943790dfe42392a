//! `groupwire lab contract`.

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

/// Where recordings are looked for.
const DATA: &str = "../shared/data";

/// The options of `groupwire lab contract`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Only these setups: table1, straggler, modem, lossy, rooms.
    #[arg(long = "setup", value_name = "NAME")]
    setups: Vec<Setup>,

    /// In the setup table1, leave out only this: none, no-gmc, no-afec, full-price-repeats.
    #[arg(long = "ablation", value_name = "NAME")]
    ablations: Vec<Ablation>,

    /// In the setup table1, how packets are lost on both hops, such as rand20, pb10@4.
    #[arg(long = "loss", value_name = "NAME")]
    losses: Vec<Loss>,

    /// The room's tick in ms, instead of the setup's own.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(0..=1000))]
    tick: Option<u64>,

    /// QUIC acknowledges as between browsers and the server, not as rarely as between native clients and it.
    #[arg(long)]
    browser_acks: bool,

    /// How long sessions are, in seconds, instead of the setup's own time.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=36_000))]
    length: Option<u64>,

    /// Replay recordings in its directories mouse (*.csv, *.csv.gz) and editing (*.json, *.json.gz); ../shared/data, if that
    /// is there.
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,

    /// Runs at a time; one for each core unless stated.
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
        rows.tell(update, |row: &Row| !row.is_wrong(), |row| table.print(row));
    };
    contract::run(&options, &mut tell)?;
    rows.finish("what came was not what was sent", "there is no such run")
}
