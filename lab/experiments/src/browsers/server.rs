//! The servers under test, each with a port for packets over plain TCP besides.

use std::net::Ipv4Addr;
use std::path::Path;

use crate::Result;
use crate::host::free_port;
use crate::server::{self, Start, UNLIMITED, groupwire_at};

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(super) struct Server {
    _process: server::Server,
    /// The port of HTTP, and of QUIC over UDP.
    pub(super) port: u16,
    /// The port for packets over plain TCP.
    pub(super) socket: u16,
}

/// The settings of a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup<'a> {
    pub(super) program: &'a Path,
    pub(super) listen: Ipv4Addr,
    pub(super) tick_ms: u64,
    pub(super) compress: bool,
    /// The origins whose pages may use the server.
    pub(super) origins: &'a [String],
}

impl Server {
    /// Starts `groupwire serve`.
    pub(super) fn start(setup: Setup<'_>) -> Result<Self> {
        let Setup { listen, .. } = setup;
        // The server does not print the port that it takes for plain TCP, so it is given a free
        // one.
        let socket = free_port(listen)?;
        let mut command = groupwire_at(setup.program, setup.tick_ms, (listen, 0).into());
        // The quotas of participants would be what is measured instead of the transports.
        command.args(UNLIMITED);
        command.args(["--socket", &format!("{listen}:{socket}")]);
        if !setup.compress {
            command.arg("--no-compression");
        }
        for origin in setup.origins {
            command.args(["--origin", origin]);
        }
        let process = server::Server::start(Start { command, port: None })?;
        Ok(Server { port: process.port, socket, _process: process })
    }
}
