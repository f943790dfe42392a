//! The experiment `contract`: the whole system in simulated time, from application to application.
//!
//! A room and its clients, the paths between them with what QUIC or TCP adds, and people who draw, drag, type and point.
//! docs/lab.md says how each setup is made.
//!
//! ```
//! use groupwire_lab::contract::{self, Options, Setup, Update};
//! use std::time::Duration;
//!
//! let options = Options {
//!     setups: vec![Setup::Lossy],
//!     length: Some(Duration::from_secs(5)),
//!     ..Options::default()
//! };
//! let mut shares = Vec::new();
//! contract::run(&options, &mut |update| {
//!     if let Update::Row(row) = update {
//!         assert!(row.verified);
//!         shares.push(row.on_time);
//!     }
//! })?;
//! assert_eq!(shares.len(), 2);
//! # Ok::<(), contract::Error>(())
//! ```

mod channels;
mod hand;
mod judge;
mod path;
mod plain;
mod play;
mod row;
mod script;
mod setups;
#[cfg(test)]
mod tests;

pub use row::{Ablation, Row, Setup};

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use crate::parallel;
use crate::sim::Loss;
use crate::sim::quic::Ends;
use hand::Hands;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// The setups; none for all.
    pub setups: Vec<Setup>,
    /// What is left out, in the setup table1; none for each in turn.
    pub ablations: Vec<Ablation>,
    /// How packets are lost in the setup table1, on both hops; none for rand20 and pb10@4.
    pub losses: Vec<Loss>,
    /// Of the room, instead of the setup's own.
    pub tick: Option<Duration>,
    /// Whether participants are browsers, whose QUIC knows nothing of rare acknowledgements, instead of native clients.
    pub browser_acks: bool,
    /// How long sessions are, instead of the setup's own.
    pub length: Option<Duration>,
    /// Of people and networks.
    pub seed: u64,
    /// At most 30 seconds: every row, of shorter sessions.
    pub quick: bool,
    /// How many runs at a time; by default as many as there are cores.
    pub threads: Option<NonZero<usize>>,
    /// A directory with recordings in `mouse` and `editing`, to replay instead of generated motion and typing.
    pub data: Option<PathBuf>,
}

/// What there is to tell while the experiment runs. Nothing is skipped.
pub type Update = crate::Update<Row>;

/// Why there are no rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A recorded pointer cannot be read.
    #[error(transparent)]
    File(#[from] crate::trace::Error),
    /// A recording of typing is none.
    #[error("{path:?} is no editing trace: {error}")]
    Editing {
        /// Which.
        path: PathBuf,
        /// Why not.
        error: serde_json::Error,
    },
    /// A directory cannot be read.
    #[error("cannot read the directory {path:?}: {error}")]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// The directory has no recordings in it.
    #[error(
        "no recordings of pointers and of typing in {path:?}, in the directories mouse and editing"
    )]
    NoRecordings {
        /// Which.
        path: PathBuf,
    },
}

/// Runs the experiment, and tells `tell` how it goes. Rows come in the same order each time.
///
/// # Errors
/// Recordings that cannot be read.
pub fn run(options: &Options, tell: &mut dyn FnMut(Update)) -> Result<(), Error> {
    let hands = match &options.data {
        Some(directory) => Hands::recorded(directory)?,
        None => Hands::generated(options.seed),
    };
    let jobs = setups::jobs(options);
    let rows = |job: &setups::Job| job.rows(&hands, options);
    parallel::run(&jobs, options.threads, &rows, tell);
    Ok(())
}

impl Options {
    fn ends(&self) -> Ends {
        if self.browser_acks { Ends::Browser } else { Ends::Native }
    }

    /// How long a session is, in seconds unless stated.
    fn length(&self, usual: u64, quick: u64) -> Duration {
        self.length.unwrap_or(Duration::from_secs(if self.quick { quick } else { usual }))
    }
}
