//! What clients of a server that stops are told.

use std::future::pending;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use groupwire_server::session::client::{Client, Config as ClientConfig, Input, Output};
use groupwire_server::session::goodbye;
use groupwire_server::{Answer, Authenticator, Config, DrainConfig, JoinRequest, Server};
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use crate::support::PATIENCE;
use crate::support::wire::{Wire, socket};

/// The first packet of a client.
fn opening(room: &str) -> Vec<u8> {
    let now = Duration::ZERO;
    let mut client = Client::new(now, ClientConfig::new(room)).unwrap();
    loop {
        match client.poll_output(now) {
            Output::Dial => client.handle_input(now, Input::Opened { max_datagram: 0 }),
            Output::Send(packet) => return packet,
            _ => {}
        }
    }
}

/// Sends the first packet, and waits for the answer.
async fn join(wire: &mut Wire, room: &str) -> Vec<u8> {
    wire.outgoing.send(opening(room)).await.unwrap();
    timeout(PATIENCE, wire.incoming.recv()).await.unwrap().unwrap()
}

/// The last packet of a connection.
async fn last(wire: &mut Wire) -> Vec<u8> {
    let mut last = Vec::new();
    while let Some(packet) = timeout(PATIENCE, wire.incoming.recv()).await.unwrap() {
        last = packet;
    }
    last
}

#[tokio::test]
async fn clients_are_told_to_come_back_one_after_the_other_and_late_ones_after_them() {
    let listen = ([127, 0, 0, 1], 0).into();
    let joins_per_second = NonZeroU32::new(2).unwrap();
    let drain = DrainConfig { joins_per_second, ..DrainConfig::default() };
    let config =
        Config { listen, socket: Some(listen), webtransport: None, drain, ..Config::default() };
    let server = Server::bind(config).await.unwrap();
    let address = server.socket_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async move { drop(stopped.await) }));
    let mut people = Vec::new();
    for room in ["a", "b", "a"] {
        let mut wire = socket(address).await;
        join(&mut wire, room).await;
        people.push(wire);
    }
    // `late` has a connection, and joins only after the server has said goodbye.
    let mut late = socket(address).await;
    let mut other = socket(address).await;
    join(&mut other, "c").await;
    stop.send(()).unwrap();
    let mut told = Vec::new();
    for wire in people.iter_mut().chain([&mut other]) {
        told.push(last(wire).await);
    }
    told.sort();
    let mut expected: Vec<_> =
        [300, 800, 1300, 1800].map(|ms| goodbye(Duration::from_millis(ms))[1..].to_vec()).into();
    expected.sort();
    assert_eq!(told, expected);
    let answer = join(&mut late, "a").await;
    assert_eq!(answer, goodbye(Duration::from_millis(2300)));
    timeout(PATIENCE, running).await.unwrap().unwrap().unwrap();
}

/// A hook that never answers. Tells when it is asked.
#[derive(Default)]
struct Hanging(Notify);

impl Authenticator for Hanging {
    fn authenticate<'a>(&'a self, _: JoinRequest<'a>) -> Answer<'a> {
        self.0.notify_one();
        Box::pin(pending())
    }
}

#[tokio::test]
async fn a_server_that_stops_does_not_wait_for_a_hook_that_hangs() {
    let listen = ([127, 0, 0, 1], 0).into();
    let hook = Arc::new(Hanging::default());
    let authenticator = Arc::clone(&hook) as Arc<dyn Authenticator>;
    let config = Config { listen, socket: Some(listen), authenticator, ..Config::default() };
    let server = Server::bind(Config { webtransport: None, ..config }).await.unwrap();
    let address = server.socket_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async move { drop(stopped.await) }));
    let mut wire = socket(address).await;
    wire.outgoing.send(opening("a")).await.unwrap();
    timeout(PATIENCE, hook.0.notified()).await.unwrap();
    stop.send(()).unwrap();
    assert_eq!(last(&mut wire).await, goodbye(Duration::from_millis(300)));
    timeout(PATIENCE, running).await.unwrap().unwrap().unwrap();
}
