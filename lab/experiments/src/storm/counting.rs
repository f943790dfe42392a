//! A participant that runs the whole client until it has the room's state, and from then on only
//! counts the packets that come: elsewhere the processors of its own machine would decode them, and
//! here that would take the processors that the server needs.

use std::io;
use std::time::{Duration, Instant};

use groupwire_session::client::{Config, Event, Input, Output};
use groupwire_session::{Client, Qos};
use tokio::time::sleep_until;

use crate::fanout::frames::pong_to;
use crate::fanout::websocket::Socket;

/// See the [module](self).
pub(super) struct Counting {
    port: u16,
    client: Client,
    /// When the client's clock was 0.
    origin: Instant,
    socket: Option<Socket>,
    is_synced: bool,
    /// Packets that came after the room's state.
    packets: u64,
}

impl Counting {
    /// A participant that will join. `None` if the options are wrong.
    pub(super) fn new(port: u16, config: Config, channel: &str) -> Option<Self> {
        let mut client = Client::new(Duration::ZERO, config).ok()?;
        client.channel(channel, Qos::transaction()).ok()?;
        let (origin, socket) = (Instant::now(), None);
        Some(Counting { port, client, origin, socket, is_synced: false, packets: 0 })
    }

    /// Joins, and stays until the server hangs up. `note` is called with each event before the
    /// packets are only counted.
    pub(super) async fn live(mut self, note: impl Fn(&Event)) -> io::Result<()> {
        while !self.is_synced {
            self.join(&note).await?;
        }
        let mut socket = self.socket.take().ok_or(io::ErrorKind::NotConnected)?;
        loop {
            socket.flush().await?;
            let (packets, origin) = (&mut self.packets, self.origin);
            let count = |packet: &[u8]| {
                *packets += 1;
                pong_to(packet, origin.elapsed().as_micros() as u64)
            };
            socket.read(count).await?;
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
                    self.socket = Socket::open(self.port).await.ok();
                    let input = match self.socket {
                        Some(_) => Input::Opened { max_datagram: 0 },
                        None => Input::Closed,
                    };
                    self.client.handle_input(self.origin.elapsed(), input);
                }
                Output::Send(packet) => {
                    if let Some(socket) = &mut self.socket {
                        socket.queue(&packet);
                    }
                    self.client.handle_input(now, Input::Sent);
                }
                Output::Datagram(_) => self.client.handle_input(now, Input::DatagramSent),
                Output::Hangup => {
                    self.socket = None;
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
        let Some(socket) = &mut self.socket else {
            timer.await;
            self.client.handle_input(self.origin.elapsed(), Input::Timeout);
            return Ok(());
        };
        let (client, origin) = (&mut self.client, self.origin);
        let reading = async {
            socket.flush().await?;
            if self.is_synced {
                return Ok(());
            }
            let take = |packet: &[u8]| {
                client.handle_input(origin.elapsed(), Input::Packet(packet));
                None
            };
            socket.read(take).await
        };
        tokio::select! {
            read = reading => if read.is_err() {
                self.socket = None;
                self.client.handle_input(origin.elapsed(), Input::Closed);
            },
            () = timer => self.client.handle_input(origin.elapsed(), Input::Timeout),
        }
        Ok(())
    }
}
