//! Rights, tokens and malformed calls of an agent.

use std::path::PathBuf;

use groupwire_agent::TokenSource;
use serde_json::json;

use crate::support::{Host, Over, Running, over_every_transport};

over_every_transport! {
    rights_are_those_of_the_token
    an_expired_token_is_reported_and_a_new_one_taken
    bad_calls_say_what_to_do
}

/// A token file of one test.
fn token_file(test: &str, over: Over, token: &str) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("agent-{test}-{over:?}"));
    std::fs::write(&file, token).unwrap();
    file
}

async fn rights_are_those_of_the_token(over: Over) {
    let server = Running::with_tokens().await;
    for (token, room, code) in
        [("banned", "plan", "banned"), ("unknown", "plan", "refused"), ("good", "notes", "refused")]
    {
        let file = token_file(token, over, token);
        let mut config = server.config();
        config.token = TokenSource::File(file);
        let host = Host::start(config, over).await;
        assert_eq!(host.fails("join_room", json!({ "room": room })).await, code);
        // A room that could not be joined leaves no place taken.
        let rooms = host.call("list_rooms", json!({})).await.unwrap();
        assert!(!rooms.to_string().contains("closed"), "{rooms}");
    }

    let mut config = server.config();
    config.token = TokenSource::Command(vec!["echo".to_owned(), "reader".to_owned()]);
    let host = Host::start(config, over).await;
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    let read = json!({ "room": "plan", "channel": "chat" });
    // Nobody has opened the channel, and a reader may not be the first one.
    let code = host.fails("read_messages", read.clone()).await;
    assert!(["refused", "not-allowed"].contains(&code.as_str()), "{code}");
    let (ann, mut to_ann) = server.person("plan", "good").await;
    let chat = ann.channel("chat", groupwire_client::Qos::transaction()).unwrap();
    chat.send("hello", Default::default()).unwrap();
    crate::support::until(&mut to_ann, |event| {
        matches!(event, groupwire_client::Event::Message(_)).then_some(())
    })
    .await;
    host.call("leave_room", json!({ "room": "plan" })).await.unwrap();
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    assert_eq!(host.call("read_messages", read).await.unwrap()["messages"][0]["text"], "hello");
    let say = json!({ "room": "plan", "channel": "chat", "text": "may I?" });
    assert_eq!(host.fails("send_message", say).await, "not-allowed");

    let mut config = server.config();
    config.token = TokenSource::File(token_file("chat", over, "chat"));
    let host = Host::start(config, over).await;
    let join = json!({ "room": "plan", "channels": ["chat", "secret"] });
    let joined = host.call("join_room", join).await.unwrap();
    assert_eq!(joined["channels_not_opened"][0]["channel"], "secret");
    assert_eq!(joined["channels_not_opened"][0]["error"]["code"], "refused");
}

async fn an_expired_token_is_reported_and_a_new_one_taken(over: Over) {
    let server = Running::with_tokens().await;
    let file = token_file("expired", over, "old");
    let mut config = server.config();
    config.token = TokenSource::File(file.clone());
    let host = Host::start(config, over).await;
    let join = json!({ "room": "plan" });
    assert_eq!(host.fails("join_room", join.clone()).await, "expired");

    // It expires while the agent is in the room.
    std::fs::write(&file, "short").unwrap();
    host.call("join_room", join).await.unwrap();
    let connection = |wanted: &'static str| {
        let host = &host;
        async move {
            loop {
                let wait = json!({ "room": "plan", "timeout_seconds": 1 });
                let news = host.call("wait_for_changes", wait).await.unwrap();
                if news["connection"] == wanted {
                    return news;
                }
            }
        }
    };
    let news = connection("lacks-token").await;
    assert_eq!(news["error"]["code"], "expired");
    let say = json!({ "room": "plan", "channel": "chat", "text": "hello" });
    assert_eq!(host.fails("send_message", say.clone()).await, "expired");
    std::fs::write(&file, "good\n").unwrap();
    connection("joined").await;
    assert_eq!(host.call("send_message", say).await.unwrap()["confirmed"], true);
}

async fn bad_calls_say_what_to_do(over: Over) {
    let server = Running::start().await;
    let host = Host::start(server.config(), over).await;
    let before = [
        ("join_room", json!({}), ""),
        ("join_room", json!({ "room": 7 }), ""),
        ("join_room", json!({ "room": "" }), "unknown-room"),
        ("join_room", json!({ "room": "another" }), "unknown-room"),
        ("join_room", json!({ "room": "x".repeat(300) }), "unknown-room"),
        ("join_room", json!({ "room": "plan", "channels": [""] }), "invalid-argument"),
        ("join_room", json!({ "room": "plan", "channels": vec!["c"; 33] }), "invalid-argument"),
        ("join_room", json!({ "room": "plan", "token": "mine" }), ""),
        ("leave_room", json!({ "room": "plan" }), "not-joined"),
        ("send_message", json!({ "room": "plan", "channel": "a", "text": "" }), "not-joined"),
        ("read_messages", json!({ "room": "plan", "channel": "a" }), "not-joined"),
        ("wait_for_changes", json!({ "room": "plan" }), "not-joined"),
        ("set_presence", json!({ "room": "plan", "presence": {} }), "not-joined"),
        ("no_such_tool", json!({}), "protocol"),
    ];
    for (tool, arguments, code) in before {
        assert_eq!(host.fails(tool, arguments.clone()).await, code, "{tool} {arguments}");
    }
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    let long = "x".repeat(17 << 10);
    let within = [
        ("send_message", json!({ "room": "plan", "channel": "a" }), "invalid-argument"),
        (
            "send_message",
            json!({ "room": "plan", "channel": "a", "text": "", "json": null }),
            "invalid-argument",
        ),
        ("send_message", json!({ "room": "plan", "channel": "a", "text": long }), "too-large"),
        ("send_message", json!({ "room": "plan", "channel": "", "text": "" }), "invalid-argument"),
        (
            "send_message",
            json!({ "room": "plan", "channel": "a", "text": "", "key": "k".repeat(257) }),
            "invalid-argument",
        ),
        ("send_message", json!({ "room": "plan", "channel": "a", "text": "", "kind": "best" }), ""),
        ("read_messages", json!({ "room": "plan", "channel": "a", "after": -1 }), ""),
        (
            "read_messages",
            json!({ "room": "plan", "channel": "c".repeat(129) }),
            "invalid-argument",
        ),
        ("participants", json!({ "room": "plan", "after": 1_u64 << 40 }), ""),
        ("set_presence", json!({ "room": "plan", "presence": "away" }), ""),
        (
            "set_presence",
            json!({ "room": "plan", "presence": { "a": "x".repeat(5000) } }),
            "too-large",
        ),
    ];
    for (tool, arguments, code) in within {
        assert_eq!(host.fails(tool, arguments.clone()).await, code, "{tool} {arguments}");
    }
    // A server that is not there.
    let mut config = server.config();
    config.server = format!("ws://{}", server.stop().await);
    let host = Host::start(config, over).await;
    assert_eq!(host.fails("join_room", json!({ "room": "plan" })).await, "unreachable");
}
