//! One transport on one network: all its rows.

use std::time::Duration;

use tokio::runtime::Handle;

use super::browser::Engine;
use super::control::Page;
use super::ground::{Ground, MemberPaths};
use super::loaded::Loaded;
use super::native::NativeStage;
use super::network::{Network, Weather};
use super::plan::Plan;
use super::protocol::{App, Command, Play, Played, Reply, Stage, StageError};
use super::row::{self, Measure, with_papers};
use super::server::AllPorts;
use super::{APPS, MEMBERS, Options, SERVERS, SOCKET, WEBTRANSPORT};
use crate::statistics::Summary;
use crate::{Result, Row};

/// The time a command may take beyond its own duration: joining over the slowest path, on a busy
/// machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The path of the member that sends and receives loads: the last one.
pub(super) const LOADED: usize = MEMBERS - 1;

/// The resources with which cells are measured.
#[derive(Clone, Copy)]
pub(super) struct CellResources<'a> {
    pub(super) worker: usize,
    pub(super) ground: &'a Ground,
    pub(super) ports: &'a AllPorts,
    /// The runtime on which native participants run.
    pub(super) natives: &'a Handle,
    /// What participants run in, with its version.
    pub(super) engine: Engine,
    pub(super) version: &'a str,
}

/// One transport on one network.
pub(super) struct Cell<'a> {
    pub(super) place: CellResources<'a>,
    options: &'a Options,
    pub(super) transport: &'a str,
    pub(super) network: Network,
    pub(super) paths: MemberPaths<'a>,
    /// The path's own round trip, in ms.
    pub(super) path_ms: f64,
    pub(super) runs: u32,
}

impl<'a> Cell<'a> {
    pub(super) fn new(
        place: CellResources<'a>,
        options: &'a Options,
        (transport, network, weather): (&'a str, Network, &Weather),
    ) -> Result<Self> {
        let all = place.ports.servers.iter().chain([&place.ports.bare]);
        let ports: Vec<u16> = all.flat_map(|ports| [ports.http, ports.socket]).collect();
        let setup = (options.common.seed, transport == WEBTRANSPORT);
        let paths = place.ground.paths(place.worker, (network, weather), setup, &ports)?;
        let path_ms = paths.ping(0)?;
        Ok(Cell { place, options, transport, network, paths, path_ms, runs: 0 })
    }

    /// Measures the cell with members on this page, or with native ones.
    pub(super) fn run(
        mut self,
        page: Option<&mut Page>,
        plan: &Plan,
        yields: &mut dyn FnMut(Row),
    ) -> Result<()> {
        let mut beside = NativeStage::new(self.place.natives);
        let mut native = NativeStage::new(self.place.natives);
        let stage: &mut dyn Stage = match page {
            Some(page) => page,
            None => &mut native,
        };
        let done = self.measure(stage, &mut beside, plan, yields);
        // Members leave even after a failure, so that the next cell finds an empty room.
        let left = call(stage, Command::Leave, 0.0).and(call(&mut beside, Command::Leave, 0.0));
        done.and(left.map(drop))
    }

    fn measure(
        &mut self,
        stage: &mut dyn Stage,
        beside: &mut dyn Stage,
        plan: &Plan,
        yields: &mut dyn FnMut(Row),
    ) -> Result<()> {
        let mut joined = 0;
        if plan.wants_loads() {
            joined = Loaded { cell: self, stage, beside, plan, yields }.measure()?;
        }
        for server in APPS {
            let (tick_ms, _) = SERVERS[server];
            let (first, mut members) = (joined, 0);
            for (count, apps) in plan.plays(self.network, tick_ms) {
                self.join(stage, server, "apps", members..count)?;
                (joined, members) = (first + count, count);
                for app in apps {
                    let who = (first..joined).collect();
                    self.play(stage, (app, who), tick_ms, plan, yields)?;
                }
            }
        }
        Ok(())
    }

    /// Members join over paths of their own; returns how long each join took, in ms.
    pub(super) fn join(
        &self,
        stage: &mut dyn Stage,
        server: usize,
        room: &str,
        paths: std::ops::Range<usize>,
    ) -> Result<Vec<f64>> {
        let servers: Vec<_> = paths.map(|path| self.server(server, path)).collect();
        let room = format!("{room} {} {}", self.transport, self.network);
        let wanted = self.transport.to_owned();
        match call(stage, Command::Join { transport: wanted.clone(), room, servers }, 0.0)? {
            Reply::Join { ms, transport } if transport == wanted => Ok(ms),
            Reply::Join { transport, .. } => {
                let why = format!("{transport} was used where {wanted} was asked for");
                Err(StageError::Failed(why).into())
            }
            _ => Err(StageError::Confused.into()),
        }
    }

    /// The address of a server on a member's path.
    fn server(&self, server: usize, path: usize) -> String {
        let (address, ports) = (self.paths.address(path), self.place.ports.servers[server]);
        match self.transport {
            SOCKET => format!("tcp://{address}:{}", ports.socket),
            _ => format!("http://{address}:{}", ports.http),
        }
    }

    fn play(
        &self,
        stage: &mut dyn Stage,
        (app, members): (App, Vec<usize>),
        tick_ms: u64,
        plan: &Plan,
        yields: &mut dyn FnMut(Row),
    ) -> Result<()> {
        let participants = members.len();
        // A request and its answer, and the same once more for repeats of lost packets.
        let patience_ms = 3.0 * self.path_ms + tick_ms as f64 + plan.patience_ms;
        let play = Play { app, members, ms: plan.playing_ms, patience_ms };
        let Reply::Play(played) = call(stage, Command::Play(play), plan.playing_ms + patience_ms)?
        else {
            return Err(StageError::Confused.into());
        };
        for measure in [Measure::Latency, Measure::Jitter] {
            if plan.wants(measure) {
                let row = self.row(measure).with("tick_ms", tick_ms).with("app", app);
                let row = row.with("participants", participants);
                yields(with_papers(timed(measure, row, &played, self.path_ms)));
            }
        }
        Ok(())
    }

    /// A row with the fields that are the same in the whole cell.
    pub(super) fn row(&self, measure: Measure) -> Row {
        row::row(measure, &self.options.common)
            .with("part", self.options.part)
            .with("transport", self.transport)
            .with("engine", self.place.engine)
            .with("browser", self.place.version)
            .with("network", self.network)
            .with("emulator", self.paths.emulator())
    }
}

/// Performs a command that takes about `ms` milliseconds.
pub(super) fn call(stage: &mut dyn Stage, command: Command, ms: f64) -> Result<Reply> {
    stage.start(command)?;
    Ok(stage.finish(PATIENCE + Duration::from_secs_f64(ms / 1e3))?)
}

fn timed(measure: Measure, row: Row, played: &Played, path_ms: f64) -> Row {
    let summary = Summary::of(&played.latencies);
    let failure = match (&played.wrong, summary.count) {
        (Some(wrong), _) => Some(wrong.as_str()),
        (None, 0) => Some("nothing came"),
        _ => None,
    };
    let row = row
        .with("messages", played.sent)
        .with("arrived", summary.count as f64 / f64::from(played.due.max(1)))
        .failed(failure);
    if measure == Measure::Jitter {
        return row.with("value", summary.divergence);
    }
    let transactions =
        (!played.transactions.is_empty()).then(|| Summary::of(&played.transactions).mean);
    row.with("value", summary.mean)
        .with("p50_ms", summary.median)
        .with("p99_ms", summary.p99)
        .with("transactions_ms", transactions)
        .with("path_ms", path_ms)
        .with("adds_ms", summary.mean - path_ms)
}
