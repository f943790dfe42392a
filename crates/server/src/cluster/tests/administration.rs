//! Requests to the administration of a server that does not have the room.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode};
use groupwire_session::Qos;
use groupwire_store::{Append, Options, Record, RoomLog, Store, Transfer, wait};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tower_service::Service;

use super::{MemoryEngine, Node, Person};
use crate::admin_http::access::Access;
use crate::admin_http::routes;

async fn ask(
    node: &Node,
    method: Method,
    path: &str,
    body: impl Into<Body>,
) -> (StatusCode, Value) {
    let (status, bytes) = ask_bytes(node, method, path, body).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::String(text)))
}

async fn ask_bytes(
    node: &Node,
    method: Method,
    path: &str,
    body: impl Into<Body>,
) -> (StatusCode, Vec<u8>) {
    let access = Arc::new(Access { token: None, hosts: Vec::new() });
    let mut router = routes::router(node.services.admin.clone(), access);
    let request = Request::builder().method(method).uri(path).header("host", "localhost");
    let request = request.header("content-type", "application/json");
    let request = request.header("idempotency-key", "one").body(body.into()).unwrap();
    let answer = router.call(request).await.unwrap();
    let status = answer.status();
    (status, to_bytes(answer.into_body(), 8 << 20).await.unwrap().into())
}

async fn get(node: &Node, path: &str) -> Value {
    let (status, answer) = ask(node, Method::GET, path, "").await;
    assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    answer
}

/// A counter of a server of a cluster.
async fn figure(node: &Node, name: &str) -> u64 {
    let (_, text) = ask_bytes(node, Method::GET, "/metrics", "").await;
    let start = format!("groupwire_cluster_{name}_total ");
    let text = String::from_utf8(text).unwrap();
    text.lines().find_map(|line| line.strip_prefix(&start)).unwrap().parse().unwrap()
}

#[tokio::test]
async fn every_server_answers_requests_about_every_room() {
    let mut nodes = Node::three(&MemoryEngine::new(4)).await;
    for node in &nodes {
        node.settled(&["none"]).await;
    }
    let mut ada = Person::new(b"");
    let text = ada.open(&nodes[0].services, "text", Qos::transaction()).await;
    for (node, round) in nodes.iter().zip(0..) {
        let path = "/api/rooms/demo/channels/text/messages";
        let (status, answer) = ask(node, Method::POST, path, r#"{"text":"hello"}"#).await;
        assert_eq!((status, answer), (StatusCode::CREATED, json!({"position": 1})), "{round}");
    }
    assert_eq!(ada.message(&nodes[0].services).await, b"hello");
    ada.send(text, b"more");
    assert_eq!(ada.message(&nodes[0].services).await, b"more");
    for node in &nodes {
        let people = get(node, "/api/rooms/demo/participants").await;
        assert_eq!(people["participants"][0]["state"], "here");
        let channels = get(node, "/api/rooms/demo/channels").await;
        assert_eq!(channels["channels"][0]["name"], "text");
        let rooms = get(node, "/api/rooms").await;
        let room = &rooms["rooms"][0];
        assert_eq!(
            (&room["name"], &room["is_open"], &room["participants"]),
            (&json!("demo"), &json!(true), &json!(1))
        );
        assert!(room["stored_bytes"].as_u64() > Some(0) && rooms.get("unanswered").is_none());
        let inspected = get(node, "/inspect/rooms").await;
        assert_eq!(inspected["rooms"][0]["participants"], 1);
        let templates = get(node, "/inspect/templates?room=demo&participant=1").await;
        assert!(templates.is_object(), "{templates}");
        let status = get(node, "/api/status").await;
        assert_eq!(status["cluster"]["totals"]["participants"], 1);
        assert_eq!(status["cluster"]["totals"]["rooms"], 1);
        assert_eq!(status["cluster"]["servers"].as_object().unwrap().len(), 3);
        assert_eq!(status["cluster"]["unanswered"], json!([]));
        get(node, "/api/rooms/demo/snapshots").await;
        let (status, answer) = ask(node, Method::GET, "/api/rooms/none/channels", "").await;
        let none = json!("this room is neither open nor stored\n");
        assert_eq!((status, answer), (StatusCode::NOT_FOUND, none));
    }
    let other = nodes.iter().position(|node| !node.has("demo")).unwrap();
    let other = nodes.swap_remove(other);
    assert_eq!(figure(&other, "forwarded_requests_failed").await, 0);
    let forwarded = figure(&other, "forwarded_requests").await;
    let path = "/api/rooms/demo/participants/1";
    let (status, answer) = ask(&other, Method::DELETE, path, "").await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    assert_eq!(figure(&other, "forwarded_requests").await, forwarded + 1);
    // The server of the room dies: nobody has it for a while, and the answer says which server
    // cannot be reached.
    let owner = nodes.iter().position(|node| node.has("demo")).unwrap();
    drop(nodes.swap_remove(owner));
    let (status, answer) = ask(&other, Method::GET, "/api/rooms/demo/channels", "").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{answer}");
    assert!(answer.as_str().unwrap().contains("cannot be reached"), "{answer}");
    let failed = figure(&other, "forwarded_requests_failed").await;
    let rooms = get(&other, "/api/rooms").await;
    assert_eq!(rooms["unanswered"].as_array().unwrap().len(), 1, "{rooms}");
    assert!(failed > 0 && figure(&other, "forwarded_requests_failed").await > failed);
}

#[tokio::test]
async fn rooms_are_imported_wherever_they_belong() {
    let engine = MemoryEngine::new(4);
    let nodes = Node::three(&engine).await;
    let mut rooms: Vec<String> = (0..12).map(|n| format!("room {n}")).collect();
    rooms.sort();
    let names: Vec<&str> = rooms.iter().map(String::as_str).collect();
    for node in &nodes {
        node.settled(&names).await;
    }
    assert!(nodes.iter().filter(|node| names.iter().any(|room| node.has(room))).count() > 1);
    let file = exported(&names);
    let (status, answer) = ask(&nodes[0], Method::POST, "/api/import", file.clone()).await;
    assert_eq!((status, answer), (StatusCode::OK, json!({ "rooms": rooms })));
    let (status, answer) = ask(&nodes[1], Method::POST, "/api/import", file.clone()).await;
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    let (status, answer) =
        ask(&nodes[2], Method::POST, "/api/import?replace=true&room=room%203", file.clone()).await;
    assert_eq!((status, answer), (StatusCode::OK, json!({ "rooms": ["room 3"] })));
    for node in &nodes {
        for room in ["room%200", "room%2011"] {
            let (status, _) =
                ask_bytes(node, Method::GET, &format!("/api/rooms/{room}/export"), "").await;
            assert_eq!(status, StatusCode::OK);
        }
    }
    for (node, room) in nodes.iter().zip(["room%205", "room%206", "room%207"]) {
        let path = format!("/api/rooms/{room}");
        let (status, answer) = ask(node, Method::DELETE, &path, "").await;
        assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
        let (status, answer) = ask(node, Method::DELETE, &path, "").await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{answer}");
    }
    // A command on the socket of a server takes only its own rooms, and says where others are.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, &file).unwrap();
    let stores = nodes[0].services.rooms.context().durable.clone().unwrap().stores.clone();
    let importing = tokio::task::spawn_blocking(move || {
        stores.transfer.import(&path, &|_| true, true, &mut || 7).unwrap_err().to_string()
    });
    let refusal = importing.await.unwrap();
    assert!(refusal.contains("groupwire admin import"), "{refusal}");
}

#[tokio::test]
async fn bans_hold_on_all_servers_and_outlast_them() {
    let engine = MemoryEngine::new(4);
    let mut nodes = Node::three(&engine).await;
    let wanted = |user: usize| format!(r#"{{"user":"user {user}"}}"#);
    let bans = |node: &Node| node.services.transports.gate.bans.all();
    // All servers ban at the same time, and each ban has a number of its own.
    let making = nodes.iter().zip(0..).map(|(node, user)| ask_to_ban(node, wanted(user)));
    futures_util::future::join_all(making).await;
    let all = |count| {
        let nodes = &nodes;
        async move {
            let hold = async {
                while nodes.iter().any(|node| bans(node).len() != count) {
                    sleep(Duration::from_millis(10)).await;
                }
            };
            timeout(Duration::from_secs(5), hold).await.expect("all servers know all bans");
        }
    };
    all(3).await;
    assert_eq!(bans(&nodes[0]), bans(&nodes[1]));
    assert_eq!(bans(&nodes[0]).iter().map(|ban| ban.id).collect::<Vec<_>>(), [1, 2, 3]);
    let (status, answer) = ask(&nodes[2], Method::DELETE, "/api/bans/2", "").await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    assert!(bans(&nodes[2]).len() == 2, "it is in force before the answer");
    all(2).await;
    let (status, _) = ask(&nodes[0], Method::DELETE, "/api/bans/2", "").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let known = bans(&nodes[0]);
    // A server that begins reads the log.
    nodes.push(Node::new("d", &engine).await);
    let begun = async {
        while bans(&nodes[3]) != known {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(5), begun).await.expect("a new server knows the bans");
    ask_to_ban(&nodes[3], wanted(4)).await;
    assert_eq!(bans(&nodes[3]).last().unwrap().id, 4, "numbers are not used again");
}

#[tokio::test]
async fn the_log_of_bans_stays_short() {
    let engine = MemoryEngine::new(4);
    let mut nodes = vec![Node::new("a", &engine).await, Node::new("b", &engine).await];
    let bans = |node: &Node| node.services.transports.gate.bans.all();
    for user in 0..300 {
        // Both servers write, and the last ban is removed again.
        let node = &nodes[user % 2];
        ask_to_ban(node, json!({ "user": format!("user {user}") }).to_string()).await;
        if user % 100 == 99 {
            let path = format!("/api/bans/{}", bans(node).last().unwrap().id);
            let (status, answer) = ask(node, Method::DELETE, &path, "").await;
            assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
        }
    }
    let log = engine.deployment.shards;
    // 303 changes and two bases were written.
    let shortened = async {
        while engine.with(|state| state.logs[&log].len()) > 200 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(30), shortened).await.expect("the log is trimmed");
    nodes.push(Node::new("c", &engine).await);
    let all_know = async {
        while nodes.iter().any(|node| bans(node).len() != 297) {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(30), all_know).await.expect("all servers know all bans");
    assert!(nodes.iter().all(|node| bans(node) == bans(&nodes[0])));
    ask_to_ban(&nodes[2], json!({ "user": "one more" }).to_string()).await;
    assert_eq!(bans(&nodes[2]).last().unwrap().id, 301, "numbers are not used again");
}

async fn ask_to_ban(node: &Node, body: String) {
    let (status, answer) = ask(node, Method::POST, "/api/bans", body).await;
    assert_eq!(status, StatusCode::CREATED, "{answer}");
}

/// The file of an export of these rooms, each with one transaction.
fn exported(rooms: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("store"), Options::default()).unwrap();
    for room in rooms {
        let bytes = b"content".to_vec();
        let record = Record { position: 1, channel: 1, author: 5, recipient: 0, counter: 1, bytes };
        let (room, meta) = ((*room).to_owned(), Some(Vec::new()));
        let append =
            Append { room, incarnation: 9, records: vec![record], meta, ..Append::default() };
        wait(|done| store.append(append, done)).unwrap();
    }
    let file = folder.path().join("file");
    store.export(&file, &|_| true).unwrap();
    std::fs::read(file).unwrap()
}
