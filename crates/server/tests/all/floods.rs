//! One client floods its room with changes that everybody is told of. The others are served
//! meanwhile, and told of few of them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use groupwire_server::Config;
use groupwire_server::session::Qos;
use groupwire_server::session::client::Event;
use tokio::task::JoinHandle;

use crate::support::person::Person;
use crate::support::wire::{self, Wire, error_code, varint};
use crate::support::{PATIENCE, opening, servers_with};

/// The types of frames in docs/wire/session.md.
const PRESENCE: u8 = 0x09;
const CHANGE: u8 = 0x20;

/// Messages that arrive one after the other while the flood goes on.
const MESSAGES: usize = 20;

/// Two people who talk, and somebody who floods their room.
struct Room {
    ann: Person,
    bob: Person,
    stop: Arc<AtomicBool>,
    /// The number of packets that were sent, and their transport.
    flood: JoinHandle<(usize, Wire)>,
}

impl Room {
    /// `packet`: the packets of the flood by their numbers. The last one, which is sent at the end,
    /// has the number `None`.
    async fn new(packet: fn(Option<usize>) -> Vec<u8>) -> Self {
        let (_, address) = servers_with(Config::default()).await;
        let ann = Person::join(wire::socket(address).await, "demo").await;
        let bob = Person::join(wire::socket(address).await, "demo").await;
        let stop = Arc::new(AtomicBool::new(false));
        let flood = tokio::spawn(flood(address, packet, Arc::clone(&stop)));
        Room { ann, bob, stop, flood }
    }

    /// Ann talks to Bob during the flood: each message arrives before she says the next one. Then
    /// Bob is told of the end of the flood. Returns how many packets the flood had, and how many
    /// times Bob was told of something.
    async fn talk(
        mut self,
        is_told: fn(&Event) -> bool,
        is_end: fn(&Event) -> bool,
    ) -> (usize, usize) {
        for said in 1..=MESSAGES {
            self.ann.send("a line").await;
            tokio::join!(self.ann.receive(said), self.bob.receive(said));
        }
        assert!(!self.flood.is_finished(), "the server ended the flood");
        self.stop.store(true, Ordering::Relaxed);
        let since = Instant::now();
        while !self.bob.events.iter().any(is_end) {
            assert!(since.elapsed() < PATIENCE, "Bob is not told of the end");
            let time = Duration::from_millis(10);
            assert!(self.bob.for_a_while(time).await && self.ann.for_a_while(time).await);
        }
        let told = self.bob.events.iter().filter(|event| is_told(event)).count();
        (self.flood.await.unwrap().0, told)
    }
}

/// Joins and sends packets as fast as the server takes them.
async fn flood(
    address: SocketAddr,
    packet: fn(Option<usize>) -> Vec<u8>,
    stop: Arc<AtomicBool>,
) -> (usize, Wire) {
    let mut wire = wire::socket(address).await;
    wire.outgoing.send(opening("demo")).await.unwrap();
    wire.incoming.recv().await.expect("WELCOME");
    let mut sent = 0;
    while !stop.load(Ordering::Relaxed) {
        tokio::select! {
            taken = wire.outgoing.send(packet(Some(sent))) => taken.expect("the server ended the connection"),
            Some(_) = wire.incoming.recv() => continue,
        }
        sent += 1;
    }
    wire.outgoing.send(packet(None)).await.expect("the server ended the connection");
    (sent + 1, wire)
}

fn frame(kind: u8, fields: &[u8]) -> Vec<u8> {
    [vec![kind], varint(fields.len() as u64), fields.to_vec()].concat()
}

/// As many PRESENCE frames of the largest size as fit into a packet.
const PRESENCES: usize = 15;

fn presences(packet: Option<usize>) -> Vec<u8> {
    match packet {
        Some(number) => (0..PRESENCES)
            .flat_map(|at| frame(PRESENCE, format!("{number:2048}{at:2048}").as_bytes()))
            .collect(),
        None => frame(PRESENCE, b"the end"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_presence_delays_nobody_and_its_last_state_arrives() {
    let of_eve = |event: &Event| match event {
        Event::Participants { changes, .. } => changes.iter().any(|one| one.presence.len() == 4096),
        _ => false,
    };
    let is_end = |event: &Event| match event {
        Event::Participants { changes, .. } => changes.iter().any(|one| one.presence == b"the end"),
        _ => false,
    };
    let (packets, told) = Room::new(presences).await.talk(of_eve, is_end).await;
    assert!(
        told <= packets,
        "of the {PRESENCES} states in a packet one is told: {told} of {packets} packets"
    );
}

/// A packet of thousands of CHANGE (W77) of the room's first channel: transactions of one priority
/// after the other.
fn changes() -> Vec<u8> {
    let change = |priority: u8| frame(CHANGE, &[1, 0, 1, priority, 0, 0, 0, 0, 0]);
    (0..25).flat_map(|_| (0..200).flat_map(change)).collect()
}

/// Joins, floods, is disconnected, and comes again. Returns how many times it joined.
async fn change_and_come_again(address: SocketAddr, stop: Arc<AtomicBool>) -> usize {
    let mut joined = 0;
    while !stop.load(Ordering::Relaxed) {
        let mut wire = wire::socket(address).await;
        wire.outgoing.send(opening("demo")).await.unwrap();
        wire.outgoing.send(changes()).await.unwrap();
        let mut end = None;
        while let Some(packet) = wire.incoming.recv().await {
            end = error_code(&packet).or(end);
        }
        assert_eq!(end, Some("too-many"));
        joined += 1;
    }
    joined
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_changes_of_qos_ends_its_connection_and_delays_nobody() {
    let (_, address) = servers_with(Config::default()).await;
    let mut ann = Person::join(wire::socket(address).await, "demo").await;
    let mut bob = Person::join(wire::socket(address).await, "demo").await;
    let stop = Arc::new(AtomicBool::new(false));
    let flood = tokio::spawn(change_and_come_again(address, Arc::clone(&stop)));
    for said in 1..=MESSAGES {
        ann.send("a line").await;
        tokio::join!(ann.receive(said), bob.receive(said));
    }
    stop.store(true, Ordering::Relaxed);
    let joined = flood.await.unwrap();
    assert!(joined > 0, "there was no flood");
    let told = bob.events.iter().filter(|event| matches!(event, Event::Changed { .. })).count();
    assert!(told <= joined, "of thousands of changes one is told: {told} after {joined} joins");
    // A participant with few requests is served.
    let qos = Qos { priority: 201, ..Qos::transaction() };
    ann.set_qos(qos).await;
    bob.until(|event| matches!(event, Event::Changed { qos: now, .. } if *now == qos)).await;
}
