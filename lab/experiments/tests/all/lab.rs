//! Runs of `groupwire-lab` that need no server.

use std::path::Path;
use std::process::Output;

use crate::{errors_in, is_refused, rows_in, rows_of, run};

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
    let rows = rows_of(&["gmc", "--trace", &trace("lines.bin"), "--quick", "--seed", "5"]);
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
        run(&["gmc", "--trace", &trace, "--quick", "--mode", "datagram", "--technique", "lz4"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("trace table, mode datagram"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("lz4 ")).count(), 2, "{text}");
}

#[test]
fn gmc_names_unknown_options() {
    let trace = trace("unknown.bin");
    for (option, value) in [("--technique", "gzip"), ("--mode", "letter")] {
        is_refused(&["gmc", "--trace", &trace, option, value], value);
        is_refused(&["gmc", "--trace", &trace, option, value], "possible values");
    }
}

#[test]
fn afec_prints_a_row_of_json_per_line() {
    let channel =
        ["--channel", "rand10", "--path", "50/250", "--target", "5", "--messages", "1200"];
    let rows = rows_of(&[&["afec", "--part", "grid", "--seed", "3"], &channel[..]].concat());
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
    let output = run(&["afec", "--part", "narrow", "--scheme", "udp", "--messages", "1200"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("part narrow, channel rand20, rtt_ms 50, deadline_ms 250"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("udp  ")).count(), 4, "{text}");
}

#[test]
fn afec_names_unknown_options() {
    let unknown = [("--scheme", "fec-1"), ("--channel", "rain"), ("--path", "50"), ("--part", "x")];
    for (option, value) in unknown {
        is_refused(&["afec", option, value], value);
    }
}

#[test]
fn contract_prints_a_row_of_json_per_line() {
    let setup = ["--setup", "table1", "--loss", "rand20", "--ablation", "none", "--length", "6"];
    let rows = rows_of(&[&["contract", "--seed", "3"], &setup[..]].concat());
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
    let output = run(&["contract", "--setup", "lossy", "--length", "3"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("setup lossy, chromium 0, rtt_ms 80, participants 10"), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("telepointer")).count(), 2, "{text}");
}

#[test]
fn contract_names_unknown_options() {
    for (option, value) in [("--setup", "moon"), ("--ablation", "no-luck"), ("--loss", "rain")] {
        is_refused(&["contract", option, value], value);
    }
}

/// Runs `web`. Returns `None` and prints the reason if the machine has no browser or permits no
/// emulated network.
fn web(arguments: &[&str]) -> Option<Output> {
    let output = run(&[&["web", "--quick"], arguments].concat());
    let said = errors_in(&output);
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
        let rows = rows_in(&output);
        assert_eq!(rows.len(), 1 + 2 * 6, "{}", errors_in(&output));
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
        is_refused(&["web", "--proxy", option, value], value);
    }
    is_refused(&["web", "--proxy", "--transport", "pigeon"], "pigeon");
}
