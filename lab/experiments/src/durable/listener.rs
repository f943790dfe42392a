//! A client that only listens: keeps the packets that come and decodes them when all is over. Five
//! hundred clients that decode at once would take the processors that the server needs.

use std::io;
use std::time::{Duration, Instant};

use groupwire_session::client::{Config, Event, Input, Output};
use groupwire_session::{Client, Qos};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::people::CHANNEL;
use crate::fanout::frames::pong_to;
use crate::fanout::websocket::{self, Frame, Kind};

/// Bytes read at a time.
const READ: usize = 16 << 10;

/// A transaction that arrived: the time, its position, and its text.
pub(crate) struct Came {
    pub(crate) at: Instant,
    pub(crate) position: u64,
    pub(crate) text: Vec<u8>,
}

pub(crate) struct Listener {
    stream: TcpStream,
    /// The beginning of a frame whose rest has not arrived yet.
    partial: Vec<u8>,
    /// Bytes to be sent.
    out: Vec<u8>,
    client: Client,
    /// When the client's clock was 0.
    origin: Instant,
    is_synced: bool,
    came: Vec<Came>,
    /// When each kept packet came, and where in `bytes` it ends.
    kept: Vec<(Instant, usize)>,
    bytes: Vec<u8>,
}

impl Listener {
    /// Joins a room, and waits for its state.
    pub(crate) async fn join(port: u16, room: &str, number: u32) -> Result<Self, String> {
        let config = Config { seed: u64::from(number) + 1, ..Config::new(room) };
        let mut client = Client::new(Duration::ZERO, config).map_err(|error| error.to_string())?;
        client.channel(CHANNEL, Qos::transaction()).map_err(|error| error.to_string())?;
        let opened = websocket::open(port, "/ws").await.map_err(|error| error.to_string())?;
        let (stream, first) = opened;
        let mut listener = Listener {
            stream,
            partial: Vec::new(),
            out: Vec::new(),
            client,
            origin: Instant::now(),
            is_synced: false,
            came: Vec::new(),
            kept: Vec::new(),
            bytes: Vec::new(),
        };
        // The client asks for a transport before it accepts one.
        listener.poll(listener.origin)?;
        listener.input(listener.origin, Input::Opened { max_datagram: 0 })?;
        listener.take(&first)?;
        while !listener.is_synced {
            let due = listener.poll(Instant::now())?;
            listener.flush().await?;
            let timer = async {
                match due {
                    Some(due) => tokio::time::sleep_until((listener.origin + due).into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                readable = listener.stream.readable() => {
                    readable.map_err(|error| error.to_string())?;
                    listener.read()?;
                }
                () = timer => listener.input(Instant::now(), Input::Timeout)?,
            }
        }
        listener.flush().await?;
        Ok(listener)
    }

    /// Keeps the bytes that arrive. If the future is dropped, nothing is lost.
    pub(crate) async fn listen(&mut self) -> Result<(), String> {
        loop {
            self.flush().await?;
            self.stream.readable().await.map_err(|error| error.to_string())?;
            self.read()?;
        }
    }

    /// Decodes the kept packets, and returns all transactions in them.
    pub(crate) fn finish(mut self) -> Result<Vec<Came>, String> {
        let (bytes, mut start) = (std::mem::take(&mut self.bytes), 0);
        for (at, end) in std::mem::take(&mut self.kept) {
            self.input(at, Input::Packet(&bytes[start..end]))?;
            start = end;
        }
        Ok(self.came)
    }

    fn read(&mut self) -> Result<(), String> {
        let mut space = [0; READ];
        match self.stream.try_read(&mut space) {
            Ok(0) => Err("the server hung up".to_owned()),
            Ok(count) => self.take(&space[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let at = Instant::now();
        let mut all = std::mem::take(&mut self.partial);
        all.extend_from_slice(bytes);
        let mut rest = &all[..];
        while let Some(frame) = websocket::read(&mut rest)? {
            match frame {
                Frame::Message(packet) if self.is_synced => self.keep(at, packet),
                Frame::Message(packet) => self.input(at, Input::Packet(packet))?,
                Frame::Ping(payload) => websocket::write(Kind::Pong, payload, &mut self.out),
                Frame::Close => return Err("the server closed the connection".to_owned()),
            }
        }
        self.partial = rest.to_vec();
        Ok(())
    }

    fn keep(&mut self, at: Instant, packet: &[u8]) {
        let micros = (at - self.origin).as_micros() as u64;
        if let Some(pong) = pong_to(packet, micros) {
            websocket::write(Kind::Binary, &pong, &mut self.out);
        }
        self.bytes.extend_from_slice(packet);
        self.kept.push((at, self.bytes.len()));
    }

    async fn flush(&mut self) -> Result<(), String> {
        if !self.out.is_empty() {
            // The kernel's buffer always has room for the few bytes that a listener sends.
            let sent = self.stream.write_all(&self.out).await;
            self.out.clear();
            sent.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn input(&mut self, at: Instant, input: Input<'_>) -> Result<(), String> {
        self.client.handle_input(at - self.origin, input);
        self.poll(at).map(drop)
    }

    /// Carries out the client's outputs. Returns the time of its next timeout.
    fn poll(&mut self, at: Instant) -> Result<Option<Duration>, String> {
        let now = at - self.origin;
        loop {
            match self.client.poll_output(now) {
                Output::Send(packet) => {
                    websocket::write(Kind::Binary, &packet, &mut self.out);
                    self.client.handle_input(now, Input::Sent);
                }
                Output::Event(event) => self.note(at, event)?,
                Output::Dial if self.is_synced => return Err("the session broke".to_owned()),
                Output::Timeout(due) => return Ok(due),
                _ => {}
            }
        }
    }

    fn note(&mut self, at: Instant, event: Event) -> Result<(), String> {
        match event {
            Event::Message(message) => {
                let position = message.position.get();
                self.came.push(Came { at, position, text: message.bytes });
            }
            Event::Synced { .. } => self.is_synced = true,
            Event::Gap { reason, .. } => return Err(format!("gap: {reason:?}")),
            Event::Error { error, .. } => return Err(error.to_string()),
            _ => {}
        }
        Ok(())
    }
}
