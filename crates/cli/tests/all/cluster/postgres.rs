//! A server of PostgreSQL, as an own process.

use std::fs::{self, File};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use groupwire_ports::free_port;

use super::FOREVER;
use super::network::Place;

/// PostgreSQL does not run as root.
const USER: &str = "nobody";

/// A server of PostgreSQL, which is killed in the end.
pub(super) struct Postgres {
    places: [Place; 1],
    folder: PathBuf,
    port: u16,
    running: Option<Child>,
}

impl Postgres {
    /// Starts it; `None` if it is not installed, which is told.
    pub(super) fn start(place: Place, folder: PathBuf) -> Option<Self> {
        if !is_on_path("initdb") {
            crate::skip::skip("initdb");
            return None;
        }
        fs::create_dir_all(&folder).unwrap();
        let mut postgres =
            Postgres { places: [place], folder, port: free_port().unwrap(), running: None };
        let owned = Command::new("chown").arg(USER).arg(&postgres.folder).status();
        assert!(!is_root() || owned.unwrap().success());
        let made = postgres
            .command("initdb")
            .args(["--username=groupwire", "--auth=trust", "--no-instructions"])
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success());
        let access = File::options().append(true).open(postgres.data().join("pg_hba.conf"));
        std::io::Write::write_all(&mut access.unwrap(), b"host all all 0.0.0.0/0 trust\n").unwrap();
        postgres.restart();
        Some(postgres)
    }

    /// The options of a server that uses it.
    pub(super) fn options(&self) -> Vec<String> {
        let (address, port) = (self.places[0].address, self.port);
        let url = format!("postgres://groupwire@{address}:{port}/postgres?sslmode=disable");
        vec![format!("--engine={url}")]
    }

    /// Where it runs.
    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Kills the first process. The others end when they notice.
    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.running.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Starts it, and waits until it accepts connections.
    pub(super) fn restart(&mut self) {
        let start = Instant::now();
        let address = (self.places[0].address, self.port);
        while TcpStream::connect(address).is_err() {
            assert!(start.elapsed() < FOREVER, "PostgreSQL does not start");
            // It ends while processes of the one before have not.
            let has_ended = |child: &mut Child| child.try_wait().unwrap().is_some();
            if self.running.as_mut().is_none_or(has_ended) {
                self.running = Some(self.run());
            }
            sleep(Duration::from_millis(50));
        }
    }

    fn run(&self) -> Child {
        let log = self.folder.with_extension("log");
        let log = File::options().append(true).create(true).open(log).unwrap();
        self.command("postgres")
            .args(["-p", &self.port.to_string(), "-c", "unix_socket_directories="])
            .args(["-c", &format!("listen_addresses={}", self.places[0].address)])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    fn command(&self, program: &str) -> Command {
        let mut command = if is_root() {
            let mut command = self.places[0].command("setpriv");
            command.args([&format!("--reuid={USER}"), "--clear-groups", program]);
            command
        } else {
            self.places[0].command(program)
        };
        command.arg("-D").arg(self.data()).current_dir(&self.folder);
        command
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().unwrap().stdout == b"0\n"
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).exists())
}
