//! Errors of `groupwire serve` at its start.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

/// Runs a server that cannot start, and returns its standard error.
fn refused(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    let output = command.args(["serve", "--log", "off"]).args(arguments).output().unwrap();
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_unreadable_certificate_is_named_without_a_hint_about_other_servers() {
    let listen = ["--listen", "127.0.0.1:0"];
    let error = refused(&[&listen[..], &["--cert", "/nope.pem", "--key", "/nope.key"]].concat());
    assert!(error.contains("cannot read /nope.pem"), "{error}");
    assert!(error.contains("--cert and --key must name two PEM files"), "{error}");
    assert!(!error.contains("another server"), "{error}");
}

#[test]
fn a_certificate_that_is_no_pem_is_named_without_a_hint_about_other_servers() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-certificate.pem");
    std::fs::write(&path, "hello").unwrap();
    let path = path.to_str().unwrap();
    let error = refused(&["--listen", "127.0.0.1:0", "--cert", path, "--key", path]);
    assert!(error.contains(path) && error.contains("PEM"), "{error}");
    assert!(!error.contains("another server"), "{error}");
}

#[test]
fn wrong_options_of_stored_rooms_are_named() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unused-rooms");
    let folder = folder.to_str().unwrap();
    let error = refused(&["--durable", "docs/*=local"]);
    assert!(error.contains("--data <FOLDER>"), "{error}");
    let error = refused(&["--data", folder, "--durable", "docs/*=disk"]);
    assert!(error.contains("docs/*=disk") && error.contains("memory or local"), "{error}");
    let error = refused(&["--data", folder, "--forget", "tmp/*=soon"]);
    assert!(error.contains("tmp/*=30d"), "{error}");
    let error = refused(&["--listen", "127.0.0.1:0", "--data", "/dev/null/rooms"]);
    assert!(error.contains("/dev/null/rooms"), "{error}");
}

#[test]
fn an_address_in_use_has_a_hint_about_other_servers() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = refused(&["--listen", &taken.local_addr().unwrap().to_string()]);
    assert!(error.contains("another server") && error.contains("--listen"), "{error}");
}
