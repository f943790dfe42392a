//! The two ends of `groupwire tunnel`, each of which is a process.

use std::io::{self, BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use groupwire_ports::free_port;

use super::folder;
use crate::host::Folder;

/// The token that a tunnel's ends show each other. Only this program uses these networks.
const TOKEN: &str = "of the experiment ace";

/// The protection of the connection between both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protection {
    Tls,
    None,
}

/// A tunnel that runs until this is dropped.
pub(super) struct Pair {
    ends: Vec<Child>,
    /// The address that programs connect to.
    pub(super) entrance: SocketAddr,
    _folder: Folder,
}

impl Pair {
    /// With TLS, as users have it. Packets go from anywhere to the second of `ends`, and arrive at
    /// the first.
    ///
    /// # Errors
    /// If one of them does not start.
    pub(super) fn start(
        program: &Path,
        policy: &str,
        target: SocketAddr,
        ends: [Ipv4Addr; 2],
    ) -> io::Result<Pair> {
        Self::protected(program, policy, target, ends, Protection::Tls)
    }

    pub(super) fn protected(
        program: &Path,
        policy: &str,
        target: SocketAddr,
        [here, from_there]: [Ipv4Addr; 2],
        protection: Protection,
    ) -> io::Result<Pair> {
        let folder = folder()?;
        let entrance = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
        let port = free_port()?;
        let mut pair = Pair { ends: Vec::new(), entrance, _folder: folder };
        let mut listen = command(program, policy, "listen");
        listen.args(["--listen", &format!("{here}:{port}"), "--to", &target.to_string()]);
        listen.arg("--identity").arg(pair._folder.path().join("identity.pem"));
        let mut connect = command(program, policy, "connect");
        connect.args(["--listen", &entrance.to_string()]);
        connect.args(["--server", &format!("{from_there}:{port}")]);
        match protection {
            Protection::None => {
                pair.begin(listen.arg("--insecure-plain"), "Without TLS")?;
                connect.arg("--insecure-plain");
            }
            Protection::Tls => {
                let line = pair.begin(&mut listen, "--fingerprint")?;
                let fingerprint = line.split_whitespace().last().unwrap_or_default();
                connect.args(["--fingerprint", fingerprint]);
            }
        }
        pair.begin(&mut connect, &entrance.to_string())?;
        Ok(pair)
    }

    /// Starts an end, and waits until it prints a line with this text.
    fn begin(&mut self, command: &mut Command, ready: &str) -> io::Result<String> {
        let mut child = command.spawn()?;
        let output = child.stdout.take();
        self.ends.push(child);
        let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
        let line = lines.map_while(Result::ok).find(|line| line.contains(ready));
        line.ok_or_else(|| io::Error::other("groupwire tunnel does not start"))
    }

    /// The ids of both processes.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.ends.iter().map(Child::id).collect()
    }
}

fn command(program: &Path, policy: &str, end: &str) -> Command {
    let policy = if policy == "groupwire" { "adaptive" } else { policy };
    let mut command = Command::new(program);
    command.args(["tunnel", end, "--policy", policy, "--log", "error"]);
    command.env("GROUPWIRE_TUNNEL_TOKEN", TOKEN);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

impl Drop for Pair {
    fn drop(&mut self) {
        for end in &mut self.ends {
            let _ = end.kill();
            let _ = end.wait();
        }
    }
}
