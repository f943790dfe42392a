//! A client with a transport in memory, for tests of clusters.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use groupwire_quic::Fate;
use groupwire_session::client::{
    ChannelId, Client, Config as ClientConfig, Event, Input, Outgoing, Output,
};
use groupwire_session::{Error, PathNeeds, Qos};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, sleep_until, timeout};

use crate::ends::conn_info::ConnInfo;
use crate::ends::socket_writer::SocketWriter;
use crate::ends::{DatagramSink, Datagrams, Gone, Incoming, Receive, Transmit};
use crate::server::services::Services;
use crate::transport::serve::serve;

/// The server's ends of a transport in memory.
struct End {
    packets: UnboundedReceiver<Incoming>,
}

struct Writer(UnboundedSender<Incoming>);

impl Receive for End {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        Ok(self.packets.recv().await)
    }
}

impl Transmit for Writer {
    fn socket_writer(&self) -> Option<Arc<SocketWriter>> {
        None
    }

    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        self.0.send(Incoming::Packet(packet.into())).map_err(|_| Gone)
    }

    async fn close(&mut self, packet: Vec<u8>, _: Option<&Error>) {
        let _ = self.0.send(Incoming::Packet(packet.into()));
    }
}

impl Datagrams for Writer {
    async fn send(&mut self, packet: Vec<u8>, _: PathNeeds) -> Fate {
        match self.0.send(Incoming::Datagram(packet.into())) {
            Ok(()) => Fate::Sent,
            Err(_) => Fate::Dropped,
        }
    }

    fn sink(&self) -> DatagramSink {
        let out = self.0.clone();
        Box::new(move |parts| drop(out.send(Incoming::Datagram(parts.concat().into()))))
    }
}

/// A client, with a transport in memory.
pub(super) struct Person {
    pub(super) client: Client,
    started: Instant,
    transport: Option<(UnboundedSender<Incoming>, UnboundedReceiver<Incoming>)>,
}

impl Person {
    pub(super) fn new(token: &[u8]) -> Self {
        let config = ClientConfig { token: token.to_vec(), ..ClientConfig::new("demo") };
        let client = Client::new(Duration::ZERO, config).unwrap();
        Person { client, started: Instant::now(), transport: None }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// The next event, while the client is connected to this server.
    pub(super) async fn event(&mut self, server: &Services) -> Event {
        let waited = timeout(Duration::from_secs(20), self.run(server)).await;
        waited.expect("an event is due")
    }

    pub(super) async fn run(&mut self, server: &Services) -> Event {
        loop {
            let now = self.now();
            let due = match self.client.poll_output(now) {
                Output::Dial => {
                    self.dial(server);
                    continue;
                }
                Output::Send(packet) => {
                    self.put(Incoming::Packet(packet.into()));
                    self.client.handle_input(now, Input::Sent);
                    continue;
                }
                Output::Datagram(packet) => {
                    self.put(Incoming::Datagram(packet.into()));
                    self.client.handle_input(now, Input::DatagramSent);
                    continue;
                }
                Output::Hangup => {
                    self.transport = None;
                    self.client.handle_input(now, Input::Closed);
                    continue;
                }
                Output::Event(event) => return event,
                Output::Timeout(due) => due,
            };
            let started = self.started;
            let alarm = async {
                match due {
                    Some(due) => sleep_until(started + due).await,
                    None => pending().await,
                }
            };
            let received = async {
                match &mut self.transport {
                    Some((_, received)) => received.recv().await,
                    None => pending().await,
                }
            };
            let received = tokio::select! {
                received = received => Some(received),
                () = alarm => None,
            };
            let now = self.now();
            match received {
                None => self.client.handle_input(now, Input::Timeout),
                Some(None) => {
                    self.transport = None;
                    self.client.handle_input(now, Input::Closed);
                }
                Some(Some(Incoming::Packet(packet))) => {
                    self.client.handle_input(now, Input::Packet(&packet));
                }
                Some(Some(Incoming::Datagram(packet))) => {
                    self.client.handle_input(now, Input::Datagram(&packet));
                }
            }
        }
    }

    fn dial(&mut self, server: &Services) {
        let (to_server, packets) = mpsc::unbounded_channel();
        let (out, from_server) = mpsc::unbounded_channel();
        let info = ConnInfo { transport: "WebTransport", path: None };
        let end = End { packets };
        let (writer, datagrams) = (Writer(out.clone()), Some((Writer(out), 1200)));
        let context = Arc::clone(&server.transports);
        tokio::spawn(async move { serve(context, info, end, writer, datagrams).await });
        self.transport = Some((to_server, from_server));
        self.client.handle_input(self.now(), Input::Opened { max_datagram: 1200 });
    }

    fn put(&mut self, what: Incoming) {
        if let Some((to_server, _)) = &self.transport {
            let _ = to_server.send(what);
        }
    }

    /// Waits for the first event that `wanted` makes something of.
    pub(super) async fn until<T>(
        &mut self,
        server: &Services,
        mut wanted: impl FnMut(Event) -> Option<T>,
    ) -> T {
        loop {
            if let Some(found) = wanted(self.event(server).await) {
                return found;
            }
        }
    }
}

impl Person {
    /// Opens a channel, and waits until the room has opened it.
    pub(super) async fn open(&mut self, server: &Services, name: &str, qos: Qos) -> ChannelId {
        let opened = self.client.channel(name, qos).unwrap();
        let is_open = |event| matches!(event, Event::Opened { channel, .. } if channel == opened);
        self.until(server, |event| is_open(event).then_some(())).await;
        opened
    }

    pub(super) fn send(&mut self, channel: ChannelId, bytes: &[u8]) {
        let message = Outgoing { bytes, ..Outgoing::default() };
        self.client.send(self.now(), channel, message).unwrap();
    }

    pub(super) async fn message(&mut self, server: &Services) -> Vec<u8> {
        self.until(server, |event| match event {
            Event::Message(message) => Some(message.bytes),
            _ => None,
        })
        .await
    }
}
