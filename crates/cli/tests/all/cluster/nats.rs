//! Three NATS servers, as own processes.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use groupwire_ports::free_port;
use serde_json::Value;

use super::FOREVER;
use super::network::Place;

/// The number of servers.
pub(super) const SERVERS: usize = 3;

/// How long the monitoring of a server may take to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// A cluster of NATS servers, which are killed in the end.
pub(super) struct Nats {
    program: PathBuf,
    places: [Place; SERVERS],
    /// The folder of configurations and logs.
    folder: PathBuf,
    /// The folder of what the servers store.
    store: PathBuf,
    ports: [Ports; SERVERS],
    running: [Option<Child>; SERVERS],
    /// Whether each server syncs what it acknowledges.
    syncs: bool,
}

#[derive(Clone, Copy)]
struct Ports {
    clients: u16,
    routes: u16,
    monitoring: u16,
}

impl Nats {
    /// Starts the servers on loopback; `None` if there is no program, which is told.
    pub(super) fn start(folder: PathBuf, syncs: bool) -> Option<Self> {
        let store = folder.clone();
        Nats::start_at([(); SERVERS].map(|()| Place::loopback()), folder, store, syncs)
    }

    /// The same at other places.
    pub(super) fn start_at(
        places: [Place; SERVERS],
        folder: PathBuf,
        store: PathBuf,
        syncs: bool,
    ) -> Option<Self> {
        let Some(program) = program() else {
            crate::skip::skip("nats-server on the PATH, see scripts/nats.sh");
            return None;
        };
        fs::create_dir_all(&folder).unwrap();
        let ports = [(); SERVERS].map(|()| Ports {
            clients: free_port().unwrap(),
            routes: free_port().unwrap(),
            monitoring: free_port().unwrap(),
        });
        let running = [const { None }; SERVERS];
        let mut nats = Nats { program, places, folder, store, ports, running, syncs };
        (0..SERVERS).for_each(|at| nats.restart(at));
        nats.wait();
        Some(nats)
    }

    /// The options of a server that uses them.
    pub(super) fn options(&self) -> Vec<String> {
        vec![
            format!("--engine={}", self.all("nats", |ports| ports.clients)),
            format!("--engine-monitoring={}", self.all("http", |ports| ports.monitoring)),
        ]
    }

    /// The URLs of all servers.
    fn all(&self, scheme: &str, port: fn(&Ports) -> u16) -> String {
        let all = self.places.iter().zip(&self.ports);
        let url =
            |(place, ports): (&Place, _)| format!("{scheme}://{}:{}", place.address, port(ports));
        all.map(url).collect::<Vec<_>>().join(",")
    }

    pub(super) fn restart(&mut self, at: usize) {
        let Ports { clients, routes, monitoring } = self.ports[at];
        let (here, others) = (self.places[at].address, self.all("nats", |ports| ports.routes));
        let store = self.store.join(format!("nats-{at}"));
        let sync = if self.syncs { "sync_interval: always" } else { "" };
        let text = format!(
            "server_name: nats-{at}\nlisten: \"{here}:{clients}\"\nhttp: \"{here}:{monitoring}\"\n\
             jetstream {{ store_dir: \"{}\", {sync} }}\n\
             cluster {{ name: test, listen: \"{here}:{routes}\", routes: [{others}] }}\n",
            store.display()
        );
        let config = self.folder.join(format!("nats-{at}.conf"));
        fs::write(&config, text).unwrap();
        let log = File::create(self.folder.join(format!("nats-{at}.log"))).unwrap();
        let child = self.places[at]
            .command(self.program.to_str().unwrap())
            .arg("-c")
            .arg(config)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.running[at] = Some(child);
    }

    pub(super) fn kill(&mut self, at: usize) {
        if let Some(mut child) = self.running[at].take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Sends a signal to a server.
    pub(super) fn signal(&self, at: usize, signal: &str) {
        super::signal(self.running[at].as_ref().unwrap(), signal);
    }

    /// Where the servers run.
    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    /// The server that leads a stream of logs. It waits until there is one.
    pub(super) fn leader(&self, stream: usize) -> usize {
        let (name, start) = (format!("GW_groupwire_{stream}"), Instant::now());
        loop {
            if let Some(leader) = (0..SERVERS).find(|&at| self.leads(at, &name)) {
                return leader;
            }
            assert!(start.elapsed() < FOREVER, "nobody leads {name}");
            sleep(Duration::from_millis(50));
        }
    }

    fn leads(&self, at: usize, name: &str) -> bool {
        let answer = self.ask(at, "/jsz?streams=true").unwrap_or_default();
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let Ok(state) = serde_json::from_str::<Value>(body) else { return false };
        let accounts = state["account_details"].as_array().into_iter().flatten();
        let mut streams =
            accounts.filter_map(|account| account["stream_detail"].as_array()).flatten();
        let own = format!("nats-{at}");
        streams.any(|stream| stream["name"] == name && stream["cluster"]["leader"] == *own)
    }

    /// What a server has logged since it was started last.
    pub(super) fn log(&self, at: usize) -> String {
        fs::read_to_string(self.folder.join(format!("nats-{at}.log"))).unwrap()
    }

    /// Waits until all servers are healthy, JetStream included.
    pub(super) fn wait(&self) {
        let start = Instant::now();
        let is_healthy =
            |at| self.ask(at, "/healthz").is_ok_and(|answer| answer.starts_with("HTTP/1.0 200"));
        while !(0..SERVERS).all(is_healthy) {
            assert!(start.elapsed() < FOREVER, "NATS does not start");
            sleep(Duration::from_millis(50));
        }
    }

    /// Asks the monitoring of a server over HTTP.
    fn ask(&self, at: usize, path: &str) -> io::Result<String> {
        let address = (self.places[at].address, self.ports[at].monitoring).into();
        let mut socket = TcpStream::connect_timeout(&address, ANSWER)?;
        socket.set_read_timeout(Some(ANSWER))?;
        write!(socket, "GET {path} HTTP/1.0\r\nHost: nats\r\n\r\n")?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        (0..SERVERS).for_each(|at| self.kill(at));
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// The program on the PATH, where scripts/test-rust.sh puts it.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("nats-server")).find(|it| it.exists())
}
