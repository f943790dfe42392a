//! Shared data, with another program in Rust.

use groupwire_agent::TokenSource;
use groupwire_client::data::{Definitions, Json, SharedData, SharedOptions, Update};
use groupwire_client::{Events, Room};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{Host, Over, PATIENCE, Running, over_every_transport};

over_every_transport! {
    it_reads_and_changes_what_others_share
    undo_takes_back_the_agents_own_step
    changes_that_cannot_be_say_why
}

struct Person {
    data: SharedData,
    events: Events,
    _room: Room,
}

impl Person {
    async fn join(server: &Running, token: &str) -> Self {
        let (room, events) = server.person("plan", token).await;
        let data = room.shared(Definitions::new(), SharedOptions::default()).unwrap();
        Person { data, events, _room: room }
    }

    /// Reads events until the list has these values, and the room has all own changes.
    async fn until(&mut self, values: &[&str]) {
        let reading = async {
            loop {
                let now = self.data.lock().list("tasks").values();
                let now: Vec<_> = now.iter().filter_map(Json::as_str).collect();
                // Own changes show before the server has them.
                let pending = self.data.lock().pending();
                if now == values && pending == 0 {
                    return;
                }
                let update: Option<Update> = self.data.next(&mut self.events).await;
                update.expect("the session goes on");
            }
        };
        timeout(PATIENCE, reading).await.expect("it did not come");
    }
}

async fn tasks(host: &Host) -> Vec<Value> {
    let read = json!({ "room": "plan", "name": "tasks", "kind": "list" });
    let list = host.call("read_shared", read).await.unwrap();
    list["entries"].as_array().unwrap().clone()
}

async fn change(host: &Host, changes: Value) -> Value {
    let call = json!({ "room": "plan", "changes": changes });
    host.call("change_shared", call).await.unwrap()
}

async fn it_reads_and_changes_what_others_share(over: Over) {
    let server = Running::start().await;
    let mut ann = Person::join(&server, "").await;
    for task in ["milk", "bread", "milk"] {
        ann.data.lock().list("tasks").push(task).unwrap();
    }
    ann.data.lock().map("shapes").set("a", Json::object([("x", 1.into())])).unwrap();
    ann.until(&["milk", "bread", "milk"]).await;

    let host = Host::start(server.config(), over).await;
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    let list = tasks(&host).await;
    assert_eq!(
        list.iter().map(|task| &task["value"]).collect::<Vec<_>>(),
        ["milk", "bread", "milk"]
    );
    let names = host.call("read_shared", json!({ "room": "plan" })).await.unwrap();
    assert!(names["names"].to_string().contains(r#""name":"tasks""#), "{names}");

    let changed = change(
        &host,
        json!([
            { "do": "list_delete", "name": "tasks", "id": list[2]["id"] },
            { "do": "list_insert", "name": "tasks", "index": 0, "value": "apples" },
            { "do": "list_set", "name": "tasks", "id": list[1]["id"], "value": "rye bread" },
            { "do": "list_move", "name": "tasks", "id": list[0]["id"], "index": 9 },
            { "do": "map_set", "name": "shapes", "key": "b", "value": { "y": [1, null] } },
            { "do": "map_delete", "name": "shapes", "key": "a" },
            { "do": "counter_add", "name": "likes", "by": -3 },
        ]),
    )
    .await;
    assert_eq!(changed["confirmed"], true);
    assert_eq!(changed["inserted_ids"].as_array().unwrap().len(), 1);
    ann.until(&["apples", "rye bread", "milk"]).await;
    let shapes = json!({ "room": "plan", "name": "shapes", "kind": "map" });
    let shapes = host.call("read_shared", shapes).await.unwrap();
    assert_eq!(shapes["entries"], json!([{ "key": "b", "value": { "y": [1, null] } }]));
    assert_eq!(ann.data.lock().counter("likes").value(), -3);
    let likes = json!({ "room": "plan", "name": "likes", "kind": "counter" });
    assert_eq!(host.call("read_shared", likes).await.unwrap(), json!({ "value": -3 }));
    let one = json!({ "room": "plan", "name": "tasks", "kind": "list", "skip": 1, "limit": 1 });
    let one = host.call("read_shared", one).await.unwrap();
    assert_eq!((&one["entries"][0]["value"], &one["next_skip"]), (&json!("rye bread"), &json!(2)));

    // Waiting ends when another participant changes the data.
    let quiet = json!({ "room": "plan", "timeout_seconds": 0 });
    let newest = host.call("wait_for_changes", quiet).await.unwrap()["newest"].clone();
    ann.data.lock().list("tasks").push("salt").unwrap();
    let reading = tokio::spawn(async move { ann.until(&["never"]).await });
    let wait = json!({ "room": "plan", "after": newest, "timeout_seconds": 50 });
    let news = host.call("wait_for_changes", wait).await.unwrap();
    assert_eq!(news["shared_data_changed"], true);
    reading.abort();
}

async fn undo_takes_back_the_agents_own_step(over: Over) {
    let server = Running::start().await;
    let mut ann = Person::join(&server, "").await;
    let host = Host::start(server.config(), over).await;
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    let two = json!([
        { "do": "list_insert", "name": "tasks", "value": "one" },
        { "do": "list_insert", "name": "tasks", "value": "two" },
    ]);
    change(&host, two).await;
    ann.until(&["one", "two"]).await;
    ann.data.lock().list("tasks").push("three").unwrap();
    ann.until(&["one", "two", "three"]).await;
    let undone = host.call("undo", json!({ "room": "plan" })).await.unwrap();
    assert_eq!(undone, json!({ "undone": true, "confirmed": true }));
    ann.until(&["three"]).await;
    let undone = host.call("undo", json!({ "room": "plan" })).await.unwrap();
    assert_eq!(undone["undone"], false);
}

async fn changes_that_cannot_be_say_why(over: Over) {
    let server = Running::with_tokens().await;
    let mut config = server.config();
    config.token = TokenSource::Command(vec!["echo".to_owned(), "good".to_owned()]);
    let host = Host::start(config.clone(), over).await;
    host.call("join_room", json!({ "room": "plan" })).await.unwrap();
    let set = json!({ "do": "map_set", "name": "shapes", "key": "a", "value": 1 });
    let long = json!({ "do": "map_set", "name": "m", "key": "a", "value": "x".repeat(17 << 10) });
    let gone = json!([set, { "do": "list_delete", "name": "tasks", "id": "nobody" }]);
    for (changes, code) in [
        (json!([]), "invalid-argument"),
        (json!(vec![set.clone(); 51]), "invalid-argument"),
        (json!([long]), "too-large"),
        (gone, "no-such-item"),
        (json!([{ "do": "map_set", "name": "a/b", "key": "a", "value": 1 }]), "bad-name"),
        (
            json!([set, { "do": "map_set", "name": "shapes", "key": "k".repeat(200), "value": 1 }]),
            "bad-key",
        ),
        (json!([{ "do": "counter_add", "name": "n", "by": i64::MAX }]), "bad-argument"),
        (json!([{ "do": "erase", "name": "n" }]), ""),
    ] {
        let call = json!({ "room": "plan", "changes": changes });
        assert_eq!(host.fails("change_shared", call.clone()).await, code, "{call}");
    }
    // Nothing of these calls was done.
    let shapes = json!({ "room": "plan", "name": "shapes", "kind": "map" });
    assert_eq!(host.call("read_shared", shapes).await.unwrap()["count"], 0);
    let half = json!({ "room": "plan", "name": "shapes" });
    assert_eq!(host.fails("read_shared", half).await, "invalid-argument");
    let raw = json!({ "room": "plan", "channel": "shared", "text": "[]" });
    assert_eq!(host.fails("send_message", raw).await, "invalid-argument");

    // A token that permits only reading.
    config.token = TokenSource::Command(vec!["echo".to_owned(), "reader".to_owned()]);
    let reader = Host::start(config.clone(), over).await;
    reader.call("join_room", json!({ "room": "plan" })).await.unwrap();
    let call = json!({ "room": "plan", "changes": [set] });
    assert_eq!(reader.fails("change_shared", call.clone()).await, "not-allowed");
    config.shared = None;
    let without = Host::start(config, over).await;
    without.call("join_room", json!({ "room": "plan" })).await.unwrap();
    assert_eq!(without.fails("change_shared", call).await, "no-shared-data");
}
