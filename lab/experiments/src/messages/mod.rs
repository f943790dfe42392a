//! The experiment `gmc`: how small techniques make the messages of a session, how fast, with how
//! much memory.
//!
//! Every technique runs in this process, on the same messages, over the same link; every message
//! that arrives is decoded and compared. lab/README.md says how each technique is set up.

mod conditions;
mod dictionary;
mod drive;
mod floor;
mod framing;
mod input;
mod paper;
mod row;
mod technique;
mod techniques;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use crate::options::{Common, is_wanted, named};
use crate::statistics::median;
use crate::{Result, Row, Trace, Update};
use conditions::Conditions;
use dictionary::Dictionary;
use drive::Outcome;
use input::{Session, read_events};
use row::Mode;
use technique::Message;
use techniques::{BUDGET, Kind, MEMORY, Setup};

/// The number of messages in the session of the GMC paper (section 5.1).
const PAPERS_MESSAGES: u32 = 12_850;

/// The number of repetitions of each measurement, so that a busy moment of the machine does not
/// decide.
const ROUNDS: usize = 3;

/// Messages in all runs of a quick experiment together: some 15 s of one core at 20 µs each to
/// encode and decode.
const QUICK_MESSAGES: usize = 700_000;

/// The most messages of a trace that a quick experiment uses.
const QUICK_MOST: usize = 2500;

/// The options of `groupwire-lab gmc`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A recording: *.bin or *.csv, each also with .gz. A table *.tsv beside a *.bin has the sender
    /// and time of each message. Default: a built-in session in each of its formats.
    #[arg(long = "trace", value_name = "FILE")]
    traces: Vec<PathBuf>,

    /// A table with the content of the messages of these recordings, one row each, which the
    /// hand-written formats need.
    #[arg(long, value_name = "FILE", requires = "traces")]
    events: Option<PathBuf>,

    /// The number of messages of the built-in session.
    #[arg(long, value_name = "COUNT", default_value_t = PAPERS_MESSAGES, conflicts_with = "traces",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    messages: u32,

    /// The built-in session in JSON, alone and inside of the messages of other protocols.
    #[arg(long, conflicts_with = "traces")]
    wrapped: bool,

    /// Write the messages of each trace to this folder, as a recording, and measure nothing.
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,

    /// Which part of the experiment.
    #[arg(long, value_name = "NAME", default_value_t = Part::Peers, conflicts_with_all = ["wrapped", "save"])]
    part: Part,

    /// Run only these techniques.
    #[arg(long = "technique", value_name = "NAME",
        value_parser = PossibleValuesParser::new(techniques::ALL.iter().map(|kind| kind.name)))]
    techniques: Vec<String>,

    /// Run only these modes.
    #[arg(long = "mode", value_name = "MODE")]
    modes: Vec<Mode>,

    /// Give Groupwire the kind and the sender of each message, which it then has to transmit.
    #[arg(long)]
    senders: bool,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// The parts of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Every technique in every mode.
    Peers,
    /// The GMC paper's tables and figures, on the formats of its traces.
    Paper,
    /// What the bits of Groupwire's datagrams are spent on, and how few would do.
    Floor,
}

named!(Part);

/// Runs the experiment.
///
/// # Errors
/// Recordings cannot be read.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    let sessions = match options.traces.is_empty() {
        true if options.wrapped => Session::wrapped(options.common.seed, options.messages as usize),
        true => Session::built_in(options.common.seed, options.messages as usize),
        false => recorded(&options.traces, options.events.as_deref())?,
    };
    if let Some(folder) = &options.save {
        for session in &sessions {
            std::fs::write(folder.join(format!("{}.bin", session.name)), session.recording())?;
        }
        return Ok(());
    }
    match options.part {
        Part::Peers => measure(&sessions, options, emit),
        Part::Paper => {
            let origin = if options.traces.is_empty() { "built-in" } else { "recorded" };
            paper::measure(&sessions, origin, options, emit)?;
        }
        Part::Floor => floor::measure(&sessions, options, emit)?,
    }
    Ok(())
}

fn recorded(traces: &[PathBuf], events: Option<&Path>) -> Result<Vec<Session>> {
    let events = events.map(read_events).transpose()?;
    let mut sessions = Vec::new();
    for path in traces {
        // The name of a trace: the file's name without `.bin.gz` or the like.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split_once('.').map_or(&*name, |(stem, _)| stem);
        let session = Session::new(name, Trace::read(path)?);
        sessions.push(match &events {
            Some(events) => session.with_events(events.clone())?,
            None => session,
        });
    }
    Ok(sessions)
}

/// Measures every wanted technique on every session.
fn measure(sessions: &[Session], options: &Options, emit: &mut dyn FnMut(Update)) {
    let plan: Vec<_> = sessions
        .iter()
        .flat_map(|session| {
            let all = Conditions::all(session.is_timed());
            let wanted = all.into_iter().filter(|one| is_wanted(&options.modes, &one.mode));
            wanted.map(move |conditions| (session, conditions))
        })
        .map(|(session, conditions)| {
            let kinds = techniques::ALL.iter().filter(|kind| {
                is_wanted(&options.techniques, kind.name)
                    && conditions.suit(kind)
                    && (session.has_events() || !kind.codes_events)
            });
            (session, conditions, kinds.collect::<Vec<_>>())
        })
        .collect();
    let rows = plan.iter().map(|(_, _, kinds)| kinds.len()).sum::<usize>();
    let rounds = options.common.quick_or(1, ROUNDS);
    let limit = options.common.quick_or((QUICK_MESSAGES / rows.max(1)).min(QUICK_MOST), usize::MAX);

    let mut progress = Progress { done: 0, total: rows * rounds };
    for (session, conditions, kinds) in plan {
        let dictionary = match kinds.iter().any(|kind| kind.has_dictionary) {
            true => session.dictionary(),
            false => Dictionary::default(),
        };
        let group =
            Group { session, conditions, dictionary, messages: session.messages(limit), options };
        group.measure(&kinds, rounds, &mut progress, emit);
    }
}

struct Progress {
    done: usize,
    total: usize,
}

/// The rows of one trace under one set of conditions.
struct Group<'a> {
    session: &'a Session,
    conditions: Conditions,
    dictionary: Dictionary,
    messages: Vec<Message<'a>>,
    options: &'a Options,
}

impl Group<'_> {
    /// Runs the techniques in turn, round after round, so that all meet the same machine.
    fn measure(
        &self,
        kinds: &[&'static Kind],
        rounds: usize,
        progress: &mut Progress,
        emit: &mut dyn FnMut(Update),
    ) {
        let mut outcomes: Vec<Vec<Result<Outcome>>> = kinds.iter().map(|_| Vec::new()).collect();
        for _ in 0..rounds {
            for (kind, outcomes) in kinds.iter().zip(&mut outcomes) {
                let what = format!("{} {} {}", self.session.name, self.conditions.mode, kind.name);
                emit(Update::Progress { done: progress.done, total: progress.total, what });
                outcomes.push(self.run(kind));
                progress.done += 1;
            }
        }
        for (kind, outcomes) in kinds.iter().zip(outcomes) {
            emit(match outcomes.into_iter().collect::<Result<Vec<_>>>() {
                Ok(outcomes) => Update::Row(self.row(kind, outcomes)),
                Err(why) => Update::Skipped {
                    what: format!(
                        "{} on {}, {}",
                        kind.name, self.session.name, self.conditions.mode
                    ),
                    why: why.to_string(),
                },
            });
        }
    }

    fn run(&self, kind: &Kind) -> Result<Outcome> {
        let setup = Setup {
            mode: self.conditions.mode,
            dictionary: &self.dictionary,
            budget: BUDGET,
            memory: MEMORY,
            senders: self.options.senders,
        };
        let mut technique = (kind.build)(&setup)?;
        let sent_at = |message: usize| self.conditions.sent_at(self.session, message);
        let path = self.conditions.path(&sent_at, self.options.common.seed);
        drive::run(technique.as_mut(), &self.messages, &path)
    }

    fn row(&self, kind: &Kind, mut outcomes: Vec<Outcome>) -> Row {
        let median = |of: fn(&Outcome) -> f64| median(outcomes.iter().map(of).collect());
        let times = [median(|one| one.encode_us), median(|one| one.decode_us)];
        let encode_p99_us = median(|one| one.encode_p99_us);
        let rounds = outcomes.len();
        let failure = outcomes.iter_mut().find_map(|one| one.failure.take());
        let one = outcomes.swap_remove(0);
        let messages = self.messages.len();
        row::row(&self.session.name, kind.name, &self.conditions, &self.options.common)
            .with("messages", messages)
            .with("messages_arrived", one.messages_arrived)
            .with("messages_refused", one.messages_refused)
            .with("packets", one.packets)
            .with(
                "bytes_in",
                self.messages.iter().map(|message| message.bytes.len()).sum::<usize>(),
            )
            .with("bytes_out", one.bytes_out)
            .with("bytes_per_message", one.bytes_out as f64 / messages.max(1) as f64)
            .with("bytes_per_arrived", one.bytes_out as f64 / one.messages_arrived.max(1) as f64)
            .with("encode_us", times[0])
            .with("decode_us", times[1])
            .with("encode_p99_us", encode_p99_us)
            .with("state_bytes", one.state.encoder)
            .with("decoder_state_bytes", one.state.decoder)
            .with("templates", one.templates)
            .with("budget_us", kind.budget().map(|budget| budget.as_micros() as u64))
            .with("target_percent", one.target_percent)
            .with("announcement_bytes", one.announcement_bytes)
            .with("ack_bytes", one.ack_bytes)
            .with("snapshot_bytes", one.snapshot_bytes)
            .with("dictionary", kind.has_dictionary.then_some(self.dictionary.source))
            .with("senders", self.options.senders && kind.name == "groupwire")
            .with("rounds", rounds)
            .failed(failure)
    }
}
