//! The experiment `fanout`: one room in which few send and everybody receives. What does a delivery
//! cost the server, how long does it take, how many bytes is it?
//!
//! Servers are processes of their own, as users run them; all clients are in this one. Sampled
//! receivers decode what comes and take its latency; the others find each message in what comes, or
//! keep it to be decoded when all is over, so that the generator takes little of the processors
//! that the server needs. In the end every delivery to everybody is compared with what was sent.
//!
//! lab/README.md says what each figure means.

pub(crate) mod bare;
mod cell;
mod certificates;
mod colyseus;
pub(crate) mod crowd;
mod follower;
pub(crate) mod frames;
mod http3;
pub(crate) mod ledger;
mod member;
pub(crate) mod message;
mod peer_client;
mod reference;
mod room;
mod row;
mod socket;
pub(crate) mod state;
pub(crate) mod system;
pub(crate) mod websocket;
mod webtransport;
mod wire;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::options::{Common, Program, between, or_usual};
use crate::server::allow_files;
use crate::{Result, Update, parallel};
use cell::Times;
use message::MAX_SENDERS;
use system::{SYSTEMS, System};

/// Receivers that decode at once, and whose latencies are measured.
pub(crate) const SAMPLED: usize = 32;

/// The sizes of rooms unless options state others.
const CLIENTS: [usize; 3] = [100, 500, 1000];

/// The time before a full measurement: two epochs of each model, and the first rounds of a
/// just-in-time compiler.
const WARM_UP: Duration = Duration::from_secs(3);
const SILENCE: Duration = Duration::from_secs(1);
/// The durations of a quick measurement.
const QUICK: Times = Times {
    warm_up: Duration::from_millis(250),
    measured: Duration::from_millis(250),
    silence: Duration::from_millis(250),
};
/// Silent connections of a quick experiment.
const QUICK_IDLE: usize = 200;
/// Systems at a time in a quick experiment. They disturb each other.
const QUICK_SYSTEMS: usize = 4;

/// The options of `groupwire-lab fanout`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only these systems.
    #[arg(long = "system", value_name = "NAME", value_parser = PossibleValuesParser::new(SYSTEMS))]
    systems: Vec<String>,

    /// The number of clients in the room, including the senders. May be given several times.
    /// Default: 100, 500, 1000.
    #[arg(long, value_name = "COUNT")]
    clients: Vec<usize>,

    /// The time for which servers collect messages before sending, in ms. May be given several
    /// times. Default: 40 and 0. Batched peers run with all but 0, other peers with 0.
    #[arg(long = "tick", value_name = "MS")]
    ticks: Vec<u64>,

    /// The number of clients that send.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    senders: usize,

    /// Messages per second from each sender.
    #[arg(long, value_name = "HZ", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rate: u32,

    /// The duration of the measurement of each row.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = between(0.1, 3600.0))]
    seconds: f64,

    /// The number of idle connections for measuring the memory of each; 0 for none.
    #[arg(long, value_name = "COUNT", default_value_t = 1500)]
    idle: usize,

    #[command(flatten)]
    program: Program,

    /// Be the server of the system bare, with this tick in ms. The experiment starts itself so.
    #[arg(long, value_name = "MS", hide = true)]
    pub(crate) serve_bare: Option<u64>,

    /// The directory into which scripts/peers.sh has installed the peers.
    #[arg(long, value_name = "DIRECTORY", default_value = ".cache/peers")]
    peers: PathBuf,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Runs the experiment.
///
/// # Errors
/// Nothing can be measured. A system that fails is reported as skipped.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    allow_files();
    let systems = system::systems(options);
    let sizes = or_usual(&options.clients, &CLIENTS);
    let fewest = sizes.iter().copied().min().unwrap_or_default().min(MAX_SENDERS);
    if !(1..=fewest).contains(&options.senders) {
        return Err(format!("senders are 1 to {MAX_SENDERS}, and no more than clients").into());
    }
    let full = Times {
        warm_up: WARM_UP,
        measured: Duration::from_secs_f64(options.seconds),
        silence: SILENCE,
    };
    let plan = Plan {
        options,
        program: options.program.path()?,
        sizes,
        times: options.common.quick_or(QUICK, full),
    };
    let workers = options.common.quick_or(QUICK_SYSTEMS, 1);
    let total = systems.len() * plan.sizes.len();
    let job = |_, system: &System, emit: &mut dyn FnMut(Update)| plan.measure(system, emit);
    parallel::run((&systems, total), workers, &job, emit);
    Ok(())
}

/// The settings that all systems share.
struct Plan<'a> {
    options: &'a Options,
    /// The program `groupwire`, whose `serve` is a server.
    program: PathBuf,
    sizes: Vec<usize>,
    times: Times,
}

impl Plan<'_> {
    /// Measures a system with each number of clients.
    fn measure(&self, system: &System, emit: &mut dyn FnMut(Update)) {
        if system.name == room::ROOM {
            for &clients in &self.sizes {
                emit(Update::begun(format!("{}, {clients} clients", system.name)));
                emit(Update::Row(room::measure(system, clients, self.options)));
            }
            return;
        }
        let name = format!("{}, tick {} ms", system.name, system.tick_ms);
        if let Err(why) = system.start(self) {
            return emit(Update::Skipped { what: name, why: why.to_string() });
        }
        let quick = self.options.common.quick;
        let count = if quick { self.options.idle.min(QUICK_IDLE) } else { self.options.idle };
        let idle = match count {
            0 => None,
            _ => match cell::idle(system, self, count) {
                Ok(idle) => Some(idle),
                Err(why) => {
                    emit(Update::Skipped { what: format!("{name}, idle"), why: why.to_string() });
                    None
                }
            },
        };
        for &clients in &self.sizes {
            let what = format!("{name}, {clients} clients");
            emit(Update::begun(&what));
            emit(match cell::measure(system, self, clients) {
                Ok(mut row) => {
                    row.set("kb_per_connection", idle.map(|idle| idle.kb_each));
                    row.set("idle_connections", idle.map(|idle| idle.connections));
                    if quick {
                        // If several systems run at the same time, the clients' processor time
                        // cannot be attributed to one.
                        row.set("generator_cpu", None::<f64>);
                    }
                    Update::Row(row)
                }
                Err(why) => Update::Skipped { what, why: why.to_string() },
            });
        }
    }
}
