//! The experiment `storm`: many people join at once, or come back at once after their server was
//! killed or drained, or some of them send far more than anybody should. How long does it take,
//! what does it cost, and do people in other rooms notice?
//!
//! The server is a process of its own, with stored rooms; people are native clients in this one.
//!
//! lab/README.md says what each figure means.

mod bystanders;
mod counting;
mod crowd;
mod door;
mod event;
mod flood;
mod participants;
mod row;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use groupwire_ports::free_port;

use self::door::Door;
use crate::options::{Common, Program, between, is_wanted, named};
use crate::server::{Server, allow_files};
use crate::{Result, Update};

/// The event that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Event {
    /// All participants join at once.
    Join,
    /// The server is killed, and started again on the same port.
    Kill,
    /// The server is told to end (SIGTERM), and started again on the same port when it has ended.
    Drain,
    /// Another process takes the server's place (`groupwire serve --upgrade`).
    Upgrade,
    /// A few people send as many transactions as the server takes from them.
    FloodTransactions,
    /// A few people send as much awareness as they can.
    FloodAwareness,
    /// A few people join and leave again without a pause.
    FloodJoins,
}

named!(Event);

impl Event {
    fn is_flood(self) -> bool {
        matches!(self, Event::FloodTransactions | Event::FloodAwareness | Event::FloodJoins)
    }
}

/// The options of `groupwire-lab storm`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Measure only these events.
    #[arg(long = "event", value_name = "NAME")]
    events: Vec<Event>,

    /// The number of people who join, or come back.
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    clients: u32,

    /// The number of their rooms.
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rooms: u32,

    /// The number of people who flood, each in a room of their own.
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    flooders: u32,

    /// Flood a server that limits neither what clients send nor how often they come.
    #[arg(long)]
    unlimited: bool,

    /// The time for which the server collects messages before sending, in ms.
    #[arg(long, value_name = "MS", default_value_t = 40, value_parser = clap::value_parser!(u64).range(0..=1000))]
    tick: u64,

    /// How long a flood lasts, and how long people in other rooms are observed before any event.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = between(0.1, 3600.0))]
    seconds: f64,

    /// How long after an event the memory of the server is looked at again.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = between(0.1, 3600.0))]
    rest: f64,

    /// Let all who join decode everything that comes, as before there were clients that only count.
    #[arg(long)]
    whole: bool,

    /// Start the server with this option, too, such as --serve=--max-join-lag=0. May be given
    /// several times.
    #[arg(long = "serve", value_name = "OPTION", allow_hyphen_values = true)]
    serve: Vec<String>,

    /// Join over TLS, and trust this certificate: for a server that is started with
    /// --serve=--cert=FILE --serve=--key=FILE.
    #[arg(long, value_name = "FILE")]
    root: Option<PathBuf>,

    /// Join with the tokens in this file, one per line, in turns: for a server that is started with
    /// --serve=--jwt-keys=FILE.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,

    /// The directory in which rooms are stored meanwhile. Default: that of temporary files.
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,

    #[command(flatten)]
    program: Program,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// The settings that all events share.
struct Plan<'a> {
    options: &'a Options,
    program: PathBuf,
    data: PathBuf,
    door: Door,
    /// The port without TLS at which a server with TLS reports its figures.
    plain_port: Option<u16>,
    clients: u32,
    rooms: u32,
    observed: Duration,
    /// The time from the event until the memory of the server is measured again.
    rest: Duration,
}

impl Plan<'_> {
    /// True if most of the people who join only count packets. Over TLS all are whole clients.
    fn counts(&self) -> bool {
        self.options.root.is_none() && !self.options.whole
    }

    /// The port at which a server reports its figures.
    fn status_port(&self, server: &Server) -> u16 {
        self.plain_port.unwrap_or(server.port)
    }
}

/// Runs the experiment.
///
/// # Errors
/// Nothing can be measured.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    allow_files();
    let common = options.common;
    let plan = Plan {
        options,
        program: options.program.path()?,
        door: Door::new(options.root.as_deref(), options.tokens.as_deref())?,
        plain_port: options.root.as_ref().map(|_| free_port()).transpose()?,
        data: options.data.clone().unwrap_or_else(std::env::temp_dir),
        clients: common.quick_or(options.clients.min(50), options.clients),
        rooms: common.quick_or(options.rooms.min(5), options.rooms),
        observed: common
            .quick_or(Duration::from_millis(700), Duration::from_secs_f64(options.seconds)),
        rest: common.quick_or(Duration::from_millis(200), Duration::from_secs_f64(options.rest)),
    };
    let events = Event::value_variants().iter().filter(|event| is_wanted(&options.events, *event));
    let events: Vec<Event> = events.copied().collect();
    for (done, &event) in events.iter().enumerate() {
        emit(Update::Progress { done, total: events.len(), what: event.to_string() });
        emit(Update::Row(event::measure(event, &plan)?));
    }
    Ok(())
}
