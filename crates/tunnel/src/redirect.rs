//! Connections that the firewall of Linux redirected to this end: where their programs meant to
//! connect.

use std::net::SocketAddr;

use tokio::net::{TcpStream, lookup_host};

use crate::{ConnectionError, Target};

/// Whether this system can tell where a redirected connection was meant to go.
pub(crate) const IS_SUPPORTED: bool = cfg!(target_os = "linux");

/// The target of a redirected connection, as the firewall remembers it (`SO_ORIGINAL_DST`).
///
/// # Errors
/// The connection was not redirected, or it is one of this tunnel to `server`, its listening end: a
/// firewall that redirects these, too, would make the tunnel connect to itself without end.
pub(crate) async fn target(program: &TcpStream, server: &str) -> Result<Target, ConnectionError> {
    let meant = original(program).ok_or(ConnectionError::NotRedirected)?;
    // A connection that was not redirected has this end as its target.
    if program.local_addr().is_ok_and(|here| Target::from(here) == Target::from(meant)) {
        return Err(ConnectionError::NotRedirected);
    }
    // If the name cannot be resolved, the tunnel cannot be reached either.
    let mut servers = lookup_host(server).await.into_iter().flatten();
    if servers.any(|address| Target::from(address) == Target::from(meant)) {
        return Err(ConnectionError::OwnConnection(server.to_owned()));
    }
    Ok(meant.into())
}

#[cfg(target_os = "linux")]
fn original(program: &TcpStream) -> Option<SocketAddr> {
    let socket = socket2::SockRef::from(program);
    let is_four = program.local_addr().ok()?.ip().to_canonical().is_ipv4();
    let address = if is_four { socket.original_dst_v4() } else { socket.original_dst_v6() };
    address.ok()?.as_socket()
}

#[cfg(not(target_os = "linux"))]
fn original(_: &TcpStream) -> Option<SocketAddr> {
    None
}
