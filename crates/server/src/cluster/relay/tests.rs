use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use groupwire_session::client::{Event, Status};
use groupwire_session::{Error, Owner, PresenceState, Qos};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::{self, UnboundedSender};

use super::super::person::Person;
use super::direct::Direct;
use super::frames::{Join, ToOwner};
use super::greeting::greet;
use super::owner::Host;
use crate::access::{Admission, Answer, Authenticator, JoinRequest, Refusal};
use crate::ends::framing::{Framed, framed};
use crate::ends::hello::hello;
use crate::rooms::directory::Directory;
use crate::rooms::elsewhere::{Elsewhere, Place};
use crate::rooms::task::Message;
use crate::server::config::Config;
use crate::server::services::{Foundation, Services};

/// All rooms are on another server.
struct AllThere(UnboundedSender<Message>);

impl Elsewhere for AllThere {
    fn place(&self, _: &str) -> Place {
        Place::There(self.0.clone())
    }
}

/// All rooms are on another server, and this one mirrors them.
struct AllMirrored(UnboundedSender<Message>);

impl Elsewhere for AllMirrored {
    fn place(&self, _: &str) -> Place {
        Place::Mirrored(self.0.clone())
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

fn host(services: &Services, direct: Option<Direct>) -> Host {
    let directory: Arc<Directory> = Arc::clone(&services.rooms);
    Host { name: "b".to_owned(), directory, counters: Arc::default(), direct }
}

impl Cluster {
    fn new() -> Self {
        Self::with(|sender| Arc::new(AllThere(sender)))
    }

    /// The edge mirrors the rooms of the owner.
    fn mirrored() -> Self {
        Self::with(|sender| Arc::new(AllMirrored(sender)))
    }

    fn with(elsewhere: impl FnOnce(UnboundedSender<Message>) -> Arc<dyn Elsewhere>) -> Self {
        let config = || Config { authenticator: Arc::new(OnlyAda), ..Config::default() };
        let owner = Services::new(config(), None, None).unwrap();
        let (sender, messages) = mpsc::unbounded_channel();
        let mut foundation = Foundation::open(&config()).unwrap();
        foundation.elsewhere = Some(elsewhere(sender));
        let edge = Services::on(config(), foundation, None, None).unwrap();
        let (here, there) = tokio::io::duplex(64 << 10);
        let direct = Direct::new("https://gw-1".to_owned(), 443, Duration::from_millis(2));
        let host = host(&owner, Some(direct));
        let owning = tokio::spawn(async move { super::owner::serve(there, &host).await.unwrap() });
        let connecting = async { Ok(here) };
        let passing = tokio::spawn(super::edge::run(
            connecting,
            messages,
            ("a", "b"),
            1 << 20,
            Arc::default(),
        ));
        Cluster { edge, owner, owning, passing }
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

/// W117: only a client of the edge is told where the owner is.
#[tokio::test]
async fn w117_a_client_of_the_edge_is_told_where_the_owner_is() {
    let cluster = Cluster::new();
    let Cluster { edge, owner, .. } = &cluster;
    let told = async |server| {
        let mut ada = Person::new(b"ada");
        let text = ada.open(server, "text", Qos::transaction()).await;
        ada.send(text, b"1");
        let mut told = None;
        let until_ordered = |event| match event {
            Event::Owner(owner) => {
                told = Some(owner);
                None
            }
            Event::Pending { count: 0 } => Some(()),
            _ => None,
        };
        ada.until(server, until_ordered).await;
        told
    };
    let address = "https://gw-1".to_owned();
    let after = Duration::from_secs(1);
    assert_eq!(told(edge).await, Some(Owner { after, address, port: 443 }));
    assert_eq!(told(owner).await, None);
    drop(cluster);
}

/// Everybody at the edge is served by a mirror, which the owner lets in, and which ends with them.
#[tokio::test]
async fn a_mirror_serves_the_clients_of_the_edge() {
    let cluster = Cluster::mirrored();
    let Cluster { edge, owner, .. } = &cluster;
    let (mut ada, mut bob, mut eve) =
        (Person::new(b"ada"), Person::new(b"ada"), Person::new(b"ada"));
    let mut channels = Vec::new();
    for (person, server) in [(&mut ada, edge), (&mut bob, edge), (&mut eve, owner)] {
        let text = person.open(server, "text", Qos::transaction()).await;
        channels.push((text, person.open(server, "pointers", Qos::awareness()).await));
    }
    for round in 0..20_u8 {
        for (person, (text, pointers)) in [&mut ada, &mut bob, &mut eve].into_iter().zip(&channels)
        {
            person.send(*text, &[round; 300]);
            person.send(*pointers, &[round]);
        }
        let hear = async |person: &mut Person, server| {
            let mut heard = Vec::new();
            for _ in 0..5 {
                heard.push(person.message(server).await);
            }
            heard.sort();
            let value = vec![round];
            let line = vec![round; 300];
            assert_eq!(heard, [&value, &value, &line, &line, &line].map(Vec::clone));
        };
        tokio::join!(hear(&mut ada, edge), hear(&mut bob, edge), hear(&mut eve, owner));
    }
    assert_eq!(owner.rooms.names(), ["demo"]);
    assert!(edge.rooms.names().is_empty(), "a mirror is no room of the edge");
    let here = async |server: &Services| server.rooms.stats().await.1.here;
    assert_eq!((here(edge).await, here(owner).await), (2, 1));
    // The owner tells users and closes connections, as in the case of clients of its own.
    ban(&ada, owner).await;
    assert_eq!(ada.until(edge, refused).await, "banned");
    cluster.owning.abort();
    let reconnects = |event| (event == Event::Status(Status::Reconnecting)).then_some(());
    bob.until(edge, reconnects).await;
}

/// The owner of the room knows the person as the user ada, and bans it.
async fn ban(person: &Person, owner: &Services) {
    let participant = person.client.participant().unwrap();
    let user = owner.rooms.with_room("demo", move |driver, now| {
        let user = driver.room.identity_of(participant).and_then(|it| it.user().map(String::from));
        driver.fail(participant, Error::Banned { why: "for a test".to_owned() }, now);
        user
    });
    assert_eq!(user.await.flatten().as_deref(), Some("ada"));
}

/// The name of the error that ended a person's session.
fn refused(event: Event) -> Option<&'static str> {
    match event {
        Event::Error { error, fatal: true, .. } => Some(error.name()),
        _ => None,
    }
}

#[tokio::test]
async fn the_edge_checks_tokens_and_the_owner_closes_connections() {
    let cluster = Cluster::new();
    let Cluster { edge, owner, .. } = &cluster;
    assert_eq!(Person::new(b"bob").until(edge, refused).await, "refused");
    assert!(owner.rooms.names().is_empty(), "the owner never heard of bob");
    let mut ada = Person::new(b"ada");
    ada.open(edge, "text", Qos::transaction()).await;
    ban(&ada, owner).await;
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

#[tokio::test]
async fn an_edge_that_floods_a_room_is_disconnected() {
    let services = Services::new(Config::default(), None, None).unwrap();
    let rooms = Arc::clone(&services.rooms);
    // The room's task handles nothing.
    let (sender, mut room) = mpsc::unbounded_channel();
    rooms.add("demo", sender);
    let (here, there) = tokio::io::duplex(64 << 10);
    let host = host(&services, None);
    let owning = tokio::spawn(async move {
        super::owner::serve(there, &host).await.unwrap();
    });
    let (read, mut write) = tokio::io::split(here);
    let mut frames = Framed::new(read, 1 << 20);
    greet(&mut write, &mut frames, ("a", "b")).await.unwrap();
    let mut send = async |frame: ToOwner| {
        let mut bytes = Vec::new();
        frame.write(&mut bytes);
        write.write_all(&framed(&bytes)).await
    };
    let join = Join {
        link: 1,
        transport: 1,
        is_own: false,
        max_datagram: 0,
        identity: Default::default(),
        opening: hello("demo", 0),
    };
    send(ToOwner::Join(join)).await.unwrap();
    let packet = || ToOwner::Packet { link: 1, packet: Bytes::from_static(b"packet") };
    while send(packet()).await.is_ok() {}
    owning.await.unwrap();
    let waiting = std::iter::from_fn(|| room.try_recv().ok()).count();
    assert!(waiting < 100, "{waiting}");
}
