//! The options of traces, and a receiver of traces that is not there.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

/// `groupwire serve` on a free port.
fn serve(options: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--no-webtransport", "--no-admin"]);
    command.args(["--log", "warn"]).args(options).envs(variables.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Connects as a client that sends nothing.
fn visit(address: &str) {
    let mut stream = TcpStream::connect(address).unwrap();
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    write!(stream, "GET /ws HTTP/1.1\r\nHost: {address}\r\n{upgrade}\r\n").unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 101");
}

#[test]
fn a_receiver_that_is_not_there_is_told_of_once_and_the_server_goes_on() {
    // The standard variable names a receiver that is not there, and spans are sent after 10 ms.
    let gone = format!("http://127.0.0.1:{}", groupwire_ports::free_port().unwrap());
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", gone.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "10")];
    let mut server = serve(&[], &variables).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split('/').nth(2).unwrap();
    visit(address);
    let mut log = BufReader::new(server.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("traces cannot be sent") {
        assert_ne!(log.read_line(&mut said).unwrap(), 0, "it ended: {said}");
    }
    visit(address);
    let kill = format!("kill -TERM {}", server.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    log.read_to_string(&mut said).unwrap();
    assert!(server.wait().unwrap().success(), "{said}");
    assert_eq!(said.matches("traces cannot be sent").count(), 1, "{said}");
}

#[test]
fn wrong_options_of_traces_are_named() {
    let refused = |options: &[&str]| {
        let output = serve(options, &[]).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["--otlp", "localhost:4318"]).contains("--otlp: localhost:4318: write it"));
    for share in ["2", "-1", "NaN", "half"] {
        let error = refused(&["--otlp", "http://localhost:4318", &format!("--otlp-ratio={share}")]);
        assert!(error.contains("from 0 to 1"), "{error}");
    }
}
