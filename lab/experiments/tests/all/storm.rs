//! Runs of `groupwire-lab storm` with few people and for a short time.

use serde_json::Value;

use crate::{is_refused, rows_of};

const QUICK: [&str; 4] = ["storm", "--quick", "--data", env!("CARGO_TARGET_TMPDIR")];

fn rows(arguments: &[&str]) -> Vec<Value> {
    let rows = rows_of(&[&QUICK, arguments].concat());
    for row in &rows {
        assert_eq!((&row["verified"], &row["failed"]), (&true.into(), &0.into()), "{row}");
        assert!(row["bystander_before_p99_ms"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["server_cpu_s"].as_f64().unwrap() > 0.0, "{row}");
    }
    rows
}

#[test]
fn many_join_and_come_back() {
    let events = ["join", "kill", "drain", "upgrade"];
    let options: Vec<_> = events.iter().flat_map(|event| ["--event", event]).collect();
    let rows = rows(&[&options[..], &["--clients", "20", "--rooms", "3"]].concat());
    let seen: Vec<_> = rows.iter().map(|row| row["event"].as_str().unwrap()).collect();
    assert_eq!(seen, events);
    assert!(rows[0]["packets_per_join"].as_f64().unwrap() > 0.0);
    for row in &rows[1..] {
        let number = |field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field}: {row}"));
        assert!(number("away_p50_s") > 0.0, "{row}");
        assert!(number("away_p50_s") <= number("away_max_s"), "{row}");
    }
}

#[test]
fn some_flood_the_server() {
    let kinds = ["flood-transactions", "flood-awareness", "flood-joins"];
    let options: Vec<_> = kinds.iter().flat_map(|event| ["--event", event]).collect();
    // A client that the server's limits hold back may send nothing for as long as a quick run
    // lasts.
    for row in rows(&[&options[..], &["--flooders", "2", "--unlimited"]].concat()) {
        assert!(row["flooded_per_s"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["bystander_p99_ms"].as_f64().unwrap() > 0.0, "{row}");
        assert_eq!(row["clients"], 2);
    }
}

#[test]
fn impossible_options_are_refused() {
    for (option, value, says) in [("--event", "rain", "drain"), ("--clients", "0", "1..=20000")] {
        is_refused(&[&QUICK[..], &[option, value]].concat(), says);
    }
}
