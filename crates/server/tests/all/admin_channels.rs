//! The administration looks into channels, publishes, resets, exports, imports and restores, on a
//! real server.

use std::time::Duration;

use axum::body::Body;
use groupwire_server::session::ParticipantId;
use groupwire_server::session::client::{Event, GapReason};
use groupwire_server::{Config, DurableConfig};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::http::{Answer, BEARER, get, post, read, send};
use crate::support::person::Person;
use crate::support::{Administered, administered, wire};

const JSON: (&str, &str) = ("content-type", "application/json");

async fn stored() -> Administered {
    let durable = Some(DurableConfig::in_memory());
    administered(Config { durable, ..Config::default() }).await
}

async fn stored_on_disk() -> (Administered, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let disk = Some(DurableConfig::new(folder.path()));
    (administered(Config { durable: disk, ..Config::default() }).await, folder)
}

async fn list(server: &Administered, path: &str) -> Value {
    let answer = get(server.admin, path, &[BEARER]).await;
    assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
    serde_json::from_slice(&answer.body).unwrap()
}

async fn ask(server: &Administered, path: &str, key: &str, body: Value) -> (u16, Value, Answer) {
    let mut headers = vec![BEARER, JSON];
    if !key.is_empty() {
        headers.push(("idempotency-key", key));
    }
    let answer = post(server.admin, path, &headers, body.to_string().into_bytes()).await;
    let text = String::from_utf8(answer.body.clone()).unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    (answer.status, body, answer)
}

async fn refused(server: &Administered, path: &str, key: &str, body: Value) -> u16 {
    ask(server, path, key, body).await.0
}

const DRAW: &str = "/api/rooms/docs%2Fa/channels/draw";
const MESSAGES: &str = "/api/rooms/docs%2Fa/channels/draw/messages";

#[tokio::test]
async fn the_administration_publishes_once_however_often_it_asks_and_looks_at_the_newest() {
    let durable = stored().await;
    for server in [durable, administered(Config::default()).await] {
        assert_eq!(refused(&server, MESSAGES, "1", json!({"text": "early"})).await, 404);
        let mut ana = Person::join(wire::socket(server.socket).await, "docs/a").await;
        ana.send("one").await;
        ana.confirmed().await;
        let (status, outcome, first) =
            ask(&server, MESSAGES, "k-1", json!({"json": {"a": 1}})).await;
        assert_eq!((status, &outcome), (201, &json!({"position": 2})));
        assert_eq!(first.header("idempotent-replayed"), "");
        for _ in 0..3 {
            let (status, again, answer) =
                ask(&server, MESSAGES, "k-1", json!({"json": {"a": 1}})).await;
            assert_eq!((status, &again), (201, &outcome));
            assert_eq!(answer.header("idempotent-replayed"), "true");
        }
        assert_eq!(refused(&server, MESSAGES, "k-1", json!({"json": {"a": 2}})).await, 422);
        assert_eq!(refused(&server, MESSAGES, "", json!({"text": "no key"})).await, 400);
        assert_eq!(refused(&server, MESSAGES, "a b", json!({"text": "a blank"})).await, 400);
        assert_eq!(
            refused(&server, MESSAGES, "2", json!({"text": "a", "base64": "YQ=="})).await,
            400
        );
        assert_eq!(refused(&server, MESSAGES, "2", json!({"base64": "?"})).await, 400);
        assert_eq!(refused(&server, MESSAGES, "2", json!({"txt": "a"})).await, 422);
        assert_eq!(refused(&server, MESSAGES, "2", json!({"text": "a".repeat(60_001)})).await, 400);
        assert_eq!(
            refused(&server, &MESSAGES.replace("draw", "no"), "2", json!({"text": "a"})).await,
            404
        );
        let (_, outcome, _) = ask(&server, MESSAGES, "k-2", json!({"base64": "/wA="})).await;
        assert_eq!(outcome, json!({"position": 3}));

        let channels = list(&server, "/api/rooms/docs%2Fa/channels").await;
        let draw = &channels["channels"][0];
        assert_eq!((&draw["name"], &draw["kind"]), (&json!("draw"), &json!("transaction")));
        assert_eq!((&draw["transactions"], &draw["receivers"]), (&json!(3), &json!(1)));
        let newest = list(&server, &format!("{DRAW}?limit=2")).await;
        let transactions = newest["newest_transactions"].as_array().unwrap();
        assert_eq!(transactions.len(), 2);
        assert_eq!(
            (&transactions[0]["base64"], &transactions[0]["sender"]),
            (&json!("/wA="), &json!(0))
        );
        assert_eq!(transactions[1]["json"], json!({"a": 1}));
        let rest = list(&server, &format!("{DRAW}?before={}", newest["next_before"])).await;
        assert_eq!(rest["newest_transactions"][0]["text"], "one");
        assert_eq!(
            (&rest["newest_transactions"][0]["position"], &rest["next_before"]),
            (&json!(1), &Value::Null)
        );
        for wrong in ["limit=0", "limit=201", "more=1", "before=x"] {
            assert_eq!(get(server.admin, &format!("{DRAW}?{wrong}"), &[BEARER]).await.status, 400);
        }
        assert_eq!(
            get(server.admin, "/api/rooms/docs%2Fa/channels/no", &[BEARER]).await.status,
            404
        );
        assert_eq!(get(server.admin, "/api/rooms/none/channels", &[BEARER]).await.status, 404);
        assert_eq!(post(server.admin, MESSAGES, &[JSON], b"{}".to_vec()).await.status, 401);

        // Requests above the rate of publishing are refused.
        let mut statuses = Vec::new();
        for nth in 0..150 {
            statuses
                .push(refused(&server, MESSAGES, &format!("n-{nth}"), json!({"text": "x"})).await);
        }
        assert!(statuses.contains(&201) && statuses.contains(&429), "{statuses:?}");
    }
}

#[tokio::test]
async fn a_stored_room_that_is_closed_is_opened_to_look_and_to_publish() {
    let durable = Some(DurableConfig::in_memory());
    let away = std::time::Duration::from_millis(1);
    let mut config = Config { durable, ..Config::default() };
    config.room.timing.away = away;
    let server = administered(config).await;
    let mut ana = Person::join(wire::socket(server.socket).await, "docs/a").await;
    ana.send("one").await;
    ana.confirmed().await;
    drop(ana);
    // A stored room is closed soon after everybody has left, not after `keep_empty`.
    while list(&server, "/api/rooms").await["rooms"][0]["is_open"] == true {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let (status, outcome, _) = ask(&server, MESSAGES, "k", json!({"text": "two"})).await;
    assert_eq!((status, outcome), (201, json!({"position": 2})));
    let newest = list(&server, DRAW).await;
    assert_eq!(newest["newest_transactions"][0]["text"], "two");
    let mut ben = Person::join(wire::socket(server.socket).await, "docs/a").await;
    ben.receive(2).await;
    assert_eq!(ben.messages[1], (ParticipantId(0), "two".to_owned()));
}

#[tokio::test]
async fn a_channel_is_reset_and_its_participants_are_told() {
    let server = stored().await;
    let mut ana = Person::join(wire::socket(server.socket).await, "docs/a").await;
    ana.send("old").await;
    ana.confirmed().await;
    let reset = "/api/rooms/docs%2Fa/reset";
    assert_eq!(refused(&server, reset, "", json!({"channels": ["none"]})).await, 404);
    assert_eq!(refused(&server, reset, "", json!({"channels": []})).await, 404);
    assert_eq!(
        refused(&server, "/api/rooms/none/reset", "", json!({"channels": ["draw"]})).await,
        404
    );
    let (status, outcome, _) = ask(&server, reset, "", json!({"channels": ["draw"]})).await;
    assert_eq!((status, outcome), (200, json!({"position": 2})));
    let gap = ana.until(|event| matches!(event, Event::Gap { .. })).await;
    assert!(matches!(gap, Event::Gap { reason: GapReason::Reset, .. }), "{gap:?}");
    let draw = list(&server, DRAW).await;
    assert_eq!((&draw["reset"], &draw["transactions"]), (&json!(2), &json!(0)));
    // The reset can be taken back as long as the history is kept.
    let snapshots = "/api/rooms/docs%2Fa/snapshots";
    let mut known = list(&server, snapshots).await;
    assert_eq!((&known["head"], &known["oldest"]), (&json!(2), &json!(1)));
    // The server stores the reset after the transaction that marks its place is durable.
    while known["snapshots"] == json!([]) {
        tokio::time::sleep(Duration::from_millis(10)).await;
        known = list(&server, snapshots).await;
    }
    assert_eq!(
        (&known["snapshots"][0]["is_reset"], &known["snapshots"][0]["part"]),
        (&json!(true), &Value::Null)
    );
    let restore = "/api/rooms/docs%2Fa/restore";
    for wrong in [json!({}), json!({"position": 1, "snapshot": 1})] {
        assert_eq!(refused(&server, restore, "", wrong).await, 400);
    }
    assert_eq!(refused(&server, restore, "", json!({"position": 9})).await, 409);
    assert_eq!(refused(&server, "/api/rooms/none/restore", "", json!({"position": 1})).await, 404);
    assert_eq!(refused(&server, restore, "", json!({"position": 1})).await, 204);
    let draw = list(&server, DRAW).await;
    assert_eq!(draw["newest_transactions"][0]["text"], "old");
    let mut ben = Person::join(wire::socket(server.socket).await, "docs/a").await;
    ben.receive(1).await;
    assert_eq!(ben.messages[0].1, "old");
}

#[tokio::test]
async fn a_bad_snapshot_is_taken_back_to_the_log_behind_the_one_before() {
    let durable = Some(DurableConfig::in_memory());
    let mut config = Config { durable, ..Config::default() };
    config.room.limits.snapshot_after = 3;
    let server = administered(config).await;
    let mut ana = Person::join(wire::socket(server.socket).await, "docs/a").await;
    ana.provide("bad state").await;
    let mut parts = 0;
    for nth in 0..60 {
        ana.send(&format!("line {nth}")).await;
        ana.confirmed().await;
        ana.for_a_while(std::time::Duration::from_millis(60)).await;
        parts = list(&server, "/api/rooms/docs%2Fa/snapshots").await["snapshots"]
            .as_array()
            .unwrap()
            .len();
        if parts >= 2 {
            break;
        }
    }
    assert!(parts >= 2, "{parts} parts");
    let known = list(&server, "/api/rooms/docs%2Fa/snapshots").await;
    let first = &known["snapshots"][0];
    let restore = json!({"snapshot": first["snapshot"]});
    assert_eq!(refused(&server, "/api/rooms/docs%2Fa/restore", "", restore).await, 204);
    let after = list(&server, "/api/rooms/docs%2Fa/snapshots").await;
    assert_eq!(after["head"], known["head"], "no transaction is taken back");
    assert_eq!(after["snapshots"].as_array().unwrap().len(), 1);
    assert_eq!(after["snapshots"][0]["as_of"], first["as_of"]);
    let channels = list(&server, "/api/rooms/docs%2Fa/channels").await;
    assert_eq!(channels["channels"][0]["part"]["as_of"], first["as_of"]);
    let behind = known["head"].as_u64().unwrap() - first["as_of"].as_u64().unwrap();
    assert_eq!(channels["channels"][0]["transactions"], json!(behind));
}

#[tokio::test]
async fn rooms_are_exported_and_imported() {
    let (server, folder) = stored_on_disk().await;
    for room in ["docs/a", "docs/b"] {
        let mut ana = Person::join(wire::socket(server.socket).await, room).await;
        ana.send("kept").await;
        ana.confirmed().await;
    }
    let file = get(server.admin, "/api/rooms/docs%2Fa/export", &[BEARER]).await;
    assert_eq!((file.status, file.header("content-type")), (200, "application/vnd.sqlite3"));
    assert_eq!(file.header("content-length"), file.body.len().to_string());
    let all = get(server.admin, "/api/export", &[BEARER]).await;
    assert!(all.status == 200 && all.body.len() >= file.body.len());
    assert_eq!(get(server.admin, "/api/rooms/none/export", &[BEARER]).await.status, 404);
    assert_eq!(get(server.admin, "/api/export", &[]).await.status, 401);
    let (copy, other_folder) = stored_on_disk().await;
    let import = async |server: &Administered, query: &str, body: &[u8]| {
        post(server.admin, &format!("/api/import{query}"), &[BEARER], body.to_vec()).await
    };
    let imported = import(&copy, "?room=docs%2Fb", &all.body).await;
    assert_eq!((imported.status, &imported.body[..]), (200, &br#"{"rooms":["docs/b"]}"#[..]));
    assert_eq!(import(&copy, "", &all.body).await.status, 409, "docs/b exists");
    assert_eq!(import(&copy, "?replace=true", &all.body).await.status, 200);
    assert_eq!(list(&copy, DRAW).await["newest_transactions"][0]["text"], "kept");
    for wrong in [&b"no export"[..], &[], &all.body[..all.body.len() / 2]] {
        let answer = import(&copy, "?replace=true", wrong).await;
        assert_eq!(answer.status, 400, "{}", String::from_utf8_lossy(&answer.body));
    }
    // A store in memory takes and makes the same files.
    let durable = Some(DurableConfig::in_memory());
    let memory = administered(Config { durable, ..Config::default() }).await;
    assert_eq!(import(&memory, "?room=docs%2Fb", &all.body).await.status, 200);
    let again = get(memory.admin, "/api/export", &[BEARER]).await;
    assert_eq!(import(&copy, "?replace=true", &again.body).await.body, imported.body);
    let none = administered(Config::default()).await;
    assert_eq!(import(&none, "", &all.body).await.status, 404);
    assert_eq!(get(none.admin, "/api/export", &[BEARER]).await.status, 404);
    // All temporary files are removed, those of aborted requests included.
    let mut broken = TcpStream::connect(copy.admin).await.unwrap();
    let head =
        format!("POST /api/import HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\n", BEARER.1);
    let sent = format!("{head}content-length: 9999\r\n\r\nx");
    broken.write_all(sent.as_bytes()).await.unwrap();
    // Only one file is received at a time.
    while import(&copy, "?replace=true", b"no export").await.status != 503 {}
    drop(broken);
    while import(&copy, "?replace=true", &file.body).await.status == 503 {}
    for folder in [folder.path(), other_folder.path()] {
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with("transfer-")));
    }
    let taken =
        read(send(copy.admin, "GET", "/api/export", &[BEARER], Body::empty()).await.unwrap());
    assert_eq!(taken.await.unwrap().status, 200);
}
