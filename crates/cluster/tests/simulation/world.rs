//! A cluster in simulated time: nodes, engine, clients and what happens to them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use groupwire_cluster::{Answer, Output, Request, RequestId};
use oorandom::Rand64;

use super::check::Checker;
use super::engine::Engine;
use super::faults::Weather;
use super::node::{Change, Node, Process, Said, State, ToApply, base_of, of_base, payload};

/// Clients of each shard.
const CLIENTS: u8 = 3;
/// The time with faults.
const FAULTS: Duration = Duration::from_secs(30);
/// The time after the faults in which all goes well again.
const RECOVERY: Duration = Duration::from_secs(30);
/// The node's time-out for a request.
const TIME_OUT: Duration = Duration::from_secs(1);

pub(crate) struct World {
    pub(crate) now: Duration,
    pub(crate) random: Rand64,
    events: BinaryHeap<Reverse<Due>>,
    order: u64,
    pub(crate) engine: Engine,
    pub(crate) nodes: Vec<Node>,
    clients: Vec<Client>,
    pub(crate) checker: Checker,
    pub(crate) weather: Weather,
    pub(crate) shards: u16,
    /// Events, confirmed payloads, times owned and cut off, logs harmed, bases loaded.
    pub(crate) counts: [u64; 6],
    is_verbose: bool,
}

/// A client of a shard, which stores numbered payloads one after the other.
struct Client {
    id: u8,
    shard: u16,
    number: u64,
    /// Where it thinks that the owner is.
    node: usize,
    /// The attempt, so that late answers are told apart.
    is_stopped: bool,
}

struct Due {
    at: Duration,
    order: u64,
    event: Event,
}

pub(crate) enum Event {
    /// A node's timer.
    Timer {
        node: usize,
        incarnation: u64,
    },
    /// A request reaches the engine.
    Arrive {
        node: usize,
        incarnation: u64,
        id: RequestId,
        request: Request,
        answered_by: Duration,
    },
    /// The answer, or none in time.
    Answer {
        node: usize,
        incarnation: u64,
        id: RequestId,
        answer: Answer,
    },
    /// A node applies the next output.
    Apply {
        node: usize,
        incarnation: u64,
    },
    /// A client asks a node, and again after a while.
    Submit {
        client: usize,
    },
    /// A client's request reaches a node.
    Submitted {
        client: usize,
        node: usize,
        number: u64,
    },
    /// A client is told that its payload is stored.
    Confirmed {
        client: usize,
        number: u64,
    },
    /// The engine tells nodes that a log has grown.
    Hint {
        node: usize,
        shard: u16,
    },
    Start {
        node: usize,
    },
    /// A drained process ends.
    Stop {
        node: usize,
    },
    Heal {
        node: usize,
    },
    Fault,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Rand64::new(u128::from(seed) * 2 + 1);
        let shards = 1 + random.rand_range(0..3) as u16;
        let weather = Weather::new(&mut random);
        let nodes = random.rand_range(1..5);
        let mut world = Self::with(random, weather, shards, nodes);
        world.after(2000..6000, Event::Fault);
        world
    }

    pub(crate) fn with(random: Rand64, weather: Weather, shards: u16, nodes: u64) -> Self {
        let mut world = Self {
            now: Duration::ZERO,
            random,
            events: BinaryHeap::new(),
            order: 0,
            engine: Engine::new(shards),
            nodes: Vec::new(),
            clients: Vec::new(),
            checker: Checker::new(shards),
            weather,
            shards,
            counts: [0; 6],
            is_verbose: std::env::var("SEED").is_ok(),
        };
        for index in 0..nodes {
            let name = format!("node-{index}");
            world.add_node(name, false);
        }
        for client in 0..CLIENTS * shards as u8 {
            let shard = u16::from(client) % shards;
            let (id, node) = (client, 0);
            world.clients.push(Client { id, shard, number: 1, node, is_stopped: false });
            world.after(0..2000, Event::Submit { client: usize::from(client) });
        }
        world
    }

    pub(crate) fn add_node(&mut self, name: String, is_double: bool) -> usize {
        self.nodes.push(Node {
            name,
            disk: vec![State::default(); usize::from(self.shards)],
            unsaved: vec![Vec::new(); usize::from(self.shards)],
            process: None,
            paused_until: Duration::ZERO,
            skew: self.random.rand_range(0..20_000_000),
            is_double,
            cut: (false, false),
        });
        let node = self.nodes.len() - 1;
        self.after(0..2000, Event::Start { node });
        node
    }

    /// Plays all phases; the promises are checked on the way and at the end.
    pub(crate) fn play(mut self) -> [u64; 6] {
        self.run(FAULTS);
        self.calm();
        // Damage is found and told before it is mended.
        let is_harmed = self.engine.logs.iter().any(|log| log.harmed.is_some());
        self.run(self.now + if is_harmed { 3 * RECOVERY } else { RECOVERY });
        let until = self.now;
        self.clients.iter_mut().for_each(|client| client.is_stopped = true);
        self.run(self.now + Duration::from_secs(5));
        let (checker, engine) = (&self.checker, &self.engine);
        checker.end(engine, &self.nodes, until);
        self.counts[1] = checker.confirmed.iter().map(|shard| shard.len() as u64).sum();
        self.counts[4] = engine.logs.iter().filter(|log| log.harmed.is_some()).count() as u64;
        self.counts
    }

    /// Runs without the checks of the end.
    pub(crate) fn run(&mut self, until: Duration) {
        let mut still = 0;
        while self.events.peek().is_some_and(|Reverse(due)| due.at <= until) {
            let Reverse(due) = self.events.pop().expect("it was seen");
            still = if self.now == due.at { still + 1 } else { 0 };
            assert!(still < 10_000, "time stands still");
            self.now = due.at;
            self.counts[0] += 1;
            self.happen(due.event);
        }
        self.now = until;
    }

    pub(crate) fn at(&mut self, at: Duration, event: Event) {
        self.order += 1;
        self.events.push(Reverse(Due { at: at.max(self.now), order: self.order, event }));
    }

    /// Schedules an event after a random number of milliseconds.
    pub(crate) fn after(&mut self, range: std::ops::Range<u64>, event: Event) {
        let pause = self.random.rand_range(range.start * 1000..range.end * 1000);
        self.at(self.now + Duration::from_micros(pause), event);
    }

    pub(crate) fn chance(&mut self, of_thousand: u64) -> bool {
        self.random.rand_range(0..1000) < of_thousand
    }

    pub(crate) fn log(&self, text: impl FnOnce() -> String) {
        if self.is_verbose {
            eprintln!("{:>10.3} {}", self.now.as_secs_f64(), text());
        }
    }

    fn happen(&mut self, event: Event) {
        let node = match &event {
            Event::Timer { node, .. }
            | Event::Answer { node, .. }
            | Event::Apply { node, .. }
            | Event::Submitted { node, .. }
            | Event::Hint { node, .. } => Some(*node),
            _ => None,
        };
        // A paused process finds all that came when it goes on.
        if let Some(node) = node
            && self.nodes[node].paused_until > self.now
        {
            return self.at(self.nodes[node].paused_until, event);
        }
        match event {
            Event::Timer { node, incarnation } => {
                if let Some(process) = self.process(node, incarnation) {
                    process.timer = Duration::MAX;
                    self.turn(node);
                }
            }
            Event::Arrive { node, incarnation, id, request, answered_by } => {
                self.arrive(node, incarnation, id, request, answered_by);
            }
            Event::Answer { node, incarnation, id, answer } => {
                let now = self.nodes[node].now(self.now);
                if let Some(process) = self.process(node, incarnation) {
                    process.cluster.answered(id, answer, now);
                    self.carry_out(node);
                }
            }
            Event::Apply { node, incarnation } => self.apply(node, incarnation),
            Event::Submit { client } => self.submit(client),
            Event::Submitted { client, node, number } => self.submitted(client, node, number),
            Event::Confirmed { client, number } => {
                let (now, client) = (self.now, &mut self.clients[client]);
                if client.number == number {
                    self.checker.confirm(client.shard, (client.id, number), now);
                    client.number += 1;
                }
            }
            Event::Hint { node, shard } => {
                let now = self.nodes[node].now(self.now);
                if let Some(process) = &mut self.nodes[node].process {
                    process.cluster.hint(shard, now);
                    self.carry_out(node);
                }
            }
            Event::Start { node } => self.start(node),
            Event::Stop { node } => self.kill(node, 100..3000),
            Event::Heal { node } => self.nodes[node].cut = (false, false),
            Event::Fault => self.fault(),
        }
    }

    pub(crate) fn process(&mut self, node: usize, incarnation: u64) -> Option<&mut Process> {
        self.nodes[node].process.as_mut().filter(|process| process.incarnation == incarnation)
    }

    pub(crate) fn start(&mut self, node: usize) {
        let is_gone = self.nodes[node].is_double && self.weather.is_calm();
        if self.nodes[node].process.is_none() && !is_gone {
            let incarnation = self.random.rand_u64();
            self.log(|| format!("start {} as {incarnation:x}", self.nodes[node].name));
            let now = self.now;
            self.nodes[node].start(incarnation, now);
            self.carry_out(node);
        }
    }

    /// Lets a node look at its clock.
    pub(crate) fn turn(&mut self, node: usize) {
        let now = self.nodes[node].now(self.now);
        if let Some(process) = &mut self.nodes[node].process {
            process.cluster.handle_timeout(now);
            self.carry_out(node);
        }
    }

    /// Carries the outputs of a node out, and sets its timer.
    fn carry_out(&mut self, node: usize) {
        while let Some(process) = &mut self.nodes[node].process
            && let Some(output) = process.cluster.poll()
        {
            self.output(node, output);
        }
        let now = self.nodes[node].now(self.now);
        let Some(process) = &mut self.nodes[node].process else { return };
        if let Some(at) = process.cluster.poll_timeout() {
            let at = self.now + at.saturating_sub(now.monotonic);
            if at < process.timer {
                process.timer = at;
                let incarnation = process.incarnation;
                self.at(at, Event::Timer { node, incarnation });
            }
        }
    }

    fn output(&mut self, node: usize, output: Output) {
        let name = self.nodes[node].name.clone();
        let now = self.now;
        let Some(process) = &mut self.nodes[node].process else { return };
        match output {
            Output::Ask(id, request) => return self.ask(node, id, request),
            Output::Apply { shard, cursor, payload: bytes, own, .. } => {
                let change = if bytes.is_empty() {
                    Change::Nothing
                } else {
                    Change::Payload(payload(&bytes))
                };
                process.to_apply.push_back(ToApply { shard, cursor, change, own });
                return self.apply_next(node);
            }
            Output::Load { shard, ref cursor, ref state } => {
                self.counts[5] += 1;
                let change = Change::Replace(of_base(state.as_deref().unwrap_or(&[])));
                let cursor = cursor.clone();
                process.to_apply.push_back(ToApply { shard, cursor, change, own: None });
                self.apply_next(node);
            }
            Output::Owned { shard, epoch, mended } => {
                process.owned[usize::from(shard)] = Some(epoch);
                process.told[usize::from(shard)] = now;
                self.counts[2] += 1;
                if mended {
                    self.checker.reported[usize::from(shard)] = Some(now);
                }
                let log = &self.engine.logs[usize::from(shard)];
                self.checker.speaks(log, &self.nodes[node], shard, now);
            }
            Output::Lost { shard, .. } => {
                process.owned[usize::from(shard)] = None;
                process.pending.retain(|(of, _), _| *of != shard);
            }
            Output::CutOff { shard } => {
                process.owned[usize::from(shard)] = None;
                self.counts[3] += 1;
            }
            Output::Damaged { shard, .. } => {
                self.checker.reported[usize::from(shard)] = Some(now);
            }
            Output::BaseWanted { shard } => self.base(node, shard),
            Output::Refused(_) => {
                process.refused = true;
                // The supervisor of the process starts it again.
                self.after(1000..5000, Event::Stop { node });
            }
            _ => {}
        }
        self.log(|| format!("{name}: {output:?}"));
    }

    /// Has a node make a base of what it has saved.
    pub(crate) fn base(&mut self, node: usize, shard: u16) {
        let now = self.nodes[node].now(self.now);
        let state = self.nodes[node].disk[usize::from(shard)].clone();
        if let Some(process) = &mut self.nodes[node].process {
            // A refusal is tried again by chance, or when it is asked for again.
            let _ = process.cluster.base(shard, state.cursor, base_of(&state.applied), now);
        }
    }

    fn ask(&mut self, node: usize, id: RequestId, request: Request) {
        let incarnation = self.nodes[node].process.as_ref().expect("it asks").incarnation;
        let answered_by = self.now + TIME_OUT;
        let failed = Event::Answer { node, incarnation, id, answer: Answer::Failed };
        if let Request::Append { shard, expected, bytes } = &request {
            let record = groupwire_cluster::Record::parse(bytes).expect("nodes write records");
            let name = &self.nodes[node].name;
            let (epoch, number) = (record.epoch, record.number);
            let body = format!("{:?}", record.body);
            let body = &body[..body.len().min(90)];
            self.log(|| format!("{name} appends {shard} {expected}: {epoch} {number} {body}"));
        }
        let is_lost = self.nodes[node].cut.0 || self.chance(self.weather.lost);
        if is_lost {
            return self.at(answered_by, failed);
        }
        let is_false = self.chance(self.weather.falsely_refused);
        if is_false && matches!(request, Request::Append { .. }) {
            return self.after(1..5, failed);
        }
        let is_late = self.chance(self.weather.late);
        let range = if is_late { 50..4000 } else { 0..5 };
        self.after(range, Event::Arrive { node, incarnation, id, request, answered_by });
    }

    fn arrive(
        &mut self,
        node: usize,
        incarnation: u64,
        id: RequestId,
        request: Request,
        answered_by: Duration,
    ) {
        let is_stale = self.chance(self.weather.stale);
        let lag = Duration::from_millis(if is_stale { self.random.rand_range(0..1500) } else { 0 });
        let grown = if let Request::Append { shard, .. } = request { Some(shard) } else { None };
        let name = self.nodes[node].name.clone();
        let answer = self.engine.execute(&name, incarnation, request, self.now, lag);
        if let (Some(shard), Answer::Stored(sequence)) = (grown, &answer) {
            self.log(|| format!("{name} stored {shard} {sequence}"));
            for other in 0..self.nodes.len() {
                if self.chance(self.weather.hints) {
                    self.after(0..10, Event::Hint { node: other, shard });
                }
            }
        }
        let is_lost = self.nodes[node].cut.1 || self.chance(self.weather.lost);
        let delay = Duration::from_micros(self.random.rand_range(0..5000));
        let (at, answer) = if is_lost || self.now + delay >= answered_by {
            (answered_by, Answer::Failed)
        } else {
            (self.now + delay, answer)
        };
        self.at(at, Event::Answer { node, incarnation, id, answer });
    }

    fn apply_next(&mut self, node: usize) {
        let slow = self.weather.slow_apply;
        let Some(process) = &mut self.nodes[node].process else { return };
        if !process.applying && !process.to_apply.is_empty() {
            process.applying = true;
            let incarnation = process.incarnation;
            self.after(0..1 + slow, Event::Apply { node, incarnation });
        }
    }

    fn apply(&mut self, node: usize, incarnation: u64) {
        let is_saved = !self.chance(self.weather.unsaved);
        let now = self.nodes[node].now(self.now);
        let Some(process) = self.process(node, incarnation) else { return };
        process.applying = false;
        let Some(ToApply { shard, cursor, change, own }) = process.to_apply.pop_front() else {
            return;
        };
        let index = usize::from(shard);
        let state = &mut process.state[index];
        state.apply(&change, cursor.clone());
        let (sequence, epoch) = (cursor.sequence, cursor.epoch);
        process.cluster.applied(shard, sequence, now);
        let own = own.and_then(|batch| process.pending.remove(&(shard, batch)));
        let Node { disk, unsaved, .. } = &mut self.nodes[node];
        unsaved[index].push((change, cursor));
        if is_saved {
            for (change, cursor) in unsaved[index].drain(..) {
                disk[index].apply(&change, cursor);
            }
        }
        if let Some((id, number)) = own {
            let log = &self.engine.logs[index];
            self.checker.confirm_own(log, shard, epoch, incarnation);
            self.after(0..5, Event::Confirmed { client: usize::from(id), number });
        }
        self.carry_out(node);
        self.apply_next(node);
    }

    fn submit(&mut self, client: usize) {
        let Client { number, shard, node, is_stopped, .. } = self.clients[client];
        if is_stopped {
            return;
        }
        // Clients find the owner by trying.
        let owns = |node: &Node| {
            node.process.as_ref().is_some_and(|process| process.owned[usize::from(shard)].is_some())
        };
        let mut to = node;
        if !owns(&self.nodes[to]) || self.chance(20) {
            to = self.random.rand_range(0..self.nodes.len() as u64) as usize;
            self.clients[client].node = to;
        }
        self.after(0..5, Event::Submitted { client, node: to, number });
        self.after(50..800, Event::Submit { client });
    }

    fn submitted(&mut self, client: usize, node: usize, number: u64) {
        self.turn(node);
        let pad = if self.chance(self.weather.large) { 600 << 10 } else { 0 };
        let now = self.nodes[node].now(self.now);
        let Client { id, shard, .. } = self.clients[client];
        let Some(process) = &mut self.nodes[node].process else { return };
        if self.clients[client].number != number || process.refused {
            return;
        }
        let said = process.submit(shard, (id, number), pad, now);
        if said != Said::NotOwner {
            let log = &self.engine.logs[usize::from(shard)];
            self.checker.speaks(log, &self.nodes[node], shard, self.now);
        }
        if said == Said::Stored {
            self.after(0..5, Event::Confirmed { client, number });
        }
        self.carry_out(node);
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}
