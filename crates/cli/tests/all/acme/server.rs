//! A server that orders its certificate, as an own process.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use groupwire_ports::free_port;

use super::FOREVER;
use super::pebble::Pebble;

/// A running server.
pub(super) struct Server {
    child: Child,
    log: PathBuf,
    /// The port with TLS.
    pub(super) port: u16,
    /// The port without TLS.
    plain: u16,
    issuer: PathBuf,
}

impl Server {
    /// Starts a server on the port that Pebble asks, for these names. Its files are below `data`.
    pub(super) fn start(pebble: &Pebble, data: &Path, names: &[&str]) -> Self {
        let root = pebble.root();
        Server::start_with(pebble, data, pebble.port, names, &["--trusted-root", text(&root)])
    }

    /// Starts a server on a port, with further options.
    pub(super) fn start_with(
        pebble: &Pebble,
        data: &Path,
        port: u16,
        names: &[&str],
        options: &[&str],
    ) -> Self {
        let log = data.with_extension(format!("{port}.log"));
        let file = File::options().append(true).create(true).open(&log).unwrap();
        let plain = free_port().unwrap();
        let [listen, plain_listen] = [port, plain].map(|port| format!("127.0.0.1:{port}"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
        command.args(["serve", "--listen", &listen, "--plain-listen", &plain_listen]);
        command.args(["--admin-listen", "127.0.0.1:0", "--acme-directory", &pebble.directory()]);
        command.arg("--data").arg(data).args(options);
        command.args(names.iter().flat_map(|name| ["--acme", name]));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file);
        let mut child = command.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("https://"), "{said}{}", fs::read_to_string(&log).unwrap());
        Server { child, log, port, plain, issuer: pebble.issuer() }
    }

    /// Waits until the server has a certificate.
    pub(super) fn until_certified(&self) {
        self.until(|server| server.plain("/readyz").1 == "ready\n", "it has no certificate");
    }

    /// Waits until `is_so` is true.
    pub(super) fn until(&self, is_so: impl Fn(&Server) -> bool, otherwise: &str) {
        let start = Instant::now();
        while !is_so(self) {
            assert!(start.elapsed() < FOREVER, "{otherwise}: {}", self.log());
            sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the log has a text.
    pub(super) fn until_logged(&self, text: &str) {
        self.until(|server| server.log().contains(text), &format!("it does not say {text:?}"));
    }

    /// The status and the body of an answer without TLS.
    pub(super) fn plain(&self, path: &str) -> (u16, String) {
        let url = format!("http://127.0.0.1:{}{path}", self.plain);
        let output = run("curl", &["--silent", "--write-out", "\n%{http_code}", &url]);
        let said = String::from_utf8(output.stdout).unwrap();
        let (body, status) = said.rsplit_once('\n').unwrap();
        (status.parse().unwrap(), body.to_owned())
    }

    /// A field of `/status`.
    pub(super) fn status(&self, field: &str) -> serde_json::Value {
        let (_, body) = self.plain("/status");
        serde_json::from_str::<serde_json::Value>(&body).unwrap()[field].clone()
    }

    /// The output of curl for a request over TLS by a name: the body, and the version of HTTP.
    pub(super) fn curl(&self, name: &str, path: &str) -> String {
        let (port, issuer) = (self.port, text(&self.issuer));
        let resolve = format!("{name}:{port}:127.0.0.1");
        let url = format!("https://{name}:{port}{path}");
        let options = ["--silent", "--show-error", "--http2", "--cacert", issuer];
        let more = ["--resolve", &resolve, "--write-out", " HTTP/%{http_version}", &url];
        let output = run("curl", &[&options[..], &more].concat());
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }

    /// The output of `openssl s_client`.
    pub(super) fn openssl(&self, name: &str, options: &[&str]) -> String {
        let connect = format!("127.0.0.1:{}", self.port);
        let issuer = text(&self.issuer);
        let base = ["s_client", "-verify_return_error", "-servername", name, "-verify_hostname"];
        let more = [name, "-connect", &connect, "-CAfile", issuer];
        let output = run("openssl", &[&base[..], &more, options].concat());
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    /// What the server logged, also before it was started again.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Waits until the process ends.
    pub(super) fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the server's log: {}", self.log());
        }
    }
}

fn run(program: &str, options: &[&str]) -> Output {
    Command::new(program).args(options).stdin(Stdio::null()).output().unwrap()
}

pub(super) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
