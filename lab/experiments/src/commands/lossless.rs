//! `groupwire-lab lossless`.

mod memory;
mod table;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use groupwire_lab::emulator::Namespace;
use groupwire_lab::lossless::{self, Contender, Options, Part, Row};

use super::common::Common;
use super::rows::Rows;
use table::Table;

/// The directory of the standard corpora, if it exists.
const DATA: &str = "../shared/data/corpus";

/// The options of `groupwire-lab lossless`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Run only these parts: baseline, pingpong, bandwidth, throughput.
    #[arg(long = "part", value_name = "NAME", value_delimiter = ',', value_parser = part)]
    parts: Vec<Part>,

    /// The sizes of messages in bytes, instead of 500, 700, 1000, 1400.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = size)]
    sizes: Vec<usize>,

    /// The rates of links in Mbit/s, instead of 10, 100, 1000.
    #[arg(long, value_name = "MBIT", value_delimiter = ',', value_parser = rate)]
    rates: Vec<f64>,

    /// The numbers of store-and-forward switches between both ends, instead of 0 and 1.
    #[arg(long, value_name = "COUNT", value_delimiter = ',', value_parser = hops)]
    hops: Vec<usize>,

    /// Run only these codecs, besides no compression: lz4, zstd-1, zstd-fast-3, delta4+lz4, auto, ...
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    codecs: Vec<Contender>,

    /// Run only these payloads: telecom, the name of a file, or all.
    #[arg(long = "payload", value_name = "NAME", value_delimiter = ',')]
    payloads: Vec<String>,

    /// Cut messages from files of this directory, too. Default: ../shared/data/corpus, if it exists.
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,

    /// The number of messages of each codec on each link. Default: 5,000, 10,000 or 20,000, by the rate of the link.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    messages: Option<u32>,

    /// Only show the memory of each codec.
    #[arg(long)]
    memory: bool,

    /// Measure the memory of one codec in this process.
    #[arg(long, value_name = "NAME", hide = true)]
    memory_of: Option<Contender>,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    if let Some(contender) = args.memory_of {
        return memory::measure(contender);
    }
    if args.memory {
        return memory::show(&args.codecs, args.common.json);
    }
    // Comes first, because it may start this program again in a network namespace.
    let namespace =
        Namespace::enter().map_err(|error| format!("no emulated links here: {error}"))?;
    let options = Options {
        parts: args.parts,
        sizes: args.sizes,
        rates: args.rates,
        hops: args.hops,
        contenders: args.codecs,
        payloads: args.payloads,
        data: args.data.or_else(|| Some(PathBuf::from(DATA)).filter(|path| Path::is_dir(path))),
        messages: args.messages.map(|count| count as usize),
        seed: args.common.seed,
        quick: args.common.quick,
    };
    let (mut rows, mut table) = (Rows::new(args.common.json)?, Table::default());
    lossless::run(&namespace, &options, &mut |update| {
        rows.update(update, |row: &Row| row.verified, |row| table.take(row));
    })?;
    if !args.common.json {
        table.finish();
    }
    rows.finish("received messages are not the sent ones", "no part of this name can be measured")
}

fn part(name: &str) -> Result<Part, String> {
    match name {
        "baseline" => Ok(Part::Baseline),
        "pingpong" => Ok(Part::Pingpong),
        "bandwidth" => Ok(Part::Bandwidth),
        "throughput" => Ok(Part::Throughput),
        _ => Err("there are baseline, pingpong, bandwidth, throughput".to_owned()),
    }
}

fn size(text: &str) -> Result<usize, String> {
    let size = text.parse().ok().filter(|size| (1..=60_000).contains(size));
    size.ok_or_else(|| "a message has 1 to 60000 bytes".to_owned())
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.01..=10_000.0).contains(rate));
    rate.ok_or_else(|| "a link has 0.01 to 10000 Mbit/s".to_owned())
}

fn hops(text: &str) -> Result<usize, String> {
    let hops = text.parse().ok().filter(|hops| *hops <= 16);
    hops.ok_or_else(|| "there are 0 to 16 switches".to_owned())
}
