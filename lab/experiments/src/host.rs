//! Servers with a folder of their own, and the resources that they use.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::Result;
use crate::server::{Server, Start, UNLIMITED, groupwire};

/// How long a busy server may take to answer `GET /status`.
const ANSWER: Duration = Duration::from_secs(60);

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new folder below `parent`.
    pub(crate) fn new(parent: &Path) -> Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("groupwire-lab-{}-{count}", std::process::id()));
        let made = fs::create_dir_all(&path);
        made.map_err(|error| format!("{}: {error}; --data names another", path.display()))?;
        Ok(Folder(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The size of all files, in bytes.
    pub(crate) fn size(&self) -> u64 {
        let Ok(files) = fs::read_dir(&self.0) else { return 0 };
        files.flatten().filter_map(|file| Some(file.metadata().ok()?.len())).sum()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Starts `groupwire serve`, with its rooms in a folder or in memory. Port 0 is any free one.
pub(crate) fn serve(
    program: &Path,
    folder: Option<&Path>,
    tick_ms: u64,
    port: u16,
) -> Result<Server> {
    serve_with(program, folder, tick_ms, port, &[])
}

/// Starts a server like [`serve`], with further options.
pub(crate) fn serve_with(
    program: &Path,
    folder: Option<&Path>,
    tick_ms: u64,
    port: u16,
    options: &[String],
) -> Result<Server> {
    let mut command = plain(program, tick_ms, port);
    command.args(UNLIMITED).args(options);
    if let Some(folder) = folder {
        command.arg("--data").arg(folder);
    }
    Ok(Server::start(Start { command, port: None })?)
}

/// Starts `groupwire serve` with rooms in a folder and the limits that it has by default.
pub(crate) fn serve_limited(program: &Path, folder: &Path, tick_ms: u64) -> Result<Server> {
    let mut command = plain(program, tick_ms, 0);
    command.arg("--data").arg(folder);
    Ok(Server::start(Start { command, port: None })?)
}

/// Starts a server that takes the place of the one with this folder and port, which then ends.
pub(crate) fn upgrade(program: &Path, folder: &Path, tick_ms: u64, port: u16) -> Result<Server> {
    let mut command = plain(program, tick_ms, port);
    command.args(UNLIMITED);
    command.arg("--upgrade").arg("--data").arg(folder);
    Ok(Server::start(Start { command, port: None })?)
}

/// The command of a server without WebTransport.
fn plain(program: &Path, tick_ms: u64, port: u16) -> Command {
    let mut command = groupwire(program, tick_ms, port);
    command.arg("--no-webtransport");
    command
}

/// The resources that a server has used until a moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    /// The processor time of all threads.
    pub(crate) cpu: Option<Duration>,
    /// Bytes that the process made the system write to disks.
    pub(crate) written: Option<u64>,
    pub(crate) commits: Option<u64>,
    pub(crate) syncs: Option<u64>,
}

impl Used {
    /// What the server used until now. The answer of `/status` costs it something, so that the
    /// processor time is taken last before a measurement and first after it.
    pub(crate) fn before(server: &Server) -> Self {
        let (commits, syncs) = store_counters(server.port);
        Used { commits, syncs, written: written(server.process()), cpu: server.cpu() }
    }

    /// See [`Used::before`].
    pub(crate) fn after(server: &Server) -> Self {
        let (cpu, written) = (server.cpu(), written(server.process()));
        let (commits, syncs) = store_counters(server.port);
        Used { commits, syncs, written, cpu }
    }

    /// The resources that were used since `before`.
    pub(crate) fn since(self, before: Used) -> Self {
        let difference = |after: Option<u64>, before: Option<u64>| after?.checked_sub(before?);
        Used {
            cpu: self.cpu.zip(before.cpu).and_then(|(after, before)| after.checked_sub(before)),
            written: difference(self.written, before.written),
            commits: difference(self.commits, before.commits),
            syncs: difference(self.syncs, before.syncs),
        }
    }
}

/// Bytes that a process made the system write, by Linux's count: pages that it made dirty and that
/// were clean before.
fn written(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/io")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("write_bytes: "))?.trim().parse().ok()
}

/// Commits and syncs of the server's store, as the server reports them.
fn store_counters(port: u16) -> (Option<u64>, Option<u64>) {
    let status = status(port).unwrap_or_default();
    let counter = |name| status.pointer(name).and_then(Value::as_u64);
    (counter("/store/commits"), counter("/store/syncs"))
}

/// What `bind` makes of the first of these ports that is free.
///
/// # Errors
/// The error of the last port, if none is free.
pub(crate) fn on_first_free<T>(
    ports: impl IntoIterator<Item = u16>,
    bind: impl FnMut(u16) -> std::io::Result<T>,
) -> std::io::Result<T> {
    let mut last = std::io::Error::from(std::io::ErrorKind::AddrInUse);
    for bound in ports.into_iter().map(bind) {
        match bound {
            Ok(bound) => return Ok(bound),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The answer to `GET /status`.
pub(crate) fn status(port: u16) -> Option<Value> {
    serde_json::from_str(&get(port, "/status", ANSWER)?).ok()
}

/// The content of a page of a server on this machine, if it answers 200. Each wait for the server
/// takes at most `patience`.
pub(crate) fn get(port: u16, path: &str, patience: Duration) -> Option<String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, patience).ok()?;
    stream.set_read_timeout(Some(patience)).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, content) = answer.split_once("\r\n\r\n")?;
    head.split_whitespace().nth(1).filter(|status| *status == "200")?;
    Some(content.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_a_size_and_is_removed() {
        let folder = Folder::new(&std::env::temp_dir()).unwrap();
        let path = folder.path().to_owned();
        fs::write(path.join("a"), [0; 300]).unwrap();
        fs::write(path.join("b"), [0; 50]).unwrap();
        assert_eq!(folder.size(), 350);
        drop(folder);
        assert!(!path.exists());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_was_used_is_the_difference() {
        assert!(written(std::process::id()).is_some());
        let used = |cpu, commits| Used {
            cpu: Some(Duration::from_secs(cpu)),
            written: None,
            commits: Some(commits),
            syncs: None,
        };
        let since = used(5, 30).since(used(3, 10));
        assert_eq!((since.cpu, since.commits), (Some(Duration::from_secs(2)), Some(20)));
        assert_eq!((since.written, since.syncs), (None, None));
    }
}
