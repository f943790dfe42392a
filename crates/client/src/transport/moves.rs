//! Notices that this machine has moved to another network, such as from Wi-Fi to a mobile network
//! (docs/transports.md, T26).

use std::future::{Future, pending};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::sleep;

/// The time between two checks; each takes some microseconds. People notice a pointer that stands
/// still for longer.
const LOOK: Duration = Duration::from_millis(250);

/// Watches whether this machine still has the local address of a TCP connection.
pub(super) struct Watch(Pin<Box<dyn Future<Output = ()> + Send>>);

impl Watch {
    pub(super) fn over(stream: &TcpStream) -> io::Result<Self> {
        Ok(Watch(Box::pin(address_lost(stream.local_addr()?.ip()))))
    }

    /// Ready once this machine has lost the address. The connection is then dead, which TCP itself
    /// reports only after minutes. Must not be polled again after that.
    pub(super) fn poll_lost(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

/// Waits until this machine no longer has the address `local`, so that a connection from there is
/// dead. Never completes for a loopback address.
async fn address_lost(local: IpAddr) {
    if local.is_loopback() || local.is_unspecified() {
        return pending().await;
    }
    while has(local) {
        sleep(LOOK).await;
    }
}

/// Waits until packets to `server` leave from another address than `before`, and returns that
/// address. Never completes for a server on this machine.
pub(super) async fn another_address(server: SocketAddr, before: Option<IpAddr>) -> IpAddr {
    if server.ip().is_loopback() {
        return pending().await;
    }
    loop {
        sleep(LOOK).await;
        // An error means that no network leads to the server at present.
        match local_address(server) {
            Ok(now) if Some(now) != before => return now,
            _ => {}
        }
    }
}

/// The address from which packets to `server` leave. Sends nothing: connecting a UDP socket only
/// looks up a route.
pub(super) fn local_address(server: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(server)?;
    Ok(socket.local_addr()?.ip())
}

/// Whether this machine has the address. If not, no socket can be bound to it.
fn has(address: IpAddr) -> bool {
    // A link-local address, such as fe80::1%eth0, cannot be bound without its link, and counts as
    // present.
    let is_gone = |error: io::Error| error.kind() == io::ErrorKind::AddrNotAvailable;
    !UdpSocket::bind((address, 0)).is_err_and(is_gone)
}

#[cfg(test)]
mod tests {
    use futures_util::poll;

    use super::*;

    /// An address that no machine has (RFC 5737).
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
