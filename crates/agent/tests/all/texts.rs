//! Texts of Yjs documents, with another participant who has a document of `yrs`.

use groupwire_agent::Limits;
use groupwire_client::{Channel, Event, Events, Qos, Room, SendOptions};
use groupwire_server::Config as ServerConfig;
use serde_json::{Value, json};
use tokio::time::timeout;
use yrs::updates::decoder::Decode;
use yrs::{Doc, GetString, Text, TextRef, Transact, Update};

use crate::support::{Host, Over, PATIENCE, Running, over_every_transport, until, usual};

over_every_transport! {
    an_agent_edits_a_text_with_people_and_takes_its_step_back
    who_may_not_write_changes_nothing
    a_hostile_document_is_an_error_and_the_agent_goes_on
    a_document_that_the_server_has_lost_is_read_whole
}

/// A participant with a document, without a provider: all that the room sends is applied.
struct Ann {
    doc: Doc,
    text: TextRef,
    channel: Channel,
    events: Events,
    room: Room,
}

impl Ann {
    async fn join(server: &Running, token: &str) -> Self {
        let (room, events) = server.person("plan", token).await;
        let channel = room.channel("yjs", Qos::transaction().departures()).unwrap();
        let doc = Doc::new();
        let text = doc.get_or_insert_text("notes");
        Ann { doc, text, channel, events, room }
    }

    /// Writes in front of the text.
    fn write(&self, words: &str) {
        let mut txn = self.doc.transact_mut();
        self.text.insert(&mut txn, 0, words);
        self.send(&txn.encode_update_v1());
    }

    fn send(&self, update: &[u8]) {
        self.channel.send(update, SendOptions::default()).unwrap();
    }

    /// Reads events until the text is this one, and the room has all own changes.
    async fn until(&mut self, wanted: &str) {
        let reading = async {
            // Own changes show before the server has them.
            while self.text.get_string(&self.doc.transact()) != wanted || self.room.pending() > 0 {
                let event = self.events.next().await.expect("the session goes on");
                if let Event::Message(message) = event
                    && message.channel == self.channel.id()
                    && !message.text
                    && message.departed.is_none()
                {
                    let update = Update::decode_v1(&message.bytes).unwrap();
                    self.doc.transact_mut().apply_update(update).unwrap();
                }
            }
        };
        let read = timeout(PATIENCE, reading).await;
        read.unwrap_or_else(|_| panic!("{:?}", self.text.get_string(&self.doc.transact())));
    }
}

async fn notes(host: &Host) -> Value {
    let read = host.call("read_text", json!({ "room": "plan", "text": "notes" })).await;
    read.unwrap()["content"].clone()
}

fn edit(edits: Value) -> Value {
    json!({ "room": "plan", "text": "notes", "edits": edits })
}

async fn an_agent_edits_a_text_with_people_and_takes_its_step_back(over: Over) {
    let server = Running::start().await;
    let mut ann = Ann::join(&server, "").await;
    ann.write("We buy milk and bread.");
    ann.until("We buy milk and bread.").await;
    let host = Host::start(server.config(), over).await;
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    let names = host.call("read_text", json!({ "room": "plan" })).await.unwrap();
    assert_eq!(names["texts"], json!([{ "text": "notes", "kind": "text" }]));
    assert_eq!(notes(&host).await, "We buy milk and bread.");

    let edits = json!([
        { "do": "replace", "quote": "milk", "text": "oat milk" },
        { "do": "insert_after", "quote": "bread", "text": " today" },
    ]);
    let changed = host.call("edit_text", edit(edits)).await.unwrap();
    assert_eq!(changed, json!({ "changed": true, "confirmed": true }));
    ann.until("We buy oat milk and bread today.").await;
    ann.write("So: ");
    let wait = json!({ "room": "plan", "after": 0 });
    let news = host.call("wait_for_changes", wait).await.unwrap();
    assert_eq!(news["documents_changed"], json!(["yjs"]));
    let undo = json!({ "room": "plan", "document": "yjs" });
    let undone = host.call("undo", undo.clone()).await.unwrap();
    assert_eq!(undone, json!({ "undone": true, "confirmed": true }));
    ann.until("So: We buy milk and bread.").await;
    assert_eq!(host.call("undo", undo).await.unwrap()["undone"], false);

    // Who joins late gets the agent's snapshot, or the log.
    let mut late = Ann::join(&server, "").await;
    late.until("So: We buy milk and bread.").await;
    let message = json!({ "room": "plan", "channel": "yjs", "text": "[\"claim\"]" });
    assert_eq!(host.fails("send_message", message).await, "invalid-argument");
    server.stop().await;
}

async fn who_may_not_write_changes_nothing(over: Over) {
    let server = Running::with_tokens().await;
    let mut ann = Ann::join(&server, "good").await;
    ann.write("hers");
    ann.until("hers").await;
    let token = std::env::temp_dir().join(format!("reader-{}-{over:?}", std::process::id()));
    std::fs::write(&token, "reader").unwrap();
    let mut config = server.config();
    config.token = groupwire_agent::TokenSource::File(token);
    let host = Host::start(config, over).await;
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    assert_eq!(notes(&host).await, "hers");
    let edits = json!([{ "do": "replace", "quote": "hers", "text": "mine" }]);
    assert_eq!(host.fails("edit_text", edit(edits)).await, "not-allowed");
    assert_eq!(notes(&host).await, "hers");
    ann.write("still ");
    ann.until("still hers").await;
    until_read(&host, "still hers").await;
    server.stop().await;
}

async fn a_hostile_document_is_an_error_and_the_agent_goes_on(over: Over) {
    let server = Running::start().await;
    let mut ann = Ann::join(&server, "").await;
    ann.write("hers");
    ann.until("hers").await;
    let mut config = server.config();
    config.limits = Limits { documents: 2, document_bytes: 5000, ..Limits::default() };
    let host = Host::start(config, over).await;
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    assert_eq!(notes(&host).await, "hers");
    ann.send(&[7; 100]);
    let read = json!({ "room": "plan", "text": "notes" });
    while host.call("read_text", read.clone()).await.is_ok() {}
    assert_eq!(host.fails("read_text", read).await, "unreadable");
    let edits = json!([{ "do": "delete", "quote": "hers" }]);
    assert_eq!(host.fails("edit_text", edit(edits)).await, "unreadable");

    // Other documents are not concerned.
    let of = |document: &str| {
        json!({ "room": "plan", "document": document, "text": "t", "kind": "text",
        "edits": [{ "do": "add_paragraph", "text": "x".repeat(4000) }] })
    };
    host.call("edit_text", of("other")).await.unwrap();
    host.call("edit_text", of("other")).await.unwrap();
    let read = json!({ "room": "plan", "document": "other", "text": "t" });
    assert_eq!(host.fails("read_text", read).await, "too-large");
    assert_eq!(host.fails("edit_text", of("third")).await, "too-many-documents");
    let message = json!({ "room": "plan", "channel": "chat", "text": "hello" });
    host.call("send_message", message).await.unwrap();
    let (_room, mut events) = server.person("plan", "").await;
    until(&mut events, |event| matches!(event, Event::Participants { .. }).then_some(())).await;
    server.stop().await;
}

async fn until_read(host: &Host, wanted: &str) {
    let reading = async { while notes(host).await != wanted {} };
    timeout(PATIENCE, reading).await.expect("the text did not come");
}

async fn a_document_that_the_server_has_lost_is_read_whole(over: Over) {
    let server = Running::start().await;
    let mut ann = Ann::join(&server, "").await;
    ann.write("hers");
    ann.until("hers").await;
    let host = Host::start(server.config(), over).await;
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    assert_eq!(notes(&host).await, "hers");
    drop(ann);
    let listen = server.stop().await;
    let _server = Running::with(ServerConfig { listen, ..usual() }).await;
    let wait = || json!({ "room": "plan", "after": 0, "timeout_seconds": 1 });
    while !host.call("wait_for_changes", wait()).await.unwrap()["lost"].is_string() {}
    assert_eq!(notes(&host).await, "hers");
}
