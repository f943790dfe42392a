//! The emulated network over a real server: who may set it, and that it affects only connections
//! that ask for it.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use groupwire_server::session::client::{Client, Config as ClientConfig, Input, Output};
use groupwire_server::{Config, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

/// A time limit that no test reaches, even on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

const JSON: &str = "Content-Type: application/json\r\n";

async fn server(emulate: bool) -> SocketAddr {
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let config = Config { listen, emulate, webtransport: None, ..Config::default() };
    let server = Server::bind(config).await.unwrap();
    let address = server.local_addr();
    tokio::spawn(server.run(std::future::pending()));
    address
}

/// Sends a request; the status and the body of its answer.
async fn ask(
    address: SocketAddr,
    method: &str,
    query: &str,
    headers: &str,
    body: &str,
) -> (u16, String) {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let request = format!(
        "{method} /emulation?{query} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\
         Content-Length: {length}\r\n\r\n{body}"
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(PATIENCE, socket.read_to_string(&mut answer)).await.unwrap().unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

#[tokio::test]
async fn settings_are_kept_for_each_room() {
    let address = server(true).await;
    let body = r#"{"loss":0.05,"delay_ms":20}"#;
    let (status, answer) = ask(address, "POST", "room=a%20b", JSON, body).await;
    assert_eq!((status, answer.as_str()), (200, r#"{"loss":0.05,"delay_ms":20.0}"#));
    let (_, answer) = ask(address, "GET", "room=a%20b", "", "").await;
    assert_eq!(answer, r#"{"loss":0.05,"delay_ms":20.0}"#);
    let (_, answer) = ask(address, "GET", "room=other", "", "").await;
    assert_eq!(answer, r#"{"loss":0.0,"delay_ms":0.0}"#);
}

#[tokio::test]
async fn bad_settings_are_refused() {
    let address = server(true).await;
    let long = format!("room={}", "x".repeat(257));
    let large = format!(r#"{{"loss":0,"delay_ms":0{}}}"#, " ".repeat(2000));
    for (status, query, headers, body) in [
        (400, "room=r", JSON, r#"{"loss":0.6,"delay_ms":20}"#),
        (400, "room=r", JSON, r#"{"loss":-0.1,"delay_ms":20}"#),
        (400, "room=r", JSON, r#"{"loss":0.1,"delay_ms":1001}"#),
        (400, "room=r", JSON, r#"{"loss":0.1,"delay_ms":-1}"#),
        (422, "room=r", JSON, r#"{"loss":null,"delay_ms":1}"#),
        (400, "room=r", JSON, r#"{"loss":1e999,"delay_ms":1}"#),
        (422, "room=r", JSON, r#"{"loss":0.1}"#),
        (422, "room=r", JSON, r#"{"loss":0.1,"delay_ms":1,"rate":5}"#),
        (400, "room=r", JSON, "loss"),
        (413, "room=r", JSON, &large),
        // A page of another origin may send this content type without a preflight request.
        (415, "room=r", "Content-Type: text/plain\r\n", r#"{"loss":0,"delay_ms":0}"#),
        (400, "", JSON, r#"{"loss":0,"delay_ms":0}"#),
        (400, "room=", JSON, r#"{"loss":0,"delay_ms":0}"#),
        (400, &long, JSON, r#"{"loss":0,"delay_ms":0}"#),
    ] {
        let answer = ask(address, "POST", query, headers, body).await;
        assert_eq!(answer.0, status, "{query} {body}: {}", answer.1);
    }
    assert_eq!(ask(address, "GET", "room=r", "", "").await.1, r#"{"loss":0.0,"delay_ms":0.0}"#);
}

#[tokio::test]
async fn a_page_of_another_origin_may_not_set_the_network() {
    let address = server(true).await;
    let body = r#"{"loss":0,"delay_ms":0}"#;
    for (origin, status) in
        [(format!("http://{address}"), 200), ("https://example.org".to_owned(), 403)]
    {
        let headers = format!("{JSON}Origin: {origin}\r\n");
        assert_eq!(ask(address, "POST", "room=r", &headers, body).await.0, status, "{origin}");
    }
}

#[tokio::test]
async fn the_public_listener_sets_networks_of_rooms_only_and_only_if_configured() {
    let body = r#"{"loss":0.5,"delay_ms":1000}"#;
    for (emulate, query, status) in
        [(true, "room=r", 200), (true, "room=r&participant=1", 403), (false, "room=r", 404)]
    {
        let address = server(emulate).await;
        assert_eq!(ask(address, "POST", query, JSON, body).await.0, status, "{emulate} {query}");
        assert_eq!(ask(address, "GET", query, "", "").await.0, status, "{emulate} {query}");
    }
}

/// How long a client takes to join the room `felt`.
async fn joining(address: SocketAddr, path: &str) -> Duration {
    let mut socket = connect_async(format!("ws://{address}/{path}")).await.unwrap().0;
    let start = Instant::now();
    let mut client = Client::new(Duration::ZERO, ClientConfig::new("felt")).unwrap();
    client.handle_input(Duration::ZERO, Input::Opened { max_datagram: 0 });
    loop {
        match client.poll_output(Duration::ZERO) {
            Output::Send(packet) => {
                break socket.send(Message::Binary(packet.into())).await.unwrap();
            }
            Output::Timeout(_) => panic!("the client sends no first packet"),
            _ => {}
        }
    }
    let answer = timeout(PATIENCE, socket.next()).await.unwrap().unwrap().unwrap();
    assert!(answer.is_binary(), "{answer}");
    start.elapsed()
}

#[tokio::test]
async fn only_connections_that_ask_are_delayed() {
    let address = server(true).await;
    // A delay of one second in each direction. A connection that does not ask for it may be slow
    // for other reasons, but not always as slow.
    let body = r#"{"loss":0,"delay_ms":1000}"#;
    assert_eq!(ask(address, "POST", "room=felt", JSON, body).await.0, 200);
    let felt = joining(address, "ws?emulate").await;
    assert!(felt >= Duration::from_secs(2), "{felt:?}");
    let (mut least, start) = (PATIENCE, Instant::now());
    while least >= Duration::from_secs(2) && start.elapsed() < PATIENCE {
        least = least.min(joining(address, "ws").await);
    }
    assert!(least < Duration::from_secs(2), "{least:?}");
}
