//! A room and its clients as nodes: the session over simulated TCP, as a WebSocket has it, or over
//! simulated QUIC, as WebTransport has it, with datagrams beside the stream.
//!
//! A packet of the session is a message of a [`TcpConnection`] or of a [`QuicConnection`]'s stream,
//! an empty one closes the transport. A transport opens at once: handshakes are not simulated. A
//! transport has taken a packet when all of it was sent for the first time, and a datagram when it
//! left or was dropped, so that no more waits below the session than it wants. What the session
//! hands down at one instant shares packets.

mod client;
mod room;
#[cfg(test)]
mod tests;

use std::time::Duration;

use groupwire_session::PathNeeds;

pub use client::{App, ClientNode};
pub use room::RoomNode;

use super::http3::{Ends, Gone, MAX_DATAGRAM, QuicConnection, Side};
use super::link::{IP_HEADER, UDP_HEADER};
use super::tcp::TcpConnection;

/// The transport of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// TCP: one stream.
    WebSocket,
    /// QUIC: a stream and datagrams.
    WebTransport,
}

impl Lane {
    /// Bytes of headers on a link below the packets of this lane.
    pub fn header(self) -> usize {
        match self {
            Lane::WebSocket => IP_HEADER,
            Lane::WebTransport => UDP_HEADER,
        }
    }

    /// The size of the largest datagram in bytes; 0: there are none.
    fn max_datagram(self) -> usize {
        match self {
            Lane::WebSocket => 0,
            Lane::WebTransport => MAX_DATAGRAM,
        }
    }
}

/// One end of a transport.
#[derive(Debug)]
struct Transport {
    connection: Connection,
    /// True if neither end has closed it. A closed transport still repeats packets that may have
    /// been lost.
    open: bool,
    /// Packets that were written and not yet reported as sent.
    written: u32,
}

#[derive(Debug)]
enum Connection {
    Tcp(Box<TcpConnection>),
    Quic(Box<QuicConnection>),
}

/// The packets and datagrams that a transport has sent since the last call.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    packets: u32,
    datagrams: Gone,
}

impl Transport {
    fn new(lane: Lane, port: u32, side: Side, ends: Ends) -> Self {
        let connection = match lane {
            Lane::WebSocket => Connection::Tcp(Box::new(TcpConnection::new(port))),
            Lane::WebTransport => Connection::Quic(Box::new(QuicConnection::new(port, side, ends))),
        };
        Transport { connection, open: true, written: 0 }
    }

    /// The lane and the port that a packet is for; `None` if it is damaged.
    fn named(packet: &[u8]) -> Option<(Lane, u32)> {
        let tcp = TcpConnection::port_of(packet).map(|port| (Lane::WebSocket, port));
        tcp.or_else(|| QuicConnection::port_of(packet).map(|port| (Lane::WebTransport, port)))
    }

    fn port(&self) -> u32 {
        match &self.connection {
            Connection::Tcp(tcp) => tcp.port(),
            Connection::Quic(quic) => quic.port(),
        }
    }

    fn write(&mut self, packet: &[u8]) {
        if self.open {
            self.put(packet);
            self.written += 1;
        }
    }

    fn close(&mut self) {
        if self.open {
            self.put(&[]);
            self.open = false;
        }
    }

    fn put(&mut self, packet: &[u8]) {
        match &mut self.connection {
            Connection::Tcp(tcp) => tcp.write(packet),
            Connection::Quic(quic) => quic.write(packet),
        }
    }

    /// The session never passes datagrams to transports without them.
    fn send_datagram(&mut self, now: Duration, datagram: Vec<u8>, needs: PathNeeds) {
        if let Connection::Quic(quic) = &mut self.connection
            && self.open
        {
            quic.set_needs(needs);
            quic.send_datagram(now, datagram);
        }
    }

    fn receive(&mut self, now: Duration, packet: &[u8]) {
        match &mut self.connection {
            Connection::Tcp(tcp) => tcp.receive(now, packet),
            Connection::Quic(quic) => quic.receive(now, packet),
        }
    }

    /// The next message or datagram that arrived.
    fn read(&mut self) -> Option<Arrived> {
        if !self.open {
            return None;
        }
        let packet = match &mut self.connection {
            Connection::Tcp(tcp) => tcp.read(),
            Connection::Quic(quic) => match quic.read() {
                Some(packet) => Some(packet),
                None => return quic.read_datagram().map(Arrived::Datagram),
            },
        }?;
        if packet.is_empty() {
            self.open = false;
            return Some(Arrived::Close);
        }
        Some(Arrived::Packet(packet))
    }

    /// Sends the packets that are due. Returns the time of the next timeout.
    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(&[u8])) -> Option<Duration> {
        match &mut self.connection {
            Connection::Tcp(tcp) => tcp.poll(now, send),
            Connection::Quic(quic) => quic.poll(now, send),
        }
    }

    /// The packets and datagrams that were sent since the last call.
    fn taken(&mut self) -> Taken {
        if !self.open {
            return Taken::default();
        }
        let (unsent, datagrams) = match &mut self.connection {
            Connection::Tcp(tcp) => (tcp.unsent(), Gone::default()),
            Connection::Quic(quic) => (quic.unsent(), quic.take_gone()),
        };
        let packets = if unsent == 0 { std::mem::take(&mut self.written) } else { 0 };
        Taken { packets, datagrams }
    }
}

impl Taken {
    fn is_nothing(self) -> bool {
        self.packets == 0 && self.datagrams == Gone::default()
    }
}

enum Arrived {
    Packet(Vec<u8>),
    Datagram(Vec<u8>),
    Close,
}
