//! The experiment `contract` over real sockets.

use serde_json::Value;

use crate::{errors_in, rows_in, run};

/// Runs two seconds of pointers, through the emulated network where that is permitted.
#[test]
fn a_scene_over_real_sockets_stands_beside_the_simulated_one() {
    let length = ["--seconds", "2", "--seeds", "1", "--json"];
    let output = run(&[&["contract", "--real", "--setup", "handover"], &length[..]].concat());
    let error = errors_in(&output);
    if ["no real sockets", "no program groupwire", "TUN"].iter().any(|why| error.contains(why)) {
        println!("skipped: {error}");
        return;
    }
    let rows = rows_in(&output);
    assert_eq!(rows.len(), 4, "{error}");
    for row in &rows {
        assert!(row["failure"].is_null() && row["verified"] == true, "{row}");
        assert!(row["messages"].as_u64().unwrap() > 50, "{row}");
        assert!(row["never"].as_f64().unwrap() < 0.5, "{row}");
    }
    let real: Vec<&Value> = rows.iter().map(|row| &row["real"]).collect();
    assert_eq!(real, [true, false, true, false]);
}
