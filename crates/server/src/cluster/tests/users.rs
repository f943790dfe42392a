//! Users of plain HTTP, whose requests come to servers that do not have the room.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::{Body, BodyDataStream, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use futures_util::StreamExt;
use groupwire_session::Qos;
use serde_json::Value;
use tokio::time::{sleep, timeout};
use tower_service::Service;

use super::{MemoryEngine, Node, Person};

const MESSAGES: &str = "/v1/rooms/demo/channels/text/messages";
const EVENTS: &str = "/v1/rooms/demo/events?channel=text&presence=true";

async fn send(node: &Node, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Response {
    let mut router = node.services.routes();
    let method = if body.is_some() { "POST" } else { "GET" };
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.extension(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 7))));
    let body = body.map_or_else(Body::empty, |body| body.to_owned().into());
    router.call(request.body(body).unwrap()).await.unwrap()
}

async fn ask(
    node: &Node,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&str>,
) -> (StatusCode, Value) {
    let answer = send(node, path, headers, body).await;
    let status = answer.status();
    let bytes = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap())
}

/// Reads a stream until its text has this. Returns the last id in it.
async fn until(stream: &mut BodyDataStream, wanted: &str) -> String {
    let mut text = String::new();
    let reading = async {
        while !text.contains(wanted) {
            let chunk = stream.next().await.expect("it goes on").unwrap();
            text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    };
    timeout(Duration::from_secs(60), reading).await.unwrap();
    let mut ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
    ids.next_back().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn every_server_answers_http_users_about_every_room_once_and_in_order() {
    let mut nodes = Node::three(&MemoryEngine::new(4)).await;
    for node in &nodes {
        node.settled(&["demo"]).await;
    }
    let mut ada = Person::new(b"");
    ada.open(&nodes[0].services, "text", Qos::transaction()).await;
    let mut streams = Vec::new();
    for node in &nodes {
        streams.push(send(node, EVENTS, &[], None).await.into_body().into_data_stream());
    }
    // The same request comes to each server, and then one of its own.
    for (node, nth) in nodes.iter().zip(2..) {
        let key = [("idempotency-key", "all")];
        let (status, said) = ask(node, MESSAGES, &key, Some("all")).await;
        assert_eq!((status, &said["position"]), (StatusCode::OK, &1.into()), "{said}");
        assert_eq!(said["repeated"], nth > 2);
        let key = nth.to_string();
        let (_, said) = ask(node, MESSAGES, &[("idempotency-key", &key)], Some(&key)).await;
        assert_eq!(said["position"], nth, "{said}");
    }
    for expected in [&b"all"[..], b"2", b"3", b"4"] {
        assert_eq!(ada.message(&nodes[0].services).await, expected);
    }
    let mut last = String::new();
    for (stream, node) in streams.iter_mut().zip(&nodes) {
        last = until(stream, "\"text\":\"4\"").await;
        let (_, all) = ask(node, &format!("{MESSAGES}?after=0"), &[], None).await;
        assert_eq!(all["messages"].as_array().unwrap().len(), 4, "{all}");
        let (_, people) = ask(node, "/v1/rooms/demo/participants", &[], None).await;
        assert_eq!(people["count"], 2, "one user, whichever server it asks: {people}");
        let (status, refused) = ask(node, "/v1/rooms/demo/channels/none/messages", &[], None).await;
        assert_eq!((status, &refused["code"]), (StatusCode::NOT_FOUND, &"no_channel".into()));
    }
    // The server of the room dies. The others go on behind the last event, once one of them has the
    // room.
    let owner = nodes.iter().position(|node| node.has("demo")).unwrap();
    drop(nodes.swap_remove(owner));
    let key = [("idempotency-key", "last")];
    let repeating = async {
        loop {
            let (status, said) = ask(&nodes[0], MESSAGES, &key, Some("last")).await;
            if status == StatusCode::OK {
                return said;
            }
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{said}");
            sleep(Duration::from_millis(20)).await;
        }
    };
    let said = timeout(Duration::from_secs(60), repeating).await.unwrap();
    assert_eq!(said["position"], 5, "{said}");
    for node in &nodes {
        let (_, said) = ask(node, MESSAGES, &[("idempotency-key", "all")], Some("all")).await;
        assert_eq!((&said["position"], &said["repeated"]), (&1.into(), &true.into()), "{said}");
        let resumed = send(node, EVENTS, &[("last-event-id", &last)], None).await;
        let mut resumed = resumed.into_body().into_data_stream();
        let mut text = String::new();
        while !text.contains("\"text\"") {
            let chunk = timeout(Duration::from_secs(60), resumed.next()).await.unwrap();
            text.push_str(std::str::from_utf8(&chunk.unwrap().unwrap()).unwrap());
        }
        assert!(text.contains("\"text\":\"last\"") && !text.contains("event: gap"), "{text}");
        assert_eq!(text.matches("event: message").count(), 1, "nothing comes twice: {text}");
    }
}
