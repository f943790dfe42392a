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

#[test]
fn an_administration_that_others_could_use_does_not_start() {
    let listen = ["--listen", "127.0.0.1:0"];
    let refused = |more: &[&str]| refused(&[&listen[..], more].concat());
    let error = refused(&["--admin-listen", "0.0.0.0:0"]);
    assert!(error.contains("needs a token") && error.contains("--admin-token-file"), "{error}");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("short-admin-token");
    std::fs::write(&path, "short").unwrap();
    let path = path.to_str().unwrap();
    let set_mode = |mode| {
        #[cfg(unix)]
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    set_mode(0o600);
    let error = refused(&["--admin-listen", "0.0.0.0:0", "--admin-token-file", path]);
    assert!(error.contains("5 bytes") && error.contains("at least 32"), "{error}");
    if cfg!(unix) {
        set_mode(0o644);
        let error = refused(&["--admin-token-file", path]);
        assert!(error.contains("mode 644") && error.contains("chmod 600"), "{error}");
    }
    let error = refused(&["--admin-listen", "9090"]);
    assert!(error.contains("127.0.0.1:9090") && error.contains("unix:PATH"), "{error}");
}

#[test]
fn removed_options_name_those_that_replace_them() {
    let error = refused(&["--inspect-token", "secret"]);
    assert!(error.contains("--admin-token-file"), "{error}");
    let error = refused(&["--no-inspect"]);
    assert!(error.contains("--no-admin"), "{error}");
}
