//! The experiment `web`: how fast messages get from browser to browser, over every transport and network.
//!
//! A real browser without a window runs the page `web/bench`, which uses the public client package; the server is a
//! process of its own; packets go through an [emulated](crate::emulator) network. Pages are driven from here, beside the
//! paths that are measured: one asks what to do and says what came of it. `socket` is no browser's: its participants,
//! and whoever sends or counts beside the server, are [`Natives`], which the caller brings.
//!
//! docs/lab.md says what each figure means.

mod browser;
mod cell;
mod control;
mod ground;
pub mod load;
mod network;
mod plan;
pub mod protocol;
mod rate;
mod row;
mod server;

pub use network::{Network, Weather};
pub use protocol::App;
pub use row::{Direction, Measure, Row};

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::emulator::{EmulatorError, Namespace};
use browser::Browser;
use cell::{Cell, Place};
use control::{Control, Page};
use ground::Ground;
use plan::Plan;
use protocol::{Stage, StageError};
use server::{Server, Setup};

/// All transports, best first.
pub const TRANSPORTS: [&str; 7] =
    ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll", "socket"];

/// The one that is no browser's.
const SOCKET: &str = "socket";
/// The one that is not over TCP.
const WEBTRANSPORT: &str = "webtransport";

/// Paths of a cell: as many participants are on them at most.
const MEMBERS: usize = 10;

/// The servers. Rates and overheads are measured without compression, at once; the applications as users get them, with
/// that tick and with the one that the paper's servers had.
const SERVERS: [(u64, bool); 3] = [(0, false), (0, true), (40, true)];
const BARE: usize = 0;
const APPS: [usize; 2] = [1, 2];

/// Cells at a time in a quick experiment. They disturb each other.
const QUICK_CELLS: usize = 6;

/// What to measure.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Names of transports; none for all.
    pub transports: Vec<String>,
    /// None for [`Network::ALL`].
    pub networks: Vec<Network>,
    /// None for all.
    pub measures: Vec<Measure>,
    /// What is put on top of all networks.
    pub weather: Weather,
    /// Of the losses.
    pub seed: u64,
    /// At most 30 seconds: every row, of fewer messages, several cells at a time.
    pub quick: bool,
    /// The program `groupwire`, whose `serve` is the server.
    pub program: PathBuf,
}

/// Those who take part and are no browsers.
pub trait Natives: Sync {
    /// A stage in this process, whose members join rooms with the native client.
    ///
    /// # Errors
    /// What is in the way, in words.
    fn stage(&self) -> Result<Box<dyn Stage>, String>;
}

/// What there is to tell while the experiment runs. Skipped are transports on a network.
pub type Update = crate::Update<Row>;

/// Why there are no rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such transport.
    #[error("there is no transport {0}; there are {known}", known = TRANSPORTS.join(", "))]
    Transport(String),
    /// A cellular link without a recording.
    #[error("the network cellular needs a recording of one: --cellular FILE, in mahimahi's format")]
    NoTrace,
    /// There is no browser.
    #[error(
        "no Chromium or Chrome found; install one (Debian's package is chromium), or set GROUPWIRE_BROWSER to one"
    )]
    NoBrowser,
    /// The browser cannot be run.
    #[error("cannot run the browser {path:?}: {why}")]
    Browser {
        /// Which.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The page is not built in.
    #[error(
        "this program was built without the page for browsers: run `make build`, which builds it first"
    )]
    NotBuilt,
    /// The server does not start.
    #[error("the server does not start: {0}")]
    Server(String),
    /// Natives are not to be had.
    #[error("{0}")]
    Natives(String),
    /// A stage does not do what it is asked.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// There is no emulated network.
    #[error(transparent)]
    Emulator(#[from] EmulatorError),
    /// Sockets or processes failed.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl Error {
    fn browser(path: &Path, error: &io::Error) -> Self {
        Error::Browser { path: path.to_owned(), why: error.to_string() }
    }
}

/// Runs the experiment, on an emulated network if there is a namespace for it, else through proxies.
///
/// # Errors
/// No browser, no page, no server; networks that cannot be set up. What fails in one cell only is told.
pub fn run(
    namespace: Option<&Namespace>,
    natives: &dyn Natives,
    options: &Options,
    tell: &mut dyn FnMut(Update),
) -> Result<(), Error> {
    let cells = cells(options)?;
    let (total, steps) = (cells.len(), Plan::of(options));
    let workers = if options.quick { QUICK_CELLS.min(total) } else { 1 };
    let ground = Ground::new(namespace, workers)?;
    let (pages, version, open) = match cells.iter().any(|(transport, _)| transport != SOCKET) {
        true => pages(workers)?,
        false => ((0..workers).map(|_| None).collect(), String::new(), None),
    };
    let origins = open.as_ref().map(|(control, _)| control.origins()).unwrap_or_default();
    let start = |(tick_ms, compress)| {
        let (program, listen) = (options.program.as_path(), ground.listen());
        Server::start(Setup { program, listen, tick_ms, compress, origins: &origins })
    };
    let servers = SERVERS.into_iter().map(start).collect::<Result<Vec<_>, _>>()?;

    let (cells, (sender, receiver)) = (Mutex::new(VecDeque::from(cells)), channel());
    let take = || cells.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    thread::scope(|scope| {
        for (worker, mut page) in pages.into_iter().enumerate() {
            let (sender, take, ground, servers) = (sender.clone(), &take, &ground, &servers);
            let (version, steps) = (&version, &steps);
            scope.spawn(move || {
                while let Some((transport, network)) = take() {
                    let place = Place { worker, ground, servers, natives, version };
                    let what = format!("{transport}, {network}");
                    // The receiver is there for as long as any thread is, so sending does not fail.
                    let _ = sender.send(Told::Begun(what.clone()));
                    // Of cells at the same time, each shows its rows when it is over, or they would be mixed.
                    let mut kept = Vec::new();
                    let mut rows = |row| match workers {
                        1 => drop(sender.send(Told::Row(Box::new(row)))),
                        _ => kept.push(row),
                    };
                    let cell = Cell::new(place, options, (&transport, network));
                    let page = page.as_mut().filter(|_| transport != SOCKET);
                    let done = cell.and_then(|cell| cell.run(page, steps, &mut rows));
                    kept.into_iter().for_each(|row| drop(sender.send(Told::Row(Box::new(row)))));
                    let _ = sender.send(Told::Over(done.err().map(|why| (what, why.to_string()))));
                }
            });
        }
        drop(sender);
        let mut done = 0;
        while let Ok(told) = receiver.recv() {
            match told {
                Told::Begun(what) => tell(Update::Progress { done, total, what }),
                Told::Row(row) => tell(Update::Row(row)),
                Told::Over(failure) => {
                    done += 1;
                    if let Some((what, why)) = failure {
                        tell(Update::Skipped { what, why });
                    }
                }
            }
        }
    });
    Ok(())
}

/// What threads that measure tell.
enum Told {
    Begun(String),
    Row(Box<Row>),
    /// A cell is over; perhaps it failed.
    Over(Option<(String, String)>),
}

type Pages = (Vec<Option<Page>>, String, Option<(Control, Browser)>);

fn pages(count: usize) -> Result<Pages, Error> {
    let browser = browser::find()?;
    let version = browser::version(&browser)?;
    let (control, pages) = Control::start(count)?;
    let open = Browser::open(&browser, &control.url())?;
    Ok((pages.into_iter().map(Some).collect(), version, Some((control, open))))
}

fn cells(options: &Options) -> Result<Vec<(String, Network)>, Error> {
    if let Some(unknown) =
        options.transports.iter().find(|name| !TRANSPORTS.contains(&name.as_str()))
    {
        return Err(Error::Transport(unknown.clone()));
    }
    let networks = match options.networks.is_empty() {
        true => Network::ALL.to_vec(),
        false => options.networks.clone(),
    };
    if networks.contains(&Network::Cellular) && options.weather.trace.is_none() {
        return Err(Error::NoTrace);
    }
    let wanted = |name: &str| {
        options.transports.is_empty() || options.transports.iter().any(|one| one == name)
    };
    let transports = TRANSPORTS.into_iter().filter(|name| wanted(name));
    Ok(transports
        .flat_map(|name| networks.iter().map(move |network| (name.to_owned(), *network)))
        .collect())
}
