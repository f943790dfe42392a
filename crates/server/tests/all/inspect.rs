//! The inspector over a real server: what it shows, recordings, and an emulated network for one
//! participant.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use axum::body::Body;
use groupwire_server::Config;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::time::timeout;

use crate::support::http::{Answer, BEARER, get, post, send};
use crate::support::person::Person;
use crate::support::{Administered, PATIENCE, administered, wire};

const JSON: (&str, &str) = ("content-type", "application/json");

fn json(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    serde_json::from_slice(&answer.body).unwrap()
}

/// An inspector that reads the reports of a room.
struct Inspector {
    response: Response<Incoming>,
    text: String,
}

impl Inspector {
    async fn join(address: SocketAddr, room: &str) -> Self {
        let path = format!("/inspect/stream?room={room}");
        let response = send(address, "GET", &path, &[BEARER], Body::empty()).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Inspector { response, text: String::new() }
    }

    async fn next(&mut self) -> Value {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let report = serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap();
                self.text = rest.to_owned();
                return report;
            }
            let frame = timeout(PATIENCE, self.response.body_mut().frame()).await.unwrap();
            let data = frame.unwrap().unwrap().into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// The first report for which `is_right` is true.
    async fn until(&mut self, is_right: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let report = self.next().await;
            if is_right(&report) {
                return report;
            }
            assert!(Instant::now() < deadline, "{report}");
        }
    }
}

fn has_message(report: &Value) -> bool {
    report["packets"]
        .as_array()
        .unwrap()
        .iter()
        .any(|packet| packet["parts"] != Value::Array(Vec::new()))
}

#[tokio::test]
async fn two_inspectors_see_the_same_packets_and_without_inspectors_nothing_is_traced() {
    let Administered { socket, admin: address, .. } = administered(Config::default()).await;
    let mut ana = Person::join(wire::socket(socket).await, "seen").await;
    let mut ben = Person::join(wire::socket(socket).await, "seen").await;
    let (mut one, mut two) =
        (Inspector::join(address, "seen").await, Inspector::join(address, "seen").await);
    one.next().await;
    two.next().await;
    ana.send(r#"{"x":1}"#).await;
    ben.receive(1).await;
    let (seen, also) = (one.until(has_message).await, two.until(has_message).await);
    assert_eq!(seen["packets"], also["packets"]);
    let packet = &seen["packets"][0];
    assert_eq!((&packet["out"], &packet["participant"]), (&false.into(), &1.into()));
    // Channel, sender, index, purpose, bytes before compression.
    assert_eq!(packet["parts"][0].as_array().unwrap()[..5], [1, 1, 1, 0, 7].map(Value::from));
    assert_eq!(seen["participants"][0]["transport"]["kind"], "TCP socket");
    assert_eq!(seen["channels"][0]["name"], "draw");
    // One inspector leaves, the other still gets reports.
    drop(one);
    ana.send(r#"{"x":2}"#).await;
    two.until(has_message).await;
    // Without inspectors nothing is counted: the next inspector starts from zero.
    drop(two);
    tokio::time::sleep(Duration::from_secs(1)).await;
    ana.send(r#"{"x":3}"#).await;
    ben.receive(3).await;
    let report = Inspector::join(address, "seen").await.next().await;
    assert_eq!(report["flows"], Value::Array(Vec::new()));
    let templates = get(address, "/inspect/templates?room=seen&participant=2", &[BEARER]).await;
    assert!(
        json(&templates)["stream"].as_array().is_some_and(|all| !all.is_empty()),
        "{:?}",
        templates.body
    );
    let rooms = json(&get(address, "/inspect/rooms", &[BEARER]).await);
    assert_eq!((&rooms["rooms"][0]["name"], &rooms["records"]), (&"seen".into(), &false.into()));
}

#[tokio::test]
async fn bad_requests_are_refused() {
    let Administered { socket, admin: address, .. } = administered(Config::default()).await;
    let _ana = Person::join(wire::socket(socket).await, "r").await;
    for (status, path) in [
        (404, "/inspect/stream?room=nobody"),
        (400, "/inspect/stream"),
        (404, "/inspect/templates?room=nobody&participant=1"),
        (400, "/inspect/templates?room=r"),
        (400, "/inspect/templates?room=r&participant=-1"),
        (405, "/inspect/record?room=r"),
    ] {
        assert_eq!(get(address, path, &[BEARER]).await.status, status, "{path}");
    }
    // No participant has this id, but the room exists.
    assert_eq!(
        get(address, "/inspect/templates?room=r&participant=9", &[BEARER]).await.status,
        200
    );
    for (status, headers, body) in [
        (403, vec![BEARER, JSON], r#"{"on":true}"#),
        (404, vec![BEARER, JSON], r#"{"on":false}"#),
        (422, vec![BEARER, JSON], r#"{"on":1}"#),
        (422, vec![BEARER, JSON], r#"{"on":true,"file":"/etc/passwd"}"#),
        (400, vec![BEARER, JSON], "on"),
        (413, vec![BEARER, JSON], &" ".repeat(1000)),
        (415, vec![BEARER], r#"{"on":true}"#),
    ] {
        let answer = post(address, "/inspect/record?room=r", &headers, body.into()).await;
        assert_eq!(answer.status, status, "{body}");
    }
}

#[tokio::test]
async fn a_recording_has_all_published_messages() {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("groupwire-recorded-{}", std::process::id()));
    let config = Config { record_dir: Some(folder.clone()), ..Config::default() };
    let Administered { socket, admin: address, .. } = administered(config).await;
    let mut ana = Person::join(wire::socket(socket).await, "../kept").await;
    ana.send("before").await;
    ana.receive(0).await;
    let path = "/inspect/record?room=..%2Fkept";
    let record = async |on: bool| {
        json(&post(address, path, &[BEARER, JSON], format!(r#"{{"on":{on}}}"#).into()).await)
    };
    let started = record(true).await;
    assert_eq!(record(true).await["file"], started["file"], "the recording continues");
    for text in ["one", "", "three"] {
        ana.send(text).await;
    }
    let mut inspector = Inspector::join(address, "..%2Fkept").await;
    inspector
        .until(|report| report["recording"]["messages"].as_u64().is_some_and(|count| count >= 3))
        .await;
    let ended = record(false).await;
    assert_eq!((&ended["is_over"], &ended["error"]), (&true.into(), &Value::Null));
    let name = ended["file"].as_str().unwrap();
    assert!(name.starts_with("___kept-") && !name.contains('/'), "{name}");
    let records = std::fs::read(folder.join(name)).unwrap();
    assert!(records.ends_with(b"\x03\0\0\0one\0\0\0\0\x05\0\0\0three"), "{records:?}");
    let rows = std::fs::read_to_string(folder.join(name.replace(".bin", ".tsv"))).unwrap();
    assert!(rows.starts_with("time_ms\tsender\tchannel\n"));
    assert!(rows.lines().skip(1).all(|row| row.ends_with("\t1\tdraw")), "{rows}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn the_network_of_one_running_participant_is_emulated() {
    let Administered { socket, admin: address, .. } = administered(Config::default()).await;
    let mut ana = Person::join(wire::socket(socket).await, "worse").await;
    let mut ben = Person::join(wire::socket(socket).await, "worse").await;
    let body = || br#"{"loss":0,"delay_ms":1000}"#.to_vec();
    let path = "/emulation?room=worse&participant=";
    assert_eq!(post(address, &format!("{path}9"), &[BEARER, JSON], body()).await.status, 404);
    assert_eq!(post(address, &format!("{path}2"), &[BEARER, JSON], body()).await.status, 200);
    assert_eq!(json(&get(address, &format!("{path}2"), &[BEARER]).await)["delay_ms"], 1000.0);
    assert_eq!(json(&get(address, &format!("{path}1"), &[BEARER]).await)["delay_ms"], 0.0);
    let start = Instant::now();
    ana.send("hello").await;
    ben.receive(1).await;
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    let mut inspector = Inspector::join(address, "worse").await;
    let report = inspector.next().await;
    assert_eq!(
        report["participants"][1]["transport"]["emulation"],
        serde_json::json!([0.0, 1000.0])
    );
    assert_eq!(report["participants"][0]["transport"]["emulation"], Value::Null);
}
