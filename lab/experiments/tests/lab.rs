//! Runs of `groupwire-lab`.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_groupwire-lab")).args(arguments).output().unwrap()
}

/// Writes a short recording to a file.
fn trace(name: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut records = Vec::new();
    for n in 0..300u32 {
        let message = format!(r#"{{"type":"pointer","x":{},"y":{}}}"#, 100 + n, 900 - 2 * n);
        records.extend((message.len() as u32).to_le_bytes());
        records.extend(message.as_bytes());
    }
    std::fs::write(&path, records).unwrap();
    path.into_os_string().into_string().unwrap()
}

#[test]
fn gmc_prints_a_row_of_json_per_line() {
    let output = lab(&["gmc", "--trace", &trace("lines.bin"), "--quick", "--json", "--seed", "5"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for row in &rows {
        assert_eq!(row["trace"], "lines");
        assert_eq!(
            (&row["verified"], &row["quick"], &row["seed"]),
            (&true.into(), &true.into(), &5.into())
        );
        let per_message = row["bytes_out"].as_f64().unwrap() / row["messages"].as_f64().unwrap();
        assert!((row["bytes_per_message"].as_f64().unwrap() - per_message).abs() < 1e-9);
    }
    let techniques = ["groupwire", "deflate", "zstd-stream"];
    assert!(techniques.iter().all(|name| rows.iter().any(|row| row["technique"] == *name)));
}

#[test]
fn gmc_prints_tables() {
    let trace = trace("table.bin");
    let output =
        lab(&["gmc", "--trace", &trace, "--quick", "--mode", "datagram", "--technique", "lz4"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("trace table, mode datagram"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("lz4 ")).count(), 2, "{text}");
}

#[test]
fn gmc_names_unknown_options() {
    let trace = trace("unknown.bin");
    for (option, value) in [("--technique", "gzip"), ("--mode", "letter")] {
        let output = lab(&["gmc", "--trace", &trace, option, value]);
        assert!(!output.status.success());
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(value) && text.contains("possible values"), "{text}");
    }
}

#[test]
fn afec_prints_a_row_of_json_per_line() {
    let channel =
        ["--channel", "rand10", "--path", "50/250", "--target", "5", "--messages", "1200"];
    let output =
        lab(&[&["afec", "--part", "grid", "--json", "--seed", "3"], &channel[..]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for row in &rows {
        assert_eq!((&row["part"], &row["channel"]), (&"grid".into(), &"rand10".into()));
        assert_eq!((&row["target"], &row["verified"]), (&0.05.into(), &true.into()));
        assert_eq!(row["seed"], 3);
    }
    let schemes = ["tcp", "udp", "fec-2", "fec-7", "afec-2012", "groupwire", "best-static"];
    assert!(schemes.iter().all(|name| rows.iter().any(|row| row["scheme"] == *name)));
}

#[test]
fn afec_prints_tables() {
    let output = lab(&["afec", "--part", "narrow", "--scheme", "udp", "--messages", "1200"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("part narrow, channel rand20, rtt_ms 50, deadline_ms 250"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("udp  ")).count(), 4, "{text}");
}

#[test]
fn afec_names_unknown_options() {
    let unknown = [("--scheme", "fec-1"), ("--channel", "rain"), ("--path", "50"), ("--part", "x")];
    for (option, value) in unknown {
        let output = lab(&["afec", option, value]);
        assert!(!output.status.success());
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(value), "{text}");
    }
}

#[test]
fn contract_prints_a_row_of_json_per_line() {
    let setup = ["--setup", "table1", "--loss", "rand20", "--ablation", "none", "--length", "6"];
    let output = lab(&[&["contract", "--json", "--seed", "3"], &setup[..]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 11);
    for row in &rows {
        assert_eq!((&row["setup"], &row["loss"]), (&"table1".into(), &"rand20".into()));
        assert_eq!((&row["ablation"], &row["verified"]), (&"none".into(), &true.into()));
        assert!(
            row["plain_wire_bytes_per_message"].as_f64() > row["wire_bytes_per_message"].as_f64()
        );
    }
}

#[test]
fn contract_prints_tables() {
    let output = lab(&["contract", "--setup", "lossy", "--length", "3"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("setup lossy, chromium 0, rtt_ms 80, participants 10"), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("telepointer")).count(), 2, "{text}");
}

#[test]
fn contract_names_unknown_options() {
    for (option, value) in [("--setup", "moon"), ("--ablation", "no-luck"), ("--loss", "rain")] {
        let output = lab(&["contract", option, value]);
        assert!(!output.status.success());
        assert!(String::from_utf8(output.stderr).unwrap().contains(value));
    }
}

/// Runs `web`. Returns `None` and prints the reason if the machine has no browser or permits no emulated network.
fn web(arguments: &[&str]) -> Option<Output> {
    let output = lab(&[&["web", "--quick"], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    let missing = [
        "no emulated network here",
        "no TUN device",
        "is not installed",
        "no Chromium",
        "built without",
    ];
    if missing.iter().any(|what| said.contains(what)) {
        println!("web skipped: {said}");
        return None;
    }
    Some(output)
}

#[test]
fn web_measures_in_a_browser_and_natively() {
    for (transport, browser) in [("websocket", "chrom"), ("socket", "native")] {
        let of = ["--transport", transport, "--network", "lan", "--json"];
        let measures = ["--measure", "latency", "--measure", "overhead_connection"];
        let Some(output) = web(&[&of[..], &measures].concat()) else { return };
        let text = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let rows: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), 1 + 2 * 6, "{text}{said}");
        for row in &rows {
            assert_eq!((&row["transport"], &row["network"]), (&transport.into(), &"lan".into()));
            assert!(row["browser"].as_str().unwrap().contains(browser), "{row}");
            assert!(row["value"].as_f64().unwrap() > 0.0, "{row}");
            assert_eq!(row["emulator"], "tun");
        }
        assert_eq!(rows[0]["measure"], "overhead_connection");
        let sizes: Vec<_> =
            rows[1..].iter().map(|row| row["participants"].as_u64().unwrap()).collect();
        assert_eq!(sizes, [2, 2, 4, 4, 7, 7].repeat(2));
    }
}

#[test]
fn web_names_unknown_options() {
    for (option, value) in [("--network", "moon"), ("--measure", "joy"), ("--loss", "rain")] {
        let output = lab(&["web", "--proxy", option, value]);
        assert!(!output.status.success());
        assert!(String::from_utf8(output.stderr).unwrap().contains(value));
    }
    let output = lab(&["web", "--proxy", "--transport", "pigeon"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("pigeon"));
}
