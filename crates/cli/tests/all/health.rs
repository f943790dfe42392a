//! `groupwire health` against running servers, and what packages make of the command's options.

use std::net::TcpListener;
use std::process::{Command, Output};

use crate::admin::{Server, admin};

fn groupwire(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    command.env_remove("GROUPWIRE_ADMIN").args(arguments).output().unwrap()
}

fn health(server: &str, more: &[&str]) -> Output {
    groupwire(&[&["health", "--server", server], more].concat())
}

#[test]
fn a_health_check_needs_no_token_and_fails_without_a_server() {
    let server = Server::start();
    let (listener, _) = server.admin.split_once("/inspector").unwrap();
    for address in [listener, &server.admin] {
        let healthy = health(address, &[]);
        assert!(healthy.status.success() && healthy.stdout == b"ok\n", "{healthy:?}");
    }
    let ready = health(listener, &["--ready"]);
    assert!(ready.status.success() && ready.stdout == b"ready\n", "{ready:?}");

    let listener = listener.to_owned();
    drop(server);
    let dead = health(&listener, &[]);
    let error = String::from_utf8(dead.stderr).unwrap();
    assert!(!dead.status.success() && error.contains("cannot be reached"), "{error}");
}

#[test]
fn a_server_that_drains_is_healthy_but_not_ready() {
    let server = Server::start();
    assert!(admin(&server.admin, &["drain", "--wait", "60"]).status.success());
    assert!(health(&server.admin, &[]).status.success());
    let ready = health(&server.admin, &["--ready"]);
    let error = String::from_utf8(ready.stderr).unwrap();
    assert!(!ready.status.success() && error.contains("not ready (503)"), "{error}");
}

#[test]
fn another_program_at_the_address_is_not_healthy() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", other.local_addr().unwrap());
    let closes = std::thread::spawn(move || drop(other.accept().unwrap()));
    assert!(!health(&address, &[]).status.success());
    closes.join().unwrap();
}

#[test]
fn shells_and_manual_pages_know_the_options_of_serve() {
    for shell in ["bash", "zsh", "fish"] {
        let script = groupwire(&["completions", shell]);
        let text = String::from_utf8(script.stdout).unwrap();
        assert!(script.status.success() && text.contains("drain-wait"), "{shell}: {text}");
    }
    let folder = std::env::temp_dir().join(format!("groupwire-man-{}", std::process::id()));
    let written = groupwire(&["man", folder.to_str().unwrap()]);
    assert!(written.status.success(), "{written:?}");
    let page = std::fs::read_to_string(folder.join("groupwire-serve.1")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert!(page.contains("GROUPWIRE_DRAIN_WAIT"), "{page}");
}
