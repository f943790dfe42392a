//! `groupwire lab gmc`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use groupwire_lab::Trace;
use groupwire_lab::gmc::{self, Mode, Options, Session, Update};
use indicatif::{ProgressBar, ProgressStyle};

use super::table::Table;

/// The options of `groupwire lab gmc`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// A recording: *.bin or *.csv, each also with .gz; a table *.tsv beside a *.bin says who sent what when.
    #[arg(long = "trace", value_name = "FILE", required = true)]
    traces: Vec<PathBuf>,

    /// Only these techniques.
    #[arg(long = "technique", value_name = "NAME")]
    techniques: Vec<String>,

    /// Only these modes: stream, datagram, packet3, packet10.
    #[arg(long = "mode", value_name = "MODE")]
    modes: Vec<Mode>,

    /// Tell Groupwire the kind and the sender of each message; it has to transmit them then.
    #[arg(long)]
    senders: bool,

    /// Of the link.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// At most 30 seconds: the first messages of each trace, measured once.
    #[arg(long)]
    quick: bool,

    /// Print rows of JSON instead of tables.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    let sessions = args.traces.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let options = Options {
        techniques: args.techniques,
        modes: args.modes,
        senders: args.senders,
        quick: args.quick,
        seed: args.seed,
    };
    let bar = ProgressBar::new(0);
    bar.set_style(ProgressStyle::with_template("{bar:32} {pos}/{len} runs, {elapsed}, {msg}")?);
    let mut table = Table::default();
    let (mut rows, mut wrong) = (0, 0);
    let mut failure = None;
    gmc::run(&sessions, &options, &mut |update| match update {
        Update::Progress { done, total, what } => {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.set_message(what);
        }
        Update::Row(row) => {
            rows += 1;
            wrong += usize::from(!row.verified);
            bar.suspend(|| match args.json {
                true => match serde_json::to_string(&row) {
                    Ok(json) => println!("{json}"),
                    Err(error) => failure = Some(error),
                },
                false => table.print(&row),
            });
        }
        Update::Skipped { trace, technique, mode, why } => bar.suspend(|| {
            eprintln!("groupwire: {technique} was skipped on {trace}, {mode}: {why}");
        }),
        _ => {}
    })?;
    bar.finish_and_clear();
    match failure {
        Some(error) => Err(error.into()),
        None if wrong > 0 => Err(format!(
            "{wrong} of {rows} rows are wrong: messages did not decode to what was sent"
        )
        .into()),
        None if rows == 0 => Err("none of these techniques runs in these modes".into()),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn read(path: &Path) -> Result<Session, Box<dyn Error>> {
    let trace = Trace::read(path)?;
    // x.bin.gz is called x.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split_once('.').map_or(&*name, |(stem, _)| stem);
    Ok(Session::new(name, trace))
}
