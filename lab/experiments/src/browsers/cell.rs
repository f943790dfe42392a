//! One transport on one network: all its rows.

use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::control::Page;
use super::ground::{Ground, MemberPaths};
use super::native::NativeStage;
use super::network::{Network, Weather};
use super::plan::{POINTER, Plan, SIZES, STANDARD};
use super::protocol::{
    App, Command, Play, Played, Receive, Received, Reply, Send, Stage, StageError,
};
use super::rate::rate;
use super::row::{self, Direction, Measure, with_papers};
use super::server::Server;
use super::{APPS, BARE, MEMBERS, Options, SERVERS, SOCKET, WEBTRANSPORT};
use crate::emulator::PathStats;
use crate::statistics::Summary;
use crate::{Result, Row};

/// The time a command may take beyond its own duration: joining over the slowest path, on a busy
/// machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The pause after joining and after messages, for delayed acknowledgements and a first ping to
/// arrive.
const SETTLING: Duration = Duration::from_millis(150);

/// The interval of messages of 500 bytes on an uplink of 64 kbit/s, each with an HTTP request of 1
/// KB at most.
const NARROW_APART_MS: f64 = 200.0;

/// The count of a load of values that replace each other: more than any duration allows.
const WITHOUT_END: u32 = u32::MAX;

/// The path of the member that sends and receives loads: the last one.
const LOADED: usize = MEMBERS - 1;

/// The resources with which cells are measured.
#[derive(Clone, Copy)]
pub(super) struct CellResources<'a> {
    pub(super) worker: usize,
    pub(super) ground: &'a Ground,
    /// [`SERVERS`].
    pub(super) servers: &'a [Server],
    /// The runtime on which native participants run.
    pub(super) natives: &'a Handle,
    /// The version of the browser.
    pub(super) version: &'a str,
}

/// One transport on one network.
pub(super) struct Cell<'a> {
    place: CellResources<'a>,
    options: &'a Options,
    transport: &'a str,
    network: Network,
    paths: MemberPaths<'a>,
    /// The path's own round trip, in ms.
    path_ms: f64,
    runs: u32,
}

impl<'a> Cell<'a> {
    pub(super) fn new(
        place: CellResources<'a>,
        options: &'a Options,
        (transport, network, weather): (&'a str, Network, &Weather),
    ) -> Result<Self> {
        let ports: Vec<_> =
            place.servers.iter().flat_map(|server| [server.port, server.socket]).collect();
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
            let mut load = Loaded { cell: self, stage, beside, plan, yields };
            load.connect()?;
            load.overheads()?;
            load.receive_rates()?;
            load.send_rates()?;
            joined = 1;
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
    fn join(
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
        let server = &self.place.servers[server];
        match self.transport {
            SOCKET => format!("tcp://{}:{}", self.paths.address(path), server.socket),
            _ => format!("http://{}:{}", self.paths.address(path), server.port),
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
    fn row(&self, measure: Measure) -> Row {
        let browser = if self.transport == SOCKET { "native" } else { self.place.version };
        row::row(measure, &self.options.common)
            .with("transport", self.transport)
            .with("browser", browser)
            .with("network", self.network)
            .with("emulator", self.paths.emulator())
    }
}

/// Measures one participant whose room has only one other member, a native one beside the server.
struct Loaded<'a, 'b> {
    cell: &'a mut Cell<'b>,
    stage: &'a mut dyn Stage,
    beside: &'a mut dyn Stage,
    plan: &'a Plan,
    yields: &'a mut dyn FnMut(Row),
}

impl Loaded<'_, '_> {
    fn connect(&mut self) -> Result<()> {
        let before = self.stats();
        let ms = self.cell.join(self.stage, BARE, "load", LOADED..LOADED + 1)?;
        std::thread::sleep(SETTLING);
        if let Some((content, wire)) =
            self.since(before).filter(|_| self.plan.wants(Measure::OverheadConnection))
        {
            let row = self.cell.row(Measure::OverheadConnection);
            let joined_ms = ms.first().copied();
            let row = row.with("value", sum(content)).with("wire_bytes", sum(wire));
            self.emit(row.with("joined_ms", joined_ms));
        }
        let port = self.cell.place.servers[BARE].socket;
        let join = Command::Join {
            transport: SOCKET.to_owned(),
            room: format!("load {} {}", self.cell.transport, self.cell.network),
            servers: vec![format!("tcp://127.0.0.1:{port}")],
        };
        call(self.beside, join, 0.0)?;
        Ok(())
    }

    fn overheads(&mut self) -> Result<()> {
        if !self.plan.wants(Measure::OverheadMessage) || self.stats().is_none() {
            return Ok(());
        }
        // Messages are sent one by one, so that a narrow line has transferred each before the next.
        let slower = if self.cell.network.narrow().is_some() { NARROW_APART_MS } else { 0.0 };
        let (count, every_ms) = (self.plan.overheads, self.plan.apart_ms.max(slower));
        for direction in [Direction::Up, Direction::Down] {
            let send = self.load(STANDARD, count, every_ms, false);
            let (before, ms) = (self.stats(), send.ms);
            let mut received = self.transfer(direction, send, ms)?;
            if !received.complete {
                received.wrong.get_or_insert_with(|| format!("not all came within {ms} ms"));
            }
            std::thread::sleep(SETTLING);
            let Some((content, wire)) = self.since(before) else { continue };
            let payload = f64::from(count) * STANDARD as f64;
            let [up, down] = content;
            let way = if direction == Direction::Up { up } else { down };
            let per_message = |bytes: f64| (bytes - payload) / f64::from(count);
            let row = self.loaded(Measure::OverheadMessage, direction, STANDARD, &received);
            let row = row.with("value", per_message(way));
            self.emit(row.with("wire_bytes", per_message(sum(wire))));
        }
        Ok(())
    }

    fn receive_rates(&mut self) -> Result<()> {
        if !self.plan.wants(Measure::ReceiveRate) {
            return Ok(());
        }
        for size in SIZES {
            self.distinct(Measure::ReceiveRate, Direction::Down, size)?;
        }
        Ok(())
    }

    fn send_rates(&mut self) -> Result<()> {
        if !self.plan.wants(Measure::SendRate) {
            return Ok(());
        }
        let count = self.plan.messages_up(self.cell.network, STANDARD);
        let mut rates = Vec::new();
        let mut all = Received { complete: true, ..Received::default() };
        for _ in 0..self.plan.trials {
            let send = self.load(STANDARD, count, 0.0, false);
            let ms = self.plan.sending_ms;
            let (received, took) = self.timed_transfer(Direction::Up, send, ms)?;
            rates.push(f64::from(received.messages) * 1e3 / took);
            let is_whole = received.complete;
            add(&mut all, received);
            if !is_whole {
                all.wrong.get_or_insert_with(|| format!("not all came within {ms} ms"));
                break;
            }
        }
        let row = self.loaded(Measure::SendRate, Direction::Up, STANDARD, &all);
        self.emit(rated(row, &rates));
        // This measurement comes last, because it fills the connection's send queue, which a narrow
        // line takes seconds to send.
        self.distinct(Measure::SendRate, Direction::Up, POINTER)
    }

    /// Measures the distinct arrivals of a value that changes all the time.
    fn distinct(&mut self, measure: Measure, direction: Direction, size: usize) -> Result<()> {
        let (mut rates, mut all) = (Vec::new(), Received::default());
        for _ in 0..self.plan.trials {
            let ms = self.plan.receiving_ms + self.cell.path_ms;
            let send = Send { ms, ..self.load(size, WITHOUT_END, 0.0, true) };
            let received = self.transfer(direction, send, ms)?;
            rates.push(rate(received.arrivals, received.span_ms, ms));
            add(&mut all, received);
        }
        // Messages that arrive together count as one arrival.
        let per_arrival = f64::from(all.messages) / f64::from(all.arrivals.max(1));
        let row = rated(self.loaded(measure, direction, size, &all), &rates);
        let value = row.number("value").unwrap_or_default();
        self.emit(row.with("messages_per_second", value * per_arrival));
        Ok(())
    }

    fn load(&mut self, size: usize, count: u32, every_ms: f64, latest: bool) -> Send {
        self.cell.runs += 1;
        let ms = f64::from(count) * every_ms + self.plan.sending_ms;
        Send { member: 0, run: self.cell.runs, count, size, every_ms, latest, ms }
    }

    /// Sends a load in one direction and counts received messages for at most `ms` and a round
    /// trip.
    fn transfer(&mut self, direction: Direction, send: Send, ms: f64) -> Result<Received> {
        self.timed_transfer(direction, send, ms).map(|(received, _)| received)
    }

    /// Like `transfer`, and returns its duration in ms, too.
    fn timed_transfer(
        &mut self,
        direction: Direction,
        send: Send,
        ms: f64,
    ) -> Result<(Received, f64)> {
        let beyond = if send.latest { 0.0 } else { 2.0 * self.cell.path_ms + 1000.0 };
        let receive = Receive {
            member: 0,
            run: send.run,
            size: send.size,
            latest: send.latest,
            ms: ms + beyond,
        };
        let (sender, receiver) = match direction {
            Direction::Up => (&mut *self.stage, &mut *self.beside),
            Direction::Down => (&mut *self.beside, &mut *self.stage),
        };
        call(receiver, Command::Expect(receive.clone()), 0.0)?;
        let start = Instant::now();
        receiver.start(Command::Receive(receive))?;
        let sent = call(sender, Command::Send(send), ms);
        let received = receiver.finish(PATIENCE + Duration::from_secs_f64((ms + beyond) / 1e3))?;
        let took = start.elapsed().as_secs_f64() * 1e3;
        sent?;
        match received {
            Reply::Receive(received) => Ok((received, took)),
            _ => Err(StageError::Confused.into()),
        }
    }

    fn loaded(&self, measure: Measure, direction: Direction, size: usize, all: &Received) -> Row {
        self.cell
            .row(measure)
            .with("size", size)
            .with("direction", direction)
            .with("messages", all.messages)
            .failed(all.wrong.as_ref())
    }

    fn emit(&mut self, row: Row) {
        (self.yields)(with_papers(row));
    }

    fn stats(&self) -> Option<PathStats> {
        self.cell.paths.stats(LOADED)
    }

    /// The bytes carried since `before`, up and down: above TCP or UDP, and on the wire.
    fn since(&self, before: Option<PathStats>) -> Option<([f64; 2], [f64; 2])> {
        let (before, after) = (before?, self.stats()?);
        let content =
            [after.up_content - before.up_content, after.down_content - before.down_content];
        let wire = [after.up.bytes - before.up.bytes, after.down.bytes - before.down.bytes];
        Some((content.map(|bytes| bytes as f64), wire.map(|bytes| bytes as f64)))
    }
}

/// Performs a command that takes about `ms` milliseconds.
fn call(stage: &mut dyn Stage, command: Command, ms: f64) -> Result<Reply> {
    stage.start(command)?;
    Ok(stage.finish(PATIENCE + Duration::from_secs_f64(ms / 1e3))?)
}

fn sum(both: [f64; 2]) -> f64 {
    both.iter().sum()
}

fn add(all: &mut Received, one: Received) {
    all.messages += one.messages;
    all.arrivals += one.arrivals;
    all.span_ms += one.span_ms;
    all.complete &= one.complete;
    all.wrong = all.wrong.take().or(one.wrong);
}

fn rated(row: Row, rates: &[f64]) -> Row {
    let summary = Summary::of(rates);
    let squares = rates.iter().map(|rate| (rate - summary.mean).powi(2)).sum::<f64>();
    let deviation = (rates.len() > 1).then(|| (squares / (rates.len() - 1) as f64).sqrt());
    row.with("value", summary.mean).with("deviation", deviation).with("trials", rates.len())
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
