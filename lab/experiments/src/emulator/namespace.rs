//! A network namespace of this program's own, without a connection to the machine's network.

use std::ffi::OsString;
use std::fs::{read_link, read_to_string};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::EmulatorError;
use super::device::DEVICE;

/// The environment variable that tells a process that it was started in a new namespace. It has the
/// identity of the namespace of the process that started it.
const OUTSIDE: &str = "GROUPWIRE_LAB_OUTSIDE_NETWORK";

/// The file with the routes of the reader's network namespace.
const ROUTES: &str = "/proc/self/net/route";

/// Proof that this process is in a network namespace that was made for it.
#[derive(Debug)]
pub(crate) struct Namespace(());

impl Namespace {
    /// Goes on in a namespace of its own: unless this process is in one, it becomes the same
    /// program with the same arguments within one. So call this first, before anything has been
    /// done or printed.
    ///
    /// # Errors
    /// Where namespaces are not permitted, or `unshare` is not installed.
    pub(crate) fn enter() -> Result<Namespace, EmulatorError> {
        if let Some(namespace) = Self::here() {
            return Ok(namespace);
        }
        let mut command = Self::command()?;
        command.arg(std::env::current_exe()?).args(std::env::args_os().skip(1));
        // `exec` only returns if it failed.
        Err(not_started(command.exec()))
    }

    /// The namespace that this process is in, if it was made for it.
    pub(crate) fn here() -> Option<Namespace> {
        let outside = std::env::var_os(OUTSIDE).filter(|outside| !outside.is_empty())?;
        let is_ours = identity().ok()? != outside && leads_nowhere(&read_to_string(ROUTES).ok()?);
        is_ours.then_some(Namespace(()))
    }

    /// A command that runs a program in a new namespace; the caller adds the program's path and
    /// arguments.
    ///
    /// # Errors
    /// Where namespaces are not permitted, or `unshare` is not installed.
    pub(crate) fn command() -> Result<Command, EmulatorError> {
        let outside = identity()?;
        let mut why = String::new();
        for kind in KINDS {
            let trial = unshare(kind).arg("true").output().map_err(not_started)?;
            if trial.status.success() {
                let mut command = unshare(kind);
                command.env(OUTSIDE, outside);
                return Ok(command);
            }
            why = String::from_utf8_lossy(&trial.stderr).trim().to_owned();
        }
        Err(EmulatorError::NamespaceRefused { why })
    }
}

/// The options of `unshare`, in the order in which they are tried. Root keeps its rights, with
/// which threads of the emulator go before others. Any other user is root only within a user
/// namespace, which has no such right, and needs none outside.
const KINDS: [&[&str]; 2] = [&["--net", "--"], &["--net", "--map-root-user", "--"]];

fn unshare(kind: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    command.args(kind);
    command
}

/// The kernel's name of the namespace that this process is in.
fn identity() -> io::Result<OsString> {
    Ok(read_link("/proc/self/ns/net")?.into_os_string())
}

/// Whether all routes of this table, which has a line of titles, are the emulator's. The
/// environment variable might be set by chance, and the machine's own network must not be changed.
fn leads_nowhere(routes: &str) -> bool {
    routes.lines().skip(1).all(|route| route.split_whitespace().next() == Some(DEVICE))
}

fn not_started(error: io::Error) -> EmulatorError {
    match error.kind() {
        io::ErrorKind::NotFound => {
            EmulatorError::Missing { program: "unshare", package: "util-linux" }
        }
        _ => EmulatorError::System(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_with_other_routes_is_not_ours() {
        let title = "Iface\tDestination\tGateway\n";
        let routes = |more: &str| leads_nowhere(&format!("{title}{more}"));
        assert!(routes(""));
        assert!(routes("groupwire0\t0200570A\t00000000\n"));
        assert!(!routes("eth0\t00000000\t0100000A\n"));
        assert!(!routes("groupwire0\t0200570A\t00000000\neth0\t00000000\t0100000A\n"));
    }
}
