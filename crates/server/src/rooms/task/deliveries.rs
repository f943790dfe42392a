//! Connections, and the packets that are sent to them in one turn.

use std::sync::Arc;

use groupwire_session::room::{SharedPacket, whole_packet};
use groupwire_session::{Error, LinkId, PathNeeds};

use super::connection::{Connection, Connections, Socket};
use super::outlet::{Close, Shares};
use super::pacing::Sent;
use super::writes::{Write, Writes};

/// At least this many connections keep their capacity.
const FEW_CONNECTIONS: usize = 64;

/// See the [module](self).
#[derive(Default)]
pub(crate) struct Deliveries {
    pub(crate) connections: Connections,
    /// Packets of this turn, which are written together.
    writes: Writes,
    /// The packets that were sent in this turn.
    sent: Sent,
}

impl Deliveries {
    /// Sends a packet, whose second part may be shared with packets to others. An outlet has space
    /// for it: the room never has more than three packets and two datagrams under way per
    /// connection.
    pub(crate) fn send(&mut self, link: LinkId, packet: Vec<u8>, body: Option<Arc<[u8]>>) {
        if let Some(writer) = self.connections.sockets().get(&link).and_then(Socket::writer) {
            self.writes.push(Write { link, writer: Arc::clone(writer), packet, body });
            self.sent.written += 1;
        } else if let Some(connection) = self.connections.get(link) {
            connection.outlet.packet(whole_packet(packet, body.as_deref()));
            self.sent.handed_over += 1;
        }
    }

    /// Sends a packet to several connections. Returns those whose sockets or tasks still have to
    /// send it. Earlier packets to the same connections have to be written before.
    pub(crate) fn send_shared(&mut self, shared: &SharedPacket) -> Vec<LinkId> {
        debug_assert!(self.writes.is_empty(), "earlier packets go first");
        let left = self.writes.write_shared(self.connections.sockets(), shared);
        self.sent.handed_over += left.without_socket.len() as u32;
        self.sent.written += (shared.links.len() - left.without_socket.len()) as u32;
        let mut shares = Shares::default();
        for &link in &left.without_socket {
            if let Some(Connection { outlet, .. }) = self.connections.get(link)
                && !shares.add(&**outlet)
            {
                outlet.packet(shared.packet.to_vec());
            }
        }
        shares.send(&shared.packet);
        let mut unsent = left.unsent;
        unsent.extend(left.without_socket);
        unsent
    }

    /// True if packets wait for [`Deliveries::write_all`].
    pub(crate) fn has_writes(&self) -> bool {
        !self.writes.is_empty()
    }

    /// Writes the packets that wait, and calls `sent` for each that the kernel has taken whole.
    pub(crate) fn write_all(&mut self, sent: impl FnMut(LinkId)) {
        self.writes.write_all(sent);
    }

    /// Sends a datagram whose payload is shared with other receivers.
    pub(crate) fn send_shared_datagram(&mut self, link: LinkId, parts: [&[u8]; 2]) {
        let Some(connection) = self.connections.get(link) else { return };
        self.sent.handed_over += 1;
        connection.outlet.shared_datagram(parts, connection.is_emulated());
    }

    /// Sends a datagram. Returns false if it was dropped.
    pub(crate) fn send_datagram(
        &mut self,
        link: LinkId,
        packet: Vec<u8>,
        needs: PathNeeds,
    ) -> bool {
        self.sent.handed_over += 1;
        let connection = self.connections.get(link);
        connection.is_some_and(|it| it.outlet.datagram((packet, needs)))
    }

    /// Closes a connection with a last packet. Packets that wait have to be written before.
    pub(crate) fn close(&mut self, link: LinkId, packet: Vec<u8>, reason: Option<Error>) {
        let Some(mut connection) = self.connections.remove(link) else { return };
        if let Some(error) = &reason {
            connection.trace.refused(error);
        }
        connection.outlet.close(Close { packet, reason });
    }

    /// Takes the counts of packets that were sent since the last call.
    pub(super) fn take_sent(&mut self) -> Sent {
        std::mem::take(&mut self.sent)
    }

    /// Gives memory back that more connections needed, but seldom, so that the tables are not
    /// copied each time that a connection ends.
    pub(crate) fn shrink(&mut self) {
        let enough = self.connections.len() * 2 + FEW_CONNECTIONS;
        if self.connections.capacity() > enough * 2 {
            self.connections.shrink_to(enough);
            self.writes.shrink_to(enough);
        }
    }
}
