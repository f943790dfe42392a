use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use groupwire_quic::Fate;
use groupwire_session::client::{
    ChannelId, Client, Config as ClientConfig, Event, Input, Outgoing, Output, Status,
};
use groupwire_session::{Error, PathNeeds, PresenceState, Qos};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, sleep_until, timeout};

use crate::access::{Admission, Answer, Authenticator, JoinRequest, Refusal};
use crate::ends::conn_info::ConnInfo;
use crate::ends::socket_writer::SocketWriter;
use crate::ends::{DatagramSink, Datagrams, Gone, Incoming, Receive, Transmit};
use crate::rooms::directory::Directory;
use crate::rooms::elsewhere::{Elsewhere, Place};
use crate::rooms::task::Message;
use crate::server::config::Config;
use crate::server::services::{Services, room_context};
use crate::transport::serve::serve;

/// All rooms are on another server.
struct AllThere(UnboundedSender<Message>);

impl Elsewhere for AllThere {
    fn place(&self, _: &str) -> Place {
        Place::There(self.0.clone())
    }
}

/// Admits everybody whose token begins with `ada`, as the user ada.
struct OnlyAda;

impl Authenticator for OnlyAda {
    fn authenticate<'a>(&'a self, request: JoinRequest<'a>) -> Answer<'a> {
        Box::pin(async move {
            match request.token.starts_with(b"ada") {
                true => {
                    let identity =
                        groupwire_session::Identity { subject: b"ada".to_vec(), rights: vec![7] };
                    Ok(Admission { identity, ..Admission::default() })
                }
                false => Err(Refusal::Refused("only ada may join".into())),
            }
        })
    }
}

/// An edge and the owner of all rooms, joined by a connection.
struct Cluster {
    edge: Services,
    owner: Services,
    owning: tokio::task::JoinHandle<()>,
    passing: tokio::task::JoinHandle<()>,
}

impl Cluster {
    fn new() -> Self {
        let config = || Config { authenticator: Arc::new(OnlyAda), ..Config::default() };
        let owner = Services::new(config(), None, None).unwrap();
        let (sender, messages) = mpsc::unbounded_channel();
        let mut context = room_context(&config()).unwrap();
        context.elsewhere = Some(Arc::new(AllThere(sender)));
        let edge = Services::of(config(), context, None, None).unwrap();
        let (here, there) = tokio::io::duplex(64 << 10);
        let rooms: Arc<Directory> = Arc::clone(&owner.rooms);
        let owning =
            tokio::spawn(async move { super::owner::serve(there, &rooms, "b").await.unwrap() });
        let connecting = async { Ok(here) };
        let passing = tokio::spawn(super::edge::run(connecting, messages, ("a", "b"), 1 << 20));
        Cluster { edge, owner, owning, passing }
    }
}

/// The server's ends of a transport in memory.
struct End {
    packets: UnboundedReceiver<Incoming>,
    out: UnboundedSender<Incoming>,
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
struct Person {
    client: Client,
    started: Instant,
    transport: Option<(UnboundedSender<Incoming>, UnboundedReceiver<Incoming>)>,
}

impl Person {
    fn new(token: &[u8]) -> Self {
        let config = ClientConfig { token: token.to_vec(), ..ClientConfig::new("demo") };
        let client = Client::new(Duration::ZERO, config).unwrap();
        Person { client, started: Instant::now(), transport: None }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// The next event, while the client is connected to this server.
    async fn event(&mut self, server: &Services) -> Event {
        let waited = timeout(Duration::from_secs(20), self.run(server)).await;
        waited.expect("an event is due")
    }

    async fn run(&mut self, server: &Services) -> Event {
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
        let end = End { packets, out: out.clone() };
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
    async fn until<T>(&mut self, server: &Services, wanted: impl Fn(Event) -> Option<T>) -> T {
        loop {
            if let Some(found) = wanted(self.event(server).await) {
                return found;
            }
        }
    }
}

impl Person {
    /// Opens a channel, and waits until the room has opened it.
    async fn open(&mut self, server: &Services, name: &str, qos: Qos) -> ChannelId {
        let opened = self.client.channel(name, qos).unwrap();
        let is_open = |event| matches!(event, Event::Opened { channel, .. } if channel == opened);
        self.until(server, |event| is_open(event).then_some(())).await;
        opened
    }

    fn send(&mut self, channel: ChannelId, bytes: &[u8]) {
        let message = Outgoing { bytes, ..Outgoing::default() };
        self.client.send(self.now(), channel, message).unwrap();
    }

    async fn message(&mut self, server: &Services) -> Vec<u8> {
        self.until(server, |event| match event {
            Event::Message(message) => Some(message.bytes),
            _ => None,
        })
        .await
    }
}

#[tokio::test]
async fn messages_go_between_clients_of_the_edge_and_of_the_owner() {
    let cluster = Cluster::new();
    let Cluster { edge, owner, .. } = &cluster;
    let (mut ada, mut bob, mut eve) =
        (Person::new(b"ada"), Person::new(b"ada"), Person::new(b"ada"));
    let text = ada.open(edge, "text", Qos::transaction()).await;
    let pointers = ada.open(edge, "pointers", Qos::awareness()).await;
    for (person, server) in [(&mut bob, edge), (&mut eve, owner)] {
        person.open(server, "text", Qos::transaction()).await;
        person.open(server, "pointers", Qos::awareness()).await;
    }
    for round in 0..20_u8 {
        ada.send(text, &[round; 300]);
        ada.send(pointers, &[round]);
        let (mut here, mut there) = (Vec::new(), Vec::new());
        let own = async { assert_eq!(ada.message(edge).await, [round; 300]) };
        let others = async {
            for _ in 0..2 {
                here.push(bob.message(edge).await);
                there.push(eve.message(owner).await);
            }
        };
        tokio::join!(own, others);
        for received in [&mut here, &mut there] {
            received.sort();
            assert_eq!(received[..], [vec![round], vec![round; 300]]);
        }
    }
    assert_eq!(owner.rooms.names(), ["demo"]);
    assert!(edge.rooms.names().is_empty(), "the edge has no room");
    drop(cluster);
}

#[tokio::test]
async fn the_edge_checks_tokens_and_the_owner_closes_connections() {
    let cluster = Cluster::new();
    let Cluster { edge, owner, .. } = &cluster;
    let refused = |event| match event {
        Event::Error { error, fatal: true, .. } => Some(error.name()),
        _ => None,
    };
    assert_eq!(Person::new(b"bob").until(edge, refused).await, "refused");
    assert!(owner.rooms.names().is_empty(), "the owner never heard of bob");
    let mut ada = Person::new(b"ada");
    ada.open(edge, "text", Qos::transaction()).await;
    let participant = ada.client.participant().unwrap();
    let user = owner.rooms.with_room("demo", move |driver, now| {
        let user = driver.room.identity_of(participant).and_then(|it| it.user().map(String::from));
        driver.fail(participant, Error::Banned { why: "for a test".to_owned() }, now);
        user
    });
    assert_eq!(user.await.flatten().as_deref(), Some("ada"));
    assert_eq!(ada.until(edge, refused).await, "banned");
}

#[tokio::test]
async fn whose_owner_is_gone_is_told_when_to_come_back() {
    let cluster = Cluster::new();
    let mut ada = Person::new(b"ada");
    ada.open(&cluster.edge, "text", Qos::transaction()).await;
    cluster.owning.abort();
    let reconnects = |event| (event == Event::Status(Status::Reconnecting)).then_some(());
    ada.until(&cluster.edge, reconnects).await;
    cluster.passing.await.unwrap();
    // Nobody takes the room over here, so that the next attempt fails as well.
    ada.until(&cluster.edge, reconnects).await;
}

#[tokio::test]
async fn a_client_of_the_edge_that_leaves_is_gone_from_the_room() {
    let cluster = Cluster::new();
    let Cluster { edge, owner, .. } = &cluster;
    let (mut ada, mut eve) = (Person::new(b"ada"), Person::new(b"ada"));
    ada.open(edge, "text", Qos::transaction()).await;
    eve.open(owner, "text", Qos::transaction()).await;
    ada.client.leave();
    let closed = |event| (event == Event::Status(Status::Closed)).then_some(());
    ada.until(edge, closed).await;
    let gone = ada.client.participant();
    let leaves = |event| match event {
        Event::Participants { changes, .. } => changes
            .iter()
            .any(|one| Some(one.id) == gone && one.state != PresenceState::Here)
            .then_some(()),
        _ => None,
    };
    eve.until(owner, leaves).await;
}
