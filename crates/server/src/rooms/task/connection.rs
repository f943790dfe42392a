//! What the room's task knows of one connection.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use groupwire_session::LinkId;
use tokio::time::Instant;

use super::outlet::Outlet;
use crate::ends::conn_info::ConnInfo;
use crate::ends::emulation::path::PathSlot;
use crate::ends::socket_writer::SocketWriter;
use crate::traces::JoinTrace;

/// What the room's task knows of one connection: how to send its packets and datagrams.
pub(crate) struct Connection {
    /// Takes what the room sends to the client.
    pub(crate) outlet: Box<dyn Outlet>,
    /// The socket, if the room's task can write packets to it directly. [`Connections`] moves it to
    /// a table of its own.
    pub(crate) socket_writer: Option<Arc<SocketWriter>>,
    /// The trace of the join; empty once the join has ended.
    pub(crate) trace: JoinTrace,
    /// When the connection's first packet had arrived.
    pub(crate) opened_at: Instant,
    /// When the connection was handed to its room.
    pub(crate) handed_over_at: Instant,
    pub(crate) info: ConnInfo,
}

/// The connections of a room by their ids.
#[derive(Default)]
pub(crate) struct Connections {
    all: ByLink<Connection>,
    /// The sockets of the connections that have one. They are in a small table of their own,
    /// because each tick needs them.
    sockets: ByLink<Socket>,
}

/// The server numbers connections, so no client can provoke hash collisions.
pub(super) type ByLink<T> = HashMap<LinkId, T, BuildHasherDefault<LinkIdHasher>>;

/// The socket of a connection.
pub(super) struct Socket {
    writer: Arc<SocketWriter>,
    path: Option<PathSlot>,
}

/// A fast hash of connection ids.
#[derive(Default)]
pub(crate) struct LinkIdHasher(u64);

impl Hasher for LinkIdHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, number: u64) {
        // Fibonacci hashing (Knuth, volume 3, section 6.4).
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Connections {
    pub(crate) fn insert(&mut self, link: LinkId, mut connection: Connection) {
        debug_assert!(!self.all.contains_key(&link), "a link joins a room once: {link}");
        if let Some(writer) = connection.socket_writer.take() {
            let path = connection.info.path.clone();
            self.sockets.insert(link, Socket::new(writer, path));
        }
        self.all.insert(link, connection);
        debug_assert!(self.sockets.len() <= self.all.len(), "each socket is that of a connection");
    }

    pub(crate) fn remove(&mut self, link: LinkId) -> Option<Connection> {
        self.sockets.remove(&link);
        self.all.remove(&link)
    }

    pub(crate) fn get(&self, link: LinkId) -> Option<&Connection> {
        self.all.get(&link)
    }

    pub(super) fn get_mut(&mut self, link: LinkId) -> Option<&mut Connection> {
        self.all.get_mut(&link)
    }

    /// The sockets of the connections that have one.
    pub(super) fn sockets(&self) -> &ByLink<Socket> {
        &self.sockets
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn capacity(&self) -> usize {
        self.all.capacity()
    }

    pub(super) fn shrink_to(&mut self, connections: usize) {
        self.all.shrink_to(connections);
        self.sockets.shrink_to(connections);
    }
}

impl Socket {
    pub(super) fn new(writer: Arc<SocketWriter>, path: Option<PathSlot>) -> Self {
        Socket { writer, path }
    }

    /// The socket's writer, unless the connection goes over an emulated network, so that nothing
    /// may bypass its task.
    pub(super) fn writer(&self) -> Option<&Arc<SocketWriter>> {
        let is_emulated = self.path.as_ref().is_some_and(PathSlot::is_set);
        (!is_emulated).then_some(&self.writer)
    }
}

impl Connection {
    /// True if the connection goes over an emulated network, so that nothing may bypass its task.
    pub(super) fn is_emulated(&self) -> bool {
        self.info.path.as_ref().is_some_and(PathSlot::is_set)
    }
}
