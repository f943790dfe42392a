//! The messages to a service manager, over a socket like that of systemd.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::skip::skip;

/// Longer than anything here takes on a busy machine; a test that hangs ends by this.
const FOREVER: Duration = Duration::from_secs(60);

struct Manager {
    socket: UnixDatagram,
    folder: PathBuf,
}

impl Manager {
    fn new(name: &str) -> Self {
        // The path of a Unix socket has to be short.
        let folder = std::env::temp_dir().join(format!("groupwire-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let socket = UnixDatagram::bind(folder.join("notify")).unwrap();
        socket.set_read_timeout(Some(FOREVER)).unwrap();
        Manager { socket, folder }
    }

    fn start(&self, options: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--data"]);
        command.arg(self.folder.join("data")).args(options);
        command.env("NOTIFY_SOCKET", self.folder.join("notify"));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("Groupwire is running"), "{said}");
        child
    }

    fn told(&self) -> String {
        let mut message = [0; 256];
        let length = self.socket.recv(&mut message).unwrap();
        String::from_utf8(message[..length].to_vec()).unwrap()
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn signal(child: &Child, name: &str) {
    let command = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
}

#[test]
fn a_service_manager_is_told_of_the_start_the_next_process_and_the_stop() {
    let manager = Manager::new("notify");
    let mut old = manager.start(&[]);
    assert_eq!(manager.told(), "READY=1\n");
    let mut new = manager.start(&["--upgrade"]);
    // The manager is told before the old process ends, which it would take for the end of the
    // service.
    assert_eq!(manager.told(), format!("MAINPID={}\n", new.id()));
    assert_eq!(manager.told(), "READY=1\n");
    assert_eq!(old.wait().unwrap().code(), Some(0));
    signal(&new, "TERM");
    assert_eq!(manager.told(), "STOPPING=1\n");
    assert_eq!(new.wait().unwrap().code(), Some(0));
}

/// The unit in packaging/systemd, as far as it can be checked where systemd does not run.
#[test]
fn systemd_accepts_the_unit() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd");
    let unit = unit.join("groupwire.service").canonicalize().unwrap();
    let text = fs::read_to_string(&unit).unwrap();
    // The unit names the program of the test, because systemd would miss the installed one.
    let text = text.replace("/usr/local/bin/groupwire", env!("CARGO_BIN_EXE_groupwire"));
    let manager = Manager::new("unit");
    let copy = manager.folder.join("groupwire.service");
    fs::write(&copy, text).unwrap();
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no"]).arg(&copy);
    let Ok(output) = verify.output() else { return skip("systemd-analyze") };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    let mut security = Command::new("systemd-analyze");
    security.args(["security", "--offline=true", "--threshold=20"]).arg(&copy);
    let output = security.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "the exposure is above 2.0: {said}");
}
