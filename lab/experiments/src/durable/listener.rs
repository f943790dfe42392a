//! A client that only listens: keeps the packets that come and decodes them when all is over. Five
//! hundred clients that decode at once would take the processors that the server needs.

use std::time::{Duration, Instant};

use groupwire_session::client::{Config, Event, Input, Output};
use groupwire_session::{Client, Qos};

use super::people::CHANNEL;
use crate::fanout::frames::pong_to;
use crate::fanout::websocket::Socket;

/// A transaction that arrived: the time, its position, and its text.
pub(crate) struct Came {
    pub(crate) at: Instant,
    pub(crate) position: u64,
    pub(crate) text: Vec<u8>,
}

pub(crate) struct Listener {
    socket: Socket,
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
        let socket = Socket::open(port).await.map_err(|error| error.to_string())?;
        let mut listener = Listener {
            socket,
            client,
            origin: Instant::now(),
            is_synced: false,
            came: Vec::new(),
            kept: Vec::new(),
            bytes: Vec::new(),
        };
        // The client asks for a transport before it accepts one.
        listener.poll(listener.origin)?;
        listener.client.handle_input(Duration::ZERO, Input::Opened { max_datagram: 0 });
        loop {
            let due = listener.poll(Instant::now())?;
            listener.flush().await?;
            if listener.is_synced {
                return Ok(listener);
            }
            let (client, origin) = (&mut listener.client, listener.origin);
            let timer = async {
                match due {
                    Some(due) => tokio::time::sleep_until((origin + due).into()).await,
                    None => std::future::pending().await,
                }
            };
            let take = |packet: &[u8]| {
                client.handle_input(origin.elapsed(), Input::Packet(packet));
                None
            };
            tokio::select! {
                read = listener.socket.read(take) => read.map_err(|error| error.to_string())?,
                () = timer => listener.client.handle_input(origin.elapsed(), Input::Timeout),
            }
        }
    }

    /// Keeps the packets that arrive. If the future is dropped, nothing is lost.
    pub(crate) async fn listen(&mut self) -> Result<(), String> {
        loop {
            self.flush().await?;
            let (origin, kept, bytes) = (self.origin, &mut self.kept, &mut self.bytes);
            let keep = |packet: &[u8]| {
                let at = Instant::now();
                bytes.extend_from_slice(packet);
                kept.push((at, bytes.len()));
                pong_to(packet, (at - origin).as_micros() as u64)
            };
            self.socket.read(keep).await.map_err(|error| error.to_string())?;
        }
    }

    /// Decodes the kept packets, and returns all transactions in them.
    pub(crate) fn finish(mut self) -> Result<Vec<Came>, String> {
        let (bytes, mut start) = (std::mem::take(&mut self.bytes), 0);
        for (at, end) in std::mem::take(&mut self.kept) {
            self.client.handle_input(at - self.origin, Input::Packet(&bytes[start..end]));
            self.poll(at)?;
            start = end;
        }
        Ok(self.came)
    }

    async fn flush(&mut self) -> Result<(), String> {
        self.socket.flush().await.map_err(|error| error.to_string())
    }

    /// Carries out the client's outputs. Returns the time of its next timeout.
    fn poll(&mut self, at: Instant) -> Result<Option<Duration>, String> {
        let now = at - self.origin;
        loop {
            match self.client.poll_output(now) {
                Output::Send(packet) => {
                    self.socket.queue(&packet);
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
