//! The experiment `contract` over real sockets, as users run it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::process::Command;

use serde_json::Value;

/// Runs two seconds of pointers, through the emulated network where that is permitted.
#[test]
fn a_scene_over_real_sockets_stands_beside_the_simulated_one() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire-lab"));
    command.args(["contract", "--real", "--setup", "handover", "--seconds", "2"]);
    command.args(["--seeds", "1", "--json"]);
    let output = command.output().unwrap();
    let (out, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if ["no real sockets", "no program groupwire", "TUN"].iter().any(|why| error.contains(why)) {
        println!("skipped: {error}");
        return;
    }
    let rows: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 4, "{out}{error}");
    for row in &rows {
        assert!(row["failure"].is_null() && row["verified"] == true, "{row}");
        assert!(row["messages"].as_u64().unwrap() > 50, "{row}");
        assert!(row["never"].as_f64().unwrap() < 0.5, "{row}");
    }
    let real: Vec<&Value> = rows.iter().map(|row| &row["real"]).collect();
    assert_eq!(real, [true, false, true, false]);
}
