//! Floods over real sockets: a client that floods is slowed down or refused, all others are served,
//! and nothing is lost.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use groupwire_server::session::client::{Config as ClientConfig, Event};
use groupwire_server::session::{Quota, Quotas};
use groupwire_server::{AddressLimits, Config};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

use crate::support::http::{self, BEARER};
use crate::support::http_transport::{Kind, Response};
use crate::support::person::Person;
use crate::support::wire::{socket, socket_of};
use crate::support::{PATIENCE, administered, server_with, servers_with, status};

fn with_quotas(participant: Quota) -> Config {
    let quotas = Quotas { participant, burst: Duration::from_millis(200), ..Quotas::default() };
    let mut config = Config::default();
    config.room.quotas = quotas;
    config.room.timing.tick = Duration::ZERO;
    config
}

/// One client floods a room, while two people in it and two in another room talk. Their
/// transactions are confirmed and delivered, and no more than `permitted` messages of the flood are
/// taken in a second.
async fn flood(participant: Quota, size: usize, permitted: f64) {
    const FLOOD: usize = 600;
    /// More messages than the packets have that are read before the quota takes effect.
    const FIRST: f64 = 200.0;
    let (http, address) = servers_with(with_quotas(participant)).await;
    let mut flooder = Person::join(socket(address).await, "flooded").await;
    let mut people = Vec::new();
    for room in ["flooded", "flooded", "other", "other"] {
        people.push(Person::join(socket(address).await, room).await);
    }
    let texts: Vec<String> = (0..FLOOD).map(|number| format!("{number:0size$}")).collect();
    let start = Instant::now();
    for text in &texts {
        flooder.send(text).await;
    }
    for round in 0..2 {
        for speaker in 0..people.len() {
            let words = format!("{round} of {speaker}");
            people[speaker].send(&words).await;
            people[speaker].confirmed().await;
            let listener = speaker ^ 1;
            while !people[listener].messages.iter().any(|(_, text)| *text == words) {
                assert!(people[listener].for_a_while(Duration::from_millis(5)).await);
            }
            flooder.for_a_while(Duration::from_millis(1)).await;
        }
    }
    let (taken, seconds) = (FLOOD - flooder.pending(), start.elapsed().as_secs_f64());
    assert!((taken as f64) < permitted * (seconds + 0.2) + FIRST, "{taken} in {seconds} s");
    assert!(status(http, "limitations").await > 0 && status(http, "delayed_reads").await > 0);
    flooder.confirmed().await;
    let of_flood = |person: &Person| -> Vec<String> {
        let came = person.messages.iter().map(|(_, text)| text.clone());
        came.filter(|text| !text.contains("of")).collect()
    };
    assert!(of_flood(&flooder) == texts);
    people[0].receive(FLOOD + 4).await;
    assert!(of_flood(&people[0]) == texts);
    assert!(of_flood(&people[2]).is_empty());
}

#[tokio::test]
async fn w99_a_flood_of_bytes_slows_down_its_sender_alone() {
    flood(Quota { bytes: 300_000, ..Quota::NONE }, 2000, 150.0).await;
}

#[tokio::test]
async fn w99_a_flood_of_transactions_slows_down_its_sender_alone() {
    // Three participants receive each message.
    flood(Quota { deliveries: 500, ..Quota::NONE }, 10, 500.0 / 3.0).await;
}

#[tokio::test]
async fn w99_far_above_its_quota_a_client_is_disconnected_and_resumes_later() {
    let (_, address) = servers_with(with_quotas(Quota { bytes: 1000, ..Quota::NONE })).await;
    let mut ann = Person::join(socket(address).await, "demo").await;
    // The client sends all four at once, before it can hear that it should wait. Two of them are 80
    // s of the quota.
    for _ in 0..4 {
        ann.send(&"x".repeat(40_000)).await;
    }
    let is_over =
        |event: &Event| matches!(event, Event::Error { error, .. } if error.name() == "over-quota");
    let over = ann.until(is_over).await;
    assert!(matches!(over, Event::Error { fatal: false, .. }), "{over:?}");
}

fn with_addresses(addresses: AddressLimits) -> Config {
    Config { addresses, ..Config::default() }
}

#[tokio::test]
async fn a_flood_of_handshakes_is_refused_and_others_are_served() {
    let limits = AddressLimits { handshakes_per_second: 1, ..AddressLimits::default() };
    let (http, address) = servers_with(with_addresses(limits)).await;
    let mut ann = Person::join(socket(address).await, "demo").await;
    let mut refused = 0;
    for number in 0..40 {
        // HTTP and plain TCP count together.
        let to = if number % 2 == 0 { http } else { address };
        refused += usize::from(is_closed(&mut TcpStream::connect(to).await.unwrap()).await);
    }
    assert!((20..=31).contains(&refused), "{refused} of 40");
    ann.send("still here").await;
    ann.confirmed().await;
    let other = socket_of(from("127.0.0.2", address).await);
    let mut bo = Person::join(other, "demo").await;
    bo.send("from elsewhere").await;
    ann.receive(2).await;
    assert_eq!(ann.messages[1].1, "from elsewhere");
}

#[tokio::test]
async fn an_address_has_so_many_connections_over_all_transports_together() {
    let limits = AddressLimits { connections: 3, ..AddressLimits::default() };
    let server = administered(with_addresses(limits)).await;
    let first = Person::join(socket(server.socket).await, "demo").await;
    let second = upgrade(server.public, "").await;
    let third = Response::open(server.public, Kind::Longpoll, String::new()).await;
    assert_eq!((second.1, third.is_ok()), (101, true));
    assert_eq!(upgrade(server.public, "").await.1, 429);
    let fourth = Response::open(server.public, Kind::Multipart, String::new()).await;
    assert_eq!(fourth.err(), Some(429));
    assert!(is_closed(&mut TcpStream::connect(server.socket).await.unwrap()).await);
    let mut metrics = String::new();
    while !metrics.contains("groupwire_address_refusals_total{limit=\"connections\"} 3\n") {
        let answer = http::get(server.admin, "/metrics", &[BEARER]).await;
        metrics = String::from_utf8(answer.body).unwrap();
    }
    // The end of a connection makes room for another one.
    drop(first);
    let waiting = async {
        while upgrade(server.public, "").await.1 != 101 {
            // Each try is a handshake, whose number is limited, too.
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, waiting).await.unwrap();
}

#[tokio::test]
async fn a_forged_x_forwarded_for_gives_no_other_address() {
    let limits = AddressLimits { connections: 2, ..AddressLimits::default() };
    let address = server_with(with_addresses(limits)).await;
    let mut taken = Vec::new();
    for number in 0..4 {
        let header = format!("X-Forwarded-For: 203.0.113.{number}\r\n");
        taken.push(upgrade(address, &header).await);
    }
    let statuses: Vec<u16> = taken.iter().map(|(_, status)| *status).collect();
    assert_eq!(statuses, [101, 101, 429, 429]);
}

#[tokio::test]
async fn behind_a_trusted_proxy_clients_count_by_their_own_addresses() {
    let limits = AddressLimits {
        connections: 2,
        trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()],
        ..AddressLimits::default()
    };
    let address = server_with(with_addresses(limits)).await;
    let mut kept = Vec::new();
    for (forwarded, expected) in [
        ("203.0.113.1", 101),
        ("203.0.113.1, 127.0.0.9", 101),
        ("203.0.113.1", 429),
        // The client wrote an address before the one that the proxy saw.
        ("198.51.100.7, 203.0.113.1", 429),
        ("203.0.113.2", 101),
        ("2001:db8::1", 101),
        ("2001:db8::2", 101),
        ("2001:db8::3", 429),
        ("2001:db8:0:1::3", 101),
    ] {
        let (stream, status) = upgrade(address, &format!("X-Forwarded-For: {forwarded}\r\n")).await;
        assert_eq!(status, expected, "{forwarded}");
        kept.push(stream);
    }
}

#[tokio::test]
async fn a_room_has_so_many_people() {
    let mut config = Config::default();
    config.room.limits.max_participants = 2;
    let (_, address) = servers_with(config).await;
    let _ann = Person::join(socket(address).await, "demo").await;
    let _bo = Person::join(socket(address).await, "demo").await;
    let mut cy = Person::ask(socket(address).await, ClientConfig::new("demo"));
    let refused = cy.until(|event| matches!(event, Event::Error { .. })).await;
    assert!(
        matches!(&refused, Event::Error { error, .. } if error.name() == "too-many"),
        "{refused:?}"
    );
    let _other_room = Person::join(socket(address).await, "other").await;
}

/// Asks for a WebSocket with this header. Returns the connection and the status of the answer.
async fn upgrade(address: SocketAddr, header: &str) -> (TcpStream, u16) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET /ws HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{header}\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    timeout(PATIENCE, stream.read_exact(&mut answer)).await.unwrap().unwrap();
    let status = std::str::from_utf8(&answer[9..]).unwrap().parse().unwrap();
    (stream, status)
}

/// True if the server closes the connection at once. One that it serves waits for a first packet or
/// request.
async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    let read = timeout(Duration::from_millis(50), stream.read(&mut byte)).await;
    matches!(read, Ok(Ok(0) | Err(_)))
}

async fn from(address: &str, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(address.parse::<IpAddr>().unwrap(), 0)).unwrap();
    socket.connect(to).await.unwrap()
}
