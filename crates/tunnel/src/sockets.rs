//! The sockets of the system: their options, and how many may be open.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::StartError;

/// Keepalive: a silent peer is probed after this time and then every [`PROBES_EVERY`], and given up
/// after [`PROBES`] probes without an answer. A peer that vanished is noticed within two minutes.
const PROBE_AFTER: Duration = Duration::from_secs(60);
const PROBES_EVERY: Duration = Duration::from_secs(10);
const PROBES: u32 = 6;

/// The connection ends if sent bytes stay unacknowledged for this long, the time after which
/// keepalive gives up too.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNACKNOWLEDGED: Duration = Duration::from_secs(120);

/// The most bytes that may wait unsent in the system (`TCP_NOTSENT_LOWAT`). Waiting bytes were
/// compressed by a choice that may be out of date. One and a half blocks keep the network busy
/// until the next block is written.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NOT_SENT: u32 = 96 << 10;

/// The backlog of a listening socket, of connections that are not accepted yet.
const BACKLOG: u32 = 1024;

/// The limit of simultaneous connections if none is requested.
const DEFAULT_CONNECTIONS: usize = 4096;

/// Open files that the process needs besides its connections: standard streams, the runtime, logs,
/// name lookups.
const OTHER_FILES: u64 = 64;

/// Opens a listening socket.
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

/// Disables delays (Nagle) and makes the connection end if the peer vanishes. Options that the
/// system lacks are skipped.
fn tune(stream: &TcpStream) {
    let keepalive =
        TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBES_EVERY).with_retries(PROBES);
    let socket = SockRef::from(stream);
    let outcome = stream.set_nodelay(true).and_then(|()| socket.set_tcp_keepalive(&keepalive));
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let outcome = outcome.and_then(|()| socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED)));
    if let Err(error) = outcome {
        tracing::debug!(%error, "the system does not support all socket options");
    }
}

/// Sets the options of a connection between both ends: those of [`tune`], and a limit of unsent
/// bytes.
pub(crate) fn tune_tunnel(stream: &TcpStream) {
    tune(stream);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Err(error) = SockRef::from(stream).set_tcp_notsent_lowat(NOT_SENT) {
        tracing::debug!(%error, "the system does not limit unsent bytes");
    }
}

/// Sets the options of a connection to a program: those of [`tune`], and a reset if the connection
/// is dropped or this process ends. The reset tells the program that bytes are missing.
pub(crate) fn tune_program(stream: &TcpStream) {
    tune(stream);
    // This fails only if the connection is closed already.
    let _ = stream.set_zero_linger();
}

/// Makes the program see an end, not a reset, when its connection is dropped: all bytes were
/// delivered.
pub(crate) fn close_in_order(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_linger(None);
}

/// The limit of simultaneous connections: `wanted`; without it [`DEFAULT_CONNECTIONS`], or fewer if
/// the system allows no more. Raises the process's limit of open files if necessary and allowed.
///
/// # Errors
/// If the system does not allow `wanted` connections.
pub(crate) fn connections(wanted: Option<usize>) -> Result<usize, StartError> {
    // A connection has two sockets: to the program and to the other end.
    let needs = |connections: usize| 2 * connections as u64 + OTHER_FILES;
    let connections = wanted.unwrap_or(DEFAULT_CONNECTIONS);
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
        "{limit} files may be open: at most {fewer} connections at a time (ulimit -n {needed} allows {DEFAULT_CONNECTIONS})"
    );
    Ok(fewer)
}

/// Raises the limit of open files to `needed` if it is lower and that is allowed. Returns the new
/// limit, or `u64::MAX` if the limit was high enough.
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

/// Whether the process or the system has reached its limit of open files.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    // ENFILE and EMFILE; `io::ErrorKind` has no value for them.
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}
