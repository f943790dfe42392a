//! A server of a cluster, as an own process.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use groupwire_ports::free_port;
use ring::digest::{SHA256, digest};

use super::network::Place;

/// A server that shares its rooms with others, which is killed in the end.
pub(super) struct Member {
    name: String,
    folder: PathBuf,
    place: Place,
    options: Vec<String>,
    /// Variables of its environment.
    pub(super) variables: Vec<(&'static str, String)>,
    listen: u16,
    child: Option<Child>,
}

impl Member {
    /// A server of this name in the folder of the cluster, on loopback. It does not run yet.
    pub(super) fn new(name: &str, folder: &Path, options: &[String]) -> Self {
        Member::at(Place::loopback(), name, folder, options)
    }

    /// The same at another place.
    pub(super) fn at(place: Place, name: &str, folder: &Path, options: &[String]) -> Self {
        let secret = folder.join("secret");
        if !secret.exists() {
            fs::write(&secret, "a secret of the tests of clusters").unwrap();
        }
        let mut options = options.to_vec();
        options.extend([
            format!("--node={name}"),
            format!("--cluster-listen={}:{}", place.address, free_port().unwrap()),
            format!("--cluster-secret={}", secret.display()),
        ]);
        if !options.iter().any(|option| option.starts_with("--data=")) {
            options.push(format!("--data={}", folder.join(name).display()));
        }
        let (name, folder, variables) = (name.to_owned(), folder.to_owned(), Vec::new());
        Member {
            name,
            folder,
            place,
            options,
            variables,
            listen: free_port().unwrap(),
            child: None,
        }
    }

    /// The same server, which tells clients of others where they reach it.
    pub(super) fn reached_alone(mut self) -> Self {
        self.options.push(format!("--client-address=http://127.0.0.1:{}", self.listen));
        self
    }

    /// Starts the process, and waits until it serves.
    pub(super) fn start(&mut self) {
        assert!(self.starts(), "{} did not start: {}", self.name, self.log());
    }

    /// Starts the process, and waits until it serves or ends. Returns whether it serves.
    pub(super) fn starts(&mut self) -> bool {
        let mut child = self.spawn();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        self.child = Some(child);
        said.contains("http://")
    }

    /// Starts the process, which has to refuse to serve. Returns what it says.
    pub(super) fn refused(&mut self) -> String {
        let mut child = self.spawn();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        if !said.is_empty() {
            self.child = Some(child);
            return self.ends();
        }
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(1), "{}", self.log());
        self.log()
    }

    /// Waits until the process ends by itself. Returns what it says.
    pub(super) fn ends(&mut self) -> String {
        let status = self.child.take().unwrap().wait().unwrap();
        assert_eq!(status.code(), Some(1), "{}", self.log());
        self.log()
    }

    fn spawn(&self) -> Child {
        let log = File::options().append(true).create(true).open(self.log_file()).unwrap();
        let log_level = std::env::var("CLUSTER_LOG").unwrap_or_else(|_| "info".to_owned());
        self.place
            .command(env!("CARGO_BIN_EXE_groupwire"))
            .args(["serve", "--log", &log_level, "--tick", "5", "--no-webtransport"])
            .arg(format!("--listen={}", self.address()))
            .args(&self.options)
            .envs(self.variables.clone())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    /// True if the server has the shard of a room now, as it logs.
    pub(super) fn has(&self, room: &str) -> bool {
        let hash = digest(&SHA256, room.as_bytes());
        let shard = u64::from_le_bytes(hash.as_ref()[..8].try_into().unwrap()) % 64;
        let (owned, lost) =
            (format!("shard owned shard={shard} "), format!("shard lost shard={shard} "));
        let log = self.log();
        let last = log.lines().rfind(|line| line.contains(&owned) || line.contains(&lost));
        last.is_some_and(|line| line.contains(&owned))
    }

    /// The port of its clients.
    pub(super) fn port(&self) -> u16 {
        self.listen
    }

    /// The address for its clients.
    pub(super) fn address(&self) -> SocketAddr {
        (self.place.address, self.listen).into()
    }

    /// Where it runs.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Sends a signal to the process.
    pub(super) fn signal(&self, signal: &str) {
        super::signal(self.child.as_ref().unwrap(), signal);
    }

    /// Stops the process as an operator does, and waits until it has ended.
    pub(super) fn stop(&mut self) {
        self.signal("TERM");
        let status = self.child.take().unwrap().wait().unwrap();
        assert!(status.success(), "{}", self.log());
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn log_file(&self) -> PathBuf {
        self.folder.join(format!("{}.log", self.name))
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("the log of server {}:\n{}", self.name, self.log());
        }
    }
}
