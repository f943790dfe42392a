//! Noticing that this machine has moved to another network, from Wi-Fi to a mobile one for instance (docs/transports.md,
//! T26).

use std::future::{Future, pending};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::sleep;

/// The time between two looks, each of which takes some microseconds. People notice a pointer that stands still for longer.
const LOOK: Duration = Duration::from_millis(250);

/// A watch over the address that a TCP connection leaves from.
pub(super) struct Watch(Pin<Box<dyn Future<Output = ()> + Send>>);

impl Watch {
    pub(super) fn over(stream: &TcpStream) -> io::Result<Self> {
        Ok(Watch(Box::pin(address_lost(stream.local_addr()?.ip()))))
    }

    /// Ready once this machine has lost the address, so that the connection is dead, of which TCP tells nothing for
    /// minutes. Must not be polled again after that.
    pub(super) fn poll_lost(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

/// Waits until this machine does not have the address `local` any more, so that a connection from it is dead. Never ends
/// for a loopback address.
async fn address_lost(local: IpAddr) {
    if local.is_loopback() || local.is_unspecified() {
        return pending().await;
    }
    while has(local) {
        sleep(LOOK).await;
    }
}

/// Waits until packets to `server` leave from another address than `before`, and returns that address. Never ends for a
/// server on this machine.
pub(super) async fn another_address(server: SocketAddr, before: Option<IpAddr>) -> IpAddr {
    if server.ip().is_loopback() {
        return pending().await;
    }
    loop {
        sleep(LOOK).await;
        // An error is that no network leads to the server just now.
        match local_address(server) {
            Ok(now) if Some(now) != before => return now,
            _ => {}
        }
    }
}

/// The address from which packets to `server` leave. Sends nothing: to connect a UDP socket only looks for a route.
pub(super) fn local_address(server: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(server)?;
    Ok(socket.local_addr()?.ip())
}

/// Whether this machine has an address: only then a socket can be bound to it.
fn has(address: IpAddr) -> bool {
    // An address that is bound to a link, fe80::1%eth0, cannot be bound without its link.
    let is_gone = |error: io::Error| error.kind() == io::ErrorKind::AddrNotAvailable;
    !UdpSocket::bind((address, 0)).is_err_and(is_gone)
}

#[cfg(test)]
mod tests {
    use futures_util::poll;

    use super::*;

    /// An address of no machine (RFC 5737).
    const NOBODYS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

    #[tokio::test]
    async fn t26_an_address_that_this_machine_has_not_is_lost() {
        address_lost(NOBODYS).await;
        let mut here = Box::pin(address_lost(Ipv4Addr::LOCALHOST.into()));
        assert_eq!(poll!(&mut here), Poll::Pending);
    }

    #[test]
    fn t26_packets_to_this_machine_leave_from_its_own_address() {
        let server = (Ipv4Addr::LOCALHOST, 9).into();
        assert_eq!(local_address(server).unwrap(), Ipv4Addr::LOCALHOST);
        assert!(has(Ipv4Addr::LOCALHOST.into()) && !has(NOBODYS));
    }
}
