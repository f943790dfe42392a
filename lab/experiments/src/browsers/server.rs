//! The server under test: a process of its own.

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::Result;

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    /// The port of HTTP, and of QUIC over UDP.
    pub(super) port: u16,
    /// The port for packets over plain TCP.
    pub(super) socket: u16,
}

/// The settings of a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup<'a> {
    pub(super) program: &'a Path,
    pub(super) listen: IpAddr,
    pub(super) tick_ms: u64,
    pub(super) compress: bool,
    /// The origins whose pages may use the server.
    pub(super) origins: &'a [String],
}

impl Server {
    /// Starts `groupwire serve`.
    pub(super) fn start(setup: Setup<'_>) -> Result<Self> {
        let Setup { listen, .. } = setup;
        // The server does not print the port that it takes for plain TCP, so it is given a free
        // one.
        let socket = TcpListener::bind((listen, 0))?.local_addr()?.port();
        let mut command = Command::new(setup.program);
        command.args([
            "serve",
            "--no-admin",
            "--log",
            "error",
            "--tick",
            &setup.tick_ms.to_string(),
        ]);
        command.args([
            "--listen",
            &format!("{listen}:0"),
            "--socket",
            &format!("{listen}:{socket}"),
        ]);
        if !setup.compress {
            command.arg("--no-compression");
        }
        for origin in setup.origins {
            command.args(["--origin", origin]);
        }
        // Environment variables of the user's own servers must not configure this one.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GROUPWIRE_") {
                command.env_remove(name);
            }
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let server = Server { child, port: port(&line).unwrap_or(0), socket };
        if server.port == 0 {
            return Err(format!("the server does not start: {}", line.trim()).into());
        }
        Ok(server)
    }
}

/// `... http://host:port/...`
fn port(line: &str) -> Option<u16> {
    let (_, url) = line.split_once("http://")?;
    let (authority, _) = url.split_once('/')?;
    authority.rsplit_once(':')?.1.parse().ok()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_where_it_is() {
        let line =
            "Groupwire is running. Open this in two windows: http://localhost:41234/?room=demo\n";
        assert_eq!(port(line), Some(41_234));
        assert_eq!(port("cannot listen\n"), None);
    }
}
