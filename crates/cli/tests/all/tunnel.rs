//! The tunnel as a program.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn a_tunnel_goes_on_when_nobody_reads_what_it_says() {
    let mut tunnel = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    tunnel.args(["tunnel", "connect", "--insecure-plain", "--log", "info"]);
    // Nothing listens on the other end's port.
    tunnel.args(["--server", "127.0.0.1:9", "--listen", "127.0.0.1:0"]);
    tunnel.env("GROUPWIRE_TUNNEL_TOKEN", "0123456789abcdef0123456789abcdef");
    let mut tunnel = tunnel.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(tunnel.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    let address = line.split(' ').next().unwrap();
    // Each connection is a line of the log; a pipe holds 64 KiB.
    for _ in 0..2000 {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        match stream.read(&mut [0]) {
            Ok(0) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            other => panic!("{other:?}"),
        }
    }
    tunnel.kill().unwrap();
    let mut log = String::new();
    tunnel.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.lines().count() < 2000, "the pipe would hold all lines");
    tunnel.wait().unwrap();
}
