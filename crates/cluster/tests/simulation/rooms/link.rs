//! Connections of clients: to a node, which passes packets on to the node that has the room.

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_session::client::Input as ClientInput;
use groupwire_session::room::Input as RoomInput;
use groupwire_session::{LinkId, goodbye};

use super::serving::Route;
use super::{Event, Rooms};
use crate::world::{Event as WorldEvent, World};

/// The clients of a room that has moved, or that nobody has, come back after these times.
const MOVED: Duration = Duration::from_millis(200);
const NOBODY: Duration = Duration::from_millis(500);

/// A process: its node, and its incarnation.
type ProcessId = (usize, u64);

pub(super) struct Link {
    pub(super) person: usize,
    pub(super) room: usize,
    /// The process that the client has dialed.
    edge: ProcessId,
    /// The process that has the room.
    owner: Option<ProcessId>,
    /// The opening of the room that the client has joined, and the room's incarnation.
    joined: Option<(u64, u64)>,
    /// The delay in one direction.
    delay: Duration,
    up: VecDeque<(Duration, Cargo)>,
    down: VecDeque<(Duration, Cargo)>,
    /// Nothing arrives, and nobody notices.
    is_dead: bool,
}

/// A packet, or the end of a connection, on its way.
pub(super) enum Cargo {
    Packet(Vec<u8>),
    Close,
}

impl Rooms {
    /// The edge and the owner of a connection.
    pub(super) fn nodes_of_link(&self, link: LinkId) -> [Option<usize>; 2] {
        let Some(link) = self.links.get(&link) else { return [None, None] };
        [Some(link.edge.0), link.owner.map(|(node, _)| node)]
    }

    /// The client has joined a room of this incarnation that was opened under this number.
    pub(super) fn joined(&mut self, link: LinkId, load: u64, incarnation: u64) {
        if let Some(link) = self.links.get_mut(&link) {
            link.joined = Some((load, incarnation));
        }
    }
}

impl World<Rooms> {
    /// A new connection of a person.
    pub(super) fn connect(&mut self, person: usize, edge: ProcessId) -> LinkId {
        self.service.last_link += 1;
        let link = LinkId(self.service.last_link);
        let delay = Duration::from_micros(self.random.rand_range(500..30_000));
        let room = self.service.people[person].room;
        let (up, down) = (VecDeque::new(), VecDeque::new());
        let (owner, joined, is_dead) = (None, None, false);
        let made = Link { person, room, edge, owner, joined, delay, up, down, is_dead };
        self.service.links.insert(link, made);
        link
    }

    pub(super) fn send_up(&mut self, link: LinkId, cargo: Cargo) {
        if let Some(of) = self.service.links.get_mut(&link) {
            let due = self.now + of.delay;
            of.up.push_back((due, cargo));
            self.at(due, WorldEvent::Service(Event::Up { link }));
        }
    }

    pub(super) fn send_down(&mut self, link: LinkId, cargo: Cargo) {
        if let Some(of) = self.service.links.get_mut(&link) {
            let due = self.now + of.delay;
            of.down.push_back((due, cargo));
            self.at(due, WorldEvent::Service(Event::Down { link }));
        }
    }

    /// A client that cannot be served at this moment comes back later.
    pub(super) fn refuse(&mut self, link: LinkId) {
        self.send_down(link, Cargo::Packet(goodbye(MOVED)));
        self.send_down(link, Cargo::Close);
    }

    /// Something of a client has arrived.
    pub(super) fn up(&mut self, link: LinkId) {
        let Some((node, _)) = self.find_owner(link) else { return };
        if self.nodes[node].paused_until > self.now {
            let event = WorldEvent::Service(Event::Up { link });
            return self.at(self.nodes[node].paused_until, event);
        }
        self.hand_up(link, node);
        self.carry_out(node);
    }

    /// Hands what has arrived from a client to the room.
    pub(super) fn hand_up(&mut self, link: LinkId, node: usize) {
        while let Some(of) = self.service.links.get_mut(&link)
            && of.up.front().is_some_and(|(due, _)| *due <= self.now)
        {
            let (room, joined) = (of.room, of.joined);
            if joined.is_none() {
                self.enter_room(node, room, link);
                if self.open_room(node, room).is_none() {
                    break;
                }
            }
            let Some(of) = self.service.links.get_mut(&link) else { break };
            let Some((_, cargo)) = of.up.pop_front() else { break };
            match (cargo, joined) {
                (Cargo::Packet(packet), None) => {
                    self.join(node, room, link, &packet);
                    self.plan_move(link);
                }
                (Cargo::Packet(packet), Some((load, _))) => {
                    let input = RoomInput::Packet { link, packet: &packet };
                    self.room_input(node, (room, load), input);
                }
                (Cargo::Close, joined) => {
                    self.service.links.remove(&link);
                    if let Some((load, _)) = joined {
                        self.room_input(node, (room, load), RoomInput::Closed { link });
                    }
                }
            }
        }
    }

    /// Some clients whose packets are passed on move to the node that has their room.
    fn plan_move(&mut self, link: LinkId) {
        let is_relayed = self
            .service
            .links
            .get(&link)
            .is_some_and(|of| of.owner.is_some_and(|it| it != of.edge));
        if is_relayed && self.chance(500) {
            self.after(0..3000, WorldEvent::Service(Event::Move { link }));
        }
    }

    /// The client of a connection has opened another one to the node that has its room, and closes
    /// the first one.
    pub(super) fn move_link(&mut self, link: LinkId) {
        let Some(Link { person, owner: Some(owner), .. }) = self.service.links.get(&link) else {
            return;
        };
        let (person, owner) = (*person, *owner);
        let is_in_use = self.service.people[person].link == Some(link);
        if is_in_use && self.process(owner.0, owner.1).is_some() {
            self.log(|| format!("person {person} moves to {}", owner.0));
            let direct = self.connect(person, owner);
            self.service.people[person].link = Some(direct);
            self.client_input(person, ClientInput::Opened { max_datagram: 0 }, None);
            self.after(0..50, WorldEvent::Service(Event::Break { link }));
        }
    }

    /// The process that has the room of a connection. The client is sent away if there is none.
    fn find_owner(&mut self, link: LinkId) -> Option<ProcessId> {
        let Link { room, edge, owner, is_dead, .. } = *self.service.links.get(&link)?;
        if is_dead {
            return None;
        }
        let shard = room % usize::from(self.shards);
        let edge_process = self.process(edge.0, edge.1)?;
        if let Some(owner) = owner {
            return self.process(owner.0, owner.1).map(|_| owner);
        }
        let route = edge_process.service.shards[shard].route.clone();
        let found = match route {
            Route::Here => Some(edge),
            Route::There(name) => self.find_node(&name).filter(|(node, _)| {
                let process = self.nodes[*node].process.as_ref();
                process.is_some_and(|it| it.service.shards[shard].route == Route::Here)
            }),
            Route::Nowhere => None,
        };
        let of = self.service.links.get_mut(&link)?;
        of.owner = found;
        if found.is_none() {
            of.up.clear();
            self.send_down(link, Cargo::Packet(goodbye(NOBODY)));
            self.send_down(link, Cargo::Close);
        }
        found
    }

    /// The process of the node of this name.
    fn find_node(&self, name: &str) -> Option<ProcessId> {
        let mut nodes = self.nodes.iter().enumerate().filter(|(_, node)| node.name == name);
        nodes.find_map(|(at, node)| Some((at, node.process.as_ref()?.incarnation)))
    }

    /// Hands what has arrived for a client to it.
    pub(super) fn down(&mut self, link: LinkId) {
        let now = self.now;
        let Some(of) = self.service.links.get_mut(&link).filter(|of| !of.is_dead) else { return };
        if of.down.front().is_none_or(|(due, _)| *due > now) {
            return;
        }
        let Some((_, cargo)) = of.down.pop_front() else { return };
        let (person, joined) = (of.person, of.joined);
        let is_in_use = self.service.people[person].link == Some(link);
        match cargo {
            Cargo::Packet(packet) if is_in_use => {
                let incarnation = joined.map(|(_, incarnation)| incarnation);
                self.client_input(person, ClientInput::Packet(&packet), incarnation);
                self.at(now, WorldEvent::Service(Event::Sent { link }));
            }
            Cargo::Packet(_) => {}
            Cargo::Close => {
                self.service.links.remove(&link);
                if is_in_use {
                    self.service.people[person].link = None;
                    self.client_input(person, ClientInput::Closed, None);
                }
            }
        }
    }

    /// Tells the room that a packet was sent.
    pub(super) fn sent(&mut self, link: LinkId) {
        let Some(of) = self.service.links.get(&link) else { return };
        let (room, joined, owner) = (of.room, of.joined, of.owner);
        if let (Some((load, _)), Some((node, incarnation))) = (joined, owner)
            && self.process(node, incarnation).is_some()
        {
            self.room_input(node, (room, load), RoomInput::Sent { link });
            self.carry_out(node);
        }
    }

    /// A connection breaks, and both ends notice.
    pub(super) fn cut_link(&mut self, link: LinkId) {
        let Some(of) = self.service.links.remove(&link) else { return };
        if let (Some((load, _)), Some((node, incarnation))) = (of.joined, of.owner)
            && self.process(node, incarnation).is_some()
        {
            self.room_input(node, (of.room, load), RoomInput::Closed { link });
            self.carry_out(node);
        }
        if self.service.people[of.person].link == Some(link) {
            self.service.people[of.person].link = None;
            self.client_input(of.person, ClientInput::Closed, None);
        }
    }

    /// The process of a node has ended, and its connections break. Of some, the client is not told.
    pub(super) fn cut_links_of(&mut self, node: usize) {
        let links = self.service.links.iter();
        let links: Vec<LinkId> = links
            .filter(|(_, of)| of.edge.0 == node || of.owner.is_some_and(|(owner, _)| owner == node))
            .map(|(link, _)| *link)
            .collect();
        for link in links {
            if self.chance(200) && !self.weather.is_calm() {
                self.kill_link(link);
            } else {
                self.after(0..50, WorldEvent::Service(Event::Break { link }));
            }
        }
    }

    /// Nothing arrives over a connection any more, and nobody notices.
    fn kill_link(&mut self, link: LinkId) {
        if let Some(of) = self.service.links.get_mut(&link) {
            of.is_dead = true;
        }
    }

    /// Some connections break by chance, and again after a while.
    pub(super) fn break_links(&mut self) {
        if self.weather.is_calm() {
            return;
        }
        let links: Vec<LinkId> = self.service.links.keys().copied().collect();
        for link in links {
            match self.random.rand_range(0..1000) {
                0..30 => self.cut_link(link),
                30..45 => self.kill_link(link),
                _ => {}
            }
        }
        self.after(500..3000, WorldEvent::Service(Event::Weather));
    }
}
