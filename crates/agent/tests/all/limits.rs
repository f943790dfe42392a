//! The limits of an agent.

use groupwire_agent::Limits;
use groupwire_client::{Event, Qos, SendOptions};
use serde_json::json;
use tokio::time::timeout;

use crate::support::{Host, Over, PATIENCE, Running, until};

#[tokio::test(flavor = "multi_thread")]
async fn rooms_channels_and_waits_are_limited() {
    let server = Running::start().await;
    let mut config = server.config();
    config.limits = Limits { rooms: 1, channels: 2, waits: 1, ..Limits::default() };
    let host = Host::start(config, Over::Pipe).await;
    host.call("join_room", json!({ "room": "plan", "channels": ["a", "b"] })).await.unwrap();
    assert_eq!(host.fails("join_room", json!({ "room": "notes" })).await, "too-many-rooms");
    let read = |channel: &str| json!({ "room": "plan", "channel": channel });
    assert_eq!(host.fails("read_messages", read("c")).await, "too-many-channels");
    host.call("read_messages", read("b")).await.unwrap();

    let wait = || json!({ "room": "plan", "timeout_seconds": 50 });
    let both = async {
        tokio::select! {
            one = host.call("wait_for_changes", wait()) => one,
            two = host.call("wait_for_changes", wait()) => two,
        }
    };
    assert_eq!(both.await.unwrap_err().code, "too-many-waits");
    host.call("leave_room", json!({ "room": "plan" })).await.unwrap();
    host.call("join_room", json!({ "room": "notes" })).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_limited_to_a_rate() {
    let server = Running::start().await;
    let mut config = server.config();
    config.limits = Limits { burst: 3, changes_per_second: 1, ..Limits::default() };
    let host = Host::start(config, Over::Pipe).await;
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    // Four changes in a row are permitted only if they take seconds.
    let refused = async {
        loop {
            let presence = json!({ "room": "plan", "presence": { "number": 1 } });
            if let Err(error) = host.call("set_presence", presence).await {
                return error;
            }
        }
    };
    assert_eq!(timeout(PATIENCE, refused).await.unwrap().code, "rate-limited");
}

#[tokio::test(flavor = "multi_thread")]
async fn old_messages_are_dropped_and_results_come_in_pages() {
    let server = Running::start().await;
    let (ann, mut to_ann) = server.person("plan", "").await;
    let chat = ann.channel("chat", Qos::transaction()).unwrap();
    for number in 0..10 {
        let text = format!("{number}{}", "x".repeat(99));
        chat.send(text.as_str(), SendOptions::default()).unwrap();
    }
    until(&mut to_ann, |event| match event {
        Event::Message(message) => message.bytes.starts_with(b"9").then_some(()),
        _ => None,
    })
    .await;
    let mut config = server.config();
    config.limits = Limits { buffered_messages: 6, result_bytes: 400, ..Limits::default() };
    let host = Host::start(config, Over::Pipe).await;
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    let (mut after, mut read) = (0, Vec::new());
    loop {
        let call = json!({ "room": "plan", "channel": "chat", "after": after });
        let page = host.call("read_messages", call).await.unwrap();
        assert_eq!(page["older_dropped"], after == 0);
        assert!(page["messages"].to_string().len() <= 500, "{page}");
        let texts = page["messages"].as_array().unwrap().iter();
        read.extend(texts.map(|message| message["text"].as_str().unwrap()[..1].to_owned()));
        after = page["next_after"].as_u64().unwrap();
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(read, ["4", "5", "6", "7", "8", "9"]);
}
