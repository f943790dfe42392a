//! The outlet of a connection: what a room sends to a client, and how it slows the client down.

use std::sync::Arc;

use groupwire_session::room::whole_packet;
use groupwire_session::{Error, PathNeeds};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::ends::brake::Brake;
use crate::ends::{Datagram, DatagramSink};
use crate::tools::outbox::Outbox;

/// Takes what a room sends to one client. Nothing here waits: the room has at most three packets
/// and two datagrams of a connection under way.
pub(crate) trait Outlet: Send {
    /// Sends a packet.
    fn packet(&self, packet: Vec<u8>);

    /// Sends a last packet and closes the connection.
    fn close(&self, last: Close);

    /// The most bytes of a datagram; 0 if the transport has no datagrams.
    fn max_datagram(&self) -> usize;

    /// Sends a datagram. Returns false if it was dropped, because too many wait.
    fn datagram(&self, datagram: Datagram) -> bool;

    /// Sends a datagram, given as header and payload, whose payload goes to several receivers: at
    /// once, or not at all. With `is_emulated` it goes the way of all others.
    fn shared_datagram(&self, parts: [&[u8]; 2], is_emulated: bool);

    /// Hands over a further token of the participant, which is to be checked. A token that comes
    /// while another one waits is dropped.
    fn token(&self, token: Vec<u8>);

    /// Reads nothing from the client before this time.
    fn hold(&self, until: Instant);

    /// The server that the client is connected to, and the connection's number there; `None` if the
    /// client is connected to this server.
    fn edge(&self) -> Option<(&Arc<dyn Edge>, u64)> {
        None
    }
}

/// Another server, which passes on what a room sends to the clients that are connected to it.
pub(crate) trait Edge: Send + Sync {
    /// Sends a packet to several connections.
    fn shared(&self, links: &[u64], packet: &[u8]);

    /// The room has handled a packet or a datagram of a connection, which may send another one.
    fn handled(&self, link: u64);
}

/// The last packet of a connection, which may be empty, and why it is closed.
pub(crate) struct Close {
    pub(crate) packet: Vec<u8>,
    pub(crate) reason: Option<Error>,
}

/// A message to a connection's task.
pub(crate) enum Outbound {
    /// Send this packet.
    Packet(Vec<u8>),
    /// Send a last packet and close the connection.
    Close(Box<Close>),
}

/// The outlet of a client that is connected to this server: queues to its connection's task.
pub(crate) struct TaskOutlet {
    /// Packets for the connection's task.
    pub(crate) packets: Outbox<Outbound>,
    /// The datagrams for the connection's task, and the most bytes of one; `None` if the transport
    /// has no datagrams.
    pub(crate) datagrams: Option<(Outbox<Datagram>, usize)>,
    /// Sends a datagram whose payload goes to several receivers, without the connection's task.
    pub(crate) datagram_sink: Option<DatagramSink>,
    /// Further tokens of the participant, which the connection's task checks.
    pub(crate) tokens: Outbox<Vec<u8>>,
    /// Delays reading the transport.
    pub(crate) brake: Arc<Brake>,
}

impl Outlet for TaskOutlet {
    fn packet(&self, packet: Vec<u8>) {
        self.packets.put(Outbound::Packet(packet));
    }

    fn close(&self, last: Close) {
        self.packets.put(Outbound::Close(Box::new(last)));
    }

    fn max_datagram(&self) -> usize {
        self.datagrams.as_ref().map_or(0, |(_, largest)| *largest)
    }

    fn datagram(&self, datagram: Datagram) -> bool {
        self.datagrams.as_ref().is_some_and(|(datagrams, _)| datagrams.put(datagram))
    }

    fn shared_datagram(&self, parts: [&[u8]; 2], is_emulated: bool) {
        match &self.datagram_sink {
            Some(sink) if !is_emulated => sink(parts),
            _ => {
                let whole = whole_packet(parts[0].to_vec(), Some(parts[1]));
                self.datagram((whole, PathNeeds::default()));
            }
        }
    }

    fn token(&self, token: Vec<u8>) {
        self.tokens.put(token);
    }

    fn hold(&self, until: Instant) {
        self.brake.hold(until);
    }
}

/// Permits a connection one more packet or datagram, once the room has handled the one that holds
/// it.
pub(crate) enum Permit {
    /// A connection to this server waits for the permit.
    Here { _permit: OwnedSemaphorePermit },
    /// Another server waits for it.
    Edge { _permit: EdgePermit },
}

/// See [`Permit`].
pub(crate) struct EdgePermit {
    edge: Arc<dyn Edge>,
    link: u64,
}

impl EdgePermit {
    /// A permit of the connection that has this number at the other server.
    pub(crate) fn new(edge: Arc<dyn Edge>, link: u64) -> Self {
        EdgePermit { edge, link }
    }
}

impl Drop for EdgePermit {
    fn drop(&mut self) {
        self.edge.handled(self.link);
    }
}

impl From<OwnedSemaphorePermit> for Permit {
    fn from(permit: OwnedSemaphorePermit) -> Self {
        Permit::Here { _permit: permit }
    }
}

/// Connections of one edge that get the same packet.
#[derive(Default)]
pub(super) struct Shares(Vec<(Arc<dyn Edge>, Vec<u64>)>);

impl Shares {
    /// Adds the connection if it is to another server. Returns false if it is to this one.
    pub(super) fn add(&mut self, outlet: &dyn Outlet) -> bool {
        let Some((edge, link)) = outlet.edge() else { return false };
        match self.0.iter_mut().find(|(one, _)| Arc::ptr_eq(one, edge)) {
            Some((_, links)) => links.push(link),
            None => self.0.push((Arc::clone(edge), vec![link])),
        }
        true
    }

    /// Sends the packet to all edges, once to each.
    pub(super) fn send(self, packet: &[u8]) {
        self.0.iter().for_each(|(edge, links)| edge.shared(links, packet));
    }
}
