//! The server's end: a room and the transports of all its participants.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_session::room::{Event, Input, LinkId, Output, Room};
use groupwire_session::{Opening, Secret};

use super::{Arrived, Transport};
use crate::sim::network::Node;
use crate::sim::random::derive;
use crate::sim::tcp::TcpConnection;

/// A room, joined to the nodes of its clients.
pub struct RoomNode {
    room: Room,
    seed: u64,
    /// By node.
    peers: BTreeMap<usize, Peer>,
    /// Transports so far.
    links: LinkId,
    log: Vec<(Duration, Event)>,
}

struct Peer {
    transport: Transport,
    link: LinkId,
    /// Whether the room knows of it.
    joined: bool,
}

impl RoomNode {
    /// A room with nobody in it. The secrets of participants are drawn from the seed.
    pub fn new(room: Room, seed: u64) -> Self {
        RoomNode { room, seed, peers: BTreeMap::new(), links: 0, log: Vec::new() }
    }

    /// The room.
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// What the room had to tell.
    pub fn log(&self) -> &[(Duration, Event)] {
        &self.log
    }

    /// A node has opened a transport; one that it had before is gone.
    fn open(&mut self, now: Duration, from: usize, port: u32) {
        self.links += 1;
        let peer = Peer { transport: Transport::new(port), link: self.links, joined: false };
        if let Some(Peer { joined: true, link, .. }) = self.peers.insert(from, peer) {
            self.room.handle_input(now, Input::Closed { link });
        }
    }

    /// Hands what came over a transport to the room.
    fn take(&mut self, now: Duration, from: usize, arrived: Arrived) {
        let Some(peer) = self.peers.get_mut(&from) else { return };
        let link = peer.link;
        match arrived {
            Arrived::Packet(packet) if peer.joined => {
                self.room.handle_input(now, Input::Packet { link, packet: &packet });
            }
            Arrived::Packet(packet) => match Opening::read(&packet) {
                Ok(opening) => {
                    peer.joined = true;
                    let secret = secret(derive(self.seed, link));
                    self.room.handle_input(
                        now,
                        Input::Join { link, opening: &opening, secret, max_datagram: 0 },
                    );
                }
                Err(_) => peer.transport.close(),
            },
            Arrived::Close => {
                if std::mem::take(&mut peer.joined) {
                    self.room.handle_input(now, Input::Closed { link });
                }
            }
        }
    }

    /// Does what the room says, and tells when it wants a timeout.
    fn drain(&mut self, now: Duration) -> Option<Duration> {
        loop {
            let (link, packet, last) = match self.room.poll_output() {
                Output::Timeout(at) => return at,
                Output::Event(event) => {
                    self.log.push((now, event));
                    continue;
                }
                // Asked for only on transports that have datagrams.
                Output::Datagram { .. } => continue,
                Output::Send { link, packet } => (link, packet, false),
                Output::Close { link, packet, .. } => (link, packet, true),
            };
            let Some(peer) = self.peers.values_mut().find(|peer| peer.link == link) else {
                continue;
            };
            peer.transport.write(&packet);
            if last {
                peer.transport.close();
                peer.joined = false;
            }
        }
    }
}

impl Node for RoomNode {
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
        let Some(port) = TcpConnection::port_of(packet) else { return };
        if self.peers.get(&from).is_none_or(|peer| peer.transport.connection.port() < port) {
            self.open(now, from, port);
        }
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.transport.connection.receive(now, packet);
        }
        while let Some(arrived) = self.peers.get_mut(&from).and_then(|peer| peer.transport.read()) {
            self.take(now, from, arrived);
        }
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        self.room.handle_input(now, Input::Timeout);
        loop {
            let mut wanted = self.drain(now);
            let mut taken = false;
            for (&node, peer) in &mut self.peers {
                let resend = peer.transport.poll(now, &mut |packet| send(node, packet));
                wanted = [wanted, resend].into_iter().flatten().min();
                for _ in 0..peer.transport.taken() {
                    self.room.handle_input(now, Input::Sent { link: peer.link });
                    taken = true;
                }
            }
            if !taken {
                return wanted;
            }
        }
    }
}

/// The octets of a secret, which nobody here guesses.
fn secret(random: u64) -> Secret {
    let mut secret = Secret::default();
    secret
        .iter_mut()
        .zip(random.to_le_bytes().into_iter().cycle())
        .for_each(|(to, from)| *to = from);
    secret
}
