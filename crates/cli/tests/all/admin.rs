//! `groupwire admin` against a running server.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

/// A server, which is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    /// The address of the administration, with the token, as the server has printed it.
    pub(crate) admin: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
        command.args(["serve", "--log", "off", "--listen", "127.0.0.1:0", "--no-webtransport"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let lines: Vec<_> = lines.take(2).map(Result::unwrap).collect();
        let admin = lines[1].split(' ').next_back().unwrap().to_owned();
        assert!(admin.contains("/inspector/#token="), "{lines:?}");
        Server { child, admin }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn admin(server: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groupwire"));
    command.args(["admin", "--server", server]).args(arguments).output().unwrap()
}

#[test]
fn a_server_is_asked_and_drained_at_the_address_that_it_prints() {
    let mut server = Server::start();
    let rooms = admin(&server.admin, &["rooms"]);
    assert!(rooms.status.success());
    assert_eq!(rooms.stdout, b"name\tparticipants\tstored_bytes\n");
    let kick = admin(&server.admin, &["kick", "docs/a", "1"]);
    let error = String::from_utf8(kick.stderr).unwrap();
    assert!(!kick.status.success() && error.contains("this room is not open"), "{error}");
    let guessed = server.admin.replace("#token=", "#token=x");
    let error = String::from_utf8(admin(&guessed, &["rooms"]).stderr).unwrap();
    assert!(error.contains("token") && error.contains("401"), "{error}");
    assert!(admin(&server.admin, &["drain", "--wait", "0"]).status.success());
    assert!(server.child.wait().unwrap().success());
    let error = String::from_utf8(admin(&server.admin, &["rooms"]).stderr).unwrap();
    assert!(error.contains("cannot be reached"), "{error}");
}
