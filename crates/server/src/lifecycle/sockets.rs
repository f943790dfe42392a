//! Listening sockets on their way from one process to the next.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use socket2::Socket;

use crate::tools::private_socket::SocketFile;

/// What a listening socket is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// HTTP and WebSocket.
    Http,
    /// HTTP and WebSocket without encryption, beside encrypted ones.
    PlainHttp,
    /// Packets over plain TCP.
    Packets,
    /// Administration.
    Admin,
    /// WebTransport.
    WebTransport,
    /// The other servers of a cluster.
    Cluster,
}

/// The description of a socket that is handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketLine {
    /// The purpose of the socket.
    pub purpose: Purpose,
    /// Its address and port, or the path of a Unix socket.
    pub address: String,
}

/// The sockets that another process has handed over, until they are taken. Empty if this process
/// replaces no other one.
#[derive(Default)]
pub(crate) struct Sockets(Vec<(SocketLine, Socket)>);

impl Sockets {
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix sockets carry sockets"))]
    pub(crate) fn new(all: Vec<(SocketLine, Socket)>) -> Self {
        Sockets(all)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes the socket that is bound to this address; for port 0, the one for this purpose that is
    /// bound to this host.
    pub(crate) fn take(&mut self, purpose: Purpose, wanted: SocketAddr) -> Option<Socket> {
        self.take_if(|line| {
            // TCP and UDP may have the same port.
            let is_udp = |purpose| purpose == Purpose::WebTransport;
            let Ok(address) = line.address.parse::<SocketAddr>() else { return false };
            let is_same = match wanted.port() {
                0 => line.purpose == purpose && address.ip() == wanted.ip(),
                _ => address == wanted,
            };
            is_same && is_udp(line.purpose) == is_udp(purpose)
        })
    }

    /// Takes the Unix socket at this path.
    pub(crate) fn take_unix(&mut self, path: &Path) -> Option<Socket> {
        let wanted = absolute(path);
        self.take_if(|line| line.address == wanted)
    }

    fn take_if(&mut self, is_wanted: impl Fn(&SocketLine) -> bool) -> Option<Socket> {
        let at = self.0.iter().position(|(line, _)| is_wanted(line))?;
        Some(self.0.swap_remove(at).1)
    }
}

/// The sockets of this process, for the next one.
#[derive(Default)]
pub(crate) struct Handover {
    own: Mutex<Vec<(SocketLine, Socket)>>,
    files: Mutex<Vec<Arc<SocketFile>>>,
}

impl Handover {
    /// Keeps a second descriptor of a socket with an address and a port.
    pub(crate) fn offer(&self, purpose: Purpose, socket: io::Result<Socket>) {
        let offered = socket.and_then(|socket| {
            let address = socket.local_addr()?.as_socket().ok_or(io::ErrorKind::Unsupported)?;
            Ok((SocketLine { purpose, address: address.to_string() }, socket))
        });
        self.add(offered);
    }

    /// Keeps a second descriptor of a Unix socket.
    pub(crate) fn offer_unix(&self, file: Arc<SocketFile>, socket: io::Result<Socket>) {
        let address = absolute(file.path());
        self.add(socket.map(|socket| (SocketLine { purpose: Purpose::Admin, address }, socket)));
        lock(&self.files).push(file);
    }

    fn add(&self, offered: io::Result<(SocketLine, Socket)>) {
        match offered {
            Ok(one) => lock(&self.own).push(one),
            Err(error) => {
                tracing::warn!(%error, "a socket cannot be handed over to the next server")
            }
        }
    }

    /// Closes the descriptors, because no other process takes over.
    pub(crate) fn withdraw(&self) {
        lock(&self.own).clear();
    }

    /// Leaves the files of Unix sockets to the process that has them now.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix sockets carry sockets"))]
    pub(crate) fn leave_files(&self) {
        lock(&self.files).iter().for_each(|file| file.leave());
    }

    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix sockets carry sockets"))]
    pub(crate) fn own(&self) -> MutexGuard<'_, Vec<(SocketLine, Socket)>> {
        lock(&self.own)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The path as both processes write it, whose working directories may differ.
fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

#[cfg(test)]
mod tests {
    use socket2::{Domain, Type};

    use super::*;

    fn sockets(lines: &[(Purpose, &str)]) -> Sockets {
        let all = lines.iter().map(|(purpose, address)| {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            (SocketLine { purpose: *purpose, address: (*address).to_owned() }, socket)
        });
        Sockets::new(all.collect())
    }

    #[test]
    fn a_socket_is_taken_by_its_address_once() {
        use Purpose::{Admin, Http, WebTransport};
        let mut all = sockets(&[
            (WebTransport, "127.0.0.1:80"),
            (Admin, "127.0.0.1:90"),
            (Http, "127.0.0.1:80"),
            (Admin, "/run/a"),
        ]);
        let mut take = |purpose, wanted: &str| all.take(purpose, wanted.parse().unwrap()).is_some();
        assert!(!take(Http, "0.0.0.0:80") && !take(Http, "127.0.0.1:81"));
        // The purpose of a socket with a port does not matter, but TCP is not UDP.
        assert!(take(Admin, "127.0.0.1:80") && !take(Http, "127.0.0.1:80"));
        assert!(take(WebTransport, "127.0.0.1:80"));
        // Port 0 takes the socket that had the same purpose.
        assert!(
            !take(Http, "127.0.0.1:0") && !take(Admin, "[::1]:0") && take(Admin, "127.0.0.1:0")
        );
        assert!(all.take_unix(Path::new("/run/b")).is_none());
        assert!(all.take_unix(Path::new("/run/a")).is_some() && all.len() == 0);
    }
}
