//! A cluster in simulated time: nodes, engine, and what happens to them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use groupwire_cluster::{Answer, Output, Request, RequestId};
use oorandom::Rand64;

use super::check::Checker;
use super::engine::Engine;
use super::faults::Weather;
use super::node::{Node, Process, ToApply, What};
use super::service::Service;

/// The time with faults.
const FAULTS: Duration = Duration::from_secs(30);
/// The time after the faults in which all goes well again.
const RECOVERY: Duration = Duration::from_secs(30);
/// The node's time-out for a request.
const TIME_OUT: Duration = Duration::from_secs(1);

pub(crate) struct World<S: Service> {
    pub(crate) now: Duration,
    pub(crate) random: Rand64,
    events: BinaryHeap<Reverse<Due<S::Event>>>,
    order: u64,
    pub(crate) engine: Engine,
    pub(crate) nodes: Vec<Node<S>>,
    /// What the nodes serve, with its clients.
    pub(crate) service: S,
    pub(crate) checker: Checker,
    pub(crate) weather: Weather,
    pub(crate) shards: u16,
    pub(crate) counts: Counts,
    is_verbose: bool,
}

/// How much has happened.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) events: u64,
    pub(crate) confirmed: u64,
    pub(crate) owned: u64,
    pub(crate) cut_off: u64,
    pub(crate) harmed: u64,
    pub(crate) loaded: u64,
    /// Claims that mended a log.
    pub(crate) mended: u64,
    /// Gaps that clients were told of.
    pub(crate) gaps: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.events += other.events;
        self.confirmed += other.confirmed;
        self.owned += other.owned;
        self.cut_off += other.cut_off;
        self.harmed += other.harmed;
        self.loaded += other.loaded;
        self.mended += other.mended;
        self.gaps += other.gaps;
    }
}

struct Due<E> {
    at: Duration,
    order: u64,
    /// Boxed, because the heap moves it often.
    event: Box<Event<E>>,
}

pub(crate) enum Event<E> {
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
    /// An event of the service.
    Service(E),
}

impl<S: Service> World<S> {
    /// The world of a seed.
    pub(crate) fn new(service: S, seed: u64) -> Self {
        let mut random = Rand64::new(u128::from(seed) * 2 + 1);
        let shards = 1 + random.rand_range(0..3) as u16;
        let weather = Weather::new(&mut random);
        let nodes = random.rand_range(1..5);
        let mut world = Self::with(service, random, weather, shards, nodes);
        world.after(2000..6000, Event::Fault);
        world
    }

    pub(crate) fn with(
        service: S,
        random: Rand64,
        weather: Weather,
        shards: u16,
        nodes: u64,
    ) -> Self {
        let mut world = Self {
            now: Duration::ZERO,
            random,
            events: BinaryHeap::new(),
            order: 0,
            engine: Engine::new(shards),
            nodes: Vec::new(),
            service,
            checker: Checker::new(shards),
            weather,
            shards,
            counts: Counts::default(),
            is_verbose: std::env::var("SEED").is_ok(),
        };
        for index in 0..nodes {
            let name = format!("node-{index}");
            world.add_node(name, false);
        }
        S::begin(&mut world);
        world
    }

    pub(crate) fn add_node(&mut self, name: String, is_double: bool) -> usize {
        self.nodes.push(Node {
            name,
            disk: S::Disk::default(),
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
    pub(crate) fn play(mut self) -> Counts {
        self.run(FAULTS);
        self.calm();
        // Damage is found and told before it is mended.
        let is_harmed = self.engine.logs.iter().any(|log| log.harmed.is_some());
        self.run(self.now + if is_harmed { 3 * RECOVERY } else { RECOVERY });
        let until = self.now;
        S::stop(&mut self);
        self.run(self.now + Duration::from_secs(5));
        S::end(&mut self, until);
        let harmed = self.engine.logs.iter().filter(|log| log.harmed.is_some()).count();
        self.counts.harmed = harmed as u64;
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
            self.counts.events += 1;
            self.happen(*due.event);
        }
        self.now = until;
    }

    pub(crate) fn at(&mut self, at: Duration, event: Event<S::Event>) {
        self.order += 1;
        self.events.push(Reverse(Due {
            at: at.max(self.now),
            order: self.order,
            event: Box::new(event),
        }));
    }

    /// Schedules an event after a random number of milliseconds.
    pub(crate) fn after(&mut self, range: std::ops::Range<u64>, event: Event<S::Event>) {
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

    fn happen(&mut self, event: Event<S::Event>) {
        let nodes = match &event {
            Event::Timer { node, .. }
            | Event::Answer { node, .. }
            | Event::Apply { node, .. }
            | Event::Hint { node, .. } => [Some(*node), None],
            Event::Service(event) => self.service.nodes_of(event),
            _ => [None, None],
        };
        // A paused process finds all that came when it goes on.
        let paused = nodes.iter().flatten().map(|node| self.nodes[*node].paused_until).max();
        if let Some(until) = paused.filter(|until| *until > self.now) {
            return self.at(until, event);
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
            Event::Service(event) => S::happen(self, event),
        }
    }

    pub(crate) fn process(&mut self, node: usize, incarnation: u64) -> Option<&mut Process<S>> {
        self.nodes[node].process.as_mut().filter(|process| process.incarnation == incarnation)
    }

    pub(crate) fn start(&mut self, node: usize) {
        let is_gone = self.nodes[node].is_double && self.weather.is_calm();
        if self.nodes[node].process.is_none() && !is_gone {
            let incarnation = self.random.rand_u64();
            self.log(|| format!("start {} as {incarnation:x}", self.nodes[node].name));
            let now = self.now;
            self.nodes[node].start(incarnation, self.shards, now);
            self.carry_out(node);
        }
    }

    /// The process of a node ends without a word.
    pub(crate) fn end_process(&mut self, node: usize) {
        if self.nodes[node].process.take().is_some() {
            S::stopped(self, node);
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
    pub(crate) fn carry_out(&mut self, node: usize) {
        loop {
            while let Some(process) = &mut self.nodes[node].process
                && let Some(output) = process.cluster.poll()
            {
                self.output(node, output);
            }
            if !S::settle(self, node) {
                break;
            }
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
            Output::Apply { shard, cursor, time, payload, own } => {
                let what = What::Changes { payload, time };
                process.to_apply.push_back(ToApply { shard, cursor, what, own });
                return self.apply_next(node);
            }
            Output::Load { shard, cursor, state } => {
                self.counts.loaded += 1;
                let what = What::Base(state);
                process.to_apply.push_back(ToApply { shard, cursor, what, own: None });
                return self.apply_next(node);
            }
            Output::Owned { shard, epoch, mended } => {
                process.owned[usize::from(shard)] = Some(epoch);
                process.told[usize::from(shard)] = now;
                self.counts.owned += 1;
                if mended {
                    self.counts.mended += 1;
                    self.checker.reported[usize::from(shard)] = Some(now);
                }
                self.speaks(node, shard);
            }
            Output::Lost { shard, .. } => process.owned[usize::from(shard)] = None,
            Output::CutOff { shard } => {
                process.owned[usize::from(shard)] = None;
                self.counts.cut_off += 1;
            }
            Output::Damaged { shard, .. } => {
                self.checker.reported[usize::from(shard)] = Some(now);
            }
            Output::BaseWanted { shard } => S::base(self, node, shard),
            Output::Refused(_) => {
                process.refused = true;
                // The supervisor of the process starts it again.
                self.after(1000..5000, Event::Stop { node });
            }
            _ => {}
        }
        self.log(|| format!("{name}: {output:?}"));
        S::output(self, node, &output);
    }

    /// A node speaks as the owner of a shard, which is checked.
    pub(crate) fn speaks(&self, node: usize, shard: u16) {
        let log = &self.engine.logs[usize::from(shard)];
        self.checker.speaks((&self.service, log), &self.nodes[node], shard, self.now);
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
        let Some(process) = self.process(node, incarnation) else { return };
        process.applying = false;
        let Some(record) = process.to_apply.pop_front() else { return };
        S::apply(self, node, record, is_saved);
        self.carry_out(node);
        self.apply_next(node);
    }
}

impl<E> PartialEq for Due<E> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl<E> Eq for Due<E> {}

impl<E> PartialOrd for Due<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Due<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}
