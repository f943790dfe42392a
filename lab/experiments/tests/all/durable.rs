//! Runs of `groupwire-lab durable` with few people and for a short time.

use serde_json::Value;

use crate::{is_refused, rows_of};

const QUICK: [&str; 4] = ["durable", "--quick", "--data", env!("CARGO_TARGET_TMPDIR")];

fn rows(arguments: &[&str]) -> Vec<Value> {
    let rows = rows_of(&[&QUICK, arguments].concat());
    for row in &rows {
        assert_eq!((&row["verified"], &row["quick"]), (&true.into(), &true.into()), "{row}");
        let faults = (&row["lost"], &row["repeated"], &row["reordered"]);
        assert_eq!(faults, (&0.into(), &0.into(), &0.into()), "{row}");
        assert!(row["confirmed"].as_u64().unwrap() > 0, "{row}");
    }
    rows
}

#[test]
fn rooms_are_loaded_in_memory_and_on_the_disk() {
    let rows = rows(&["--part", "load", "--rooms", "3", "--rate", "60"]);
    let modes: Vec<_> = rows.iter().map(|row| row["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["memory", "local"]);
    for row in &rows {
        let number = |field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field}: {row}"));
        assert!(number("confirm_p50_ms") > 0.0);
        assert!(number("confirm_p50_ms") <= number("confirm_p99_ms"));
        assert!(number("server_us_per_delivery") > 0.0);
        assert!(number("deliveries") >= number("transactions"));
    }
    let local = &rows[1];
    assert_eq!((&rows[0]["store"], &local["store"]), (&Value::Null, &"sqlite".into()));
    assert!(local["cpu_over_memory"].is_number() && local["fdatasync_p99_ms"].is_number());
    assert!(local["goals"]["confirm_p99_ms"].as_f64().unwrap() > 55.0);
}

#[test]
fn nothing_is_lost_when_the_server_is_killed() {
    let rows = rows(&["--part", "kill", "--rounds", "2"]);
    assert_eq!((&rows[0]["fault"], &rows[0]["rounds"]), (&"kill".into(), &2.into()));
    assert!(rows[0]["recover_s"].as_f64() > rows[0]["listen_s"].as_f64());
}

#[test]
fn a_server_starts_with_stored_rooms_and_with_a_log() {
    let rows = rows(&["--part", "rooms", "--part", "log", "--stored", "50", "--log", "2"]);
    let parts: Vec<_> = rows.iter().map(|row| row["part"].as_str().unwrap()).collect();
    assert_eq!(parts, ["rooms", "log"]);
    assert_eq!((&rows[0]["rooms"], &rows[1]["rooms"]), (&50.into(), &2.into()));
    assert!(rows[1]["disk_mb"].as_f64().unwrap() > 2.0);
    for row in &rows {
        assert!(row["listen_s"].as_f64().unwrap() <= row["recover_s"].as_f64().unwrap());
        assert_eq!(row["cache"], "fadvise");
    }
}

#[test]
fn impossible_options_are_refused() {
    for (option, value, says) in
        [("--mode", "cluster", "local"), ("--bytes", "10", "from 64"), ("--part", "none", "crowd")]
    {
        is_refused(&[&QUICK[..], &[option, value]].concat(), says);
    }
}
