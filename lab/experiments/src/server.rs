//! The server under test, which is a process of its own, and the resources that it uses. For the
//! experiments fanout, durable and storm.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest time that a server may take to start.
const STARTING: Duration = Duration::from_secs(20);

/// The command that starts a server.
pub(crate) struct Start {
    pub(crate) command: Command,
    /// The port on which the server listens; `None` if the server prints it.
    pub(crate) port: Option<u16>,
}

/// Options that take away the limits of what clients may send and of one address: all people of an
/// experiment come from one, and send as much as the server can take.
pub(crate) const UNLIMITED: [&str; 6] = [
    "--max-connections-per-address=0",
    "--max-handshakes-per-address=0",
    "--participant-bytes=0",
    "--participant-deliveries=0",
    "--room-bytes=0",
    "--room-deliveries=0",
];

/// The command of `groupwire serve` on a port of this machine; 0 is any free one.
pub(crate) fn groupwire(program: &Path, tick_ms: u64, port: u16) -> Command {
    groupwire_at(program, tick_ms, (Ipv4Addr::LOCALHOST, port).into())
}

/// The command of `groupwire serve` on an address.
pub(crate) fn groupwire_at(program: &Path, tick_ms: u64, listen: SocketAddr) -> Command {
    let mut command = Command::new(program);
    let listen = listen.to_string();
    command.args(["serve", "--no-admin", "--log", "error", "--listen", &listen]);
    command.args(["--tick", &tick_ms.to_string()]);
    // Environment variables that configure the user's own servers must not configure this one.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GROUPWIRE_") {
            command.env_remove(name);
        }
    }
    command
}

/// A server that runs until this is dropped, which kills it.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    /// Name and version, if the server prints them.
    pub(crate) version: Option<String>,
}

impl Server {
    pub(crate) fn start(start: Start) -> Result<Self, String> {
        let Start { mut command, port } = start;
        let stdout = if port.is_none() { Stdio::piped() } else { Stdio::null() };
        let child = command.stdin(Stdio::null()).stdout(stdout).spawn();
        let child = child.map_err(|error| format!("its server does not start: {error}"))?;
        let mut server = Server { child, port: port.unwrap_or(0), version: None };
        match server.child.stdout.take() {
            Some(output) => {
                let mut line = String::new();
                let _ = BufReader::new(output).read_line(&mut line);
                let said = said(&line);
                let said = said.ok_or_else(|| format!("its server does not start: {line}"))?;
                (server.port, server.version) = said;
            }
            None => server.wait()?,
        }
        Ok(server)
    }

    /// Waits until the server accepts connections.
    fn wait(&mut self) -> Result<(), String> {
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if start.elapsed() > STARTING || !matches!(self.child.try_wait(), Ok(None)) {
                return Err("its server does not start".to_owned());
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The id of the server's process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Asks the server to end (SIGTERM), and waits until it has.
    #[cfg(unix)]
    pub(crate) fn end(mut self) {
        self.signal(rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }

    /// Sends a signal to the server's process.
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        use rustix::process::{Pid, kill_process};
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// The processor time that the server has used until now.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        cpu(self.child.id())
    }

    /// The bytes of memory that the server has now.
    pub(crate) fn memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib * 1024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Raises the limit of open files. Each connection is a file, here and in the server, which
/// inherits the limit.
pub(crate) fn allow_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        // If this fails, clients that cannot join report it.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
}

/// The most files that this process may open; `None` if there is no limit that is known.
pub(crate) fn file_limit() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        getrlimit(Resource::Nofile).current
    }
    #[cfg(not(unix))]
    None
}

/// The processor time of all threads that a process has. `/proc/PID/stat` has steps of 10 ms, which
/// is much of a short measurement.
pub(crate) fn cpu(process: u32) -> Option<Duration> {
    Some(threads(process)?.into_values().sum())
}

/// The processor time of each thread that a process has, by its number.
pub(crate) fn threads(process: u32) -> Option<BTreeMap<u32, Duration>> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let threads = threads.filter_map(|thread| {
        let thread = thread.ok()?;
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let nanos = text.split_whitespace().next()?.parse().ok()?;
        Some((thread.file_name().to_str()?.parse().ok()?, Duration::from_nanos(nanos)))
    });
    Some(threads.collect())
}

/// The port and the version in a line that `groupwire serve` or a script of the experiments prints.
fn said(line: &str) -> Option<(u16, Option<String>)> {
    if let Some(rest) = line.strip_prefix("listening ") {
        let (port, version) = rest.trim_end().split_once(' ')?;
        return Some((port.parse().ok()?, Some(version.to_owned())));
    }
    let (_, url) = line.split_once("http://").or_else(|| line.split_once("https://"))?;
    let (authority, _) = url.split_once('/')?;
    Some((authority.rsplit_once(':')?.1.parse().ok()?, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_where_it_is_and_what() {
        let line = "listening 4242 ws 8.23.0, Node 20.20.2\n";
        assert_eq!(said(line), Some((4242, Some("ws 8.23.0, Node 20.20.2".to_owned()))));
        let line =
            "Groupwire is running. Open this in two windows: http://127.0.0.1:41234/?room=demo\n";
        assert_eq!(said(line), Some((41_234, None)));
        assert_eq!(said(&line.replace("http:", "https:")), Some((41_234, None)));
        assert_eq!(said("cannot listen\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processor_time_grows_with_work() {
        let before = cpu(std::process::id()).unwrap();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            std::hint::black_box(start);
        }
        assert!(cpu(std::process::id()).unwrap() > before);
    }
}
