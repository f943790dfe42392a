//! The webhook of a real server delivers events, even if the receiver fails or is down for a time.

use std::net::SocketAddr;
use std::time::Duration;

use groupwire_server::{Config, DurableConfig};
use serde_json::json;
use tokio::net::TcpListener;

use crate::support::person::Person;
use crate::support::receiver::{Receiver, Reply, webhook};
use crate::support::servers_with;
use crate::support::users;
use crate::support::wire::socket;

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// An address at which nobody listens.
async fn free() -> SocketAddr {
    TcpListener::bind(ANY).await.unwrap().local_addr().unwrap()
}

fn texts(receiver: &Receiver) -> Vec<String> {
    let events = receiver.of_type("room.transaction");
    events.iter().map(|event| event["text"].as_str().unwrap().to_owned()).collect()
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|n| n.to_string()).collect()
}

#[tokio::test]
async fn who_joins_writes_and_leaves_is_told_in_order_with_signatures_of_both_secrets() {
    let receiver = Receiver::default();
    let address = receiver.listen(ANY).await;
    let mut config = Config { webhook: webhook(address), ..Config::default() };
    config.room.timing.away = Duration::from_millis(100);
    let (_, server) = servers_with(config).await;
    let mut ann = Person::join(socket(server).await, "demo").await;
    ann.send("0").await;
    ann.receive(1).await;
    drop(ann);
    receiver.until(|it| it.types().iter().any(|kind| kind == "room.empty")).await;
    let expected = [
        "server.started",
        "room.opened",
        "participant.joined",
        "room.transaction",
        "participant.left",
        "room.empty",
    ];
    assert_eq!(receiver.types(), expected);
    let joined = json!({ "room": "demo", "participant": 1, "user": null, "resumed": false });
    assert_eq!(receiver.of_type("participant.joined"), [joined]);
    let transaction = json!({
        "room": "demo", "position": 1, "channel": "draw", "participant": 1, "user": null,
        "key_base64": null, "text": "0"
    });
    assert_eq!(receiver.of_type("room.transaction"), [transaction]);
}

#[tokio::test]
async fn a_receiver_that_fails_redirects_and_hangs_is_told_again_and_delays_no_room() {
    let receiver = Receiver::default();
    let (fails, moved) = (Reply::Status(500), Reply::Redirect);
    *receiver.replies.lock().unwrap() =
        vec![fails, moved, Reply::Silence, Reply::Status(400), fails];
    let address = receiver.listen(ANY).await;
    let (_, server) = servers_with(Config { webhook: webhook(address), ..Config::default() }).await;
    let mut ann = Person::join(socket(server).await, "demo").await;
    for number in numbers(50) {
        ann.send(&number).await;
    }
    ann.receive(50).await;
    receiver.until(|it| texts(it).len() == 50).await;
    assert_eq!(texts(&receiver), numbers(50));
    let requests = receiver.requests.lock().unwrap().clone();
    assert!(
        requests[..6].iter().all(|id| *id == requests[0]),
        "repeated with one id: {requests:?}"
    );
    assert_eq!(*receiver.redirected.lock().unwrap(), 0, "redirects are not followed");
}

#[tokio::test]
async fn a_receiver_that_is_down_is_told_when_it_is_back() {
    let (receiver, address) = (Receiver::default(), free().await);
    let (_, server) = servers_with(Config { webhook: webhook(address), ..Config::default() }).await;
    let mut ann = Person::join(socket(server).await, "demo").await;
    for number in numbers(20) {
        ann.send(&number).await;
    }
    ann.receive(20).await;
    receiver.listen(address).await;
    receiver.until(|it| texts(it).len() == 20).await;
    assert_eq!(texts(&receiver), numbers(20));
}

#[tokio::test]
async fn an_http_user_is_told_before_its_transaction_and_as_its_author() {
    for durable in [None, Some(DurableConfig::in_memory())] {
        let receiver = Receiver::default();
        let address = receiver.listen(ANY).await;
        let mut config = Config { webhook: webhook(address), durable, ..users::config() };
        config.room.timing.away = Duration::from_millis(100);
        let (server, _) = servers_with(config).await;
        let path = "/v1/rooms/demo/channels/draw/messages?create=transactions";
        assert_eq!(users::publish(server, "bob", path, "k", "0").await.0, 200);
        receiver.until(|it| it.types().iter().any(|kind| kind == "participant.left")).await;
        let types = receiver.types();
        let begin = ["server.started", "room.opened", "participant.joined", "room.transaction"];
        assert_eq!(types[..4], begin, "{types:?}");
        assert_eq!(receiver.of_type("room.transaction")[0]["user"], "bob");
        assert_eq!(receiver.of_type("participant.left")[0]["user"], "bob");
    }
}
