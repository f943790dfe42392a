//! The servers under test, and the server of bare techniques.

use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::RangeInclusive;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;

use super::SERVERS;
use super::bare::BareServer;
use crate::Result;
use crate::host::on_first_free;
use crate::server::{self, Start, UNLIMITED, groupwire_at};

/// The attempts to find a port that is free for both TCP and UDP.
const TRIES: usize = 100;

/// The ports of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ports {
    /// The port of HTTP, and of QUIC over UDP.
    pub(crate) http: u16,
    /// The port for packets over plain TCP; of the bare techniques that of WebSocket.
    pub(crate) socket: u16,
}

/// The ports of all servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AllPorts {
    /// Those of [`SERVERS`].
    pub(crate) servers: Vec<Ports>,
    /// Those of the server of bare techniques.
    pub(crate) bare: Ports,
}

/// All servers, which run until this is dropped.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) ports: AllPorts,
    _servers: Vec<server::Server>,
    _bare: BareServer,
}

/// The address at which servers listen, and its ports that they may take; `None` stands for any.
#[derive(Debug, Clone)]
pub(crate) struct Listen {
    pub(crate) address: Ipv4Addr,
    pub(crate) ports: Option<RangeInclusive<u16>>,
}

impl Servers {
    /// Starts `groupwire serve` for each of [`SERVERS`], which pages of these origins may use, and
    /// the server of bare techniques.
    ///
    /// # Errors
    /// A server does not start, or there is no free port.
    pub(crate) fn start(
        program: &Path,
        listen: &Listen,
        origins: &[String],
        handle: &Handle,
    ) -> Result<Self> {
        let mut servers = Vec::new();
        let mut ports = Vec::new();
        for (tick_ms, compress) in SERVERS {
            let taken = listen.ports()?;
            let http = (listen.address, taken.http).into();
            let mut command = groupwire_at(program, tick_ms, http);
            // The quotas of participants would be what is measured instead of the transports.
            command.args(UNLIMITED);
            command.args(["--socket", &format!("{}:{}", listen.address, taken.socket)]);
            if !compress {
                command.arg("--no-compression");
            }
            for origin in origins {
                command.args(["--origin", origin]);
            }
            servers.push(server::Server::start(Start { command, port: None })?);
            ports.push(taken);
        }
        let bare = listen.ports()?;
        let bare = BareServer::start(handle, listen.address, bare)?;
        let ports = AllPorts { servers: ports, bare: bare.ports };
        Ok(Servers { ports, _servers: servers, _bare: bare })
    }
}

impl Listen {
    /// The ports of a server, which are free at this moment.
    fn ports(&self) -> io::Result<Ports> {
        // The first port is still bound when the second is looked for, so that they differ.
        let (http, socket) = (self.free()?, self.free()?);
        let ports = (http.0.local_addr()?.port(), socket.0.local_addr()?.port());
        Ok(Ports { http: ports.0, socket: ports.1 })
    }

    /// A port that is free for TCP and for UDP.
    fn free(&self) -> io::Result<(TcpListener, UdpSocket)> {
        let both = |port| {
            let stream = TcpListener::bind((self.address, port))?;
            let datagrams = UdpSocket::bind((self.address, stream.local_addr()?.port()))?;
            Ok((stream, datagrams))
        };
        match self.ports.clone() {
            Some(ports) => on_first_free(ports, both),
            None => on_first_free([0; TRIES], both),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_ports_are_passed_over() {
        let address = Ipv4Addr::LOCALHOST;
        let anywhere = Listen { address, ports: None };
        let Ports { http, socket } = anywhere.ports().unwrap();
        assert_ne!(http, socket);
        let taken = UdpSocket::bind((address, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let only = Listen { address, ports: Some(port..=port) };
        assert_eq!(only.ports().unwrap_err().kind(), io::ErrorKind::AddrInUse);
    }
}
