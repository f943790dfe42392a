//! What an agent does in rooms, over both transports of MCP.

use groupwire_client::{Event, Qos, SendOptions};
use groupwire_server::Config as ServerConfig;
use serde_json::{Value, json};

use crate::support::{Host, Over, Running, over_every_transport, until, usual};

over_every_transport! {
    people_see_the_agent_and_it_sees_them
    messages_go_both_ways
    it_waits_for_changes
    it_resumes_after_the_server_was_restarted
}

async fn people_see_the_agent_and_it_sees_them(over: Over) {
    let server = Running::start().await;
    let (ann, mut to_ann) = server.person("plan", "").await;
    let host = Host::start(server.config(), over).await;
    let rooms = host.call("list_rooms", json!({})).await.unwrap();
    assert_eq!(rooms["rooms"][1], json!({ "room": "notes", "state": "not-joined" }));
    let joined = host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    assert_eq!(joined["state"], "joined");
    let me = joined["me"].as_u64().unwrap();

    let presence_of = |wanted: Value| {
        move |event: &Event| match event {
            Event::Participants { changes, .. } => changes.iter().find_map(|change| {
                let presence = serde_json::from_slice::<Value>(&change.presence).ok()?;
                (u64::from(change.id) == me && presence == wanted).then_some(())
            }),
            _ => None,
        }
    };
    until(&mut to_ann, presence_of(json!({ "name": "Tidy bot", "agent": true }))).await;
    // A model cannot pose as a person.
    let lies = json!({ "name": "Ann", "agent": false, "status": "reading" });
    host.call("set_presence", json!({ "room": "plan", "presence": lies })).await.unwrap();
    let seen = json!({ "name": "Tidy bot", "agent": true, "status": "reading" });
    until(&mut to_ann, presence_of(seen)).await;

    let list = host.call("participants", json!({ "room": "plan" })).await.unwrap();
    let ann_id = ann.joined().await.unwrap().get();
    let seen = list["participants"].as_array().unwrap();
    let seen = seen.iter().find(|one| one["participant"] == ann_id).unwrap();
    assert_eq!(seen["presence"]["name"], "Ann");

    host.call("leave_room", json!({ "room": "plan" })).await.unwrap();
    until(&mut to_ann, |event| match event {
        Event::Participants { changes, .. } => changes.iter().find_map(|change| {
            let left = change.state == groupwire_client::PresenceState::Left;
            (left && u64::from(change.id) == me).then_some(())
        }),
        _ => None,
    })
    .await;
    assert_eq!(host.fails("participants", json!({ "room": "plan" })).await, "not-joined");
}

async fn messages_go_both_ways(over: Over) {
    let server = Running::start().await;
    let (ann, mut to_ann) = server.person("plan", "").await;
    let chat = ann.channel("chat", Qos::transaction()).unwrap();
    chat.send("before the agent came", SendOptions::default()).unwrap();
    until(&mut to_ann, |event| matches!(event, Event::Message(_)).then_some(())).await;

    let host = Host::start(server.config(), over).await;
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    let read = |after: u64| {
        let arguments = json!({ "room": "plan", "channel": "chat", "after": after, "limit": 1 });
        host.call("read_messages", arguments)
    };
    let first = read(0).await.unwrap();
    assert_eq!(first["messages"][0]["text"], "before the agent came");
    assert_eq!(first["messages"][0]["late_joiner_state"], true);
    assert_eq!(first["complete"], true);

    let say = json!({ "room": "plan", "channel": "chat", "json": { "done": [1, null] } });
    let sent = host.call("send_message", say).await.unwrap();
    assert_eq!(sent["confirmed"], true);
    let heard = until(&mut to_ann, |event| match event {
        Event::Message(message) if !message.own => Some(message.bytes.clone()),
        _ => None,
    });
    assert_eq!(heard.await, br#"{"done":[1,null]}"#);
    let next = read(first["next_after"].as_u64().unwrap()).await.unwrap();
    assert_eq!(next["messages"][0]["own"], true);
    assert_eq!(next["more"], false);

    // One that only the agent receives, and bytes that are no text.
    let joined = host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    let me = u32::try_from(joined["me"].as_u64().unwrap()).unwrap();
    let to = Some(groupwire_client::Recipient { participant: me.into(), tag: 0 });
    chat.send(&[0xff, 0xfe][..], SendOptions { to, ..SendOptions::default() }).unwrap();
    let after = next["next_after"].as_u64().unwrap();
    let wait = json!({ "room": "plan", "after": after, "timeout_seconds": 50 });
    host.call("wait_for_changes", wait).await.unwrap();
    let direct = read(after).await.unwrap();
    assert_eq!(direct["messages"][0]["base64"], "//4=");
    assert_eq!(direct["messages"][0]["direct"], true);
}

async fn it_waits_for_changes(over: Over) {
    let server = Running::start().await;
    let (ann, _to_ann) = server.person("plan", "").await;
    let host = Host::start(server.config(), over).await;
    let join = json!({ "room": "plan", "channels": ["chat", "log"] });
    host.call("join_room", join).await.unwrap();
    let quiet = json!({ "room": "plan", "timeout_seconds": 0 });
    let newest = host.call("wait_for_changes", quiet).await.unwrap();
    assert_eq!(newest["changed"], false);
    let after = newest["newest"].as_u64().unwrap();
    let wait = json!({ "room": "plan", "after": after, "timeout_seconds": 50 });
    let say = async {
        let chat = ann.channel("chat", Qos::transaction()).unwrap();
        chat.send("hello", SendOptions::default()).unwrap();
    };
    let (news, ()) = tokio::join!(host.call("wait_for_changes", wait), say);
    let news = news.unwrap();
    assert_eq!(news["changed"], true);
    assert_eq!(news["channels"], json!([{ "channel": "chat", "new_messages": 1 }]));
    assert_eq!(news["connection"], "joined");
    host.agent.leave_all().await;
    assert_eq!(host.fails("leave_room", json!({ "room": "plan" })).await, "not-joined");
}

async fn it_resumes_after_the_server_was_restarted(over: Over) {
    let server = Running::start().await;
    let host = Host::start(server.config(), over).await;
    let join = json!({ "room": "plan", "channels": ["chat"] });
    host.call("join_room", join).await.unwrap();
    let listen = server.stop().await;
    let wait = || json!({ "room": "plan", "timeout_seconds": 1 });
    while host.call("wait_for_changes", wait()).await.unwrap()["connection"] == "joined" {}
    let call = json!({ "room": "plan", "channel": "chat", "text": "into the void" });
    assert_eq!(host.fails("send_message", call).await, "reconnecting");

    let server = Running::with(ServerConfig { listen, ..usual() }).await;
    let (ann, mut to_ann) = server.person("plan", "").await;
    ann.channel("chat", Qos::transaction()).unwrap();
    loop {
        let news = host.call("wait_for_changes", wait()).await.unwrap();
        if news["connection"] == "joined" {
            break;
        }
    }
    let call = json!({ "room": "plan", "channel": "chat", "text": "here again" });
    assert_eq!(host.call("send_message", call).await.unwrap()["confirmed"], true);
    until(&mut to_ann, |event| match event {
        Event::Message(message) if message.bytes == b"here again" => Some(()),
        _ => None,
    })
    .await;
}
