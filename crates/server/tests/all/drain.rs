//! What clients of a server that stops are told.

use std::num::NonZeroU32;
use std::time::Duration;

use groupwire_server::session::client::{Client, Config as ClientConfig, Input, Output};
use groupwire_server::session::goodbye;
use groupwire_server::{Config, DrainConfig, Server};
use tokio::sync::oneshot;
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
