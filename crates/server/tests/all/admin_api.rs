//! The administration's requests about rooms and people, on a real server.

use axum::body::Body;
use groupwire_server::session::client::Event;
use groupwire_server::{Config, DurableConfig, Server};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::http::{BEARER, get, post, read, send};
use crate::support::person::Person;
use crate::support::{Administered, PATIENCE, admin_config, administered, wire};

const JSON: (&str, &str) = ("content-type", "application/json");

async fn list(server: &Administered, path: &str) -> Value {
    let answer = get(server.admin, path, &[BEARER]).await;
    assert_eq!(answer.status, 200, "{path}");
    serde_json::from_slice(&answer.body).unwrap()
}

async fn delete(server: &Administered, path: &str) -> u16 {
    let sent = send(server.admin, "DELETE", path, &[BEARER], Body::empty()).await;
    read(sent.unwrap()).await.unwrap().status
}

#[tokio::test]
async fn rooms_and_people_are_listed_and_a_participant_is_kicked_for_good() {
    let server = administered(Config::default()).await;
    let mut ana = Person::join(wire::socket(server.socket).await, "docs/a b").await;
    let mut ben = Person::join(wire::socket(server.socket).await, "docs/a b").await;
    let rooms = list(&server, "/api/rooms").await;
    let expected =
        json!([{"name": "docs/a b", "is_open": true, "participants": 2, "stored_bytes": null}]);
    assert_eq!(rooms["rooms"], expected);
    let people = "/api/rooms/docs%2Fa%20b/participants";
    let here = |number| json!({"participant": number, "state": "here", "user": null, "transport": "TCP socket"});
    assert_eq!(list(&server, people).await["participants"], json!([here(1), here(2)]));

    assert_eq!(delete(&server, &format!("{people}/9")).await, 404);
    assert_eq!(delete(&server, &format!("{people}/x")).await, 400);
    assert_eq!(delete(&server, "/api/rooms/none/participants/1").await, 404);
    assert_eq!(delete(&server, &format!("{people}/1")).await, 204);
    let event = ana.until(|event| matches!(event, Event::Error { fatal: true, .. })).await;
    assert!(format!("{event:?}").contains("an administrator"), "{event:?}");
    let away = json!({"participant": 1, "state": "away", "user": null, "transport": null});
    assert_eq!(list(&server, people).await["participants"], json!([away, here(2)]));
    // Ana has no connection any more; Ben still has one.
    assert_eq!(delete(&server, &format!("{people}/1")).await, 404);
    ben.send("still here").await;
    ben.confirmed().await;
    // Rooms in memory are not stored, so there is nothing to delete.
    assert_eq!(delete(&server, "/api/rooms/docs%2Fa%20b").await, 404);
    assert_eq!(get(server.admin, "/api/rooms/none/participants", &[BEARER]).await.status, 404);
}

#[tokio::test]
async fn a_stored_room_is_listed_when_it_is_closed_and_can_be_deleted() {
    let durable = Some(DurableConfig::in_memory());
    let server = administered(Config { durable, ..Config::default() }).await;
    let mut ana = Person::join(wire::socket(server.socket).await, "kept").await;
    ana.send("hello").await;
    ana.confirmed().await;
    let rooms = list(&server, "/api/rooms").await;
    assert_eq!(rooms["rooms"][0]["name"], "kept");
    assert!(rooms["rooms"][0]["stored_bytes"].as_u64().unwrap() > 0, "{rooms}");
    assert_eq!(delete(&server, "/api/rooms/kept").await, 204);
    assert_eq!(delete(&server, "/api/rooms/kept").await, 404);
}

#[tokio::test]
async fn a_drained_server_is_not_ready_and_stops() {
    let listen = ([127, 0, 0, 1], 0).into();
    let admin = Some(admin_config());
    let config = Config { listen, admin, webtransport: None, ..Config::default() };
    let server = Server::bind(config).await.unwrap();
    let (public, admin) = (server.local_addr(), server.admin_addr().unwrap());
    let running = tokio::spawn(server.run(std::future::pending()));
    let drain = async |body: &str, headers: &[(&str, &str)]| {
        post(admin, "/api/drain", headers, body.as_bytes().to_vec()).await.status
    };
    assert_eq!(drain(r#"{"wait_seconds":0}"#, &[JSON]).await, 401);
    assert_eq!(drain(r#"{"wait_seconds":3601}"#, &[BEARER, JSON]).await, 400);
    assert_eq!(drain(r#"{"wait_seconds":-1}"#, &[BEARER, JSON]).await, 422);
    assert_eq!(get(public, "/readyz", &[]).await.status, 200);
    assert_eq!(drain(r#"{"wait_seconds":600}"#, &[BEARER, JSON]).await, 202);
    assert_eq!(get(public, "/readyz", &[]).await.status, 503);
    assert_eq!(get(admin, "/readyz", &[]).await.status, 503);
    // The server still serves, until the wait is over.
    assert_eq!(get(public, "/healthz", &[]).await.status, 200);
    assert_eq!(drain(r#"{"wait_seconds":0}"#, &[BEARER, JSON]).await, 202);
    timeout(PATIENCE, running).await.unwrap().unwrap().unwrap();
}
