//! Accepts TCP connections of HTTP, with or without TLS.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connection::{HttpVersion, serve};
use crate::addresses::{Addresses, Counted};
use crate::arrivals::{Arrivals, Newcomer};
use crate::ends::accept::accept;
use crate::tls::{HTTP2, Handshakes};
use crate::transport::context::TransportContext;

/// HTTP connections per client: a browser holds two for a transport made of HTTP requests, one for
/// each direction.
const SOCKETS_PER_CONNECTION: usize = 2;

/// HTTP connections beyond those of clients: for loading pages, and for clients that have no
/// transport yet.
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
    /// Serves requests by this router. `idle`: how long a connection may be quiet.
    pub(crate) fn new(router: Router, transports: &TransportContext, idle: Duration) -> Self {
        let most = transports.connections.limit().saturating_mul(SOCKETS_PER_CONNECTION);
        let most = most.saturating_add(SPARE_SOCKETS).min(Semaphore::MAX_PERMITS);
        Http {
            router,
            idle,
            sockets: Arc::new(Semaphore::new(most)),
            addresses: Arc::clone(&transports.addresses),
            arrivals: Arc::clone(&transports.arrivals),
        }
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
