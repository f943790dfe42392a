//! Listens on TCP addresses.

use std::io::ErrorKind;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

use super::sockets::{Purpose, Sockets};
use crate::error::Error;

/// Connections that may wait in the kernel to be accepted; Linux reduces it to
/// `net.core.somaxconn`, 4,096 by default. Clients who find no place there try again after 1, 3 and
/// 7 s, which is longer than waiting takes.
const BACKLOG: u32 = 4096;

/// As [`TcpListener::bind`], with another [`BACKLOG`].
fn listen_on(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // On Windows this would let another program take the same address.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Listens on a TCP address, which another process may have handed over.
pub(crate) async fn bind(
    purpose: Purpose,
    listen: SocketAddr,
    sockets: &mut Sockets,
) -> Result<(TcpListener, SocketAddr), Error> {
    let taken = sockets.take(purpose, listen);
    let listening = async {
        let listener = match taken {
            Some(socket) => {
                socket.set_nonblocking(true)?;
                TcpListener::from_std(socket.into())?
            }
            None => listen_on(listen)?,
        };
        let local_addr = listener.local_addr()?;
        Ok((listener, local_addr))
    };
    listening.await.map_err(|source: std::io::Error| match source.kind() {
        ErrorKind::AddrInUse => Error::AddressInUse { listen, source },
        _ => Error::Listen { listen, source },
    })
}
