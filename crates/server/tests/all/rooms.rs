//! How long a room keeps its place on the server when nobody is there.

use std::time::Duration;

use groupwire_server::session::client::{Config as ClientConfig, Event, Status};
use groupwire_server::session::name_of;
use groupwire_server::{Config, DurableConfig};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::support::http::{BEARER, get, post};
use crate::support::person::Person;
use crate::support::{Administered, PATIENCE, administered, status, wire};

const JSON: (&str, &str) = ("content-type", "application/json");

async fn join(server: &Administered, room: &str) -> Person {
    Person::join(wire::socket(server.socket).await, room).await
}

/// The name of the error that refuses somebody who joins the room; `None` if nobody is refused.
async fn refusal(server: &Administered, room: &str) -> Option<&'static str> {
    let mut person = Person::ask(wire::socket(server.socket).await, ClientConfig::new(room));
    let is_answer =
        |event: &Event| matches!(event, Event::Synced { channel: None } | Event::Error { .. });
    match person.until(is_answer).await {
        Event::Error { error, .. } => Some(name_of(error.code())),
        _ => {
            person.leave().await;
            None
        }
    }
}

/// Waits until a figure of `/status` has this value.
async fn until(server: &Administered, name: &str, value: u64) {
    let reached = async {
        while status(server.public, name).await != value {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, reached).await.unwrap_or_else(|_| panic!("{name} is never {value}"));
}

/// The number of rooms that were closed for a reason.
async fn closed(server: &Administered, reason: &str) -> u64 {
    let metrics = get(server.admin, "/metrics", &[BEARER]).await.body;
    let metrics = String::from_utf8(metrics).unwrap();
    let sample = format!("groupwire_rooms_closed_total{{reason=\"{reason}\"}} ");
    let value = metrics.lines().find_map(|line| line.strip_prefix(&sample)).unwrap();
    value.parse().unwrap()
}

#[tokio::test]
async fn rooms_without_content_keep_no_places_and_those_with_content_do() {
    let server = administered(Config { max_rooms: 2, ..Config::default() }).await;
    for visit in 0..10 {
        join(&server, &format!("visited {visit}")).await.leave().await;
        until(&server, "rooms", 0).await;
    }
    assert_eq!(closed(&server, "no-content").await, 10);
    for room in ["one", "two"] {
        let mut ann = join(&server, room).await;
        ann.send(room).await;
        ann.confirmed().await;
        ann.leave().await;
    }
    until(&server, "participants", 0).await;
    assert_eq!(refusal(&server, "three").await, Some("too-many"));
    let mut ben = join(&server, "one").await;
    ben.receive(1).await;
    assert_eq!(ben.messages[0].1, "one");
    assert_eq!(closed(&server, "no-content").await, 10);
}

#[tokio::test]
async fn a_room_without_content_waits_for_those_who_can_resume() {
    let server = administered(Config::default()).await;
    let mut ann = join(&server, "demo").await;
    ann.lose_transport();
    until(&server, "participants", 0).await;
    assert_eq!(status(server.public, "rooms").await, 1);
    ann.resume(wire::socket(server.socket).await).await;
    ann.until(|event| matches!(event, Event::Status(Status::Connected))).await;
    assert_eq!(status(server.public, "resumed").await, 1);
    assert!(!ann.events.iter().any(|event| matches!(event, Event::Gap { .. })), "{:?}", ann.events);
    ann.leave().await;
    until(&server, "rooms", 0).await;
    assert_eq!(closed(&server, "no-content").await, 1);
}

#[tokio::test]
async fn at_the_limit_a_stored_room_that_is_empty_is_unloaded_for_another_one() {
    let durable = Some(DurableConfig::in_memory());
    let server = administered(Config { durable, max_rooms: 1, ..Config::default() }).await;
    let mut round = 0;
    // A stored room is closed after 2 s anyway, so on a very slow machine the first rounds may show
    // nothing.
    while closed(&server, "evicted").await == 0 {
        round += 1;
        assert!(round < 20, "rooms are never unloaded");
        let mut ann = join(&server, &format!("full {round}")).await;
        ann.send("kept").await;
        ann.confirmed().await;
        assert_eq!(refusal(&server, "other").await, Some("too-many"), "she is there");
        ann.leave().await;
        while refusal(&server, "other").await.is_some() {}
        until(&server, "participants", 0).await;
    }
    until(&server, "rooms", 0).await;
    let mut ben = join(&server, &format!("full {round}")).await;
    ben.receive(1).await;
    assert_eq!(ben.messages[0].1, "kept");
}

#[tokio::test]
async fn a_room_that_is_recorded_stays() {
    let folder = tempfile::tempdir().unwrap();
    let record_dir = Some(folder.path().to_owned());
    let server = administered(Config { record_dir, ..Config::default() }).await;
    let record = async |on: &str| {
        let body = format!("{{\"on\":{on}}}").into_bytes();
        let path = "/inspect/record?room=demo";
        let answer = post(server.admin, path, &[BEARER, JSON], body).await;
        let state: Value = serde_json::from_slice(&answer.body).unwrap();
        (answer.status, state)
    };
    let ann = join(&server, "demo").await;
    assert_eq!(record("true").await.0, 200);
    ann.leave().await;
    until(&server, "participants", 0).await;
    assert_eq!(status(server.public, "rooms").await, 1);
    let mut ben = join(&server, "demo").await;
    ben.send("recorded").await;
    ben.confirmed().await;
    let (_, state) = record("false").await;
    assert_eq!((&state["messages"], &state["error"]), (&1.into(), &Value::Null));
}
