//! Pebble, an ACME authority for tests, and a DNS server that it asks. Both are programs of Let's
//! Encrypt.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use groupwire_ports::free_port;

use super::FOREVER;
use crate::skip::skip;

/// A running Pebble with a DNS server, in a folder of its own.
pub(super) struct Pebble {
    children: Vec<Child>,
    folder: PathBuf,
    /// The port at which Pebble expects the servers whose names it checks.
    pub(super) port: u16,
    directory: u16,
    dns: u16,
}

impl Pebble {
    /// Starts Pebble and the DNS server with an empty folder of this name. Certificates are valid
    /// for `validity`. `None` if the programs are not installed: then the test is counted as
    /// skipped.
    pub(super) fn start(name: &str, validity: Duration) -> Option<Self> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let [port, directory, management, names, dns] = [(); 5].map(|()| free_port().unwrap());
        let children = Vec::new();
        let mut pebble = Pebble { children, folder, port, directory, dns };
        for need in ["openssl", "curl"] {
            if !is_installed(need) {
                skip(need);
                return None;
            }
        }
        certificate(&pebble.folder);
        let validity = validity.as_secs();
        let config = format!(
            r#"{{"pebble": {{"listenAddress": "127.0.0.1:{directory}", "managementListenAddress": "127.0.0.1:{management}",
            "certificate": "cert.pem", "privateKey": "key.pem", "httpPort": 1, "tlsPort": {port}, "ocspResponderURL": "",
            "domainBlocklist": ["blocked.example"], "retryAfter": {{"authz": 1, "order": 1}}, "keyAlgorithm": "ecdsa",
            "profiles": {{"default": {{"description": "", "validityPeriod": {validity}}}}}}}}}"#
        );
        fs::write(pebble.folder.join("config.json"), config).unwrap();
        let resolver = format!("127.0.0.1:{names}");
        let manager = format!("127.0.0.1:{dns}");
        let none =
            ["-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-defaultIPv6", ""];
        let own = ["-dnsserver", &resolver, "-management", &manager];
        pebble.spawn("pebble-challtestsrv", &[&none[..], &own].concat())?;
        pebble.spawn("pebble", &["-config", "config.json", "-dnsserver", &resolver])?;
        for port in [directory, management, dns] {
            let start = Instant::now();
            while TcpStream::connect(("127.0.0.1", port)).is_err() {
                assert!(start.elapsed() < FOREVER, "it does not start: {}", pebble.log());
                sleep(Duration::from_millis(20));
            }
        }
        let issuer = format!("https://localhost:{management}/roots/0");
        let cacert = pebble.root().display().to_string();
        let root = Command::new("curl").args(["--fail", "--cacert", &cacert, &issuer]).output();
        fs::write(pebble.issuer(), root.unwrap().stdout).unwrap();
        Some(pebble)
    }

    /// The address of the directory.
    pub(super) fn directory(&self) -> String {
        format!("https://localhost:{}/dir", self.directory)
    }

    /// The certificate of the directory.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.join("cert.pem")
    }

    /// The root of the certificates that it issues.
    pub(super) fn issuer(&self) -> PathBuf {
        self.folder.join("issuer.pem")
    }

    /// An empty folder for a server.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The number of orders that were made.
    pub(super) fn orders(&self) -> usize {
        self.log().matches("Added order ").count()
    }

    /// The number of accounts that were made.
    pub(super) fn accounts(&self) -> usize {
        self.log().matches(" accounts in memory").count()
    }

    /// Gives a name another address.
    pub(super) fn set_address(&self, name: &str, address: &str) {
        self.tell_dns("add-a", &format!(r#"{{"host": "{name}", "addresses": ["{address}"]}}"#));
    }

    /// Gives a name the usual address again, 127.0.0.1.
    pub(super) fn clear_address(&self, name: &str) {
        self.tell_dns("clear-a", &format!(r#"{{"host": "{name}"}}"#));
    }

    fn tell_dns(&self, path: &str, body: &str) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.dns)).unwrap();
        let length = body.len();
        let request = format!("POST /{path} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(" 200 "), "{answer}");
    }

    fn spawn(&mut self, program: &str, options: &[&str]) -> Option<()> {
        let path = match std::env::var_os("GROUPWIRE_PEBBLE") {
            Some(folder) => PathBuf::from(folder).join(program),
            None => PathBuf::from(program),
        };
        let log = File::create(self.folder.join(format!("{program}.log"))).unwrap();
        let mut command = Command::new(path);
        command.args(options).current_dir(&self.folder).stdin(Stdio::null());
        // Without this, Pebble waits for up to 15 s before it asks.
        command.env("PEBBLE_VA_SLEEPTIME", "1");
        command.stdout(log.try_clone().unwrap()).stderr(log);
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                skip(program);
                None
            }
            child => {
                self.children.push(child.unwrap());
                Some(())
            }
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("pebble.log")).unwrap_or_default()
    }
}

impl Drop for Pebble {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        if std::thread::panicking() {
            eprintln!("Pebble's log: {}", self.log());
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A self-signed certificate, for Pebble's own TLS.
fn certificate(folder: &Path) {
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]);
    openssl.args(["-nodes", "-subj", "/CN=Pebble of a test", "-days", "10"]);
    openssl.args(["-addext", "subjectAltName=DNS:localhost"]);
    openssl.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
    openssl.args(["-keyout", "key.pem", "-out", "cert.pem"]).current_dir(folder);
    let made = openssl.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--help").output().is_ok()
}
