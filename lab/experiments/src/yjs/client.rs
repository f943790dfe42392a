//! One client of a document: over y-websocket's protocol, over that of Hocuspocus, or a participant
//! of a room.

use std::time::Duration;

use groupwire_client::{Channel, Event, Events, Options, Qos, Room, SendOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::system::System;
use super::typist::{State, Typist, blob, state_in};
use crate::Result;
use crate::fanout::websocket::{self, Frame, Kind};

/// The variant of the protocol that a server uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// The part of the address before the document's name.
    pub(super) prefix: &'static str,
    /// True if each message begins with the document's name, and the first message is a token.
    pub(super) is_named: bool,
}

/// The headers of IPv4 and of TCP with time stamps.
const HEADERS: u64 = 20 + 32;

/// The header of a server's short WebSocket message, which packets of rooms also have.
const WEBSOCKET: u64 = 2;

/// The longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// A message that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Received {
    /// An update of this many bytes, with its envelope.
    Update(usize),
    /// The state of awareness with this number.
    State(u64),
}

pub(super) enum Client {
    Socket(Box<Socket>),
    Participant(Box<Participant>),
}

/// A WebSocket to a server of Yjs.
pub(super) struct Socket {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// The number of bytes of `buffer` that were read.
    read: usize,
    /// The document's name, if each message begins with it.
    name: Option<String>,
    bytes: u64,
    messages: u64,
}

/// A participant of a room.
pub(super) struct Participant {
    room: Room,
    events: Events,
    document: Channel,
    awareness: Channel,
}

impl Client {
    /// Opens a document, and waits until it is complete. Also returns its bytes.
    pub(super) async fn open(system: System, port: u16, document: &str) -> Result<(Self, usize)> {
        let opened = async {
            match system.dialect() {
                Some(dialect) => Socket::open(dialect, port, document).await,
                None => Participant::open(port, document).await,
            }
        };
        timeout(PATIENCE, opened).await.map_err(|_| format!("{document} does not open"))?
    }

    pub(super) async fn send_update(&mut self, update: &[u8]) -> Result<()> {
        match self {
            Client::Socket(socket) => socket.send(&[0, 2], update).await,
            Client::Participant(one) => {
                one.document.send(update, SendOptions::default())?;
                Ok(())
            }
        }
    }

    pub(super) async fn send_state(&mut self, state: &State) -> Result<()> {
        match self {
            Client::Socket(socket) => socket.send(&[1], &state.update()).await,
            Client::Participant(one) => {
                let client = Typist::client();
                let first = [("user", &state.user), ("cursor", &state.cursor)];
                // Only the fields that have changed are sent.
                let fields = if state.number == 1 { &first[..] } else { &first[1..] };
                for (field, json) in fields {
                    let key = format!("{client}/{field}");
                    let options =
                        SendOptions { key: Some(key.as_bytes()), ..SendOptions::default() };
                    one.awareness.send(json.as_str(), options)?;
                }
                Ok(())
            }
        }
    }

    /// Waits for the next message.
    pub(super) async fn receive(&mut self) -> Result<Received> {
        let received = async {
            match self {
                Client::Socket(socket) => socket.receive().await,
                Client::Participant(one) => one.receive().await,
            }
        };
        timeout(PATIENCE, received).await.map_err(|_| "something does not come")?
    }

    /// The bytes that came over the wire until now, with all headers: each message, or packet of a
    /// room, in a packet of its own.
    pub(super) fn received(&self) -> u64 {
        match self {
            Client::Socket(socket) => socket.bytes + socket.messages * HEADERS,
            Client::Participant(one) => {
                let stats = one.room.stats();
                stats.bytes_in_after + stats.packets_in * (HEADERS + WEBSOCKET)
            }
        }
    }

    /// Leaves the document.
    pub(super) async fn leave(self) {
        if let Client::Participant(one) = self {
            one.room.leave().await;
        }
    }
}

impl Socket {
    async fn open(dialect: Dialect, port: u16, document: &str) -> Result<(Client, usize)> {
        let path = format!("{}{document}", dialect.prefix);
        let (stream, buffer) = websocket::open(port, &path).await?;
        let name = dialect.is_named.then(|| document.to_owned());
        let (bytes, messages) = (buffer.len() as u64, 0);
        let mut socket = Socket { stream, buffer, read: 0, name, bytes, messages };
        if dialect.is_named {
            socket.send(&[2, 0], b"token").await?;
        }
        // The state vector is empty, because the client has nothing of the document.
        socket.send(&[0, 0], &[0]).await?;
        loop {
            let message = socket.message().await?;
            if let Some(document) = message.strip_prefix(&[0, 1]) {
                let size = document.len();
                return Ok((Client::Socket(Box::new(socket)), size));
            }
        }
    }

    /// Sends a message of this type with these bytes.
    async fn send(&mut self, kind: &[u8], bytes: &[u8]) -> Result<()> {
        let mut message = Vec::with_capacity(bytes.len() + 32);
        if let Some(name) = &self.name {
            blob(&mut message, name.as_bytes());
        }
        message.extend_from_slice(kind);
        blob(&mut message, bytes);
        self.frame(Kind::Binary, &message).await
    }

    async fn frame(&mut self, kind: Kind, bytes: &[u8]) -> Result<()> {
        let mut frame = Vec::with_capacity(bytes.len() + 14);
        websocket::write(kind, bytes, &mut frame);
        Ok(self.stream.write_all(&frame).await?)
    }

    /// The next message, without the document's name.
    async fn message(&mut self) -> Result<Vec<u8>> {
        loop {
            let mut rest = &self.buffer[self.read..];
            let before = rest.len();
            let frame = websocket::read(&mut rest)?;
            let taken = before - rest.len();
            let message = match frame {
                Some(Frame::Message(message)) => Ok(message.to_vec()),
                Some(Frame::Ping(bytes)) => Err(bytes.to_vec()),
                Some(Frame::Close) => return Err("the server has closed a connection".into()),
                None => {
                    self.buffer.drain(..self.read);
                    self.read = 0;
                    let count = self.stream.read_buf(&mut self.buffer).await?;
                    if count == 0 {
                        return Err("the server has broken a connection".into());
                    }
                    self.bytes += count as u64;
                    continue;
                }
            };
            self.read += taken;
            match message {
                Err(ping) => self.frame(Kind::Pong, &ping).await?,
                Ok(mut message) => {
                    self.messages += 1;
                    if let Some(name) = &self.name
                        && message.len() > name.len()
                    {
                        message.drain(..=name.len());
                    }
                    return Ok(message);
                }
            }
        }
    }

    async fn receive(&mut self) -> Result<Received> {
        loop {
            let message = self.message().await?;
            match (&*message, state_in(&message)) {
                ([0, 2, update @ ..], _) => return Ok(Received::Update(update.len())),
                ([1, ..], Some(number)) => return Ok(Received::State(number)),
                _ => {}
            }
        }
    }
}

impl Participant {
    async fn open(port: u16, document: &str) -> Result<(Client, usize)> {
        let (room, mut events) =
            Room::connect(&format!("ws://127.0.0.1:{port}"), Options::new(document))?;
        let text = room.channel("yjs", Qos::transaction().departures())?;
        let awareness = room.channel("yjs/awareness", Qos::awareness().rate(0, 25))?;
        let mut size = 0;
        loop {
            match events.next().await {
                Some(Event::Synced { channel: None }) => break,
                Some(Event::Snapshot { bytes, .. }) => size += bytes.len(),
                Some(Event::Message(message)) => size += message.bytes.len(),
                Some(Event::Error { error, fatal: true, .. }) => return Err(error.into()),
                Some(_) => {}
                None => return Err("a participant cannot join".into()),
            }
        }
        let one = Participant { room, events, document: text, awareness };
        Ok((Client::Participant(Box::new(one)), size))
    }

    async fn receive(&mut self) -> Result<Received> {
        loop {
            match self.events.next().await {
                Some(Event::Message(message)) if message.channel == self.document.id() => {
                    if message.departed.is_none() {
                        return Ok(Received::Update(message.bytes.len()));
                    }
                }
                Some(Event::Message(message)) => {
                    if let Some(number) = state_in(&message.bytes) {
                        return Ok(Received::State(number));
                    }
                }
                Some(_) => {}
                None => return Err("a participant has lost its room".into()),
            }
        }
    }
}
