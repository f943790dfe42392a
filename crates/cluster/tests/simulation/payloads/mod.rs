//! The service that stores opaque payloads: little stands between the checks and the state machine
//! of the cluster, and a simulation is fast.

mod check;
mod named;

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_cluster::{BatchId, Cursor, Output, ProposeError};

use super::node::{Node, ToApply, What};
use super::service::Service;
use super::world::{Event as WorldEvent, World};

/// Clients of each shard.
const CLIENTS: u8 = 3;

/// A payload: the client, and its number of it.
pub(crate) type Payload = (u8, u64);

/// The clients of all shards, and what they know to be confirmed.
#[derive(Default)]
pub(crate) struct Payloads {
    clients: Vec<Client>,
    /// Payloads that were confirmed, per shard in the order of confirmation.
    confirmed: Vec<Vec<(Payload, Duration)>>,
    /// The highest number of each client that was confirmed.
    highest: Vec<BTreeMap<u8, u64>>,
}

/// A client of a shard, which stores numbered payloads one after the other.
struct Client {
    id: u8,
    shard: u16,
    number: u64,
    /// Where it thinks that the owner is.
    node: usize,
    is_stopped: bool,
}

pub(crate) enum Event {
    /// A client asks a node, and again after a while.
    Submit { client: usize },
    /// A client's request reaches a node.
    Submitted { client: usize, node: usize, number: u64 },
    /// A client is told that its payload is stored.
    Confirmed { client: usize, number: u64 },
}

/// What survives a crash, and what was applied since.
#[derive(Default)]
pub(crate) struct Disk {
    states: Vec<State>,
    unsaved: Vec<Vec<(Change, Cursor)>>,
}

pub(crate) struct Process {
    state: Vec<State>,
    pending: BTreeMap<(u16, BatchId), Payload>,
}

/// The applied state of a shard.
#[derive(Clone, Default)]
struct State {
    applied: Vec<Payload>,
    cursor: Cursor,
    /// The highest number of each client.
    highest: BTreeMap<u8, u64>,
}

#[derive(Clone)]
enum Change {
    Nothing,
    Payload(Payload),
    Replace(Vec<Payload>),
}

/// The answer to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    NotOwner,
    Waits,
    Stored,
}

impl Service for Payloads {
    type Event = Event;
    type Disk = Disk;
    type Process = Process;

    fn begin(world: &mut World<Self>) {
        let shards = world.shards;
        world.service.confirmed = vec![Vec::new(); usize::from(shards)];
        world.service.highest = vec![BTreeMap::new(); usize::from(shards)];
        for client in 0..CLIENTS * shards as u8 {
            let shard = u16::from(client) % shards;
            let (id, node) = (client, 0);
            world.service.clients.push(Client { id, shard, number: 1, node, is_stopped: false });
            let event = Event::Submit { client: usize::from(client) };
            world.after(0..2000, WorldEvent::Service(event));
        }
    }

    fn start(disk: &mut Disk, shards: u16) -> (Process, Vec<Cursor>) {
        disk.states.resize_with(usize::from(shards), State::default);
        disk.unsaved = vec![Vec::new(); usize::from(shards)];
        let state = disk.states.clone();
        let cursors = state.iter().map(|state| state.cursor.clone()).collect();
        (Process { state, pending: BTreeMap::new() }, cursors)
    }

    fn nodes_of(&self, event: &Event) -> [Option<usize>; 2] {
        match event {
            Event::Submitted { node, .. } => [Some(*node), None],
            _ => [None, None],
        }
    }

    fn happen(world: &mut World<Self>, event: Event) {
        match event {
            Event::Submit { client } => world.submit(client),
            Event::Submitted { client, node, number } => world.submitted(client, node, number),
            Event::Confirmed { client, number } => {
                let now = world.now;
                let Payloads { clients, confirmed, highest } = &mut world.service;
                let Client { id, shard, number: next, .. } = &mut clients[client];
                if *next == number {
                    confirmed[usize::from(*shard)].push(((*id, number), now));
                    highest[usize::from(*shard)].insert(*id, number);
                    *next += 1;
                }
            }
        }
    }

    fn output(world: &mut World<Self>, node: usize, output: &Output) {
        if let (Output::Lost { shard, .. }, Some(process)) =
            (output, &mut world.nodes[node].process)
        {
            process.service.pending.retain(|(of, _), _| of != shard);
        }
    }

    fn apply(world: &mut World<Self>, node: usize, record: ToApply, is_saved: bool) {
        let ToApply { shard, cursor, what, own } = record;
        let now = world.nodes[node].now(world.now);
        let index = usize::from(shard);
        let change = Change::of(&what);
        let (sequence, epoch) = (cursor.sequence, cursor.epoch);
        let process = world.nodes[node].running();
        process.service.state[index].apply(&change, cursor.clone());
        process.cluster.applied(shard, sequence, now);
        let own = own.and_then(|batch| process.service.pending.remove(&(shard, batch)));
        let incarnation = process.incarnation;
        let Disk { states, unsaved } = &mut world.nodes[node].disk;
        unsaved[index].push((change, cursor));
        if is_saved {
            for (change, cursor) in unsaved[index].drain(..) {
                states[index].apply(&change, cursor);
            }
        }
        if let Some((id, number)) = own {
            let log = &world.engine.logs[index];
            world.checker.confirm_own(log, shard, epoch, incarnation);
            let event = Event::Confirmed { client: usize::from(id), number };
            world.after(0..5, WorldEvent::Service(event));
        }
    }

    /// The base has what is saved.
    fn base(world: &mut World<Self>, node: usize, shard: u16) {
        let now = world.nodes[node].now(world.now);
        let Node { process, disk, .. } = &mut world.nodes[node];
        if let Some(process) = process {
            let state = disk.states[usize::from(shard)].clone();
            // A refusal is tried again by chance, or when it is asked for again.
            let _ = process.cluster.base(shard, state.cursor, base_of(&state.applied), now);
        }
    }

    fn has_confirmed(&self, process: &Process, shard: u16) -> Result<(), String> {
        for (client, number) in &self.highest[usize::from(shard)] {
            if !process.state[usize::from(shard)].has((*client, *number)) {
                return Err(format!("it lacks {number} of client {client}"));
            }
        }
        Ok(())
    }

    fn stop(world: &mut World<Self>) {
        world.service.clients.iter_mut().for_each(|client| client.is_stopped = true);
    }

    fn end(world: &mut World<Self>, until: Duration) {
        check::end(world, until);
        world.counts.confirmed =
            world.service.confirmed.iter().map(|shard| shard.len() as u64).sum();
    }
}

impl Payloads {
    /// Clients that were stopped go on.
    fn go_on(world: &mut World<Self>) {
        for client in 0..world.service.clients.len() {
            world.service.clients[client].is_stopped = false;
            world.at(world.now, WorldEvent::Service(Event::Submit { client }));
        }
    }
}

impl World<Payloads> {
    fn submit(&mut self, client: usize) {
        let Client { number, shard, node, is_stopped, .. } = self.service.clients[client];
        if is_stopped {
            return;
        }
        // Clients find the owner by trying.
        let process = self.nodes[node].process.as_ref();
        let owns = process.is_some_and(|process| process.owned[usize::from(shard)].is_some());
        let mut to = node;
        if !owns || self.chance(20) {
            to = self.random.rand_range(0..self.nodes.len() as u64) as usize;
            self.service.clients[client].node = to;
        }
        self.after(0..5, WorldEvent::Service(Event::Submitted { client, node: to, number }));
        self.after(50..800, WorldEvent::Service(Event::Submit { client }));
    }

    fn submitted(&mut self, client: usize, node: usize, number: u64) {
        self.turn(node);
        let pad = if self.chance(self.weather.large) { 600 << 10 } else { 0 };
        let Client { id, shard, number: next, .. } = self.service.clients[client];
        let is_running = self.nodes[node].process.as_ref().is_some_and(|it| !it.refused);
        if !is_running || next != number {
            return;
        }
        let said = self.store(node, shard, (id, number), pad);
        if said != Said::NotOwner {
            self.speaks(node, shard);
        }
        if said == Said::Stored {
            self.after(0..5, WorldEvent::Service(Event::Confirmed { client, number }));
        }
        self.carry_out(node);
    }

    /// What a client is told that asks the owner of `shard` to store a payload.
    fn store(&mut self, node: usize, shard: u16, payload: Payload, pad: usize) -> Said {
        let now = self.nodes[node].now(self.now);
        let process = self.nodes[node].running();
        if process.owned[usize::from(shard)].is_none() {
            return Said::NotOwner;
        }
        let Process { state, pending } = &mut process.service;
        if state[usize::from(shard)].has(payload) {
            return Said::Stored;
        }
        if pending.iter().any(|((of, _), other)| *of == shard && *other == payload) {
            return Said::Waits;
        }
        let mut bytes = vec![payload.0];
        bytes.extend_from_slice(&payload.1.to_le_bytes());
        bytes.resize(bytes.len() + pad, 7);
        match process.cluster.propose(shard, bytes, now) {
            Ok(batch) => {
                pending.insert((shard, batch), payload);
                Said::Waits
            }
            Err(ProposeError::NotNow) => Said::Waits,
            Err(error) => {
                assert_eq!(error, ProposeError::NotOwner, "owner by its outputs");
                panic!("a process that was told that it owns shard {shard} does not")
            }
        }
    }
}

impl Change {
    fn of(what: &What) -> Self {
        match what {
            What::Changes { payload: bytes, .. } if bytes.is_empty() => Change::Nothing,
            What::Changes { payload: bytes, .. } => Change::Payload(payload(bytes)),
            What::Base(state) => Change::Replace(of_base(state.as_deref().unwrap_or_default())),
        }
    }
}

impl State {
    fn apply(&mut self, change: &Change, cursor: Cursor) {
        match change {
            Change::Nothing => {}
            Change::Payload(payload) => self.push(*payload),
            Change::Replace(all) => {
                *self = Self::default();
                all.iter().for_each(|payload| self.push(*payload));
            }
        }
        self.cursor = cursor;
    }

    fn push(&mut self, payload: Payload) {
        self.applied.push(payload);
        let highest = self.highest.entry(payload.0).or_default();
        *highest = payload.1.max(*highest);
    }

    fn has(&self, (client, number): Payload) -> bool {
        self.highest.get(&client).is_some_and(|highest| *highest >= number)
    }
}

/// The payload of bytes that a client stored.
fn payload(bytes: &[u8]) -> Payload {
    (bytes[0], u64::from_le_bytes(bytes[1..9].try_into().expect("eight bytes")))
}

/// A state as a base holds it.
fn base_of(applied: &[Payload]) -> Vec<u8> {
    applied
        .iter()
        .flat_map(|(client, number)| [&[*client], &number.to_le_bytes()[..]].concat())
        .collect()
}

/// The state of a base.
fn of_base(bytes: &[u8]) -> Vec<Payload> {
    bytes.chunks_exact(9).map(payload).collect()
}
