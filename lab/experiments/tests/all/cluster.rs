//! Runs of `groupwire-lab cluster` with few people and for a short time.

use std::fs::File;
use std::io::Write;

use serde_json::Value;

use crate::{is_refused, rows_of};

const QUICK: [&str; 4] = ["cluster", "--quick", "--data", env!("CARGO_TARGET_TMPDIR")];

/// The rows of some parts, which are verified; `None` without a nats-server, which is told.
fn rows(parts: &[&str]) -> Option<Vec<Value>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|folder| folder.join("nats-server").exists()) {
        skip();
        return None;
    }
    let options: Vec<_> = parts.iter().flat_map(|part| ["--part", part]).collect();
    let rows = rows_of(&[&QUICK, &options[..]].concat());
    for row in &rows {
        let is_right = (&row["verified"], &row["engine"]) == (&true.into(), &"nats".into());
        assert!(is_right, "{row}");
        assert!(parts.contains(&row["part"].as_str().unwrap()), "{row}");
    }
    Some(rows)
}

/// Says that the machine lacks what this test needs, for scripts/skipped.mjs.
fn skip() {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    println!("skipped: {test} needs nats-server");
    if let Some(file) = std::env::var_os("GROUPWIRE_SKIPPED") {
        let mut file = File::options().append(true).create(true).open(file).unwrap();
        file.write_all(format!("{test}: needs nats-server\n").as_bytes()).unwrap();
    }
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("{field}: {row}"))
}

#[test]
fn confirmations_are_timed_at_the_owner_and_through_another_server() {
    let Some(rows) = rows(&["confirm"]) else { return };
    let seen: Vec<_> =
        rows.iter().map(|row| (row["path"].as_str().unwrap(), &row["rooms"])).collect();
    let (one, twenty) = (&1.into(), &20.into());
    assert_eq!(seen, [("owner", one), ("relay", one), ("owner", twenty), ("relay", twenty)]);
    for row in &rows {
        assert!(number(row, "confirmed") > 0.0 && number(row, "lost") == 0.0, "{row}");
        assert!(number(row, "confirm_p50_ms") > 0.0, "{row}");
        assert!(number(row, "confirm_p50_ms") <= number(row, "confirm_p99_ms"), "{row}");
        assert_eq!(row["goals"]["confirm_p99_ms"], 90.0);
    }
}

#[test]
fn people_of_a_server_that_ends_are_back_and_miss_nothing() {
    let Some(rows) = rows(&["kill-owner", "drain"]) else { return };
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!((&row["fault"], &row["rounds"]), (&row["part"], &1.into()));
        assert!(number(row, "confirmed") > 0.0 && number(row, "lost") == 0.0, "{row}");
        assert!(number(row, "takeover_p50_s") > 0.0, "{row}");
        assert!(number(row, "takeover_p99_s") <= number(row, "takeover_max_s"), "{row}");
    }
    // Others notice that a server is dead only after three seconds.
    assert!(number(&rows[0], "takeover_max_s") > 2.0, "{}", rows[0]);
}

#[test]
fn what_is_passed_on_costs_two_servers() {
    let Some(rows) = rows(&["awareness", "rooms"]) else { return };
    for rows in rows.chunks(4) {
        let paths: Vec<_> = rows.iter().map(|row| row["path"].as_str().unwrap()).collect();
        assert_eq!(paths, ["alone", "owner", "relay", "edge"]);
        let [_, _, relay, edge] = rows else { panic!("{rows:?}") };
        assert!(rows.iter().all(|row| number(row, "us_per_delivery") > 0.0));
        assert!(number(relay, "edge_us_per_delivery") > 0.0);
        assert!(number(relay, "over_direct") > 0.0 && number(edge, "over_alone") > 0.0);
        assert_eq!(relay["goals"]["over_direct"], 2.0);
    }
}

#[test]
fn people_behind_other_servers_and_joins_are_measured() {
    let Some(rows) = rows(&["edges", "joins", "large"]) else { return };
    let of = |part: &str| rows.iter().filter(|row| row["part"] == part).collect::<Vec<_>>();
    let (edges, joins, large) = (of("edges"), of("joins"), of("large"));
    assert_eq!((edges.len(), joins.len(), large.len()), (6, 4, 1));
    assert_eq!(edges.iter().filter(|row| row["share_of_serving"].is_number()).count(), 2);
    assert!(joins.iter().all(|row| number(row, "us_per_join") > 0.0));
    assert!(number(large[0], "rss_mb") > 0.0);
    assert_eq!((&large[0]["people"], &large[0]["delivered"]), (&300.into(), &1.0.into()));
}

#[test]
fn impossible_options_are_refused() {
    for (option, value, says) in [("--engine", "redis", "postgres://"), ("--part", "rain", "drain")]
    {
        is_refused(&[&QUICK[..], &[option, value]].concat(), says);
    }
}
