//! `GET /metrics` and `GET /readyz` of a real server.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use groupwire_server::{Config, DurableConfig};

use crate::support::http::{BEARER, get};
use crate::support::person::Person;
use crate::support::{Administered, PATIENCE, administered, wire};

/// The samples of metrics by name and labels, read strictly.
fn parse(text: &str) -> HashMap<String, f64> {
    assert!(text.ends_with('\n'));
    let mut samples = HashMap::new();
    let mut families = HashSet::new();
    let (mut family, mut kind) = (String::new(), "");
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(help.ends_with('.') && !help.starts_with(' '), "{line}");
            assert!(families.insert(name.to_owned()), "{name} is described twice");
            let typed = lines.next().unwrap().strip_prefix(&format!("# TYPE {name} ")).unwrap();
            (family, kind) = (name.to_owned(), typed);
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{typed}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
            assert!(name.starts_with("groupwire_") && is_name(name), "{name}");
            continue;
        }
        let (key, value) = line.rsplit_once(' ').unwrap();
        let value: f64 = value.parse().unwrap();
        assert!(value.is_finite() && value >= 0.0, "{line}");
        let (name, labels) = match key.split_once('{') {
            Some((name, labels)) => (name, labels.strip_suffix('}').unwrap()),
            None => (key, ""),
        };
        for pair in labels.split(',').filter(|pair| !pair.is_empty()) {
            let (label, value) = pair.split_once('=').unwrap();
            let value = value.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
            assert!(is_name(label) && !value.contains(['"', '\\']), "{line}");
        }
        let suffix = name.strip_prefix(&family).unwrap();
        match kind {
            "histogram" => assert!(["_bucket", "_sum", "_count"].contains(&suffix), "{line}"),
            _ => assert_eq!(suffix, "", "{line}"),
        }
        assert!(samples.insert(key.to_owned(), value).is_none(), "{key} twice");
        if suffix == "_count" {
            assert_eq!(samples[&format!("{family}_bucket{{le=\"+Inf\"}}")], value);
        }
    }
    samples
}

fn is_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

async fn metrics(server: &Administered) -> HashMap<String, f64> {
    let answer = get(server.admin, "/metrics", &[BEARER]).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let text = String::from_utf8(answer.body).unwrap();
    // Names of rooms can be secrets.
    assert!(!text.contains("attic"), "{text}");
    parse(&text)
}

#[tokio::test]
async fn metrics_count_what_happens() {
    let folder = tempfile::tempdir().unwrap();
    let durable = Some(DurableConfig::new(folder.path()));
    let server = administered(Config { durable, ..Config::default() }).await;
    let before = metrics(&server).await;
    assert_eq!(before["groupwire_join_seconds_count"], 0.0);
    let mut ana = Person::join(wire::socket(server.socket).await, "attic").await;
    ana.send("hello").await;
    ana.confirmed().await;
    let connections = metrics(&server).await["groupwire_connections{transport=\"TCP socket\"}"];
    assert_eq!(connections, 1.0);
    // A client whose first packet cannot be read.
    let mut refused = wire::socket(server.socket).await;
    refused.outgoing.send(vec![0xff; 10]).await.unwrap();
    while refused.incoming.recv().await.is_some() {}

    let after = metrics(&server).await;
    let grew = |name: &str| after[name] - before[name];
    assert_eq!(after["groupwire_rooms"], 1.0);
    assert_eq!(after["groupwire_participants"], 1.0);
    assert_eq!(grew("groupwire_messages_in_total"), 1.0);
    assert_eq!(grew("groupwire_joins_total"), 1.0);
    assert_eq!(grew("groupwire_resume_total{outcome=\"resumed\"}"), 0.0);
    assert_eq!(grew("groupwire_gap_total{reason=\"history\"}"), 0.0);
    assert_eq!(grew("groupwire_join_seconds_count"), 1.0);
    let refusals: f64 = after
        .iter()
        .filter(|(name, _)| name.starts_with("groupwire_refusals_total"))
        .map(|(_, count)| count)
        .sum();
    assert_eq!(refusals, 1.0);
    assert!(grew("groupwire_store_commits_total") >= 1.0);
    assert!(grew("groupwire_store_commit_seconds_count") >= 1.0);
    assert!(grew("groupwire_store_sync_seconds_count") >= 1.0);
    assert_eq!(after["groupwire_store_state{state=\"ok\"}"], 1.0);
    assert_eq!(after["groupwire_store_state{state=\"poisoned\"}"], 0.0);
    assert_eq!(after["groupwire_ready"], 1.0);
    // Something comes due soon, at the latest a ping.
    let deadline = Instant::now() + PATIENCE;
    while metrics(&server).await["groupwire_tick_lag_seconds_count"] == 0.0 {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn metrics_need_the_token_and_are_not_public() {
    let server = administered(Config::default()).await;
    assert_eq!(get(server.admin, "/metrics", &[]).await.status, 401);
    assert_eq!(get(server.public, "/metrics", &[BEARER]).await.status, 404);
    // Without a store there are no figures of one.
    assert!(metrics(&server).await.keys().all(|name| !name.contains("store")));
}
