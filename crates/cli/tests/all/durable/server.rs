//! A server whose rooms are stored, as an own process.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use groupwire_server::store;

use super::visitor::FOREVER;

/// A server with a folder of its own, which is removed in the end.
pub(super) struct Server {
    child: Option<Child>,
    pub(super) folder: PathBuf,
    /// Further options of `groupwire serve`.
    pub(super) options: Vec<&'static str>,
    pub(super) has_webtransport: bool,
    /// The file of its standard error: the log, and an error at the end.
    log: PathBuf,
    port: u16,
}

impl Server {
    /// Starts a server with an empty folder of this name.
    pub(super) fn start(name: &str) -> Self {
        Server::start_in(name, Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    /// Starts a server with this folder, which is emptied before.
    pub(super) fn start_in(name: &str, folder: PathBuf) -> Self {
        let _ = fs::remove_dir_all(&folder);
        let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.log"));
        let mut server = Server {
            child: None,
            folder,
            options: Vec::new(),
            has_webtransport: false,
            log,
            port: 0,
        };
        server.restart();
        server
    }

    pub(super) fn restart(&mut self) {
        let begin = Instant::now();
        loop {
            let child = self.command().spawn().unwrap();
            // Another test may have the port for a moment.
            if self.serves(child) {
                return;
            }
            let log = self.log();
            let may_try = log.contains("in use") && begin.elapsed() < FOREVER;
            assert!(may_try, "it did not start: {log}");
            sleep(Duration::from_millis(100));
        }
    }

    /// Lets a new process take the place of the server, and waits until that has ended. Returns its
    /// status.
    #[cfg(unix)]
    pub(super) fn upgrade(&mut self) -> Option<i32> {
        let mut old = self.child.take().unwrap();
        let child = self.command().arg("--upgrade").spawn().unwrap();
        assert!(self.serves(child), "it did not start: {}", self.log());
        old.wait().unwrap().code()
    }

    /// Waits until the process serves. False: it has ended instead, or said something else.
    fn serves(&mut self, mut child: Child) -> bool {
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        self.child = Some(child);
        let Some(address) = said.split("127.0.0.1:").nth(1) else { return false };
        self.port = address.split('/').next().unwrap().parse().unwrap();
        true
    }

    /// Starts the server, which has to refuse its folder; returns what it says.
    pub(super) fn refused(&self) -> String {
        let mut child = self.command().spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        if !said.is_empty() {
            child.kill().unwrap();
        }
        let status = child.wait().unwrap();
        assert_eq!((status.code(), said.as_str()), (Some(1), ""), "it started");
        self.log()
    }

    /// Stops the process where it is, so that it does and says nothing more.
    pub(super) fn freeze(&self) {
        let stop = format!("kill -STOP {}", self.process());
        assert!(Command::new("sh").args(["-c", &stop]).status().unwrap().success());
    }

    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Waits until the server ends by itself, and returns its status.
    pub(super) fn wait(&mut self) -> Option<i32> {
        let child = self.child.as_mut().unwrap();
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < FOREVER, "it goes on");
            sleep(Duration::from_millis(10));
        }
        self.child.take().unwrap().wait().unwrap().code()
    }

    /// The number of its process.
    pub(super) fn process(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub(super) fn url(&self) -> String {
        format!("ws://127.0.0.1:{}", self.port)
    }

    /// What the server logged since it was started.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// The number of transactions in the folder. All of it is read and has to be whole.
    pub(super) fn stored(&self) -> usize {
        let summary = store::check(&self.folder).unwrap();
        assert_eq!(summary.damaged, 0, "{summary:?}");
        summary.records as usize
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
        command
            .args(["serve", "--log", "warn", "--tick", "5"])
            .args((!self.has_webtransport).then_some("--no-webtransport"))
            .args(["--listen", &format!("127.0.0.1:{}", self.port), "--data"])
            .arg(&self.folder)
            .args(&self.options)
            .stdout(Stdio::piped())
            .stderr(File::create(&self.log).unwrap());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("the server's log: {}", self.log());
        }
        let _ = fs::remove_file(&self.log);
        let _ = fs::remove_dir_all(&self.folder);
    }
}
