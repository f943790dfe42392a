//! Accepts TCP connections of HTTP, with or without TLS.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::addresses::{Addresses, Counted};
use crate::arrivals::{Arrivals, Newcomer};
use crate::listen::connection::{HttpVersion, serve};
use crate::listen::routes;
use crate::rooms::hub::Hub;
use crate::tls::{HTTP2, Handshakes};

/// Unsent bytes that the kernel may buffer per TCP connection (`TCP_NOTSENT_LOWAT`). The room builds packets late, so
/// that newer values replace older ones; bytes that wait in the kernel would be out of date when they are sent.
const UNSENT: u32 = 16 << 10;

/// HTTP connections per client: a browser holds two for a transport made of HTTP requests, one for each direction.
const SOCKETS_PER_CONNECTION: usize = 2;

/// HTTP connections beyond those of clients: for loading pages, and for clients that have no transport yet.
const SPARE_SOCKETS: usize = 256;

/// What the listeners of HTTP share.
#[derive(Clone)]
pub(crate) struct Http {
    router: Router,
    idle: Duration,
    sockets: Arc<Semaphore>,
    addresses: Arc<Addresses>,
    arrivals: Arc<Arrivals>,
}

impl Http {
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        let most = hub.config.max_connections.saturating_mul(SOCKETS_PER_CONNECTION);
        let most = most.saturating_add(SPARE_SOCKETS).min(Semaphore::MAX_PERMITS);
        let idle = hub.config.http.idle;
        let (sockets, addresses) = (Arc::new(Semaphore::new(most)), Arc::clone(&hub.addresses));
        let arrivals = Arc::clone(&hub.arrivals);
        Http { router: routes::router(hub), idle, sockets, addresses, arrivals }
    }

    /// Accepts and serves connections without TLS; never returns.
    pub(crate) async fn serve_plain(self, listener: TcpListener) {
        loop {
            let (socket, peer, admission) = self.accept(&listener, Newcomer::Plain).await;
            let Http { router, idle, .. } = self.clone();
            tokio::spawn(async move {
                serve(socket, peer, HttpVersion::Http1, router, idle).await;
                drop(admission);
            });
        }
    }

    /// Accepts and serves connections with TLS; never returns.
    pub(crate) async fn serve_encrypted(self, listener: TcpListener, mut handshakes: Handshakes) {
        loop {
            let (socket, peer, admission) = self.accept(&listener, Newcomer::Encrypted).await;
            let Http { router, idle, .. } = self.clone();
            let begun = handshakes.begin(socket, peer, move |stream| {
                let version = match stream.speaks(HTTP2) {
                    true => HttpVersion::Http2,
                    false => HttpVersion::Http1,
                };
                tokio::spawn(async move {
                    serve(stream, peer, version, router, idle).await;
                    drop(admission);
                });
            });
            begun.await;
        }
    }

    async fn accept(
        &self,
        listener: &TcpListener,
        newcomer: Newcomer,
    ) -> (TcpStream, SocketAddr, Admission) {
        loop {
            let (socket, peer) = accept(listener).await;
            let of_address = match self.addresses.accept(peer.ip()) {
                Ok(counted) => counted,
                Err(refusal) => {
                    tracing::debug!(%peer, "connection refused: {}", refusal.why());
                    continue;
                }
            };
            match Arc::clone(&self.sockets).try_acquire_owned() {
                Ok(permit) => {
                    let admission = Admission { _permit: permit, _of_address: of_address };
                    // Only connections that are not refused count towards the rate.
                    self.arrivals.connected(newcomer).await;
                    return (socket, peer, admission);
                }
                Err(_) => tracing::warn!(%peer, "connection refused: too many HTTP connections"),
            }
        }
    }
}

/// Counts an HTTP connection until it is dropped: in total, and for its address.
struct Admission {
    _permit: OwnedSemaphorePermit,
    _of_address: Option<Counted>,
}

/// Accepts the next connection and sets its options: small packets are sent without delay, and little is buffered.
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
                // The process is most likely out of file descriptors: wait until some connections are closed.
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
