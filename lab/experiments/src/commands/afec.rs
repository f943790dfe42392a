//! `groupwire-lab afec`.

use std::error::Error;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args as ClapArgs;
use groupwire_lab::afec::{self, Options, Part, Row, Way};
use groupwire_lab::emulator::Namespace;
use groupwire_lab::sim::Loss;

use super::common::{Common, Heading, quick};
use super::rows::Rows;

/// The options of `groupwire-lab afec`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Run only these parts: grid, steps, narrow, paper.
    #[arg(long = "part", value_name = "NAME")]
    parts: Vec<Part>,

    /// Run only these channels, such as rand10, pb5@4, ge10b3, out80, step0-20.
    #[arg(long = "channel", value_name = "NAME")]
    channels: Vec<Loss>,

    /// Run only these schemes.
    #[arg(long = "scheme", value_name = "NAME")]
    schemes: Vec<String>,

    /// Run only these round trips and deadlines in ms, such as 50/250.
    #[arg(long = "path", value_name = "MS/MS")]
    ways: Vec<Way>,

    /// Run only these targets: the percentage of messages that may miss their deadline.
    #[arg(long = "target", value_name = "PERCENT", value_parser = percent)]
    targets: Vec<f64>,

    /// The number of messages of each run. Default: 101,000.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    messages: Option<u32>,

    /// The number of runs of each step. Default: 200.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    seeds: Option<u32>,

    /// Send the motion of these recordings (*.csv, *.csv.gz) instead of a generated one.
    #[arg(long, value_name = "DIRECTORY")]
    mouse: Option<PathBuf>,

    /// Write time series of the part paper to this directory.
    #[arg(long, value_name = "DIRECTORY")]
    series: Option<PathBuf>,

    /// Run a few cells over real sockets, each followed by the results of the simulation.
    #[arg(long, conflicts_with_all = ["parts", "channels", "schemes", "ways", "targets", "series"])]
    real: bool,

    /// The number of simultaneous runs. Default: one for each core.
    #[arg(long, value_name = "COUNT")]
    threads: Option<NonZero<usize>>,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    // Comes first, because it may start this program again in a network namespace.
    let namespace = match args.real {
        true => Some(Namespace::enter().map_err(|error| format!("no real sockets here: {error}"))?),
        false => None,
    };
    if let Some(directory) = &args.series {
        std::fs::create_dir_all(directory)?;
    }
    let options = Options {
        parts: args.parts,
        channels: args.channels,
        schemes: args.schemes,
        ways: args.ways,
        targets: args.targets,
        messages: args.messages.map(|count| count as usize),
        seed: args.common.seed,
        seeds: args.seeds.map(u64::from),
        quick: args.common.quick,
        threads: args.threads,
        mouse: args.mouse,
        series: args.series,
    };
    let mut rows = Rows::new(args.common.json)?;
    let mut heading = Heading::default();
    let mut tell = |update| {
        rows.update(update, |row: &Row| row.verified, |row| print(row, &mut heading));
    };
    match namespace {
        Some(namespace) => afec::run_real(&namespace, &options, &mut tell)?,
        None => afec::run(&options, &mut tell)?,
    }
    rows.finish(
        "received messages are not the sent ones",
        "none of these schemes runs under these conditions",
    )
}

/// Prints a row, with a heading at the start of a cell.
fn print(row: &Row, heading: &mut Heading) {
    heading.print(cell(row), || {
        format!(
            "{:18}{:>9}{:>9}{:>9}{:>10}{:>9}{:>10}{:>9}",
            "scheme", "missed", "never", "windows", "overhead", "repeats", "mean ms", "99 % in"
        )
    });
    let scheme = match row.repeat_bytes {
        Some(bytes) if row.computed => format!("{} ({bytes} B, computed)", row.scheme),
        Some(bytes) => format!("{} ({bytes} B)", row.scheme),
        None => row.scheme.clone(),
    };
    let scheme = if row.real { format!("{scheme}, real") } else { scheme };
    let windows = match row.windows {
        0 => "-".to_owned(),
        _ => format!("{:.0} %", 100.0 * row.windows_met),
    };
    println!(
        "{scheme:18}{:>7.2} %{:>7.2} %{windows:>9}{:>8.1} %{:>9.2}{:>10.1}{:>9.1}{}",
        100.0 * row.mer,
        100.0 * row.never,
        100.0 * row.overhead,
        row.redundant_messages,
        row.latency_mean_ms,
        row.latency_p99_ms,
        remark(row),
    );
}

fn cell(row: &Row) -> String {
    let mut text = format!(
        "{}: {}, {:.0} ms round trip, {:.0} ms deadline, target {:.0} %",
        row.part,
        row.channel,
        row.rtt_ms,
        row.deadline_ms,
        100.0 * row.target
    );
    if row.link_kbit > 0.0 {
        text.push_str(&format!(", {} kbit/s", row.link_kbit));
    }
    if row.feasible == Some(false) {
        text.push_str(", NOT FEASIBLE");
    }
    if row.seeds > 1 {
        text.push_str(&format!(", {} seeds", row.seeds));
    }
    text.push_str(quick(row.quick));
    text
}

fn remark(row: &Row) -> String {
    let mut remarks = Vec::new();
    if let Some(settled) = row.settled {
        remarks.push(match row.converge_s {
            Some(seconds) => format!("settles after {seconds:.1} s, at {:.2} %", 100.0 * settled),
            None => format!("never settles, at {:.2} %", 100.0 * settled),
        });
    }
    if let Some(seconds) = row.told_s {
        remarks.push(format!("told {seconds:.1} s after, {:.0} %", 100.0 * row.told_share));
    }
    remarks.extend(row.code.clone());
    if let (Some(median), Some(bytes)) = (row.cpu_us, row.memory_bytes) {
        remarks.push(format!("{median:.2} µs, {:.1} KB", bytes as f64 / 1024.0));
    }
    remarks.extend(row.failure.clone());
    if remarks.is_empty() { String::new() } else { format!("  {}", remarks.join("; ")) }
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
    percent
        .map(|percent: f64| percent / 100.0)
        .ok_or_else(|| format!("{text} is no percentage from 0 to 100"))
}
