//! A participant that runs the whole client until it has the room's state, and from then on only
//! counts the packets that come: elsewhere the processors of its own machine would decode them, and
//! here that would take the processors that the server needs.

use std::io;
use std::time::{Duration, Instant};

use groupwire_session::client::{Config, Event, Input, Output};
use groupwire_session::{Client, Qos};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::sleep_until;

use crate::fanout::frames::pong_to;
use crate::fanout::websocket::{self, Frame, Kind};

/// Bytes read at a time.
const READ: usize = 4 << 10;

/// See the [module](self).
pub(super) struct Counting {
    port: u16,
    client: Client,
    /// When the client's clock was 0.
    origin: Instant,
    transport: Option<Transport>,
    is_synced: bool,
    /// Packets that came after the room's state.
    packets: u64,
}

/// An open WebSocket.
struct Transport {
    stream: TcpStream,
    /// The beginning of a frame whose rest has not arrived yet.
    partial: Vec<u8>,
    /// Bytes to be sent.
    out: Vec<u8>,
}

impl Counting {
    /// A participant that will join. `None` if the options are wrong.
    pub(super) fn new(port: u16, config: Config, channel: &str) -> Option<Self> {
        let mut client = Client::new(Duration::ZERO, config).ok()?;
        client.channel(channel, Qos::transaction()).ok()?;
        let (origin, transport) = (Instant::now(), None);
        Some(Counting { port, client, origin, transport, is_synced: false, packets: 0 })
    }

    /// Joins, and stays until the server hangs up. `note` is called with each event before the
    /// packets are only counted.
    pub(super) async fn live(mut self, note: impl Fn(&Event)) -> io::Result<()> {
        while !self.is_synced {
            self.join(&note).await?;
        }
        let mut transport = self.transport.take().ok_or(io::ErrorKind::NotConnected)?;
        loop {
            transport.flush().await?;
            let (packets, origin) = (&mut self.packets, self.origin);
            transport
                .read(|packet, out| {
                    *packets += 1;
                    let micros = origin.elapsed().as_micros() as u64;
                    if let Some(pong) = pong_to(packet, micros) {
                        websocket::write(Kind::Binary, &pong, out);
                    }
                })
                .await?;
        }
    }

    /// Carries out what the client wants until it waits, and waits for one input.
    async fn join(&mut self, note: &impl Fn(&Event)) -> io::Result<()> {
        let due = loop {
            let now = self.origin.elapsed();
            match self.client.poll_output(now) {
                Output::Event(event) => {
                    note(&event);
                    self.is_synced |= matches!(event, Event::Synced { channel: None });
                }
                Output::Dial => {
                    self.transport = Transport::open(self.port).await.ok();
                    let input = match self.transport {
                        Some(_) => Input::Opened { max_datagram: 0 },
                        None => Input::Closed,
                    };
                    self.client.handle_input(self.origin.elapsed(), input);
                }
                Output::Send(packet) => {
                    if let Some(transport) = &mut self.transport {
                        websocket::write(Kind::Binary, &packet, &mut transport.out);
                    }
                    self.client.handle_input(now, Input::Sent);
                }
                Output::Datagram(_) => self.client.handle_input(now, Input::DatagramSent),
                Output::Hangup => {
                    self.transport = None;
                    self.client.handle_input(now, Input::Closed);
                }
                Output::Timeout(due) => break due,
            }
        };
        let timer = async {
            match due {
                Some(due) => sleep_until((self.origin + due).into()).await,
                None => std::future::pending().await,
            }
        };
        let Some(transport) = &mut self.transport else {
            timer.await;
            self.client.handle_input(self.origin.elapsed(), Input::Timeout);
            return Ok(());
        };
        let (client, origin) = (&mut self.client, self.origin);
        let reading = async {
            transport.flush().await?;
            if self.is_synced {
                return Ok(());
            }
            transport
                .read(|packet, _| client.handle_input(origin.elapsed(), Input::Packet(packet)))
                .await
        };
        tokio::select! {
            read = reading => if read.is_err() {
                self.transport = None;
                self.client.handle_input(origin.elapsed(), Input::Closed);
            },
            () = timer => self.client.handle_input(origin.elapsed(), Input::Timeout),
        }
        Ok(())
    }
}

impl Transport {
    async fn open(port: u16) -> io::Result<Self> {
        let (stream, partial) = websocket::open(port, "/ws").await?;
        Ok(Transport { stream, partial, out: Vec::new() })
    }

    async fn flush(&mut self) -> io::Result<()> {
        while !self.out.is_empty() {
            let written = self.stream.write(&self.out).await?;
            self.out.drain(..written);
        }
        Ok(())
    }

    /// Waits for bytes, and passes the packets that are complete. What is answered goes to the
    /// second argument. If the future is dropped, nothing is lost.
    async fn read(&mut self, mut take: impl FnMut(&[u8], &mut Vec<u8>)) -> io::Result<()> {
        self.stream.readable().await?;
        let mut space = [0; READ];
        match self.stream.try_read(&mut space) {
            Ok(0) => return Err(io::ErrorKind::ConnectionReset.into()),
            Ok(count) => self.partial.extend_from_slice(&space[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
        let mut rest = &self.partial[..];
        while let Some(frame) = websocket::read(&mut rest).map_err(io::Error::other)? {
            match frame {
                Frame::Message(packet) => take(packet, &mut self.out),
                Frame::Ping(payload) => websocket::write(Kind::Pong, payload, &mut self.out),
                Frame::Close => return Err(io::ErrorKind::ConnectionReset.into()),
            }
        }
        let read = self.partial.len() - rest.len();
        self.partial.drain(..read);
        Ok(())
    }
}
