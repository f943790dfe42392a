//! A room and its clients as nodes: the session over simulated TCP.
//!
//! A packet of the session is a message of a [`TcpConnection`], an empty one closes the transport. A transport opens at
//! once: the round trip of TCP's handshake is not simulated, nor are TLS and the WebSocket's. A transport has taken a
//! packet when all of it was sent for the first time, so that no more waits below the session than it wants.

mod client;
mod room;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use client::{App, ClientNode};
pub use room::RoomNode;

use super::tcp::TcpConnection;

/// One end of a transport.
#[derive(Debug)]
struct Transport {
    connection: TcpConnection,
    /// Whether neither end has closed it. A closed one still repeats what may have been lost.
    open: bool,
    /// Packets that were written and not yet reported as taken.
    written: u32,
}

impl Transport {
    fn new(port: u32) -> Self {
        Transport { connection: TcpConnection::new(port), open: true, written: 0 }
    }

    fn write(&mut self, packet: &[u8]) {
        if self.open {
            self.connection.write(packet);
            self.written += 1;
        }
    }

    fn close(&mut self) {
        if self.open {
            self.connection.write(&[]);
            self.open = false;
        }
    }

    /// What came next.
    fn read(&mut self) -> Option<Arrived> {
        let packet = self.connection.read().filter(|_| self.open)?;
        if packet.is_empty() {
            self.open = false;
            return Some(Arrived::Close);
        }
        Some(Arrived::Packet(packet))
    }

    /// Sends what is due, and tells when to come back.
    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(&[u8])) -> Option<Duration> {
        self.connection.poll(now, send)
    }

    /// How many more packets were taken.
    fn taken(&mut self) -> u32 {
        if self.open && self.connection.unsent() == 0 {
            std::mem::take(&mut self.written)
        } else {
            0
        }
    }
}

enum Arrived {
    Packet(Vec<u8>),
    Close,
}
