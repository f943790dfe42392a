//! Runs of `groupwire-lab fanout` with few clients and for a short time.

use serde_json::Value;

use crate::{errors_in, is_refused, rows_of, run};

const SMALL: [&str; 11] = [
    "fanout",
    "--peers",
    "/nowhere",
    "--clients",
    "10",
    "--senders",
    "3",
    "--seconds",
    "1",
    "--idle",
    "5",
];

fn row(system: &str) -> Value {
    let mut rows = rows_of(&[&SMALL[..], &["--tick", "20", "--system", system]].concat());
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

#[test]
fn over_websocket_every_message_arrives_and_is_compared() {
    let row = row("groupwire-websocket");
    assert_eq!(row["verified"], true, "{row}");
    assert_eq!(
        (&row["clients"], &row["senders"], &row["tick_ms"]),
        (&10.into(), &3.into(), &20.into())
    );
    assert_eq!(row["delivered"], 1.0);
    assert!(row["messages"].as_u64().unwrap() >= 100, "{row}");
    let number = |field: &str| row[field].as_f64().unwrap();
    assert!(number("server_us_per_delivery") > 0.0);
    assert!(number("p50_ms") <= number("p99_ms"));
    assert!(number("socket_bytes_per_delivery") > 1.0);
    assert_eq!(row["idle_connections"], 5);
}

#[test]
fn over_webtransport_messages_arrive_as_sent() {
    let row = row("groupwire-webtransport");
    assert_eq!(row["verified"], true, "{row}");
    assert!(row["deliveries"].as_u64().unwrap() > 0, "{row}");
    let number = |field: &str| row[field].as_f64().unwrap();
    assert!(number("wire_bytes_per_delivery") > number("socket_bytes_per_delivery"));
}

#[test]
fn the_bare_program_delivers_everything_with_the_same_fields() {
    let (row, ours) = (row("bare"), row("groupwire-websocket"));
    assert_eq!((&row["verified"], &row["delivered"]), (&true.into(), &1.0.into()), "{row}");
    assert!(row["messages"].as_u64().unwrap() >= 100, "{row}");
    let fields = |row: &Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&row), fields(&ours));
    let number = |field: &str| row[field].as_f64().unwrap();
    assert!(number("server_us_per_delivery") > 0.0);
    assert!(number("p50_ms") <= number("p99_ms"));
}

#[test]
fn peers_that_are_not_installed_are_named_and_left_out() {
    let output = run(&[&SMALL[..], &["--system", "ws"]].concat());
    assert!(!output.status.success());
    let errors = errors_in(&output);
    assert!(errors.contains("ws, tick 0 ms was skipped"), "{errors}");
    assert!(errors.contains("scripts/peers.sh"), "{errors}");
}

#[test]
fn impossible_options_are_refused() {
    for (option, value, says) in
        [("--system", "carrier-pigeon", "uwebsockets"), ("--senders", "11", "senders are 1 to 100")]
    {
        is_refused(&["fanout", "--clients", "10", option, value], says);
    }
}
