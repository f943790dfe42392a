//! The system's sockets: what is asked of them, and how many there may be.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::StartError;

/// A peer that says nothing is asked whether it is still there after this time, then each [`PROBES_EVERY`], and given
/// up after [`PROBES`] questions: one that vanished is noticed within two minutes.
const PROBE_AFTER: Duration = Duration::from_secs(60);
const PROBES_EVERY: Duration = Duration::from_secs(10);
const PROBES: u32 = 6;

/// Bytes that are under way and not acknowledged for so long end the connection, for the same reason.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNACKNOWLEDGED: Duration = Duration::from_secs(120);

/// What the system may hold that the network has not taken yet, bytes. What waits there was packed by a choice that
/// may be out of date, and cannot be taken back; to fill the gap until we are asked for more is enough.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NOT_SENT: u32 = 96 << 10;

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// Connections at the same time, if no number is asked for.
const USUAL: usize = 4096;

/// Files that the process needs besides its connections: standard streams, the runtime's, logs, names being looked up.
const OTHER_FILES: u64 = 64;

/// Takes connections.
///
/// # Errors
/// If the address cannot be listened on.
pub(crate) fn listen(address: SocketAddr) -> Result<TcpListener, StartError> {
    let listen = || {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listen().map_err(|cause| StartError::Listen { address: address.to_string(), cause })
}

/// No delay, and an end if the peer vanishes. What a system does not offer is done without.
fn tune(stream: &TcpStream) {
    let keepalive =
        TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBES_EVERY).with_retries(PROBES);
    let socket = SockRef::from(stream);
    let outcome = stream.set_nodelay(true).and_then(|()| socket.set_tcp_keepalive(&keepalive));
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let outcome = outcome.and_then(|()| socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED)));
    if let Err(error) = outcome {
        tracing::debug!(%error, "the socket does not take all options");
    }
}

/// The connection between both ends: as [`tune`], and little waits in the system.
pub(crate) fn tune_tunnel(stream: &TcpStream) {
    tune(stream);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Err(error) = SockRef::from(stream).set_tcp_notsent_lowat(NOT_SENT) {
        tracing::debug!(%error, "the system keeps more unsent bytes than it should");
    }
}

/// A connection to a program: as [`tune`], and the program sees a reset when it is dropped, or this process ends, so that
/// what was cut off does not look complete.
pub(crate) fn tune_program(stream: &TcpStream) {
    tune(stream);
    // If it fails, the connection is gone already.
    let _ = stream.set_zero_linger();
}

/// Everything was carried: the program sees an end.
pub(crate) fn close_in_order(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_linger(None);
}

/// How many connections there may be: `wanted`, or [`USUAL`] and fewer if the system allows no more. The process's limit
/// is raised as far as it may be.
///
/// # Errors
/// If the system does not allow what is wanted.
pub(crate) fn connections(wanted: Option<usize>) -> Result<usize, StartError> {
    // One to the program and one to the other end.
    let needs = |connections: usize| 2 * connections as u64 + OTHER_FILES;
    let connections = wanted.unwrap_or(USUAL);
    let needed = needs(connections);
    let limit = open_files(needed);
    if needed <= limit {
        return Ok(connections);
    }
    let fewer = (limit.saturating_sub(OTHER_FILES) / 2) as usize;
    if wanted.is_some() || fewer == 0 {
        return Err(StartError::OpenFiles { connections, needed, limit });
    }
    tracing::warn!(
        "{limit} files may be open: at most {fewer} connections at a time (ulimit -n {needed} allows {USUAL})"
    );
    Ok(fewer)
}

/// How many files may be open, after the limit was raised to `needed` if that is allowed.
#[cfg(unix)]
fn open_files(needed: u64) -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(limit) = current.filter(|&limit| limit < needed) else { return u64::MAX };
    let raised = maximum.map_or(needed, |maximum| needed.min(maximum));
    match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
        Ok(()) => raised,
        Err(_) => limit,
    }
}

#[cfg(not(unix))]
fn open_files(_: u64) -> u64 {
    u64::MAX
}

/// Whether the process has as many files open as it may, which passes.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    // ENFILE and EMFILE have no kind of their own.
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}
