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

mod bare;
mod browser;
mod cell;
mod control;
mod ground;
mod load;
mod loaded;
mod native;
mod network;
mod plan;
pub(crate) mod protocol;
mod rate;
mod row;
mod server;
mod trials;

use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use groupwire_tunnel::Codecs;
use tokio::runtime::Runtime;

use crate::emulator::Namespace;
use crate::far::{Access, Near, Serve};
use crate::options::{Common, Program, between, is_wanted, or_usual};
use crate::sim::{Loss, Queue};
use crate::{Result, Update, parallel};
use browser::Browser;
pub(crate) use browser::Engine;
use cell::{Cell, CellResources};
use control::Control;
pub(crate) use control::Page;
use ground::Ground;
pub(crate) use network::{Network, Weather};
use plan::Plan;
use row::{Measure, Part};
pub(crate) use server::{AllPorts, Listen, Servers};

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
pub(crate) const SERVERS: [(u64, bool); 3] = [(0, false), (0, true), (40, true)];
const BARE: usize = 0;
const APPS: [usize; 2] = [1, 2];

/// Cells at a time in a quick experiment. They disturb each other.
const QUICK_CELLS: usize = 6;

/// The options of `groupwire-lab web`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The rows: of every transport as users have it today, or the WEB paper's tables and
    /// figures by its own methods.
    #[arg(long, value_name = "NAME", default_value_t)]
    part: Part,

    /// In the part paper, send as many messages in as many trials as the paper, however long it
    /// takes: hours.
    #[arg(long)]
    whole: bool,

    /// Run only in these browsers. Default: chromium, and in the part paper firefox, too; both with
    /// native clients for the transport socket.
    #[arg(long = "browser", value_name = "NAME")]
    engines: Vec<Engine>,

    /// Run only these transports.
    #[arg(long = "transport", value_name = "NAME", value_parser = PossibleValuesParser::new(TRANSPORTS))]
    transports: Vec<String>,

    /// Run only these networks: cellular, if there is a recording. With --far there is only that.
    #[arg(long = "network", value_name = "NAME", conflicts_with = "far")]
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

    /// The round trip in ms, instead of that of the network.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(0..=10_000))]
    rtt: Option<u64>,

    #[command(flatten)]
    far: Access,

    #[command(flatten)]
    program: Program,

    /// Use proxies on loopback instead of a network namespace. TCP then loses no packets, and bytes
    /// are not counted.
    #[arg(long, conflicts_with = "far")]
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
    let namespace = match options.proxy || options.far.is_asked_for() {
        true => None,
        false => Some(Namespace::enter().map_err(|error| {
            format!("no emulated network here: {error}\n--proxy does without, and shows less")
        })?),
    };
    let cells = cells(options)?;
    let is_far = options.far.is_asked_for();
    // Cells that run at the same time would share the path to another machine.
    let most = if is_far { 1 } else { QUICK_CELLS };
    let workers = options.common.quick_or(most.min(cells.len()), 1);
    let far = is_far.then(|| Near::open(&options.far, Codecs::Never)).transpose()?;
    let ground = match &far {
        Some(near) => Ground::Far(near.address()?),
        None => Ground::new(namespace.as_ref(), workers)?,
    };
    let lab = Lab {
        options,
        far,
        plan: Plan::of(options),
        weather: options.weather()?,
        ground,
        workers,
        natives: Runtime::new()?,
    };
    let wanted = cells.iter().map(|cell| cell.engine);
    let mut missing = None;
    for engine in Engine::value_variants() {
        if wanted.clone().any(|wanted| wanted == *engine)
            && let Err(error) = lab.run(*engine, &cells, emit)
        {
            emit(Update::Skipped { what: engine.to_string(), why: error.to_string() });
            missing = missing.or(Some(error));
        }
    }
    // Without any browser there is nothing to show.
    match missing {
        Some(error) if lab.options.part == Part::Today => Err(error),
        _ => Ok(()),
    }
}

/// The options, network and runtime that all cells share.
struct Lab<'a> {
    options: &'a Options,
    /// The other machine, if servers run there.
    far: Option<Near>,
    plan: Plan,
    weather: Weather,
    ground: Ground,
    /// Cells at a time.
    workers: usize,
    natives: Runtime,
}

/// A transport on a network, between participants that run in this engine.
#[derive(Debug, Clone, Copy)]
struct Place {
    engine: Engine,
    transport: &'static str,
    network: Network,
}

impl Lab<'_> {
    /// Measures the cells of an engine.
    fn run(&self, engine: Engine, cells: &[Place], emit: &mut dyn FnMut(Update)) -> Result<()> {
        let Lab { options, ground, weather, workers, .. } = self;
        let cells: Vec<_> = cells.iter().filter(|cell| cell.engine == engine).copied().collect();
        let has_pages = engine != Engine::Native;
        let mut open = has_pages.then(|| Open::pages(engine, *workers)).transpose()?;
        let mut all = open.as_mut().map(|open| std::mem::take(&mut open.pages).into_iter());
        let pages: Vec<_> =
            (0..*workers).map(|_| Mutex::new(all.as_mut().and_then(Iterator::next))).collect();
        let told = open.as_ref().map(|open| (open.origins(), open.version.clone()));
        let (origins, version) = told.unwrap_or_else(|| (Vec::new(), engine.to_string()));
        let running = self.servers(&origins)?;
        let job = |worker: usize, cell: &Place, emit: &mut dyn FnMut(Update)| {
            let Place { transport, network, .. } = *cell;
            let (ports, natives) = (running.ports(), self.natives.handle());
            let version = version.as_str();
            let place = CellResources { worker, ground, ports, natives, engine, version };
            let what = format!("{transport}, {network}, {engine}");
            emit(Update::begun(&what));
            let page = pages[worker].lock();
            let mut page = page.expect("a worker that panicked ends the experiment");
            let cell = Cell::new(place, options, (transport, network, weather));
            let done = cell.and_then(|cell| {
                cell.run(page.as_mut(), &self.plan, &mut |row| emit(Update::Row(row)))
            });
            if let Err(why) = done {
                emit(Update::Skipped { what, why: why.to_string() });
            }
        };
        parallel::run((&cells, cells.len()), *workers, &job, emit);
        Ok(())
    }

    /// Starts the servers, here or on the other machine, for pages of these origins.
    fn servers(&self, origins: &[String]) -> Result<Running> {
        if let Some(near) = &self.far {
            let (connection, ports) = near.serve(&Serve { origins: origins.to_vec() })?;
            return Ok(Running::There { ports, _connection: connection });
        }
        let program = self.options.program.path()?;
        let listen = Listen { address: self.ground.listen(), ports: None };
        Ok(Running::Here(Servers::start(&program, &listen, origins, self.natives.handle())?))
    }
}

/// Servers, which run until this is dropped.
enum Running {
    Here(Servers),
    /// The other machine ends them with the connection.
    There {
        ports: AllPorts,
        _connection: TcpStream,
    },
}

impl Running {
    fn ports(&self) -> &AllPorts {
        match self {
            Running::Here(servers) => &servers.ports,
            Running::There { ports, .. } => ports,
        }
    }
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
    /// Opens `count` pages in a browser.
    pub(crate) fn pages(engine: Engine, count: usize) -> Result<Self> {
        let browser = engine.find()?;
        let version = engine.version(&browser)?;
        let (control, pages) = Control::start(count)?;
        let open = Browser::open(engine, &browser, &control.url())?;
        Ok(Open { pages, version, control, _browser: open })
    }

    /// The origins of the pages, which servers have to allow.
    pub(crate) fn origins(&self) -> Vec<String> {
        self.control.origins()
    }
}

fn cells(options: &Options) -> Result<Vec<Place>> {
    let (networks, engines): (&[Network], &[Engine]) = match options.part {
        Part::Today => (&Network::USUAL, &[Engine::Chromium, Engine::Native]),
        Part::Paper => (&Network::PAPER, Engine::value_variants()),
    };
    let networks = if options.far.is_asked_for() { &[Network::Far] } else { networks };
    let networks = or_usual(&options.networks, networks);
    if networks.contains(&Network::Far) && !options.far.is_asked_for() {
        return Err("the network far needs another machine: --far HOST:PORT".into());
    }
    let engines = or_usual(&options.engines, engines);
    if networks.contains(&Network::Cellular) && options.cellular.is_none() {
        let why =
            "the network cellular needs a recording of one: --cellular FILE, in mahimahi's format";
        return Err(why.into());
    }
    let mut cells = Vec::new();
    for engine in engines {
        let has = |transport: &str| (transport == SOCKET) == (engine == Engine::Native);
        let wanted = |name: &&str| has(name) && is_wanted(&options.transports, *name);
        for transport in TRANSPORTS.into_iter().filter(wanted) {
            cells.extend(networks.iter().map(|&network| Place { engine, transport, network }));
        }
    }
    Ok(cells)
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
            round_trip: self.rtt.map(ms),
        })
    }
}
