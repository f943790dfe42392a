//! HTTP transports and plain TCP, with clients that break every rule.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use futures_util::stream;
use groupwire_server::session::PresenceState;
use groupwire_server::session::client::Event;
use groupwire_server::{Config, HttpLimits, Origins};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::support::http::{get, post, read, send};
use crate::support::http_transport::{Failures, Kind, Response, http_transport, upload};
use crate::support::person::Person;
use crate::support::wire::{error_code, framed, socket, take_packet};
use crate::support::{PATIENCE, opening, server, server_with, servers_with, status};

/// An HTTP transport whose client has uploaded its first packet.
async fn joined(address: SocketAddr, kind: Kind) -> Response {
    let response = Response::open(address, kind, String::new()).await.unwrap();
    assert_eq!((response.id.len(), response.first), (32, 1), "T9");
    let hello = upload(&response.id, 1, 0, &[&opening("demo")]);
    assert_eq!(post(address, "/http/up", &[], hello).await.status, 204);
    response
}

async fn up(address: SocketAddr, body: Vec<u8>) -> u16 {
    post(address, "/http/up", &[], body).await.status
}

fn asked(id: &str, received: u64) -> String {
    format!("id={id}&received={received}")
}

async fn down(address: SocketAddr, body: String) -> u16 {
    post(address, "/http/poll", &[], body.into_bytes()).await.status
}

/// A PING with a time of 5, which the server answers.
const PING: &[u8] = &[0x0e, 1, 5];

/// The name of the last error that the response carried.
async fn ending(mut response: Response) -> Option<&'static str> {
    let mut ending = None;
    while let Ok(Some((_, packet))) = timeout(PATIENCE, response.next()).await {
        ending = error_code(&packet).or(ending);
    }
    ending
}

#[tokio::test]
async fn requests_without_a_valid_id_are_refused() {
    let address = server().await;
    let (ann, _) = http_transport(address, Kind::Multipart, Failures::default()).await;
    let mut ann = Person::join(ann, "demo").await;
    let unknown = "0123456789abcdef0123456789abcdef";
    assert_eq!(up(address, upload(unknown, 1, 0, &[PING])).await, 404, "T17");
    assert_eq!(up(address, unknown.to_uppercase().into_bytes()).await, 404);
    assert_eq!(up(address, Vec::new()).await, 404);
    assert_eq!(up(address, vec![b'a'; 31]).await, 404);
    assert_eq!(down(address, asked(unknown, 0)).await, 404);
    assert_eq!(down(address, format!("id={unknown}")).await, 404);
    assert_eq!(down(address, "x".repeat(4000)).await, 413);
    assert_eq!(post(address, "/http/unknown", &[], Vec::new()).await.status, 404);
    ann.send("still here").await;
    ann.receive(1).await;
}

#[tokio::test]
async fn the_last_upload_is_answered_again_and_any_other_number_closes_the_transport() {
    let address = server().await;
    for wrong in [0, 1, 4] {
        let response = joined(address, Kind::Poll).await;
        let id = &response.id;
        assert_eq!(up(address, upload(id, 2, 0, &[PING])).await, 204);
        assert_eq!(up(address, upload(id, 2, 0, &[PING])).await, 204, "T16: repeated");
        assert_eq!(up(address, upload(id, wrong, 0, &[PING])).await, 409, "T16: {wrong}");
        assert_eq!(up(address, upload(id, 3, 0, &[PING])).await, 404, "T17: closed");
        assert_eq!(down(address, asked(id, 0)).await, 404);
    }
}

#[tokio::test]
async fn two_uploads_at_once_close_the_transport() {
    let address = server().await;
    let response = joined(address, Kind::Poll).await;
    let head = Bytes::from(upload(&response.id, 2, 0, &[]));
    // The upload begins and never continues.
    let endless = stream::once(async { Ok::<_, std::io::Error>(head) });
    let endless = Body::from_stream(futures_util::StreamExt::chain(endless, stream::pending()));
    let first = send(address, "POST", "/http/up", &[], endless);
    let second = async {
        let started = Instant::now();
        loop {
            // The number is that of the endless upload, so that they collide. Until the server has
            // seen the endless one, this one is accepted once.
            match up(address, upload(&response.id, 2, 0, &[PING])).await {
                // Either of the two may be refused; the transport is closed for both.
                409 | 404 => return,
                status => assert_eq!(status, 204),
            }
            assert!(started.elapsed() < PATIENCE, "T16");
            // Each upload is a handshake, whose number is limited for each address.
            sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        _ = first => {}
        () = second => {}
    }
    assert_eq!(down(address, asked(&response.id, 0)).await, 404);
}

#[tokio::test]
async fn an_endless_upload_times_out_and_may_be_repeated() {
    let http = HttpLimits { request: Duration::from_millis(300), ..HttpLimits::default() };
    let address = server_with(Config { http, ..Config::default() }).await;
    let mut response = joined(address, Kind::Multipart).await;
    let half = Bytes::from(upload(&response.id, 2, 0, &[PING]));
    let endless = stream::once(async { Ok::<_, std::io::Error>(half) });
    let endless = Body::from_stream(futures_util::StreamExt::chain(endless, stream::pending()));
    let answer = send(address, "POST", "/http/up", &[], endless).await.unwrap();
    assert_eq!(answer.status(), 408);
    assert_eq!(up(address, upload(&response.id, 2, 0, &[PING])).await, 204);
    response.next().await.unwrap();
}

#[tokio::test]
async fn excessive_and_malformed_uploads_close_the_connection_with_the_reason() {
    let address = server().await;
    let large = vec![0; 200_000];
    let cut = &framed(PING)[..2];
    for (tail, status, name) in
        [(&large[..], 413, "too-large"), (&[0xff; 12], 400, "malformed"), (cut, 400, "malformed")]
    {
        let response = joined(address, Kind::Multipart).await;
        let mut body = upload(&response.id, 2, 0, &[]);
        body.extend_from_slice(tail);
        assert_eq!(up(address, body).await, status);
        let id = response.id.clone();
        assert_eq!(ending(response).await, Some(name));
        assert_eq!(down(address, asked(&id, 0)).await, 404);
    }
    // T1: a packet above the limit is refused because of its length.
    let response = joined(address, Kind::Iframe).await;
    let body = upload(&response.id, 2, 0, &[&vec![0; 70_000]]);
    assert_eq!(up(address, body).await, 413);
    assert_eq!(ending(response).await, Some("too-large"));
}

#[tokio::test]
async fn acknowledging_packets_that_were_never_sent_closes_the_transport() {
    let address = server().await;
    let response = joined(address, Kind::Poll).await;
    assert_eq!(up(address, upload(&response.id, 2, 1000, &[PING])).await, 409);
    let response = joined(address, Kind::Poll).await;
    assert_eq!(down(address, asked(&response.id, 1000)).await, 404);
    assert_eq!(down(address, asked(&response.id, 0)).await, 404, "the transport is closed");
}

#[tokio::test]
async fn a_newer_response_continues_and_resends_missing_packets() {
    let address = server().await;
    let mut one = joined(address, Kind::Multipart).await;
    let (first, welcome) = one.next().await.unwrap();
    assert_eq!(first, 1);
    // T11: continues after the packets of the older response, which ends.
    let two = Response::open(address, Kind::Iframe, asked(&one.id, 0)).await.unwrap();
    while one.next().await.is_some() {}
    assert!(two.first > 1, "{}", two.first);
    assert_eq!(two.id, one.id);
    // The client lost the packets of the older response.
    let mut three = Response::open(address, Kind::Multipart, asked(&one.id, 0)).await.unwrap();
    assert_eq!(three.first, 1, "T10");
    assert_eq!(three.next().await.unwrap(), (1, welcome));
    // Acknowledged packets are not sent again.
    assert_eq!(up(address, upload(&one.id, 2, 1, &[PING])).await, 204);
    drop((one, two, three));
    let started = Instant::now();
    let four = loop {
        let four = Response::open(address, Kind::Longpoll, empty_request(started)).await;
        if let Ok(four) = four {
            break four;
        }
    };
    assert_eq!(four.first, 1, "a new transport");
}

/// An empty request body; fails when the time limit has passed.
fn empty_request(started: Instant) -> String {
    assert!(started.elapsed() < PATIENCE);
    String::new()
}

#[tokio::test]
async fn held_requests_are_answered_in_time() {
    let http = HttpLimits { held: Duration::from_millis(100), ..HttpLimits::default() };
    let address = server_with(Config { http, ..Config::default() }).await;
    let first = Response::open(address, Kind::Longpoll, String::new()).await.unwrap();
    // The client sent nothing, so the server has no packet for it.
    let mut second = Response::open(address, Kind::Longpoll, asked(&first.id, 0)).await.unwrap();
    assert_eq!(second.first, 1);
    assert!(second.next().await.is_none(), "T15");
}

#[tokio::test]
async fn a_transport_without_down_requests_is_closed_and_its_participant_away() {
    let http = HttpLimits { alone: Duration::from_millis(500), ..HttpLimits::default() };
    let address = server_with(Config { http, ..Config::default() }).await;
    let (ann, _) = http_transport(address, Kind::Poll, Failures::default()).await;
    let mut ann = Person::join(ann, "demo").await;
    let response = joined(address, Kind::Poll).await;
    let id = response.id.clone();
    let away = |event: &Event| match event {
        Event::Participants { changes, .. } => {
            changes.iter().any(|change| change.state == PresenceState::Away)
        }
        _ => false,
    };
    ann.until(away).await;
    assert_eq!(up(address, upload(&id, 2, 0, &[PING])).await, 404, "T18");
    assert_eq!(down(address, asked(&id, 0)).await, 404);
}

#[tokio::test]
async fn a_transport_without_a_first_packet_is_closed() {
    let address = server().await;
    let response = Response::open(address, Kind::Multipart, String::new()).await.unwrap();
    let id = response.id.clone();
    assert_eq!(ending(response).await, Some("silent"), "T3");
    assert_eq!(down(address, asked(&id, 0)).await, 404);
    assert_eq!(status(address, "connections").await, 0);
}

/// Text that hardly compresses, so that buffers fill.
fn noise(seed: &mut u64) -> String {
    let mut letter = || {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        char::from(b'0' + (*seed >> 40) as u8 % 64)
    };
    (0..50_000).map(|_| letter()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_disconnected_and_slows_nobody() {
    let (address, tcp) = servers_with(Config::default()).await;
    let mut ann = Person::join(socket(tcp).await, "demo").await;
    let mut bob = Person::join(socket(tcp).await, "demo").await;
    // One client does not read. The other one reads but never acknowledges, so the server keeps its
    // packets.
    let not_reading = joined(address, Kind::Multipart).await;
    let mut not_acknowledging = joined(address, Kind::Multipart).await;
    let reading = tokio::spawn(async move {
        let mut bytes = 0;
        while let Some((_, packet)) = not_acknowledging.next().await {
            bytes += packet.len();
        }
        bytes
    });
    let (mut seed, mut sent) = (1, 0);
    let started = Instant::now();
    while status(address, "connections").await > 2 {
        assert!(started.elapsed() < PATIENCE, "the clients are still connected");
        if ann.pending() < 4 {
            ann.send(&noise(&mut seed)).await;
            sent += 1;
        }
        tokio::join!(
            ann.for_a_while(Duration::from_millis(10)),
            bob.for_a_while(Duration::from_millis(10))
        );
    }
    assert!(sent > 6, "{sent}");
    let bytes = reading.await.unwrap();
    assert!((100_000..=1 << 20).contains(&bytes), "T10: {bytes}");
    ann.send("after").await;
    tokio::join!(ann.receive(sent + 1), bob.receive(sent + 1));
    drop(not_reading);
}

#[tokio::test]
async fn pages_of_other_origins_are_refused() {
    let address = server().await;
    let own = format!("http://{address}");
    for (path, method) in [
        ("/ws", "GET"),
        ("/transports", "GET"),
        ("/http/up", "POST"),
        ("/http/poll", "POST"),
        ("/http/iframe", "POST"),
        ("/http/poll", "OPTIONS"),
    ] {
        for foreign in ["https://evil.example", "null", "http://127.0.0.1"] {
            let headers = [("origin", foreign)];
            let answer = send(address, method, path, &headers, Body::empty()).await.unwrap();
            assert_eq!(answer.status(), 403, "T2: {method} {path} {foreign}");
            let answer = read(answer).await.unwrap();
            // The page may read that it is refused, and why.
            assert_eq!(answer.header("access-control-allow-origin"), foreign);
            assert!(String::from_utf8_lossy(&answer.body).contains("--origin"), "T2");
            assert_eq!(answer.header("vary"), "origin");
        }
    }
    let answer = post(address, "/http/poll", &[("origin", &own)], Vec::new()).await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, own.as_str()));
    assert_eq!(post(address, "/http/poll", &[], Vec::new()).await.status, 200, "a program");
    assert_eq!(post(address, "/http/iframe", &[], Vec::new()).await.status, 403, "T14");
}

#[tokio::test]
async fn every_answer_names_the_server_and_every_page_may_read_refusals() {
    let max_connections = 0;
    let (server, full) =
        (server().await, server_with(Config { max_connections, ..Config::default() }).await);
    let id = "0123456789abcdef0123456789abcdef";
    for (address, method, path, body, status) in [
        (server, "GET", "/transports", String::new(), 200),
        (server, "GET", "/status", String::new(), 200),
        (server, "GET", "/healthz", String::new(), 200),
        (server, "GET", "/puzzle", String::new(), 308),
        (server, "GET", "/yjs/%ff", String::new(), 400),
        (server, "POST", "/http/poll", asked("0", 0), 404),
        (server, "POST", "/http/unknown", String::new(), 404),
        (server, "GET", "/wrong/path/transports", String::new(), 404),
        (server, "POST", "/wrong/path/http/poll", String::new(), 404),
        (server, "GET", "/http/up", String::new(), 405),
        (server, "DELETE", "/healthz", String::new(), 405),
        (server, "POST", "/http/poll", "x".repeat(200), 413),
        (server, "POST", "/http/up", id.to_owned(), 404),
        (full, "POST", "/http/poll", String::new(), 503),
        (full, "GET", "/ws", String::new(), 503),
    ] {
        let own = format!("http://{address}");
        for origin in [&*own, "https://foreign.example"] {
            let headers = [("origin", origin)];
            let answer = send(address, method, path, &headers, body.clone().into()).await.unwrap();
            let answer = read(answer).await.unwrap();
            let case = format!("T28: {method} {path} {origin} {}", answer.status);
            assert!(answer.status == status || (answer.status == 403 && origin != own), "{case}");
            assert_eq!(answer.header("groupwire"), "1", "{case}");
            let readable = answer.header("access-control-allow-origin");
            if answer.status >= 400 {
                assert!(["*", origin].contains(&readable), "{case}: {readable}");
                assert!(answer.body.ends_with(b"\n") && answer.body.len() > 10, "{case}");
            } else {
                // What is served stays for the pages that T2 admits.
                let expected = if path == "/transports" && origin == own { origin } else { "" };
                assert_eq!(readable, expected, "{case}");
            }
            let exposed = if readable.is_empty() { "" } else { "groupwire" };
            assert_eq!(answer.header("access-control-expose-headers"), exposed, "{case}");
        }
    }
}

#[tokio::test]
async fn pages_of_listed_origins_are_served() {
    let listed = "https://listed.example";
    let origins = Origins::own().and(listed).unwrap();
    let address = server_with(Config { origins, ..Config::default() }).await;
    let answer = get(address, "/transports", &[("origin", listed)]).await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, listed));
    let transports: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    let names = transports["transports"].as_array().unwrap();
    for name in ["websocket", "multipart", "iframe", "longpoll", "poll"] {
        assert!(names.contains(&name.into()), "T4: {transports}");
    }
    let asks = [("origin", listed), ("access-control-request-method", "POST")];
    let answer = send(address, "OPTIONS", "/http/up", &asks, Body::empty()).await.unwrap();
    let answer = read(answer).await.unwrap();
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (204, listed));
    assert_eq!(
        answer.header("access-control-allow-headers"),
        "authorization, content-type, groupwire-client, idempotency-key, last-event-id"
    );
}

#[tokio::test]
async fn responses_have_the_required_headers() {
    let address = server().await;
    let own = format!("http://{address}");
    for kind in Kind::ALL {
        let headers = [("origin", own.as_str())];
        let response = send(address, "POST", kind.path(), &headers, Body::empty()).await.unwrap();
        let header = |name: &str| {
            response.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned()
        };
        assert_eq!(header("cache-control"), "no-store, no-transform", "T19");
        assert_eq!(header("x-accel-buffering"), "no", "T19");
        let (content, policy) = match kind {
            Kind::Multipart => ("multipart/mixed; boundary=gw", ""),
            Kind::Iframe => {
                ("text/html; charset=utf-8", "default-src 'none'; script-src 'unsafe-inline'")
            }
            Kind::Longpoll | Kind::Poll => ("application/octet-stream", ""),
        };
        assert_eq!(header("content-type"), content);
        assert_eq!(header("content-security-policy"), policy, "T14");
    }
}

#[tokio::test]
async fn http_transports_count_as_connections() {
    let address = server_with(Config { max_connections: 2, ..Config::default() }).await;
    let held = [joined(address, Kind::Multipart).await, joined(address, Kind::Iframe).await];
    let third = Response::open(address, Kind::Poll, String::new()).await;
    assert_eq!(third.err(), Some(503));
    drop(held);
}

#[tokio::test]
async fn an_endless_request_header_times_out() {
    let http = HttpLimits { idle: Duration::from_millis(200), ..HttpLimits::default() };
    let address = server_with(Config { http, ..Config::default() }).await;
    for begun in ["", "POST /http/up HTTP/1.1\r\nHost: "] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    }
}

/// Sends these bytes over plain TCP; the name of the last error in the answer.
async fn over_tcp(address: SocketAddr, bytes: &[u8]) -> Option<&'static str> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    let mut ending = None;
    while let Some(packet) = take_packet(&mut answer) {
        ending = error_code(&packet).or(ending);
    }
    ending
}

#[tokio::test]
async fn plain_tcp_refuses_malformed_streams() {
    let (_, address) = servers_with(Config::default()).await;
    let mut hello = framed(&opening("demo"));
    assert_eq!(over_tcp(address, &[0xff, 0xff, 0x7f]).await, Some("too-large"), "T1");
    assert_eq!(over_tcp(address, &[0x80, 0]).await, Some("malformed"));
    assert_eq!(over_tcp(address, b"\x12GET / HTTP/1.1\r\n\r\n").await, Some("version"));
    assert_eq!(over_tcp(address, b"").await, Some("silent"), "T3");
    hello.extend_from_slice(&[0xff; 100_000]);
    assert_eq!(over_tcp(address, &hello).await, Some("malformed"));
}
