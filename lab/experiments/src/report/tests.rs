//! Whole pages.

use std::path::Path;

use roxmltree::Document;
use serde_json::{Value, json};

use super::{Saved, page};

const EVIL: &str = "</script><script>alert(1)</script>\"'&";

fn page_of(rows: &[Value]) -> String {
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    let mut saved = Saved::default();
    saved.add(Path::new("rows.jsonl"), lines.join("\n").as_bytes()).unwrap();
    page(&saved)
}

fn gmc(technique: &str, bytes: f64) -> Value {
    json!({ "trace": "json", "technique": technique, "mode": "packet3", "ack_delay": 10, "loss": 0.2,
        "bytes_per_message": bytes, "verified": true })
}

fn afec(scheme: &str, overhead: f64, mer: f64) -> Value {
    json!({ "part": "grid", "real": false, "scheme": scheme, "channel": "rand10", "rtt_ms": 50.0,
        "deadline_ms": 250.0, "target": 0.05, "feasible": true, "mer": mer, "windows_met": 0.9, "overhead": overhead,
        "repeat_bytes": null, "verified": true })
}

fn web(transport: &str, measure: &str, value: f64) -> Value {
    json!({ "transport": transport, "network": "lan", "measure": measure, "value": value, "participants": 2,
        "size": 500, "tick_ms": 40, "app": "puzzle", "direction": "down", "paper": 40.0, "verified": true })
}

fn fanout(system: &str, clients: u64) -> Value {
    json!({ "system": system, "tick_ms": 40, "clients": clients, "delivered": 1.0, "p99_ms": 45.0,
        "server_us_per_delivery": 0.9, "goals": { "p99_ms": 48.0 }, "verified": true })
}

/// How many drawings there are; all of them are well-formed.
fn drawings(html: &str) -> usize {
    let drawings = html.split("<svg ").skip(1).map(|rest| rest.split("</svg>").next().unwrap());
    let drawings = drawings.filter(|drawing| drawing.starts_with("viewBox"));
    let drawings: Vec<String> = drawings.map(|drawing| format!("<svg {drawing}</svg>")).collect();
    for drawing in &drawings {
        Document::parse(drawing).unwrap();
    }
    drawings.len()
}

#[test]
fn there_is_a_section_for_each_experiment() {
    let html = page_of(&[
        gmc("groupwire", 3.2),
        gmc("zstd", 40.0),
        gmc("hand-bits", 3.0),
        afec("groupwire", 0.4, 0.04),
        afec("fec-2", 0.6, 0.01),
        afec("fec-3", 1.1, 0.001),
        web("websocket", "latency", 12.0),
        web("websocket", "jitter", 2.0),
        web("websocket", "receive_rate", 2000.0),
        web("multipart", "overhead_message", 44.0),
        fanout("groupwire-websocket", 100),
        fanout("ws-batched", 500),
    ]);
    for name in ["gmc", "afec", "web", "fanout"] {
        assert!(html.contains(&format!("<section id=\"{name}\">")), "{name}");
    }
    assert!(html.contains("packet3, acknowledged 10 messages later, 20 % lost"));
    assert!(html.contains("<td>3.20</td><td>zstd 40.0</td><td>hand-bits 3.00</td>"), "{html}");
    assert!(html.contains("50 ms round trip, 250 ms deadline, target 5 %"));
    assert!(html.contains("data-name=\"fec-2 to fec-7\""));
    assert_eq!(drawings(&html), 1 + 1 + 4 + 4);
}

#[test]
fn rows_cannot_write_markup() {
    let mut rows = vec![
        gmc(EVIL, 1.0),
        gmc("groupwire", 1.0),
        afec(EVIL, 0.1, 0.1),
        web(EVIL, "latency", 1.0),
    ];
    for field in ["trace", "channel", "network"] {
        for row in rows.iter_mut().filter(|row| row.get(field).is_some()) {
            row[field] = json!(EVIL);
        }
    }
    rows.push(json!({ "codec": EVIL, "payload": EVIL, "size": 500, "hops": 0, "link_mbit": 10.0,
        "effective_mbit": 9.0, "ratio": 1.1, "memory_bytes": 100, "picked": { EVIL: 1.0 } }));
    let html = page_of(&rows);
    assert_eq!(html.matches("<script>").count(), 1);
    assert!(html.contains("alert(1)"));
    assert!(drawings(&html) >= 5);
}

#[test]
fn rows_without_figures_do_no_harm() {
    let html = page_of(&[
        json!({ "codec": 1, "payload": null, "size": "x", "hops": -1.5, "link_mbit": "10" }),
        json!({ "codec": "a", "payload": "b", "size": -1e300, "hops": 1e300, "link_mbit": 1e300, "effective_mbit": 0 }),
        json!({ "codec": "none", "payload": "b", "size": 1, "hops": 1, "link_mbit": 1e-300, "effective_mbit": -1.0 }),
        json!({ "trace": 0, "technique": [], "mode": {} }),
        json!({ "scheme": 0, "channel": 0, "mer": null, "part": "grid", "rtt_ms": 1e300 }),
        json!({ "transport": 0, "network": 0, "measure": "latency", "value": "fast", "tick_ms": -1 }),
    ]);
    assert!(html.ends_with("</html>\n"));
}
