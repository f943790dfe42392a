//! A server of a cluster, as a process of its own.

use std::path::{Path, PathBuf};

use groupwire_ports::free_port;

use crate::Result;
use crate::server::{Server, Start, UNLIMITED, groupwire};

/// A server that can be killed and started again, at the same addresses and with its folder.
pub(super) struct Member {
    program: PathBuf,
    tick_ms: u64,
    options: Vec<String>,
    pub(super) port: u16,
    server: Option<Server>,
}

impl Member {
    /// A server that does not run yet, with its folder in that of the cluster.
    pub(super) fn new(
        program: &Path,
        tick_ms: u64,
        (name, folder): (&str, &Path),
        options: &[String],
    ) -> Result<Self> {
        let mut options = options.to_vec();
        options.extend([
            format!("--node={name}"),
            format!("--cluster-listen=127.0.0.1:{}", free_port()?),
            format!("--data={}", folder.join(name).display()),
        ]);
        let port = free_port()?;
        Ok(Member { program: program.to_owned(), tick_ms, options, port, server: None })
    }

    /// Starts the process, and waits until it listens.
    pub(super) fn start(&mut self) -> Result<()> {
        let mut command = groupwire(&self.program, self.tick_ms, self.port);
        command.arg("--no-webtransport").args(UNLIMITED).args(&self.options);
        self.server = Some(Server::start(Start { command, port: None })?);
        Ok(())
    }

    /// The process.
    ///
    /// # Errors
    /// It does not run.
    pub(super) fn server(&self) -> Result<&Server> {
        self.server.as_ref().ok_or_else(|| "a server of the cluster does not run".into())
    }

    /// Kills the process (SIGKILL).
    pub(super) fn kill(&mut self) {
        self.server = None;
    }

    /// Stops the process as an operator does (SIGTERM), and waits until it has ended.
    pub(super) fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.end();
        }
    }
}
