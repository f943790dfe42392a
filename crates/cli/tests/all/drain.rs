//! Signals to a running server.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than anything here takes on a busy machine.
const FOREVER: Duration = Duration::from_secs(60);

fn terminate(child: &Child) {
    let kill = format!("kill -TERM {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

/// The status of `GET /readyz`.
fn readiness(address: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn after_sigterm_a_server_waits_for_balancers_and_a_second_one_ends_it_at_once() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--no-webtransport", "--no-admin"]);
    command.args(["--log", "off", "--drain-wait", "600"]);
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split('/').nth(2).unwrap();
    assert_eq!(readiness(address), 200);
    terminate(&server);
    let began = Instant::now();
    while readiness(address) != 503 {
        assert!(began.elapsed() < FOREVER, "it is ready");
        sleep(Duration::from_millis(5));
    }
    // The server still serves during the wait.
    assert_eq!(server.try_wait().unwrap(), None);
    terminate(&server);
    assert_eq!(server.wait().unwrap().code(), Some(1));
    let mut said = String::new();
    server.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("at once by a second signal"), "{said}");
}
