//! Accepts TCP connections, and sets their options.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

/// Unsent bytes that the kernel may buffer per TCP connection (`TCP_NOTSENT_LOWAT`). The room
/// builds packets late, so that newer values replace older ones; bytes that wait in the kernel
/// would be out of date when they are sent.
const UNSENT: u32 = 16 << 10;

/// Accepts the next connection and sets its options: small packets are sent without delay, and
/// little is buffered.
pub(crate) async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((socket, peer)) => {
                prepare(&socket);
                return (socket, peer);
            }
            // The client closed the connection before it was accepted.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::ConnectionAborted
                        | ErrorKind::ConnectionReset
                        | ErrorKind::ConnectionRefused
                ) => {}
            Err(error) => {
                // The process is most likely out of file descriptors: wait until some connections
                // are closed.
                tracing::error!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn prepare(socket: &TcpStream) {
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    if let Err(error) = socket2::SockRef::from(socket).set_tcp_notsent_lowat(UNSENT) {
        tracing::debug!(%error, "cannot set TCP_NOTSENT_LOWAT");
    }
}
