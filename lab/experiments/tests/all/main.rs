//! Runs of `groupwire-lab`, as users run it.
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

#[cfg(target_os = "linux")]
mod cluster;
#[cfg(target_os = "linux")]
mod contract;
#[cfg(target_os = "linux")]
mod durable;
#[cfg(target_os = "linux")]
mod fanout;
#[cfg(target_os = "linux")]
mod far;
mod lab;
#[cfg(target_os = "linux")]
mod storm;

use std::process::{Command, Output};

use serde_json::Value;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_groupwire-lab")).args(arguments).output().unwrap()
}

/// The rows that a run with `--json` printed.
fn rows_in(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows of a run, which succeeds.
fn rows_of(arguments: &[&str]) -> Vec<Value> {
    let output = run(&[arguments, &["--json"]].concat());
    // What could not be measured is told only here, and shown if the test fails.
    eprint!("{}", errors_in(&output));
    assert!(output.status.success());
    rows_in(&output)
}

fn errors_in(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that these arguments end the program with an error that contains `says`.
fn is_refused(arguments: &[&str], says: &str) {
    let output = run(arguments);
    assert!(!output.status.success());
    assert!(errors_in(&output).contains(says), "{}", errors_in(&output));
}
