//! The service that a server is: rooms of `groupwire-session` on the owner of their shard, stored
//! in a store of `groupwire-store` on every node, and clients that join by any node.
//!
//! What joins these on a server is joined here as there: `serving` and `opening` do what
//! `crates/server/src/cluster/driver.rs` and `crates/server/src/rooms` do, without tasks. The queue
//! of changes is the server's own file.

mod check;
mod disk;
mod link;
mod named;
mod news;
mod opening;
mod person;
mod place;
mod serving;

/// The server's queue of the changes of a shard.
#[path = "../../../../server/src/cluster/queue.rs"]
mod queue;
/// The server's conversions between a room and its store.
#[path = "../../../../server/src/rooms/stored.rs"]
mod stored;

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_cluster::{Cursor, Output};
use groupwire_session::LinkId;

use super::node::ToApply;
use super::service::Service;
use super::world::{Event as WorldEvent, World};
use check::Seen;
use disk::Disk;
use link::Link;
use person::Person;
use serving::Serving;

/// Rooms of each shard.
const ROOMS: usize = 2;

/// Rooms, and the people in them.
#[derive(Default)]
pub(crate) struct Rooms {
    people: Vec<Person>,
    links: BTreeMap<LinkId, Link>,
    last_link: u64,
    seen: Seen,
    is_stopped: bool,
    /// The node that a balancer gives all clients; any node if it is not set.
    balancer: Option<usize>,
    /// Packets are compressed, in some worlds.
    compresses: bool,
}

pub(crate) enum Event {
    /// A person does something, and again after a while.
    Act { person: usize },
    /// The timer of a person's client.
    Wake { person: usize },
    /// A node answers, or does not answer, a client that dials.
    Dialed { person: usize, node: usize },
    /// A client whose packets are passed on moves to the node that has its room.
    Move { link: LinkId },
    /// Something of a client arrives.
    Up { link: LinkId },
    /// Something for a client arrives.
    Down { link: LinkId },
    /// A packet to a client was sent.
    Sent { link: LinkId },
    /// A connection breaks; its ends notice, or only one of them does, or none.
    Break { link: LinkId },
    /// Connections break by chance.
    Weather,
    /// The timer of a room, which was opened under this number.
    Room { node: usize, incarnation: u64, room: usize, load: u64 },
    /// The tasks of the rooms of a node go on.
    Settle { node: usize, incarnation: u64 },
    /// Changes that the state machine did not take are proposed again.
    Propose { node: usize, incarnation: u64, shard: u16 },
}

impl Service for Rooms {
    type Event = Event;
    type Disk = Disk;
    type Process = Serving;

    fn begin(world: &mut World<Self>) {
        world.service.compresses = world.chance(250);
        for room in 0..usize::from(world.shards) * ROOMS {
            for _ in 0..world.random.rand_range(2..4) {
                world.enter(room);
            }
        }
        world.after(1000..2000, WorldEvent::Service(Event::Weather));
    }

    fn start(disk: &mut Disk, shards: u16) -> (Serving, Vec<Cursor>) {
        let store = disk.open(shards);
        let cursors = disk::cursors(&store, shards);
        (Serving::new(store, &cursors), cursors)
    }

    fn stopped(world: &mut World<Self>, node: usize) {
        world.cut_links_of(node);
    }

    fn nodes_of(&self, event: &Event) -> [Option<usize>; 2] {
        match event {
            Event::Up { link } | Event::Break { link } => self.nodes_of_link(*link),
            Event::Sent { link } => [self.nodes_of_link(*link)[1], None],
            Event::Room { node, .. } | Event::Settle { node, .. } | Event::Propose { node, .. } => {
                [Some(*node), None]
            }
            _ => [None, None],
        }
    }

    fn happen(world: &mut World<Self>, event: Event) {
        if let Some(until) = world.behind_until(&event).filter(|until| *until > world.now) {
            return world.at(until, WorldEvent::Service(event));
        }
        match event {
            Event::Act { person } => world.act(person),
            Event::Wake { person } => world.wake(person),
            Event::Dialed { person, node } => world.dialed(person, node),
            Event::Move { link } => world.move_link(link),
            Event::Up { link } => world.up(link),
            Event::Down { link } => world.down(link),
            Event::Sent { link } => world.sent(link),
            Event::Break { link } => world.cut_link(link),
            Event::Weather => world.break_links(),
            Event::Room { node, incarnation, room, load } => {
                if world.process(node, incarnation).is_some() {
                    world.room_timer(node, room, load);
                    world.carry_out(node);
                }
            }
            Event::Settle { node, incarnation } => {
                if world.process(node, incarnation).is_some() {
                    world.carry_out(node);
                }
            }
            Event::Propose { node, incarnation, shard } => {
                if world.process(node, incarnation).is_some() {
                    world.propose(node, shard);
                    world.carry_out(node);
                }
            }
        }
    }

    fn output(world: &mut World<Self>, node: usize, output: &Output) {
        world.told(node, output);
    }

    fn settle(world: &mut World<Self>, node: usize) -> bool {
        world.settle(node)
    }

    fn apply(world: &mut World<Self>, node: usize, record: ToApply, is_saved: bool) {
        world.apply_record(node, record, is_saved);
    }

    fn base(world: &mut World<Self>, node: usize, shard: u16) {
        world.make_base(node, shard);
    }

    fn has_confirmed(&self, process: &Serving, shard: u16) -> Result<(), String> {
        self.seen.is_in(process, shard)
    }

    fn stop(world: &mut World<Self>) {
        world.service.is_stopped = true;
        world.late_joiners();
    }

    fn end(world: &mut World<Self>, until: Duration) {
        check::end(world, until);
    }
}

/// The name of a room, and its shard.
fn name_of(room: usize) -> String {
    format!("room {room}")
}

fn room_of(name: &str) -> usize {
    name.rsplit(' ').next().and_then(|number| number.parse().ok()).expect("a name of ours")
}

fn shard_of(name: &str, shards: usize) -> u16 {
    (room_of(name) % shards) as u16
}
