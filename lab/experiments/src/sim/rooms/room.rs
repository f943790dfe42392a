//! The server's end: a room and the transports of all its participants.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use groupwire_session::room::{Event, Input, Output, Room, whole_packet};
use groupwire_session::{Identity, LinkId, Opening, Secret, Secrets, SessionName};

use super::{Arrived, Lane, Transport};
use crate::sim::http3::{Ends, Side};
use crate::sim::network::Node;
use crate::sim::random::derive;

/// A room, linked to the nodes of its clients.
pub struct RoomNode {
    room: Room,
    seed: u64,
    ends: Ends,
    /// The peers, by the number of their node.
    peers: BTreeMap<usize, Peer>,
    /// The nodes of transports.
    nodes: BTreeMap<LinkId, usize>,
    /// The timeouts of peers' transports.
    timers: BTreeSet<(Duration, usize)>,
    /// Peers whose transports have to be polled.
    stirred: BTreeSet<usize>,
    /// The number of transports so far.
    links: LinkId,
    log: Vec<(Duration, Event)>,
}

struct Peer {
    transport: Transport,
    lane: Lane,
    link: LinkId,
    /// True if the room was told of the transport.
    joined: bool,
    timer: Option<Duration>,
}

impl RoomNode {
    /// An empty room. The secrets of participants are drawn from the seed.
    pub fn new(room: Room, seed: u64) -> Self {
        RoomNode {
            room,
            seed,
            ends: Ends::default(),
            peers: BTreeMap::new(),
            nodes: BTreeMap::new(),
            timers: BTreeSet::new(),
            stirred: BTreeSet::new(),
            links: LinkId(0),
            log: Vec::new(),
        }
    }

    /// Replaces the ends of QUIC, which are native clients and their server. All clients have to
    /// have the same.
    #[must_use]
    pub fn with_ends(self, ends: Ends) -> Self {
        RoomNode { ends, ..self }
    }

    /// The room, for inputs from elsewhere.
    pub fn room_mut(&mut self) -> &mut Room {
        &mut self.room
    }

    /// The events of the room, and when they happened.
    pub fn log(&self) -> &[(Duration, Event)] {
        &self.log
    }

    /// A node has opened a transport, in place of its earlier one.
    fn open(&mut self, now: Duration, from: usize, (lane, port): (Lane, u32)) {
        self.links = self.links.next();
        let link = self.links;
        let transport = Transport::new(lane, port, Side::Server, self.ends);
        let peer = Peer { transport, lane, link, joined: false, timer: None };
        self.nodes.insert(link, from);
        if let Some(old) = self.peers.insert(from, peer) {
            self.nodes.remove(&old.link);
            old.timer.map(|at| self.timers.remove(&(at, from)));
            if old.joined {
                self.room.handle_input(now, Input::Closed { link: old.link });
            }
        }
    }

    /// Passes a packet or datagram of a transport to the room.
    fn take(&mut self, now: Duration, from: usize, arrived: Arrived) {
        let Some(peer) = self.peers.get_mut(&from) else { return };
        let (link, max_datagram) = (peer.link, peer.lane.max_datagram());
        match arrived {
            Arrived::Packet(packet) if peer.joined => {
                self.room.handle_input(now, Input::Packet { link, packet: &packet });
            }
            Arrived::Packet(packet) => match Opening::read(&packet) {
                Ok(opening) => {
                    peer.joined = true;
                    let secrets = &Seeded(self.seed);
                    let opening = &opening;
                    self.room.handle_input(
                        now,
                        Input::Join {
                            link,
                            opening,
                            identity: &Identity::default(),
                            secrets,
                            max_datagram,
                        },
                    );
                }
                Err(_) => peer.transport.close(),
            },
            Arrived::Datagram(packet) => {
                if peer.joined {
                    self.room.handle_input(now, Input::Datagram { link, packet: &packet });
                }
            }
            Arrived::Close => {
                if std::mem::take(&mut peer.joined) {
                    self.room.handle_input(now, Input::Closed { link });
                }
            }
        }
    }

    /// Carries out the room's outputs. Returns the time of its next timeout.
    fn drain(&mut self, now: Duration) -> Option<Duration> {
        loop {
            let output = self.room.poll_output();
            let link = match &output {
                Output::Timeout(at) => return *at,
                Output::Event(event) => {
                    self.log.push((now, event.clone()));
                    continue;
                }
                // Only rooms with a store have these outputs, and no client here renews a token.
                Output::Store(_) | Output::Token { .. } | Output::Delay { .. } => continue,
                Output::Datagram { link, .. }
                | Output::Send { link, .. }
                | Output::Close { link, .. } => *link,
            };
            let Some(&node) = self.nodes.get(&link) else { continue };
            let Some(peer) = self.peers.get_mut(&node) else { continue };
            self.stirred.insert(node);
            match output {
                Output::Datagram { packet, body, .. } => {
                    let needs = self.room.path_needs(now, link);
                    let datagram = whole_packet(packet, body.as_deref());
                    peer.transport.send_datagram(now, datagram, needs);
                }
                Output::Send { packet, body, .. } => {
                    peer.transport.write(&whole_packet(packet, body.as_deref()));
                }
                Output::Close { packet, .. } => {
                    peer.transport.write(&packet);
                    peer.transport.close();
                    peer.joined = false;
                }
                Output::Store(_)
                | Output::Token { .. }
                | Output::Delay { .. }
                | Output::Event(_)
                | Output::Timeout(_) => {}
            }
        }
    }

    /// Polls the transports that have something to do. Returns whether they sent packets of the
    /// room.
    fn poll_transports(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> bool {
        while let Some(&(at, node)) = self.timers.first()
            && at <= now
        {
            self.timers.pop_first();
            self.stirred.insert(node);
        }
        let mut has_taken = false;
        while let Some(node) = self.stirred.pop_first() {
            let Some(peer) = self.peers.get_mut(&node) else { continue };
            let wanted = peer.transport.poll(now, &mut |packet| send(node, packet));
            if let Some(before) = std::mem::replace(&mut peer.timer, wanted) {
                self.timers.remove(&(before, node));
            }
            self.timers.extend(wanted.map(|at| (at, node)));
            let (link, taken) = (peer.link, peer.transport.taken());
            for _ in 0..taken.packets {
                self.room.handle_input(now, Input::Sent { link });
            }
            for _ in 0..taken.datagrams.sent {
                self.room.handle_input(now, Input::DatagramSent { link });
            }
            for _ in 0..taken.datagrams.dropped {
                self.room.handle_input(now, Input::DatagramDropped { link });
            }
            has_taken |= !taken.is_nothing();
        }
        has_taken
    }
}

impl Node for RoomNode {
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
        let Some(named) = Transport::named(packet) else { return };
        if self.peers.get(&from).is_none_or(|peer| peer.transport.port() < named.1) {
            self.open(now, from, named);
        }
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.transport.receive(now, packet);
            self.stirred.insert(from);
        }
        while let Some(arrived) = self.peers.get_mut(&from).and_then(|peer| peer.transport.read()) {
            self.take(now, from, arrived);
        }
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        self.room.handle_input(now, Input::Timeout);
        loop {
            let wanted = self.drain(now);
            if !self.poll_transports(now, send) {
                let timer = self.timers.first().map(|(at, _)| *at);
                return [wanted, timer].into_iter().flatten().min();
            }
        }
    }
}

/// Draws the secrets of sessions from this seed, since no client here guesses them.
#[derive(Debug)]
struct Seeded(u64);

impl Secrets for Seeded {
    fn secret(&self, session: &SessionName<'_>) -> Secret {
        let random = derive(self.0, session.participant.into());
        let mut secret = Secret::default();
        secret
            .iter_mut()
            .zip(random.to_le_bytes().into_iter().cycle())
            .for_each(|(to, from)| *to = from);
        secret
    }
}
