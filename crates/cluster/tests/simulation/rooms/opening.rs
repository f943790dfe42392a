//! Opening a room: it is made, or loaded from the store of the node.

use std::sync::Arc;
use std::time::Duration;

use groupwire_session::room::{Config, Input, RESERVED_AT_ONCE, Room};
use groupwire_session::{
    AllowAll, Durability, Identity, Limits, LinkId, Opening as FirstPacket, ParticipantId, Secret,
    Secrets, SessionName,
};
use groupwire_store::{Append, Change, Error, Loaded, RoomLog};

use super::news::News;
use super::place::{Open, Opening, Place};
use super::stored::stored;
use super::{Event, Rooms, name_of};
use crate::world::{Event as WorldEvent, World};

/// Secrets that all nodes of a cluster make alike.
#[derive(Debug)]
struct Shared;

impl Secrets for Shared {
    fn secret(&self, session: &SessionName<'_>) -> Secret {
        let SessionName { room, incarnation, participant, .. } = session;
        let mut secret = [0; 16];
        secret[..8].copy_from_slice(&(incarnation ^ room.len() as u64).to_le_bytes());
        secret[8..12].copy_from_slice(&participant.get().to_le_bytes());
        secret
    }
}

impl World<Rooms> {
    /// The first packet of a connection has come to the node that has the room. Opens the room if
    /// it is not open.
    pub(super) fn enter_room(&mut self, node: usize, room: usize, link: LinkId) {
        let process = self.nodes[node].running();
        match process.service.rooms.get_mut(&room) {
            Some(Place::Opening(opening)) => {
                if !opening.links.contains(&link) {
                    opening.links.push(link);
                }
                return;
            }
            Some(Place::Open(_)) => return,
            None => {}
        }
        process.service.loads += 1;
        let load = process.service.loads;
        let store = Arc::clone(&process.service.store);
        let loaded = store.load(&name_of(room)).expect("a store in memory can be read");
        // Also a room that is not stored is opened only if no other node can have stored it.
        let reserved = |loaded: &Loaded| loaded.reserved.saturating_add(RESERVED_AT_ONCE);
        let append = Append {
            room: name_of(room),
            incarnation: loaded.as_ref().map_or(0, |loaded| loaded.incarnation),
            reserved: loaded.as_ref().map(reserved),
            ..Append::default()
        };
        let opening = Opening { load, loaded, links: vec![link] };
        let service = &mut self.nodes[node].running().service;
        service.rooms.insert(room, Place::Opening(opening));
        let done = service.inbox.done(move |outcome| News::Reserved { room, load, outcome });
        self.change(node, Change::Append(append), done);
    }

    fn serve(&mut self, node: usize, room: usize, open: Open) {
        let rooms = &mut self.nodes[node].running().service.rooms;
        rooms.insert(room, Place::Open(Box::new(open)));
        self.run_room(node, room);
    }

    fn config(&mut self, node: usize, room: usize) -> Config {
        let wall = self.nodes[node].now(self.now).wall;
        let limits = Limits { snapshot_after: 25, max_former: 10_000, ..Limits::default() };
        Config {
            durability: Durability::Cluster,
            limits,
            wall: Duration::from_millis(wall),
            load: self.random.rand_u64(),
            compress: self.service.compresses,
            ..Config::new(&name_of(room), self.random.rand_u64())
        }
    }

    /// The numbers that a room needs are reserved, or are not.
    pub(super) fn reserved(
        &mut self,
        node: usize,
        (room, load): (usize, u64),
        outcome: Result<(), Error>,
    ) {
        let rooms = &mut self.nodes[node].running().service.rooms;
        if rooms.get(&room).is_none_or(|place| place.load() != load) {
            return;
        }
        let Some(Place::Opening(opening)) = rooms.remove(&room) else { return };
        let Opening { loaded, links, .. } = opening;
        if let Err(error) = outcome {
            assert_eq!(error, Error::Moved, "the store refuses to open room {room}");
            return links.into_iter().for_each(|link| self.refuse(link));
        }
        let made = self.make_room(node, room, loaded);
        self.serve(node, room, Open::new(made, load, self.now));
        links.into_iter().for_each(|link| self.hand_up(link, node));
    }

    /// The room of what the store has.
    fn make_room(&mut self, node: usize, room: usize, loaded: Option<Loaded>) -> Room {
        let config = self.config(node, room);
        let Some(loaded) = loaded else {
            self.log(|| format!("{node} makes room {room} {:x}", config.incarnation));
            return Room::new(config, Box::new(AllowAll));
        };
        self.log(|| {
            format!("{node} loads room {room} {:x} at {}", loaded.incarnation, loaded.head)
        });
        let last = ParticipantId(loaded.reserved);
        let reserved = ParticipantId(loaded.reserved.saturating_add(RESERVED_AT_ONCE));
        let made = Room::load(config, Box::new(AllowAll), stored(loaded, last, reserved));
        made.unwrap_or_else(|error| panic!("room {room} is not whole: {error}"))
    }

    /// Lets a client join an open room by its first packet.
    pub(super) fn join(&mut self, node: usize, room: usize, link: LinkId, packet: &[u8]) {
        let now = self.now;
        let Some(open) = self.open_room(node, room) else { return };
        let (load, incarnation) = (open.load, open.room.incarnation());
        let opening = FirstPacket::read(packet).expect("a client's first packet");
        let identity = Identity::default();
        let (opening, identity, secrets) = (&opening, &identity, &Shared);
        let join = Input::Join { link, opening, identity, secrets, max_datagram: 0 };
        open.room.handle_input(now - open.started, join);
        self.service.joined(link, load, incarnation);
        self.run_room(node, room);
    }

    /// Handles the news of a process.
    pub(super) fn settle(&mut self, node: usize) -> bool {
        let is_slow = !self.weather.is_calm() && self.chance(10);
        let Some(process) = &mut self.nodes[node].process else { return false };
        if process.service.behind_until > self.now {
            return false;
        }
        let Some(news) = process.service.inbox.take() else { return false };
        if is_slow {
            process.service.inbox.put_back(news);
            return self.fall_behind(node);
        }
        match news {
            News::Answer { room, load, outcome } => self.answered(node, (room, load), outcome),
            News::Reserved { room, load, outcome } => self.reserved(node, (room, load), outcome),
            News::Moved { room, load } => self.moved(node, room, load),
        }
        true
    }

    /// The tasks of rooms have no processor for a while.
    fn fall_behind(&mut self, node: usize) -> bool {
        let until = self.now + Duration::from_micros(self.random.rand_range(0..50_000));
        let process = self.nodes[node].running();
        process.service.behind_until = until;
        let incarnation = process.incarnation;
        self.at(until, WorldEvent::Service(Event::Settle { node, incarnation }));
        false
    }

    /// The time until which nobody handles an event for a room.
    pub(super) fn behind_until(&self, event: &Event) -> Option<Duration> {
        let node = match event {
            Event::Room { node, .. } => Some(*node),
            Event::Up { link } | Event::Break { link } | Event::Sent { link } => {
                self.service.nodes_of_link(*link)[1]
            }
            _ => None,
        };
        Some(self.nodes[node?].process.as_ref()?.service.behind_until)
    }

    fn moved(&mut self, node: usize, room: usize, load: u64) {
        let rooms = &mut self.nodes[node].running().service.rooms;
        match rooms.get(&room).filter(|place| place.load() == load) {
            Some(Place::Open(_)) => self.end_room(node, room),
            Some(Place::Opening(_)) => {
                let Some(Place::Opening(opening)) = rooms.remove(&room) else { return };
                opening.links.into_iter().for_each(|link| self.refuse(link));
            }
            None => {}
        }
    }
}
