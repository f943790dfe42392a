//! Users of plain HTTP follow a room as Server-Sent Events, on a real server (docs/http.md).

use std::time::Duration;

use axum::body::Body;
use futures_util::future::join_all;
use groupwire_server::session::Quota;
use groupwire_server::session::client::{Config as ClientConfig, Event};
use groupwire_server::{Config, DurableConfig, Server};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::support::http::{BEARER, post, send};
use crate::support::person::Person;
use crate::support::users::{EventStream, bearer, config, publish};
use crate::support::{PATIENCE, administered, server_with, servers_with, wire};

const DRAW: &str = "/v1/rooms/demo/channels/draw/messages";
const POINTERS: &str = "/v1/rooms/demo/channels/pointers/messages";
const EVENTS: &str = "/v1/rooms/demo/events?channel=draw";

async fn made(server: std::net::SocketAddr) {
    let (status, said) =
        publish(server, "ann", &format!("{DRAW}?create=transactions"), "first", "0").await;
    assert_eq!(status, 200, "{said}");
    let path = format!("{POINTERS}?create=awareness&key=a");
    assert_eq!(publish(server, "ann", &path, "", "there").await.0, 200);
}

#[tokio::test]
async fn a_stream_has_what_participants_send_in_order() {
    let stored = Config { durable: Some(DurableConfig::in_memory()), ..config() };
    for config in [config(), stored] {
        let (server, socket) = servers_with(config).await;
        made(server).await;
        let path = format!("{EVENTS}&channel=pointers&presence=true&after=0");
        let mut stream = EventStream::open(server, "bob", &path, "").await;
        let ready = stream.next().await.unwrap();
        assert_eq!((ready.name.as_str(), &ready.data["position"]), ("ready", &json!(0)));
        let first = stream.next().await.unwrap();
        assert_eq!((first.name.as_str(), &first.data["text"]), ("message", &json!("0")));
        let value = stream.next().await.unwrap();
        assert_eq!((value.name.as_str(), &value.data["key"]), ("value", &json!("a")));
        let people = stream.next().await.unwrap();
        assert_eq!((people.name.as_str(), &people.data["complete"]), ("presence", &json!(true)));
        let asked = ClientConfig { token: "cy".into(), ..ClientConfig::new("demo") };
        let mut cy = Person::ask(wire::socket(socket).await, asked);
        cy.until(|event| matches!(event, Event::Synced { channel: None })).await;
        let came = stream.until("presence").await;
        assert_eq!(came.data["participants"][0]["user"], "cy", "{came:?}");
        for nth in 1..=50 {
            cy.send(&nth.to_string()).await;
        }
        cy.confirmed().await;
        let expected: Vec<String> = (1..=50).map(|nth| nth.to_string()).collect();
        assert_eq!(stream.texts(50).await, expected);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_anywhere_is_resumed_without_loss_or_repeats() {
    let server = server_with(config()).await;
    made(server).await;
    let mut last = String::new();
    let mut all: Vec<String> = Vec::new();
    let path = format!("{EVENTS}&channel=pointers&presence=true");
    let sending = tokio::spawn(async move {
        for nth in 1..=150 {
            let (status, said) =
                publish(server, "ann", DRAW, &format!("k{nth}"), &nth.to_string()).await;
            assert_eq!(status, 200, "{said}");
            publish(server, "ann", &format!("{POINTERS}?key=a"), "", &nth.to_string()).await;
        }
    });
    // Each stream breaks after another number of events.
    for round in 0.. {
        let asked = if last.is_empty() { format!("{path}&after=0") } else { path.clone() };
        let mut stream = EventStream::open(server, "bob", &asked, &last).await;
        for _ in 0..=round % 7 {
            let Ok(event) = timeout(Duration::from_secs(2), stream.next()).await else { break };
            let event = event.expect("it goes on");
            if event.name == "message" {
                all.push(event.data["text"].as_str().unwrap().to_owned());
            }
            assert_ne!(event.name, "gap");
            last.clone_from(&stream.last);
        }
        if all.last().is_some_and(|text| text == "150") {
            break;
        }
    }
    sending.await.unwrap();
    assert_eq!(all, (0..=150).map(|nth| nth.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_ban_ends_a_stream_and_a_long_poll_with_what_to_do() {
    let server = administered(config()).await;
    made(server.public).await;
    let mut stream = EventStream::open(server.public, "bob", EVENTS, "").await;
    stream.until("ready").await;
    let bearer = bearer("bob");
    let polling = tokio::spawn(async move {
        let headers = [("authorization", bearer.as_str())];
        let path = format!("{DRAW}?after=1&wait=30");
        let answer = send(server.public, "GET", &path, &headers, Body::empty()).await.unwrap();
        answer.status().as_u16()
    });
    let json_type = ("content-type", "application/json");
    let ban = json!({ "room": "*", "user": "bob", "reason": "spam" }).to_string();
    let answer = post(server.admin, "/api/bans", &[BEARER, json_type], ban.into()).await;
    assert!(answer.status < 300, "{}", String::from_utf8_lossy(&answer.body));
    let end = stream.until("end").await;
    assert_eq!(end.data["code"], "banned", "{end:?}");
    assert!(end.data["detail"].as_str().unwrap().contains("spam"));
    assert!(stream.next().await.is_none(), "nothing follows");
    assert_eq!(polling.await.unwrap(), 403);
}

#[tokio::test]
async fn an_expired_token_ends_a_stream_with_an_event() {
    let server = server_with(config()).await;
    made(server).await;
    // The server waits for 10 s more, because clocks differ.
    let mut stream = EventStream::open(server, "bob@1", EVENTS, "").await;
    let end = stream.until("end").await;
    assert_eq!(end.data["code"], "token_expired");
    assert!(end.data["detail"].as_str().unwrap().contains("Last-Event-ID"), "{end:?}");
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams_and_says_when_to_come_back() {
    let listen = ([127, 0, 0, 1], 0).into();
    let server = Server::bind(Config { listen, webtransport: None, ..config() }).await.unwrap();
    let address = server.local_addr();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async move { drop(stopped.await) }));
    made(address).await;
    let path = format!("{EVENTS}&presence=true");
    let mut stream = EventStream::open(address, "bob", &path, "").await;
    stream.until("ready").await;
    let waiting = tokio::spawn(crate::support::users::read(
        address,
        "cy",
        "/v1/rooms/demo/channels/draw/messages?after=1&wait=30",
    ));
    // Somebody who waits is in the room.
    while !stream.until("presence").await.data.to_string().contains("\"cy\"") {}
    stop.send(()).unwrap();
    let end = stream.until("end").await;
    assert_eq!(end.data["code"], "stopping", "{end:?}");
    assert!(end.data["retry_ms"].as_u64().is_some());
    assert!(stream.next().await.is_none());
    let (status, answer): (u16, Value) = waiting.await.unwrap();
    assert_eq!((status, &answer["messages"]), (200, &json!([])));
    timeout(PATIENCE, running).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_reads_slowly_gets_the_newest_values_and_every_transaction() {
    let mut config = config();
    config.room.quotas.participant = Quota::NONE;
    let server = server_with(config).await;
    made(server).await;
    let path = format!("{EVENTS}&channel=pointers");
    let mut stream = EventStream::open(server, "bob", &path, "").await;
    // What the kernel and the stream take is little beside this.
    let large = "a".repeat(50_000);
    let pointers = format!("{POINTERS}?key=a");
    for tens in 0..15 {
        // Side by side, so that all are published before the stream ends because nobody reads it.
        let values = (0..10).map(|nth| format!("{tens}{nth} {large}")).collect::<Vec<_>>();
        let publishing = values.iter().map(|text| publish(server, "ann", &pointers, "", text));
        for (status, said) in join_all(publishing).await {
            assert_eq!(status, 200, "{said}");
        }
        publish(server, "ann", DRAW, &format!("k{tens}"), &format!("{tens}")).await;
    }
    publish(server, "ann", DRAW, "end", "end").await;
    let (mut values, mut transactions) = (0, Vec::new());
    loop {
        let event = stream.next().await.unwrap();
        match event.name.as_str() {
            "value" => values += 1,
            "message" => transactions.push(event.data["text"].as_str().unwrap().to_owned()),
            _ => {}
        }
        if transactions.last().is_some_and(|text| text == "end") {
            break;
        }
    }
    assert_eq!(transactions.len(), 16, "{transactions:?}");
    assert!(values < 150, "{values} values: some were conflated");
}
