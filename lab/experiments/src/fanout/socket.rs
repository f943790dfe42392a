//! A client on a WebSocket.

use std::io;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::member::{Member, Packet};
use super::peer_client::PeerClient;
use super::state::FanoutState;
use super::websocket::{self, Frame, Kind, write};

/// Bytes read at a time.
const READ: usize = 16 << 10;

/// The protocol of the client at this end.
pub(super) enum Role {
    PeerClient(PeerClient),
    Member(Box<Member>),
}

pub(super) struct SocketClient {
    stream: TcpStream,
    /// The beginning of a frame whose rest has not arrived yet.
    partial: Vec<u8>,
    /// Bytes to be sent.
    out: Vec<u8>,
    pub(super) role: Role,
}

impl SocketClient {
    pub(super) async fn open(shared: &FanoutState, port: u16, role: Role) -> Result<Self, String> {
        let path = match &role {
            Role::PeerClient(peer) => peer.path(port).await,
            Role::Member(_) => Ok("/ws".to_owned()),
        };
        let path = path.map_err(|error| error.to_string())?;
        let opened = websocket::open(port, &path).await;
        let (stream, first) = opened.map_err(|error| error.to_string())?;
        let mut line = SocketClient { stream, partial: Vec::new(), out: Vec::new(), role };
        match &mut line.role {
            Role::PeerClient(peer) => peer.greet(&mut line.out),
            Role::Member(member) => {
                let mut packets = Vec::new();
                member.open(&shared.ledger, 0, &mut packets);
                queue(packets, &mut line.out);
            }
        }
        line.take(shared, &first)?;
        Ok(line)
    }

    pub(super) fn is_ready(&self) -> bool {
        match &self.role {
            Role::PeerClient(peer) => peer.is_ready,
            Role::Member(member) => member.is_ready,
        }
    }

    /// Waits until the socket may have bytes to read.
    pub(super) async fn readable(&self) -> Result<(), String> {
        self.stream.readable().await.map_err(|error| error.to_string())
    }

    /// Reads the bytes that have arrived, and handles their frames.
    pub(super) fn read(&mut self, shared: &FanoutState) -> Result<(), String> {
        let mut space = [0; READ];
        match self.stream.try_read(&mut space) {
            Ok(0) => Err("the server hung up".to_owned()),
            Ok(count) => self.take(shared, &space[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn take(&mut self, shared: &FanoutState, bytes: &[u8]) -> Result<(), String> {
        shared.count_received(bytes.len());
        let at = shared.ledger.now();
        let kept = std::mem::take(&mut self.partial);
        let joined;
        let mut rest = match kept.is_empty() {
            true => bytes,
            false => {
                joined = [&kept, bytes].concat();
                &joined
            }
        };
        while let Some(frame) = websocket::read(&mut rest)? {
            match frame {
                Frame::Message(payload) => self.receive(shared, at, payload),
                Frame::Ping(payload) => write(Kind::Pong, payload, &mut self.out),
                Frame::Close => return Err("the server closed the connection".to_owned()),
            }
        }
        self.partial.extend_from_slice(rest);
        Ok(())
    }

    fn receive(&mut self, shared: &FanoutState, at: u64, payload: &[u8]) {
        match &mut self.role {
            Role::PeerClient(peer) => peer.receive(&shared.ledger, at, payload, &mut self.out),
            Role::Member(member) => {
                let mut packets = Vec::new();
                member.receive(&shared.ledger, at, payload, &mut packets);
                queue(packets, &mut self.out);
            }
        }
    }

    /// Sends a message to all.
    pub(super) fn send_message(&mut self, shared: &FanoutState, message: &[u8]) {
        match &mut self.role {
            Role::PeerClient(peer) => peer.send_message(message, &mut self.out),
            Role::Member(member) => {
                let mut packets = Vec::new();
                member.send_message(&shared.ledger, message, &mut packets);
                queue(packets, &mut self.out);
            }
        }
    }

    /// The time of the client's next timeout, by the ledger's clock.
    pub(super) fn due(&mut self, shared: &FanoutState) -> Option<u64> {
        let Role::Member(member) = &mut self.role else { return None };
        let mut packets = Vec::new();
        let due = member.due(&shared.ledger, &mut packets);
        queue(packets, &mut self.out);
        due
    }

    pub(super) fn wake(&mut self, shared: &FanoutState) {
        if let Role::Member(member) = &mut self.role {
            let mut packets = Vec::new();
            member.wake(&shared.ledger, &mut packets);
            queue(packets, &mut self.out);
        }
    }

    /// Sends the bytes that are waiting.
    pub(super) async fn flush(&mut self) -> Result<(), String> {
        if self.out.is_empty() {
            return Ok(());
        }
        let sent = self.stream.write_all(&self.out).await;
        self.out.clear();
        sent.map_err(|error| error.to_string())
    }
}

fn queue(packets: Vec<Packet>, out: &mut Vec<u8>) {
    for packet in packets {
        if let Packet::Stream(packet) = packet {
            write(Kind::Binary, &packet, out);
        }
    }
}
