//! The experiment `fanout`: one room in which few send and everybody receives. What does a delivery cost the server, how
//! long does it take, how many octets is it?
//!
//! Servers are processes of their own, as users run them; all clients are in this one. Sampled receivers decode what
//! comes and take its latency; the others find each message in what comes, or keep it to be decoded when all is over,
//! so that the generator takes little of the processors that the server needs. In the end every delivery to everybody is
//! compared with what was sent.
//!
//! docs/lab.md says what each figure means.

mod cell;
mod certificates;
mod crowd;
mod follower;
mod frames;
mod ledger;
mod line;
mod member;
mod message;
mod quic;
mod reference;
mod row;
mod server;
mod shared;
mod speaker;
mod system;
mod websocket;
mod webtransport;
mod wire;

pub use row::Row;
pub use system::SYSTEMS;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use cell::Times;
use message::MAX_SENDERS;
use system::System;

/// Receivers that decode at once and whose latencies are taken.
const SAMPLED: usize = 32;

/// How large rooms are unless stated.
const CLIENTS: [usize; 3] = [100, 500, 1000];

/// A full measurement. Before it: two epochs of everybody's model, and a just-in-time compiler's first rounds.
const WARM_UP: Duration = Duration::from_secs(3);
const SILENCE: Duration = Duration::from_secs(1);
/// A quick one.
const QUICK: Times = Times {
    warm_up: Duration::from_millis(250),
    measured: Duration::from_millis(250),
    silence: Duration::from_millis(250),
};
/// Silent connections of a quick experiment.
const QUICK_IDLE: usize = 200;
/// Systems at a time in a quick experiment. They disturb each other.
const QUICK_SYSTEMS: usize = 4;

/// What to measure.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names of systems; none for all.
    pub systems: Vec<String>,
    /// In the room, senders among them; none for 100, 500 and 1,000.
    pub clients: Vec<usize>,
    /// In ms; none for 40 and 0.
    pub ticks: Vec<u64>,
    /// Those who send.
    pub senders: usize,
    /// Messages per second from each.
    pub rate: u32,
    /// How long each row is measured.
    pub seconds: f64,
    /// Silent connections, for memory; 0: not measured.
    pub idle: usize,
    /// Of the pointers' motion.
    pub seed: u64,
    /// Shorter.
    pub quick: bool,
    /// The program `groupwire`, whose `serve` is a server.
    pub program: PathBuf,
    /// Where peers are installed.
    pub peers: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            systems: Vec::new(),
            clients: Vec::new(),
            ticks: Vec::new(),
            senders: 10,
            rate: 25,
            seconds: 10.0,
            idle: 1500,
            seed: 1,
            quick: false,
            program: PathBuf::from("groupwire"),
            peers: PathBuf::from(".cache/peers"),
        }
    }
}

/// What there is to tell while the experiment runs. Skipped are systems, and rooms of some size.
pub type Update = crate::Update<Row>;

/// Why there are no rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such system.
    #[error("{0}")]
    System(String),
    /// Nobody sends, or more than can be told apart.
    #[error(
        "senders are 1 to {MAX_SENDERS}, and no more than clients; rates are 1 to 1000 per second"
    )]
    Senders,
}

/// Runs the experiment.
///
/// # Errors
/// What cannot be measured at all. What fails for one system only is told.
pub fn run(options: &Options, tell: &mut dyn FnMut(Update)) -> Result<(), Error> {
    let systems = system::systems(options).map_err(Error::System)?;
    let sizes = if options.clients.is_empty() { CLIENTS.to_vec() } else { options.clients.clone() };
    let fewest = sizes.iter().copied().min().unwrap_or_default().min(MAX_SENDERS);
    if !(1..=fewest).contains(&options.senders) || !(1..=1000).contains(&options.rate) {
        return Err(Error::Senders);
    }
    let measured = Duration::from_secs_f64(options.seconds.clamp(0.1, 3600.0));
    let full = Times { warm_up: WARM_UP, measured, silence: SILENCE };
    let plan = Plan { options, sizes, times: if options.quick { QUICK } else { full } };
    let workers = if options.quick { QUICK_SYSTEMS.min(systems.len()) } else { 1 };
    let (mut done, total) = (0, systems.len() * plan.sizes.len());

    let queue = Mutex::new(VecDeque::from(systems));
    let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, plan, take) = (sender.clone(), &plan, &take);
            scope.spawn(move || {
                while let Some(system) = take() {
                    // Of systems at the same time, each shows its rows when it is over, or they would be mixed.
                    let mut kept = Vec::new();
                    // The receiver is there for as long as any thread is, so sending does not fail.
                    plan.measure(&system, &mut |told| match (workers, &told) {
                        (2.., Told::Over(_)) => kept.push(told),
                        _ => drop(sender.send(told)),
                    });
                    kept.into_iter().for_each(|told| drop(sender.send(told)));
                }
            });
        }
        drop(sender);
        while let Ok(told) = receiver.recv() {
            match told {
                Told::Begun(what) => tell(Update::Progress { done, total, what }),
                Told::Over(update) => {
                    done += 1;
                    tell(update);
                }
            }
        }
    });
    Ok(())
}

/// What threads that measure tell.
enum Told {
    Begun(String),
    Over(Update),
}

struct Plan<'a> {
    options: &'a Options,
    sizes: Vec<usize>,
    times: Times,
}

impl Plan<'_> {
    /// A system, with each number of clients.
    fn measure(&self, system: &System, tell: &mut dyn FnMut(Told)) {
        let name = format!("{}, tick {} ms", system.name, system.tick_ms);
        let skipped = |what, why| Told::Over(Update::Skipped { what, why });
        if let Err(why) = system.start(self.options) {
            return tell(skipped(name, why));
        }
        tell(Told::Begun(format!("{name}, idle")));
        let count = match self.options.quick {
            true => self.options.idle.min(QUICK_IDLE),
            false => self.options.idle,
        };
        let idle = match count {
            0 => None,
            _ => match cell::idle(system, self.options, (count, self.times)) {
                Ok(idle) => Some(idle),
                Err(why) => {
                    tell(skipped(format!("{name}, idle"), why));
                    None
                }
            },
        };
        for &clients in &self.sizes {
            let what = format!("{name}, {clients} clients");
            tell(Told::Begun(what.clone()));
            match cell::measure(system, self.options, (clients, self.times)) {
                Ok(mut row) => {
                    row.kb_per_connection = idle.map(|idle| idle.kb_each);
                    row.idle_connections = idle.map(|idle| idle.connections);
                    // Of systems at the same time nobody knows which of them their clients worked for.
                    row.generator_cpu = row.generator_cpu.filter(|_| !self.options.quick);
                    tell(Told::Over(Update::Row(Box::new(row))));
                }
                Err(why) => tell(skipped(what, why)),
            }
        }
    }
}
