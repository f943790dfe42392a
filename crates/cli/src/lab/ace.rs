//! `groupwire lab ace`.

mod table;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use groupwire_lab::ace::{self, Options, Part, Row};
use groupwire_lab::emulator::Namespace;

use super::common::Common;
use super::rows::Rows;
use table::Table;

/// Where this project's own machines have real files.
const DATA: &str = "../shared/data/corpus";
/// How long a transfer of a quick experiment lasts at the most, in seconds.
const QUICK: f64 = 0.03;

/// The options of `groupwire lab ace`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Only these parts: files, fits, simulated, real, steps, tunnel.
    #[arg(long = "part", value_name = "NAME", value_delimiter = ',')]
    parts: Vec<Part>,

    /// Only these policies: never, lzo, lz4, zstd-3, zstd-3+history, zstd-adapt, ace-2005, groupwire, ...
    #[arg(long = "policy", value_name = "NAME", value_delimiter = ',')]
    policies: Vec<String>,

    /// Only scenarios that begin like this: fast, slow/idle, fast-heavy/medium/heavy, step-up, ...
    #[arg(long = "scenario", value_name = "NAME", value_delimiter = ',')]
    scenarios: Vec<String>,

    /// Take files from this directory, too; ../shared/data/corpus, if that is there.
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,

    /// Of every file send as much as takes so long in all over a real link without compression, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,

    /// Of every file send this share over a real link, from 0 to 1, instead.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    share: Option<f64>,

    /// Through a tunnel fetch so many octets, instead.
    #[arg(long, value_name = "OCTETS", value_parser = clap::value_parser!(u64).range(100_000..=100_000_000_000))]
    octets: Option<u64>,

    /// Stop a transfer over a real link after so long, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    limit: f64,

    /// Keep a core busy until standard input ends: what loads a processor.
    #[arg(long, value_name = "CORE", hide = true)]
    dummy: Option<usize>,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    if let Some(core) = args.dummy {
        return Ok(ace::dummy(core)?);
    }
    let is_wanted = |part: &Part| args.parts.is_empty() || args.parts.contains(part);
    // It may start this program once more, in a network of its own, and so comes before everything.
    let namespace = match [Part::Real, Part::Steps, Part::Tunnel].iter().any(is_wanted) {
        true => match Namespace::enter() {
            Ok(namespace) => Some(namespace),
            Err(error) => {
                eprintln!("groupwire: no emulated links here: {error}");
                None
            }
        },
        false => None,
    };
    let options = Options {
        parts: args.parts,
        policies: args.policies,
        scenarios: args.scenarios,
        data: args.data.or_else(|| Some(PathBuf::from(DATA)).filter(|path| Path::is_dir(path))),
        seconds: args.seconds,
        share: args.share,
        octets: args.octets,
        limit: if args.common.quick { QUICK } else { args.limit },
        seed: args.common.seed,
        quick: args.common.quick,
        program: std::env::current_exe()?,
    };
    let (mut rows, mut table) = (Rows::new(args.common.json)?, Table::default());
    // It waits for runtimes of its own, which this one's threads must not.
    let done = std::thread::scope(|scope| {
        let mut tell = |update| rows.tell(update, |row: &Row| row.verified, |row| table.take(row));
        scope.spawn(move || ace::run(namespace.as_ref(), &options, &mut tell)).join()
    });
    done.map_err(|_| "the experiment ended early")??;
    if !args.common.json {
        table.finish();
    }
    rows.finish("what came was not what was sent", "there is nothing to measure")
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.01..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "0.01 to 3600 seconds".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0001..=1.0).contains(share));
    share.ok_or_else(|| "a share is from 0.0001 to 1".to_owned())
}
