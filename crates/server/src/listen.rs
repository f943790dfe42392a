//! Listening sockets, and HTTP on what they accept.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower_service::Service;

use crate::hub::Hub;

/// Bytes the kernel may hold that are not on the wire yet. More would be stale by the time they leave; packets
/// wait in the room instead, where newer values replace older ones.
const UNSENT: u32 = 16 << 10;

/// Bytes that HTTP holds of a response before it waits for the kernel, for the same reason; and of a request's
/// header at most, which cookies of other services on the same host may fill.
const HTTP_BUFFER: usize = 16 << 10;

/// A browser holds two for a transport over HTTP, and more while it loads a page.
const SOCKETS_PER_CONNECTION: usize = 2;

/// For whoever has no transport yet.
const SPARE_SOCKETS: usize = 256;

/// Serves HTTP for ever.
pub(crate) async fn serve(listener: TcpListener, router: Router, hub: Arc<Hub>) {
    let most = hub.config.max_connections.saturating_mul(SOCKETS_PER_CONNECTION);
    let most = most.saturating_add(SPARE_SOCKETS).min(Semaphore::MAX_PERMITS);
    let sockets = Arc::new(Semaphore::new(most));
    loop {
        let (socket, peer) = accept(&listener).await;
        let Ok(permit) = Arc::clone(&sockets).try_acquire_owned() else {
            tracing::warn!(%peer, "turned away: too many sockets");
            continue;
        };
        let serving = serve_one(socket, peer, router.clone(), hub.config.http.idle);
        tokio::spawn(async move {
            serving.await;
            drop(permit);
        });
    }
}

/// Serves until the socket is closed, or belongs to another protocol.
async fn serve_one(socket: TcpStream, peer: SocketAddr, router: Router, idle: Duration) {
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        let answer = router.clone().call(request.map(Body::new));
        async move { answer.await as Result<Response, Infallible> }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(HTTP_BUFFER)
        .serve_connection(TokioIo::new(socket), service)
        .with_upgrades();
    if let Err(error) = connection.await {
        tracing::debug!(%peer, %error, "HTTP");
    }
}

/// The next connection; its small packets leave at once.
pub(crate) async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((socket, peer)) => {
                prepare(&socket);
                return (socket, peer);
            }
            // It was gone before we came to it.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::ConnectionAborted
                        | ErrorKind::ConnectionReset
                        | ErrorKind::ConnectionRefused
                ) => {}
            Err(error) => {
                // Out of file descriptors, most likely: some will be closed.
                tracing::error!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn prepare(socket: &TcpStream) {
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    if let Err(error) = socket2::SockRef::from(socket).set_tcp_notsent_lowat(UNSENT) {
        tracing::debug!(%error, "TCP_NOTSENT_LOWAT");
    }
}
