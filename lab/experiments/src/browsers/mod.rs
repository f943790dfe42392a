//! The experiment `web`: how fast messages get from browser to browser, over every transport and
//! network.
//!
//! A real browser without a window runs the page `web/bench`, which uses the public client package;
//! the server is a process of its own; packets go through an [emulated](crate::emulator) network.
//! Pages are driven from here, beside the paths that are measured: a page asks for commands and
//! returns their results. `socket` is no browser's: its participants, and whoever sends or counts
//! beside the server, are [native](native).
//!
//! lab/README.md says what each figure means.

mod browser;
mod cell;
mod control;
mod ground;
mod load;
mod native;
mod network;
mod plan;
pub(crate) mod protocol;
mod rate;
mod row;
mod server;

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use tokio::runtime::Runtime;

use crate::emulator::Namespace;
use crate::options::{Common, Program, between, is_wanted, or_usual};
use crate::sim::{Loss, Queue};
use crate::{Result, Update, parallel};
use browser::Browser;
use cell::{Cell, CellResources};
use control::Control;
pub(crate) use control::Page;
use ground::Ground;
use network::{Network, Weather};
use plan::Plan;
use row::Measure;
use server::{Server, Setup};

/// All transports, best first.
const TRANSPORTS: [&str; 7] =
    ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll", "socket"];

/// The transport that only native participants have, not browsers.
const SOCKET: &str = "socket";
/// The transport that is not over TCP.
const WEBTRANSPORT: &str = "webtransport";

/// The paths of a cell, which is the most participants that it has.
const MEMBERS: usize = 10;

/// The servers, by their tick in ms and whether they compress. Rates and overheads are measured
/// without compression and tick. Applications are measured as users get them, and with the tick of
/// the paper's servers.
const SERVERS: [(u64, bool); 3] = [(0, false), (0, true), (40, true)];
const BARE: usize = 0;
const APPS: [usize; 2] = [1, 2];

/// Cells at a time in a quick experiment. They disturb each other.
const QUICK_CELLS: usize = 6;

/// The options of `groupwire-lab web`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only these transports.
    #[arg(long = "transport", value_name = "NAME", value_parser = PossibleValuesParser::new(TRANSPORTS))]
    transports: Vec<String>,

    /// Run only these networks: cellular, if there is a recording.
    #[arg(long = "network", value_name = "NAME")]
    networks: Vec<Network>,

    /// Run only these measures.
    #[arg(long = "measure", value_name = "NAME")]
    measures: Vec<Measure>,

    /// A recorded link in the format of mahimahi, also with .gz. It is the network cellular.
    #[arg(long, value_name = "FILE")]
    cellular: Option<PathBuf>,

    /// The loss of packets, such as rand3, ge5b3, out80, instead of that of the network.
    #[arg(long, value_name = "LOSS")]
    loss: Option<Loss>,

    /// The largest additional random delay of packets in ms.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    jitter: u64,

    /// The percentage of packets that later ones overtake.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = between(0.0, 100.0))]
    reorder: f64,

    /// The length of the queue in ms, beyond which packets are dropped, instead of that of the
    /// network.
    #[arg(long, value_name = "MS")]
    queue: Option<u64>,

    #[command(flatten)]
    program: Program,

    /// Use proxies on loopback instead of a network namespace. TCP then loses no packets, and bytes
    /// are not counted.
    #[arg(long)]
    proxy: bool,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Runs the experiment, on an emulated network or through proxies.
///
/// # Errors
/// No browser, no page, no server; networks that cannot be set up. A cell
/// that fails is reported, and the others go on.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    // Comes first, because it may start this program again in a network namespace.
    let namespace = match options.proxy {
        true => None,
        false => Some(Namespace::enter().map_err(|error| {
            format!("no emulated network here: {error}\n--proxy does without, and shows less")
        })?),
    };
    let weather = options.weather()?;
    let program = options.program.path()?;
    let (cells, steps) = (cells(options)?, Plan::of(options));
    let workers = options.common.quick_or(QUICK_CELLS.min(cells.len()), 1);
    let ground = Ground::new(namespace.as_ref(), workers)?;
    let wants_pages = cells.iter().any(|(transport, _)| *transport != SOCKET);
    let mut open = wants_pages.then(|| Open::pages(workers)).transpose()?;
    let mut all = open.as_mut().map(|open| std::mem::take(&mut open.pages).into_iter());
    let pages: Vec<_> =
        (0..workers).map(|_| Mutex::new(all.as_mut().and_then(Iterator::next))).collect();
    let told = open.as_ref().map(|open| (open.origins(), open.version.clone()));
    let (origins, version) = told.unwrap_or_default();
    let start = |(tick_ms, compress)| {
        let (program, listen) = (program.as_path(), ground.listen());
        Server::start(Setup { program, listen, tick_ms, compress, origins: &origins })
    };
    let servers = SERVERS.into_iter().map(start).collect::<Result<Vec<_>>>()?;
    let natives = Runtime::new()?;

    let job = |worker: usize,
               (transport, network): &(&str, Network),
               emit: &mut dyn FnMut(Update)| {
        let (ground, servers, natives) = (&ground, &servers[..], natives.handle());
        let place = CellResources { worker, ground, servers, natives, version: &version };
        let what = format!("{transport}, {network}");
        emit(Update::begun(&what));
        let mut page = pages[worker].lock().expect("a worker that panicked ends the experiment");
        let page = page.as_mut().filter(|_| *transport != SOCKET);
        let cell = Cell::new(place, options, (transport, *network, &weather));
        let done = cell.and_then(|cell| cell.run(page, &steps, &mut |row| emit(Update::Row(row))));
        if let Err(why) = done {
            emit(Update::Skipped { what, why: why.to_string() });
        }
    };
    parallel::run((&cells, cells.len()), workers, &job, emit);
    Ok(())
}

/// The pages of a browser, which are open until this is dropped.
pub(crate) struct Open {
    pub(crate) pages: Vec<Page>,
    /// The browser's name and version.
    version: String,
    control: Control,
    _browser: Browser,
}

impl Open {
    /// Opens `count` pages.
    pub(crate) fn pages(count: usize) -> Result<Self> {
        let browser = browser::find()?;
        let version = browser::version(&browser)?;
        let (control, pages) = Control::start(count)?;
        let open = Browser::open(&browser, &control.url())?;
        Ok(Open { pages, version, control, _browser: open })
    }

    /// The origins of the pages, which servers have to allow.
    pub(crate) fn origins(&self) -> Vec<String> {
        self.control.origins()
    }
}

fn cells(options: &Options) -> Result<Vec<(&'static str, Network)>> {
    let networks = or_usual(&options.networks, &Network::USUAL);
    if networks.contains(&Network::Cellular) && options.cellular.is_none() {
        let why =
            "the network cellular needs a recording of one: --cellular FILE, in mahimahi's format";
        return Err(why.into());
    }
    let transports = TRANSPORTS.into_iter().filter(|name| is_wanted(&options.transports, *name));
    let on_each = |name| networks.iter().map(move |network| (name, *network));
    Ok(transports.flat_map(on_each).collect())
}

impl Options {
    /// The conditions that the options add to all networks.
    fn weather(&self) -> Result<Weather> {
        let ms = Duration::from_millis;
        Ok(Weather {
            trace: self.cellular.as_deref().map(network::read_trace).transpose()?,
            loss: self.loss.clone(),
            jitter: ms(self.jitter),
            reorder: self.reorder / 100.0,
            queue: self.queue.map(|queue| Queue::Time(ms(queue))),
        })
    }
}
