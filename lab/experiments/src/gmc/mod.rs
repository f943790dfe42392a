//! The experiment `gmc`: how small techniques make the messages of a session, how fast, with how much memory.
//!
//! Every technique runs in this process, on the same messages, over the same link; every message that arrives is
//! decoded and compared. docs/lab.md says how each technique is set up.
//!
//! ```
//! use groupwire_lab::gmc::{self, Update, Mode, Options, Session};
//! use groupwire_lab::{Trace, TraceMessage};
//!
//! let message = |n: u64| TraceMessage {
//!     at: std::time::Duration::from_millis(40 * n),
//!     sender: 1,
//!     kind: 0,
//!     bytes: format!(r#"{{"x":{},"y":{}}}"#, 400 + n, 300 - n).into_bytes().into(),
//! };
//! let trace = Trace { messages: (0..200).map(message).collect(), kinds: vec!["pointer".into()], timed: true };
//! let sessions = [Session::new("pointer", trace)];
//! let options = Options { modes: vec![Mode::Stream], ..Options::default() };
//! gmc::run(&sessions, &options, &mut |update| {
//!     if let Update::Row(row) = update {
//!         println!("{}: {:.1} bytes per message", row.technique, row.bytes_per_message);
//!         assert!(row.verified);
//!     }
//! })?;
//! # Ok::<(), gmc::Error>(())
//! ```

mod conditions;
mod dictionary;
mod drive;
mod framing;
mod row;
mod session;
mod technique;
mod techniques;

#[cfg(test)]
mod tests;

pub use row::{Mode, Row};
pub use session::{Session, read_events};

use conditions::Conditions;
use dictionary::Dictionary;
use drive::Outcome;
use technique::{Failure, Message};
use techniques::{Kind, Setup};

/// How often everything is measured, so that a busy moment of the machine does not decide.
const ROUNDS: usize = 3;

/// Messages in all runs of a quick experiment together: some 15 s of one core at 20 µs each to encode and decode.
const QUICK_MESSAGES: usize = 700_000;

/// The most messages of a trace that a quick experiment uses.
const QUICK_MOST: usize = 2500;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The techniques by name; none for all.
    pub techniques: Vec<String>,
    /// The modes; none for all.
    pub modes: Vec<Mode>,
    /// Whether Groupwire is told the kind and the sender of each message.
    pub senders: bool,
    /// At most 30 seconds: the first messages of each trace, one round.
    pub quick: bool,
    /// Of the link.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { techniques: Vec::new(), modes: Vec::new(), senders: false, quick: false, seed: 1 }
    }
}

/// What there is to tell while the experiment runs. Skipped are techniques that could not run on a trace.
pub type Update = crate::Update<Row>;

/// Why there are no rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such technique.
    #[error("there is no technique {name}; there are {known}")]
    Technique {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The file of events cannot be read.
    #[error(transparent)]
    File(#[from] crate::trace::Error),
    /// The file of events holds something else.
    #[error(transparent)]
    Table(#[from] crate::session::Error),
    /// The events are another session's.
    #[error(
        "{trace} has {wanted} messages, but there are {found} events: they are of another session"
    )]
    Events {
        /// The trace's name.
        trace: String,
        /// How many events there are.
        found: usize,
        /// How many there should be.
        wanted: usize,
    },
}

/// The names of all techniques, in the order of the rows.
pub fn techniques() -> Vec<&'static str> {
    techniques::ALL.iter().map(|kind| kind.name).collect()
}

/// Runs the experiment, which tells `tell` how it goes.
///
/// # Errors
/// A technique that there is not.
pub fn run(
    sessions: &[Session],
    options: &Options,
    tell: &mut dyn FnMut(Update),
) -> Result<(), Error> {
    let kinds = chosen(options)?;
    let plan: Vec<_> = sessions
        .iter()
        .flat_map(|session| {
            let all = Conditions::all(session.is_timed());
            let wanted = all
                .into_iter()
                .filter(|one| options.modes.is_empty() || options.modes.contains(&one.mode));
            wanted.map(move |conditions| (session, conditions))
        })
        .map(|(session, conditions)| {
            let kinds = kinds.iter().copied().filter(|kind| {
                conditions.suit(kind) && (session.has_events() || !kind.codes_events)
            });
            (session, conditions, kinds.collect::<Vec<_>>())
        })
        .collect();
    let rows = plan.iter().map(|(_, _, kinds)| kinds.len()).sum::<usize>();
    let rounds = if options.quick { 1 } else { ROUNDS };
    let limit =
        if options.quick { (QUICK_MESSAGES / rows.max(1)).min(QUICK_MOST) } else { usize::MAX };

    let mut progress = Progress { done: 0, total: rows * rounds };
    for (session, conditions, kinds) in plan {
        let dictionary = match kinds.iter().any(|kind| kind.has_dictionary) {
            true => session.dictionary(),
            false => Dictionary::default(),
        };
        let group =
            Group { session, conditions, dictionary, messages: session.messages(limit), options };
        group.measure(&kinds, rounds, &mut progress, tell);
    }
    Ok(())
}

fn chosen(options: &Options) -> Result<Vec<&'static Kind>, Error> {
    if let Some(name) = options
        .techniques
        .iter()
        .find(|name| techniques::ALL.iter().all(|kind| kind.name != **name))
    {
        return Err(Error::Technique { name: name.clone(), known: techniques().join(", ") });
    }
    let wanted = |kind: &&Kind| {
        options.techniques.is_empty() || options.techniques.iter().any(|name| kind.name == name)
    };
    Ok(techniques::ALL.iter().filter(wanted).collect())
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
        tell: &mut dyn FnMut(Update),
    ) {
        let mut outcomes: Vec<Vec<Result<Outcome, Failure>>> =
            kinds.iter().map(|_| Vec::new()).collect();
        for _ in 0..rounds {
            for (kind, outcomes) in kinds.iter().zip(&mut outcomes) {
                let what = format!("{} {} {}", self.session.name, self.conditions.mode, kind.name);
                tell(Update::Progress { done: progress.done, total: progress.total, what });
                outcomes.push(self.run(kind));
                progress.done += 1;
            }
        }
        for (kind, outcomes) in kinds.iter().zip(outcomes) {
            tell(match outcomes.into_iter().collect::<Result<Vec<_>, _>>() {
                Ok(outcomes) => Update::Row(Box::new(self.row(kind, outcomes))),
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

    fn run(&self, kind: &Kind) -> Result<Outcome, Failure> {
        let setup = Setup {
            mode: self.conditions.mode,
            dictionary: &self.dictionary,
            senders: self.options.senders,
        };
        let mut technique = (kind.build)(&setup)?;
        let sent_at = |message: usize| self.conditions.sent_at(self.session, message);
        let path = self.conditions.path(&sent_at, self.options.seed);
        drive::run(technique.as_mut(), &self.messages, &path)
    }

    fn row(&self, kind: &Kind, mut outcomes: Vec<Outcome>) -> Row {
        let encode_us = median(outcomes.iter().map(|one| one.encode_us));
        let encode_p99_us = median(outcomes.iter().map(|one| one.encode_p99_us));
        let decode_us = median(outcomes.iter().map(|one| one.decode_us));
        let rounds = outcomes.len();
        let failure = outcomes.iter_mut().find_map(|one| one.failure.take());
        let one = outcomes.swap_remove(0);
        Row {
            trace: self.session.name.clone(),
            technique: kind.name,
            mode: self.conditions.mode,
            ack_delay: self.conditions.ack_delay(),
            ack_ms: self.conditions.ack_ms(),
            loss: self.conditions.loss(),
            messages: self.messages.len(),
            messages_arrived: one.messages_arrived,
            messages_refused: one.messages_refused,
            packets: one.packets,
            bytes_in: self.messages.iter().map(|message| message.bytes.len() as u64).sum(),
            bytes_out: one.bytes_out,
            bytes_per_message: one.bytes_out as f64 / self.messages.len().max(1) as f64,
            bytes_per_arrived: one.bytes_out as f64 / one.messages_arrived.max(1) as f64,
            encode_us,
            decode_us,
            encode_p99_us,
            state_bytes: one.state.encoder,
            decoder_state_bytes: one.state.decoder,
            templates: one.templates,
            announcement_bytes: one.announcement_bytes,
            ack_bytes: one.ack_bytes,
            snapshot_bytes: one.snapshot_bytes,
            dictionary: kind.has_dictionary.then_some(self.dictionary.source),
            verified: failure.is_none(),
            failure,
            senders: self.options.senders && kind.name == "groupwire",
            rounds,
            seed: self.options.seed,
            quick: self.options.quick,
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
