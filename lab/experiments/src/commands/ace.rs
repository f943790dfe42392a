//! `groupwire-lab ace`.

mod table;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use groupwire_lab::ace::{self, Options, Part, Row};
use groupwire_lab::emulator::Namespace;
use groupwire_lab::program::groupwire;

use super::common::Common;
use super::rows::Rows;
use table::Table;

/// The directory of the standard corpora, if it exists.
const DATA: &str = "../shared/data/corpus";
/// The limit of a transfer with `--quick`, in seconds. All transfers together then take less than 30 s.
const QUICK: f64 = 0.03;

/// The options of `groupwire-lab ace`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Run only these parts: files, fits, simulated, real, steps, tunnel.
    #[arg(long = "part", value_name = "NAME", value_delimiter = ',')]
    parts: Vec<Part>,

    /// Run only these policies: never, lzo, lz4, zstd-3, zstd-3+history, zstd-adapt, ace-2005, groupwire, ...
    #[arg(long = "policy", value_name = "NAME", value_delimiter = ',')]
    policies: Vec<String>,

    /// Run only scenarios whose names begin with one of these: fast, slow/idle, fast-heavy/medium/heavy, step-up, ...
    #[arg(long = "scenario", value_name = "NAME", value_delimiter = ',')]
    scenarios: Vec<String>,

    /// Use files of this directory, too. Default: ../shared/data/corpus, if it exists.
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,

    /// The time that the files together take over a real link without compression, in seconds. Each file is truncated
    /// accordingly.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,

    /// The share of each file to send over a real link, from 0 to 1, instead of --seconds.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    share: Option<f64>,

    /// The bytes to fetch through a tunnel, instead of --seconds.
    #[arg(long = "bytes", alias = "octets", value_name = "BYTES", value_parser = clap::value_parser!(u64).range(100_000..=100_000_000_000))]
    bytes: Option<u64>,

    /// The limit of a transfer over a real link, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    limit: f64,

    /// The groupwire program that is measured. Default: the one beside this program, else the one on PATH.
    #[arg(long = "groupwire", value_name = "FILE")]
    groupwire: Option<PathBuf>,

    /// Keep a core busy until standard input ends. The experiment starts such processes as load.
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
    // Comes first, because it may start this program again in a network namespace.
    let namespace = match [Part::Real, Part::Steps, Part::Tunnel].iter().any(is_wanted) {
        true => match Namespace::enter() {
            Ok(namespace) => Some(namespace),
            Err(error) => {
                eprintln!("groupwire-lab: no emulated links here: {error}");
                None
            }
        },
        false => None,
    };
    let program = match is_wanted(&Part::Tunnel) {
        true => groupwire(args.groupwire)?,
        false => PathBuf::from("groupwire"),
    };
    let options = Options {
        parts: args.parts,
        policies: args.policies,
        scenarios: args.scenarios,
        data: args.data.or_else(|| Some(PathBuf::from(DATA)).filter(|path| Path::is_dir(path))),
        seconds: args.seconds,
        share: args.share,
        octets: args.bytes,
        limit: if args.common.quick { QUICK } else { args.limit },
        seed: args.common.seed,
        quick: args.common.quick,
        program,
    };
    let (mut rows, mut table) = (Rows::new(args.common.json)?, Table::default());
    // The experiment blocks on runtimes of its own, which a thread of this runtime must not.
    let done = std::thread::scope(|scope| {
        let mut tell =
            |update| rows.update(update, |row: &Row| row.verified, |row| table.take(row));
        scope.spawn(move || ace::run(namespace.as_ref(), &options, &mut tell)).join()
    });
    done.map_err(|_| "the experiment ended early")??;
    if !args.common.json {
        table.finish();
    }
    rows.finish(
        "received bytes are not the sent ones",
        "no part, policy or scenario of this name can be measured",
    )
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.01..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "the time must be from 0.01 to 3600 seconds".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0001..=1.0).contains(share));
    share.ok_or_else(|| "a share must be from 0.0001 to 1".to_owned())
}
