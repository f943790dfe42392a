//! The server under test: a process of its own.

use std::io::{BufRead, BufReader};
use std::net::IpAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::Error;

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    pub(super) port: u16,
}

impl Server {
    /// Starts `groupwire serve`. Pages of these origins may use it.
    pub(super) fn start(
        program: &Path,
        listen: IpAddr,
        tick_ms: u64,
        origins: &[String],
    ) -> Result<Self, Error> {
        let mut command = Command::new(program);
        command.args(["serve", "--log", "error", "--listen", &format!("{listen}:0")]);
        command.args(["--tick", &tick_ms.to_string()]);
        for origin in origins {
            command.args(["--origin", origin]);
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let server = Server { child, port: port(&line).unwrap_or(0) };
        if server.port == 0 {
            return Err(Error::Server(line.trim().to_owned()));
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
        let line = "Groupwire is running. Open this in two windows: http://localhost:41234/?room=demo\n";
        assert_eq!(port(line), Some(41_234));
        assert_eq!(port("cannot listen\n"), None);
    }
}
