//! Three NATS servers, as own processes.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{FOREVER, free_port};

const SERVERS: usize = 3;

/// A cluster of NATS servers, which are killed in the end.
pub(super) struct Nats {
    program: PathBuf,
    folder: PathBuf,
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
    /// Starts the servers; `None` if there is no program, which is told.
    pub(super) fn start(folder: PathBuf, syncs: bool) -> Option<Self> {
        let Some(program) = program() else {
            crate::skip::skip("nats-server on the PATH, see scripts/nats.sh");
            return None;
        };
        fs::create_dir_all(&folder).unwrap();
        let ports = [(); SERVERS].map(|()| Ports {
            clients: free_port(),
            routes: free_port(),
            monitoring: free_port(),
        });
        let running = [const { None }; SERVERS];
        let mut nats = Nats { program, folder, ports, running, syncs };
        (0..SERVERS).for_each(|at| nats.restart(at));
        nats.wait();
        Some(nats)
    }

    /// The options of a server that uses them.
    pub(super) fn options(&self) -> Vec<String> {
        let all = |address: fn(&Ports) -> String| self.ports.each_ref().map(address).join(",");
        vec![
            format!("--engine={}", all(|it| format!("nats://127.0.0.1:{}", it.clients))),
            format!(
                "--engine-monitoring={}",
                all(|it| format!("http://127.0.0.1:{}", it.monitoring))
            ),
        ]
    }

    pub(super) fn restart(&mut self, at: usize) {
        let Ports { clients, routes, monitoring } = self.ports[at];
        let others =
            self.ports.map(|ports| format!("nats://127.0.0.1:{}", ports.routes)).join(", ");
        let store = self.folder.join(format!("nats-{at}"));
        let sync = if self.syncs { "sync_interval: always" } else { "" };
        let text = format!(
            "server_name: nats-{at}\nlisten: \"127.0.0.1:{clients}\"\nhttp: \"127.0.0.1:{monitoring}\"\n\
             jetstream {{ store_dir: \"{}\", {sync} }}\n\
             cluster {{ name: test, listen: \"127.0.0.1:{routes}\", routes: [{others}] }}\n",
            store.display()
        );
        let config = self.folder.join(format!("nats-{at}.conf"));
        fs::write(&config, text).unwrap();
        let log = File::create(self.folder.join(format!("nats-{at}.log"))).unwrap();
        let child = Command::new(&self.program)
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

    /// Waits until all servers are healthy, JetStream included.
    pub(super) fn wait(&self) {
        let start = Instant::now();
        while !self.ports.iter().all(|ports| is_healthy(ports.monitoring)) {
            assert!(start.elapsed() < FOREVER, "NATS does not start");
            sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        (0..SERVERS).for_each(|at| self.kill(at));
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The program on the PATH, where scripts/test-rust.sh puts it.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("nats-server")).find(|it| it.exists())
}

/// Asks a server for its health over HTTP.
fn is_healthy(port: u16) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut socket = TcpStream::connect(("127.0.0.1", port))?;
        socket.set_read_timeout(Some(Duration::from_secs(5)))?;
        socket
            .write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}
