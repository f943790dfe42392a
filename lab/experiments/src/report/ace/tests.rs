//! The section of `ace`, from rows made up.

use std::path::Path;

use serde_json::{Value, json};

use super::super::{Saved, page};

fn row(part: &str, scenario: &str, file: &str, policy: &str, seconds: f64) -> Value {
    json!({
        "part": part, "scenario": scenario, "file": file, "policy": policy, "seconds": seconds, "network_mbit": 71.0,
        "server_cpu_left": 1.0, "client_cpu_left": 0.25, "over_best": seconds - 1.0, "over_oracle": seconds - 0.9,
        "bytes_in": 1000, "paper_seconds": 2.0 * seconds, "quick": false, "verified": true,
    })
}

fn html(rows: &[Value]) -> String {
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    let mut saved = Saved::default();
    saved.add(Path::new("ace.json"), lines.join("\n").as_bytes()).unwrap();
    page(&saved)
}

#[test]
fn what_was_asked_for_is_said_with_what_was_reached() {
    let cell =
        |policy: &str, seconds| row("simulated", "link-71/cpu-1/cpu-0.25", "all", policy, seconds);
    let html =
        html(&[cell("groupwire", 1.02), cell("lz4", 1.0), cell("never", 3.0), cell("oracle", 0.9)]);
    assert!(html.contains("<strong>1 of 1</strong>"), "{html}");
    assert!(html.contains("+2.00 %") && html.contains("server 100 %, client 25 % left"), "{html}");
}

#[test]
fn real_times_stand_beside_the_papers() {
    let file =
        |file: &str, policy: &str, seconds| row("real", "fast/idle/idle", file, policy, seconds);
    let html = html(&[
        file("all", "never", 3.0),
        file("xml", "never", 1.0),
        file("all", "groupwire", 1.2),
        file("xml", "groupwire", 0.4),
    ]);
    assert!(html.contains("×0.400 (paper ×0.400)"), "{html}");
    assert!(html.contains("Time of each file"), "{html}");
}

#[test]
fn steps_and_lines_are_drawn() {
    let mut step = row("steps", "step-up", "mixed", "groupwire", 15.0);
    step["series"] = json!([100_000, 200_000, 0, 300_000, 100_000, 100_000]);
    (step["rate_after"], step["behind_best"]) = (json!(2.0), json!(0.02));
    let mut fit = row("fits", "training", "all", "zlib", 0.0);
    fit["fit"] = json!({ "x": "lzo ratio", "y": "zlib ratio", "slope": 0.8, "intercept": 0.1, "r2": 0.97,
        "points": [[0.1, 0.2], [0.5, 0.5], [0.9, 0.8]] });
    let html = html(&[step, fit]);
    assert!(
        html.contains("step-up, real") && html.contains("at most 10 % are asked for"),
        "{html}"
    );
    assert!(html.contains("zlib ratio by lzo ratio"), "{html}");
}

#[test]
fn what_failed_is_left_out_and_said() {
    let mut wrong = row("real", "fast/idle/idle", "all", "never", 3.0);
    wrong["verified"] = json!(false);
    let html = html(&[wrong, row("real", "fast/idle/idle", "all", "lz4", 1.0)]);
    assert!(html.contains("1 rows failed"), "{html}");
}
