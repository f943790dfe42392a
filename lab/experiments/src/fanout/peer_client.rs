//! The protocols of other systems' clients: just enough to be in the room, to send and to stay.

use std::io;

use super::bare;
use super::colyseus;
use super::frames::write_varint;
use super::ledger::{Ledger, Tally};
use super::websocket::{Kind, write};

/// The protocol of a system's clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Messages as they are, on a WebSocket.
    Bare,
    /// Engine.IO 4 and Socket.IO 5.
    SocketIo,
    /// Centrifugo's JSON protocol.
    Centrifugo,
    /// Colyseus' messages and its state.
    Colyseus,
    /// Awareness of y-protocols.
    Awareness,
    /// Only the names of messages: the protocol of the bare program.
    Names,
}

/// A client of another system.
pub(super) struct PeerClient {
    protocol: Protocol,
    /// The number of commands (Centrifugo) or of states (awareness).
    count: u64,
    number: usize,
    /// The room's state, for Colyseus.
    room: colyseus::Room,
    pub(super) is_ready: bool,
    pub(super) tally: Tally,
}

impl PeerClient {
    pub(super) fn new(protocol: Protocol, number: usize, tally: Tally) -> Self {
        let room = colyseus::Room::default();
        PeerClient { protocol, count: 0, number, room, is_ready: false, tally }
    }

    /// The path of the client's WebSocket. A Colyseus server has to be asked for it.
    pub(super) async fn path(&self, port: u16) -> io::Result<String> {
        let path = match self.protocol {
            Protocol::Bare | Protocol::Names => "/",
            Protocol::SocketIo => "/socket.io/?EIO=4&transport=websocket",
            Protocol::Centrifugo => "/connection/websocket",
            Protocol::Colyseus => return colyseus::seat(port).await,
            Protocol::Awareness => "/room",
        };
        Ok(path.to_owned())
    }

    /// Appends the client's first bytes: the WebSocket is open.
    pub(super) fn greet(&mut self, out: &mut Vec<u8>) {
        match self.protocol {
            // The servers of these protocols send first.
            Protocol::SocketIo | Protocol::Colyseus => {}
            Protocol::Centrifugo => write(Kind::Text, br#"{"id":1,"connect":{}}"#, out),
            Protocol::Bare | Protocol::Awareness | Protocol::Names => self.is_ready = true,
        }
    }

    /// Handles a message of the WebSocket.
    pub(super) fn receive(&mut self, ledger: &Ledger, at: u64, payload: &[u8], out: &mut Vec<u8>) {
        match self.protocol {
            Protocol::SocketIo => match payload {
                // Engine.IO's packets: the connection is open; a ping; the namespace is connected.
                [b'0', ..] => write(Kind::Text, b"40", out),
                [b'2'] => write(Kind::Text, b"3", out),
                [b'4', b'0', ..] => self.is_ready = true,
                _ => {}
            },
            Protocol::Centrifugo => match payload {
                // A ping, which may be a line between others.
                _ if payload.split(|byte| *byte == b'\n').any(|line| line == b"{}") => {
                    write(Kind::Text, b"{}", out);
                }
                _ if self.is_ready => {}
                _ if payload.starts_with(br#"{"id":1,"#) => {
                    write(Kind::Text, br#"{"id":2,"subscribe":{"channel":"room"}}"#, out);
                }
                _ => self.is_ready = payload.starts_with(br#"{"id":2,"subscribe""#),
            },
            Protocol::Colyseus => return self.hear_colyseus(ledger, at, payload, out),
            Protocol::Names => return bare::receive(&mut self.tally, ledger, at, payload),
            Protocol::Bare | Protocol::Awareness => {}
        }
        self.tally.take(ledger, at, payload);
    }

    fn hear_colyseus(&mut self, ledger: &Ledger, at: u64, payload: &[u8], out: &mut Vec<u8>) {
        let (mut answer, mut messages) = (Vec::new(), Vec::new());
        if self.room.receive(payload, &mut answer, &mut messages).is_none() {
            self.tally.altered += 1;
        }
        if !answer.is_empty() {
            write(Kind::Binary, &answer, out);
        }
        self.is_ready = self.room.is_joined;
        self.tally.take(ledger, at, &messages);
    }

    /// Sends a message to all.
    pub(super) fn send_message(&mut self, message: &[u8], out: &mut Vec<u8>) {
        let text = |parts: [&[u8]; 3], out: &mut Vec<u8>| write(Kind::Text, &parts.concat(), out);
        self.count += 1;
        match self.protocol {
            Protocol::Bare => text([b"", message, b""], out),
            Protocol::SocketIo => text([br#"42["pointer","#, message, b"]"], out),
            Protocol::Centrifugo => {
                let id = self.count + 2;
                let head = format!(r#"{{"id":{id},"publish":{{"channel":"room","data":"#);
                text([head.as_bytes(), message, b"}}"], out);
            }
            Protocol::Colyseus => write(Kind::Binary, &colyseus::event(message), out),
            Protocol::Awareness => {
                write(Kind::Binary, &awareness(self.number, self.count, message), out);
            }
            Protocol::Names => bare::send_message(message, out),
        }
    }
}

/// An update of one client's state: messages of y-websocket have a type, 1, and are then
/// `bytes(count:varint (client:varint clock:varint state:bytes)*)`.
fn awareness(client: usize, clock: u64, state: &[u8]) -> Vec<u8> {
    let mut update = vec![1];
    write_varint(client as u64 + 1, &mut update);
    write_varint(clock, &mut update);
    write_varint(state.len() as u64, &mut update);
    update.extend(state);
    let mut message = vec![1];
    write_varint(update.len() as u64, &mut message);
    message.extend(update);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(protocol: Protocol) -> PeerClient {
        PeerClient::new(protocol, 3, Tally::new(None, false))
    }

    /// The payloads of short frames.
    fn said(out: &mut Vec<u8>) -> Vec<String> {
        let (mut rest, mut all) = (&out[..], Vec::new());
        while let [_, length, _, _, _, _, more @ ..] = rest {
            let (payload, more) = more.split_at(usize::from(length & 0x7f));
            all.push(String::from_utf8_lossy(payload).into_owned());
            rest = more;
        }
        out.clear();
        all
    }

    #[test]
    fn each_gets_into_the_room_as_its_protocol_has_it() {
        let ledger = Ledger::new(1, 1);
        let mut out = Vec::new();
        let mut bare = peer(Protocol::Bare);
        bare.greet(&mut out);
        assert!(bare.is_ready && out.is_empty());

        let mut io = peer(Protocol::SocketIo);
        io.greet(&mut out);
        io.receive(&ledger, 1, br#"0{"sid":"x","pingInterval":25000}"#, &mut out);
        assert_eq!(said(&mut out), ["40"]);
        io.receive(&ledger, 1, br#"40{"sid":"y"}"#, &mut out);
        io.receive(&ledger, 1, b"2", &mut out);
        assert_eq!(said(&mut out), ["3"]);
        assert!(io.is_ready);
        io.send_message(b"{}", &mut out);
        assert_eq!(said(&mut out), [r#"42["pointer",{}]"#]);

        let mut centrifugo = peer(Protocol::Centrifugo);
        centrifugo.greet(&mut out);
        centrifugo.receive(&ledger, 1, br#"{"id":1,"connect":{"client":"c"}}"#, &mut out);
        assert!(!centrifugo.is_ready);
        centrifugo.receive(&ledger, 1, br#"{"id":2,"subscribe":{}}"#, &mut out);
        assert!(centrifugo.is_ready);
        centrifugo.receive(&ledger, 1, b"{}", &mut out);
        centrifugo.receive(&ledger, 1, b"{\"push\":{}}\n{}", &mut out);
        centrifugo.send_message(b"{}", &mut out);
        assert_eq!(
            said(&mut out),
            [
                r#"{"id":1,"connect":{}}"#,
                r#"{"id":2,"subscribe":{"channel":"room"}}"#,
                "{}",
                "{}",
                r#"{"id":3,"publish":{"channel":"room","data":{}}}"#
            ]
        );

        let mut colyseus = peer(Protocol::Colyseus);
        colyseus.greet(&mut out);
        assert!(!colyseus.is_ready && out.is_empty());
        colyseus.receive(&ledger, 1, b"\x0a\x01r\x04none\0", &mut out);
        assert!(colyseus.is_ready);
        assert_eq!(said(&mut out), ["\x0a"]);
        colyseus.receive(&ledger, 1, b"\x63", &mut out);
        assert_eq!(colyseus.tally.altered, 1, "a message of no known type");

        // The bytes are those of y-protocols' encodeAwarenessUpdate.
        assert_eq!(awareness(3, 1, b"{}"), [1, 6, 1, 4, 1, 2, b'{', b'}']);
    }
}
