//! `groupwire-lab gmc`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args as ClapArgs;
use groupwire_lab::Trace;
use groupwire_lab::gmc::{self, Mode, Options, Row, Session};

use super::common::Common;
use super::rows::Rows;
use super::table::Table;

/// The number of messages in the session of the GMC paper (section 5.1).
const PAPERS_MESSAGES: u32 = 12_850;

/// The options of `groupwire-lab gmc`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// A recording: *.bin or *.csv, each also with .gz. A table *.tsv beside a *.bin has the sender and time of each
    /// message. Default: a built-in session in each of its formats.
    #[arg(long = "trace", value_name = "FILE")]
    traces: Vec<PathBuf>,

    /// A table with the content of the messages of these recordings, one row each, which the hand-written formats need.
    #[arg(long, value_name = "FILE", requires = "traces")]
    events: Option<PathBuf>,

    /// The number of messages of the built-in session.
    #[arg(long, value_name = "COUNT", default_value_t = PAPERS_MESSAGES, conflicts_with = "traces",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    messages: u32,

    /// Run only these techniques.
    #[arg(long = "technique", value_name = "NAME")]
    techniques: Vec<String>,

    /// Run only these modes: stream, datagram, packet3, packet10.
    #[arg(long = "mode", value_name = "MODE")]
    modes: Vec<Mode>,

    /// Give Groupwire the kind and the sender of each message, which it then has to transmit.
    #[arg(long)]
    senders: bool,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    let sessions = match args.traces.is_empty() {
        true => Session::built_in(args.common.seed, args.messages as usize),
        false => read_all(&args.traces, args.events.as_deref())?,
    };
    let options = Options {
        techniques: args.techniques,
        modes: args.modes,
        senders: args.senders,
        quick: args.common.quick,
        seed: args.common.seed,
    };
    let mut rows = Rows::new(args.common.json)?;
    let mut table = Table::default();
    gmc::run(&sessions, &options, &mut |update| {
        rows.update(update, |row: &Row| row.verified, |row| table.print(row));
    })?;
    rows.finish(
        "messages did not decode to what was sent",
        "none of these techniques runs in these modes",
    )
}

fn read_all(traces: &[PathBuf], events: Option<&Path>) -> Result<Vec<Session>, Box<dyn Error>> {
    let events = match events {
        Some(path) => Some(gmc::read_events(path)?),
        None => None,
    };
    let mut sessions = Vec::new();
    for path in traces {
        let session = Session::new(name(path), Trace::read(path)?);
        sessions.push(match &events {
            Some(events) => session.with_events(events.clone())?,
            None => session,
        });
    }
    Ok(sessions)
}

/// The name of a trace: x for x.bin.gz.
fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split_once('.').map_or(&*name, |(stem, _)| stem).to_owned()
}
